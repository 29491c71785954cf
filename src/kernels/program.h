#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tensor/view.h"

// Chains of functions that work entry by entry, run without tensors in between.
namespace anyshape::simd {

// The numbers are part of the attribute `code` of anyshape.Elementwise.
enum class ElementOp : uint8_t {
  copy,
  add,
  sub,
  mul,
  div,
  min,  // min and max: NaN when either is
  max,
  pow,
  neg,
  abs,
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  log,
  tanh,
  sigmoid,
  erf,
  gelu,
  gelu_tanh,
  relu,
  leaky_relu,    // x, slope
  elu,           // x, alpha
  celu,          // x, alpha
  hard_sigmoid,  // x, alpha, beta
  hard_swish,
  silu,
  softplus,
  clip,  // x, least, greatest
  floor,
  ceil,
  round,  // ties to even
  sign,
  sin,
  cos,
  where,  // condition, x, y
  less,   // from here to is_nan: 1 or 0
  less_equal,
  greater,
  greater_equal,
  equal,
  logical_not,
  logical_and,
  logical_or,
  logical_xor,
  is_nan,
};
inline constexpr int kElementOps = 46;

struct ElementOpInfo {
  std::string_view name;
  int operands;
  bool gives_bool;
  bool on_integers;  // defined for integers as well
};
const ElementOpInfo& info(ElementOp op);

// Registers are numbered: the inputs, the constants, then the result of each instruction. The last one is the output.
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

// A program ready to run: buffers are shared by registers whose lives do not overlap.
struct ElementwisePlan {
  ElementwiseProgram program;
  std::vector<int> slot;  // of each instruction; -1: the output
  int slots = 0;
};
ElementwisePlan plan_program(ElementwiseProgram program);

// The type of the registers for inputs of these types (undefined: absent): that of all that are not bool; f32 when all
// are. Undefined when the program cannot run on them: f32, f64, i32, i64 and bool are taken.
DType compute_type(const ElementwiseProgram& program, std::span<const DType> inputs);

// Bytes of scratch one call of run_elementwise needs.
int64_t elementwise_scratch(const ElementwisePlan& plan);

// Entries first..last - 1 of a dense output, in row-major order. Inputs have any strides and broadcast to the output;
// one of them may be the output's own memory when it has the same type and is dense. `type` is the compute_type; the
// output has it, or bool.
Status run_elementwise(const ElementwisePlan& plan, DType type, std::span<const View> in, const View& out,
                       int64_t first, int64_t last, std::byte* scratch);

}  // namespace anyshape::simd
