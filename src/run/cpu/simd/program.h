#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "tensor/elementwise_program.h"
#include "tensor/view.h"

// Runs elementwise programs.
namespace anyshape::simd {

// A program ready to run: buffers are shared by registers whose lives do not overlap.
struct ElementwisePlan {
  ElementwiseProgram program;
  std::vector<int> slot;  // of each instruction; -1: the output
  int slots = 0;
};
ElementwisePlan plan_program(ElementwiseProgram program);

// Bytes of scratch one call of run_elementwise needs.
int64_t elementwise_scratch(const ElementwisePlan& plan);

// Entries first..last - 1 of a dense output, in row-major order. Inputs have any strides and broadcast to the output;
// one of them may be the output's own memory when it has the same type and is dense. `type` is the compute_type; the
// output has it, or bool.
Status run_elementwise(const ElementwisePlan& plan, DType type, std::span<const View> in, const View& out,
                       int64_t first, int64_t last, std::byte* scratch);

}  // namespace anyshape::simd
