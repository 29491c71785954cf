#pragma once

#include "base/error.h"
#include "base/temporary.h"
#include "kernels/window.h"
#include "tensor/tensor.h"

// Pools over [batch, channels, spatial axes...]. Errors "dtype", "kernel.shape".
namespace anyshape::kernels {

struct Pool {
  Windows windows;
  Temporary<int64_t> pads_end;
};
// One window over all of x.
Pool global_pool(const Tensor& x);

// f32, f64 or an integer type. NaN is passed over beside a number. `indices`, where present, is an i64 tensor that gets
// the place of each maximum in x, whose spatial axes are counted with the first one fastest when `column_major`.
Status max_pool(const Pool& pool, const Tensor& x, bool column_major, Tensor& out, Tensor& indices);
// f32 or f64. `count_padding`: padding cells count as zeros; those past the end padding never do.
Status average_pool(const Pool& pool, const Tensor& x, bool count_padding, Tensor& out);
// (sum of |x|^p)^(1/p), f32 or f64.
Status lp_pool(const Pool& pool, const Tensor& x, double p, Tensor& out);

// out[index of i] = x[i] in a tensor of sizes `plain`, laid into the corner of `out`; any dtype. Error
// "maxunpool.index".
Status max_unpool(const Tensor& x, const Tensor& indices, std::span<const int64_t> plain, Tensor& out);

}  // namespace anyshape::kernels
