#include "run/cpu/simd/program.h"

#include <utility>

namespace anyshape::simd {
namespace {

int operand(const ElementwiseProgram::Instruction& i, int which) { return which == 0 ? i.a : which == 1 ? i.b : i.c; }

}  // namespace

ElementwisePlan plan_program(ElementwiseProgram program) {
  ElementwisePlan out;
  const int first = program.registers() - static_cast<int>(program.code.size());
  const int count = static_cast<int>(program.code.size());
  std::vector<int> last_use(static_cast<size_t>(count), -1), free;
  for (int i = 0; i < count; ++i) {
    const auto& instruction = program.code[static_cast<size_t>(i)];
    for (int k = 0; k < info_of(instruction.op).operands; ++k)
      if (const int r = operand(instruction, k) - first; r >= 0) last_use[static_cast<size_t>(r)] = i;
  }
  for (int i = 0; i < count; ++i) {
    // A result may take the place of an operand that dies here: each entry is read before it is written.
    for (int r = 0; r < i; ++r)
      if (last_use[static_cast<size_t>(r)] == i) free.push_back(out.slot[static_cast<size_t>(r)]);
    if (i + 1 == count) {
      out.slot.push_back(-1);
    } else if (free.empty()) {
      out.slot.push_back(out.slots++);
    } else {
      out.slot.push_back(free.back());
      free.pop_back();
    }
  }
  out.program = std::move(program);
  return out;
}

}  // namespace anyshape::simd
