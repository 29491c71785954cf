#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "tensor/dtype.h"
#include "tensor/element_ops.h"

namespace anyshape {

// A chain of functions that work entry by entry, to be run without tensors in between. Registers are numbered: the
// inputs, the constants, then the result of each instruction. The last one is the output.
struct ElementwiseProgram {
  struct Instruction {
    ElementOp op;
    int a = 0, b = 0, c = 0;  // registers; those an operation does not take are 0
  };
  int inputs = 0;
  std::vector<float> constants;
  std::vector<Instruction> code;

  int registers() const { return inputs + static_cast<int>(constants.size() + code.size()); }
  bool gives_bool() const;
};

inline constexpr int kMostElementwiseInputs = 16;
inline constexpr int kMostElementwiseInstructions = 256;

// Four numbers for each instruction: operation, a, b, c. Error "elementwise.code" for what is no program.
Result<ElementwiseProgram> decode_program(int inputs, std::span<const int64_t> code, std::span<const float> constants);
std::vector<int64_t> encode_code(const ElementwiseProgram& program);

// The type of the registers for inputs of these types (undefined: absent): that of all that are not bool; f32 when all
// are. Undefined when the program cannot run on them: f32, f64, i32, i64 and bool are taken.
DType compute_type(const ElementwiseProgram& program, std::span<const DType> inputs);

}  // namespace anyshape
