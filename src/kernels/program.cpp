#include "kernels/program.h"

#include <algorithm>
#include <array>

#include "base/bug.h"

namespace anyshape::simd {
namespace {

constexpr std::array<ElementOpInfo, kElementOps> kInfo = {{
    {"copy", 1, false, true},          {"add", 2, false, true},         {"sub", 2, false, true},
    {"mul", 2, false, true},           {"div", 2, false, false},        {"min", 2, false, true},
    {"max", 2, false, true},           {"pow", 2, false, false},        {"neg", 1, false, true},
    {"abs", 1, false, true},           {"sqrt", 1, false, false},       {"rsqrt", 1, false, false},
    {"reciprocal", 1, false, false},   {"exp", 1, false, false},        {"log", 1, false, false},
    {"tanh", 1, false, false},         {"sigmoid", 1, false, false},    {"erf", 1, false, false},
    {"gelu", 1, false, false},         {"gelu_tanh", 1, false, false},  {"relu", 1, false, true},
    {"leaky_relu", 2, false, false},   {"elu", 2, false, false},        {"celu", 2, false, false},
    {"hard_sigmoid", 3, false, false}, {"hard_swish", 1, false, false}, {"silu", 1, false, false},
    {"softplus", 1, false, false},     {"clip", 3, false, true},        {"floor", 1, false, false},
    {"ceil", 1, false, false},         {"round", 1, false, false},      {"sign", 1, false, true},
    {"sin", 1, false, false},          {"cos", 1, false, false},        {"where", 3, false, true},
    {"less", 2, true, true},           {"less_equal", 2, true, true},   {"greater", 2, true, true},
    {"greater_equal", 2, true, true},  {"equal", 2, true, true},        {"logical_not", 1, true, true},
    {"logical_and", 2, true, true},    {"logical_or", 2, true, true},   {"logical_xor", 2, true, true},
    {"is_nan", 1, true, true},
}};

int operand(const ElementwiseProgram::Instruction& i, int which) { return which == 0 ? i.a : which == 1 ? i.b : i.c; }

}  // namespace

const ElementOpInfo& info(ElementOp op) { return kInfo[static_cast<size_t>(op)]; }

bool ElementwiseProgram::gives_bool() const { return !code.empty() && info(code.back().op).gives_bool; }

Result<ElementwiseProgram> decode_program(int inputs, std::span<const int64_t> code, std::span<const float> constants) {
  ElementwiseProgram out;
  if (code.empty() || code.size() % 4 != 0 || code.size() / 4 > kMostElementwiseInstructions)
    return refuse("elementwise.code", "{} numbers are no list of instructions", code.size());
  if (inputs < 0 || inputs > kMostElementwiseInputs || constants.size() > 4 * kMostElementwiseInstructions)
    return refuse("elementwise.code", "{} inputs and {} constants are too many", inputs, constants.size());
  out.inputs = inputs;
  out.constants.assign(constants.begin(), constants.end());
  for (size_t i = 0; i < code.size(); i += 4) {
    if (code[i] < 0 || code[i] >= kElementOps) return refuse("elementwise.code", "there is no operation {}", code[i]);
    const auto op = static_cast<ElementOp>(code[i]);
    for (int k = 0; k < info(op).operands; ++k)
      if (const int64_t r = code[i + 1 + static_cast<size_t>(k)]; r < 0 || r >= out.registers())
        return refuse("elementwise.code", "instruction {} reads register {}, which is not there", i / 4, r);
    const auto at = [&](int k) {
      return k < info(op).operands ? static_cast<int>(code[i + 1 + static_cast<size_t>(k)]) : 0;
    };
    out.code.push_back({op, at(0), at(1), at(2)});
  }
  return out;
}

std::vector<int64_t> encode_code(const ElementwiseProgram& program) {
  std::vector<int64_t> out;
  for (const auto& i : program.code) out.insert(out.end(), {static_cast<int64_t>(i.op), i.a, i.b, i.c});
  return out;
}

ElementwisePlan plan_program(ElementwiseProgram program) {
  ElementwisePlan out;
  const int first = program.registers() - static_cast<int>(program.code.size());
  const int count = static_cast<int>(program.code.size());
  std::vector<int> last_use(static_cast<size_t>(count), -1), free;
  for (int i = 0; i < count; ++i) {
    const auto& instruction = program.code[static_cast<size_t>(i)];
    for (int k = 0; k < info(instruction.op).operands; ++k)
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

DType compute_type(const ElementwiseProgram& program, std::span<const DType> inputs) {
  DType type = DType::undefined;
  for (DType t : inputs) {
    if (t == DType::undefined || t == DType::boolean) continue;
    if (type != DType::undefined && t != type) return DType::undefined;
    type = t;
  }
  if (type == DType::undefined) return DType::f32;
  const bool is_real = type == DType::f32 || type == DType::f64;
  if (!is_real && type != DType::i32 && type != DType::i64) return DType::undefined;
  for (const auto& i : program.code)
    if (!is_real && !info(i.op).on_integers) return DType::undefined;
  return type;
}

}  // namespace anyshape::simd
