#pragma once

#include "base/error.h"
#include "base/temporary.h"
#include "tensor/tensor.h"

namespace anyshape::kernels {

// The product as NumPy's matmul: a vector gets an axis that goes again, leading axes broadcast. Elements f32, f64 or an
// integer type (which wraps), the same in all three; floats are summed in double. Errors "kernel.shape", "dtype".
Status matmul(const Tensor& a, const Tensor& b, Tensor& out);

struct Gemm {
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 1;
};
// out = alpha * a * b + beta * c for matrices of the types above; c is absent or broadcasts. Integers are exact where
// alpha and beta are 1, otherwise by way of double. Errors as above.
Status gemm(const Gemm& gemm, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& out);

// Products summed over named indices. Axis i of operand n, and axis i of the output, runs along loop n_axes[i]; loops
// that the output lacks are summed. An axis of size 1 stands still.
struct Einsum {
  Temporary<int64_t> loops;               // their sizes, those of the output first and in its order
  Temporary<Temporary<size_t>> operands;  // per operand, per axis: its loop
  size_t kept = 0;                        // loops of the output
};
Status einsum(const Einsum& einsum, std::span<const Tensor> operands, Tensor& out);

// The determinants of the matrices in the last two axes, f32 or f64. Errors as above.
Status determinants(const Tensor& matrices, Tensor& out);

}  // namespace anyshape::kernels
