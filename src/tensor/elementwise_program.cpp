#include "tensor/elementwise_program.h"

#include <iterator>

namespace anyshape {

bool ElementwiseProgram::gives_bool() const {
  return !code.empty() && info_of(code.back().op).result == ElementResult::truth;
}

Result<ElementwiseProgram> decode_program(int inputs, std::span<const int64_t> code, std::span<const float> constants) {
  ElementwiseProgram out;
  if (code.empty() || code.size() % 4 != 0 || code.size() / 4 > kMostElementwiseInstructions)
    return refuse("elementwise.code", "{} numbers are no list of instructions", code.size());
  if (inputs < 0 || inputs > kMostElementwiseInputs || constants.size() > 4 * kMostElementwiseInstructions)
    return refuse("elementwise.code", "{} inputs and {} constants are too many", inputs, constants.size());
  out.inputs = inputs;
  out.constants.assign(constants.begin(), constants.end());
  for (size_t i = 0; i < code.size(); i += 4) {
    if (code[i] < 0 || code[i] >= int64_t{std::size(kElementOps)})
      return refuse("elementwise.code", "there is no operation {}", code[i]);
    const auto op = static_cast<ElementOp>(code[i]);
    for (int k = 0; k < info_of(op).operands; ++k)
      if (const int64_t r = code[i + 1 + static_cast<size_t>(k)]; r < 0 || r >= out.registers())
        return refuse("elementwise.code", "instruction {} reads register {}, which is not there", i / 4, r);
    const auto at = [&](int k) {
      return k < info_of(op).operands ? static_cast<int>(code[i + 1 + static_cast<size_t>(k)]) : 0;
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
    if (!is_real && info_of(i.op).takes == ElementOperands::reals) return DType::undefined;
  return type;
}

}  // namespace anyshape
