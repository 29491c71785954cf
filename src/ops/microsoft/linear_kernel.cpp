#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "kernels/conv.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/quantize.h"
#include "kernels/recurrent.h"
#include "kernels/wide.h"
#include "kernels/zero_point.h"
#include "ops/given.h"
#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/movement/movement.h"
#include "ops/nn/window.h"
#include "ops/records.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

std::optional<double> attribute(const Call& call, std::string_view name) {
  return call.has_attr(name) ? std::optional(static_cast<double>(call.f(name))) : std::nullopt;
}

Status activate_by_names(const Call& call, Tensor& out) {
  return activate(call.s("activation"), attribute(call, "activation_alpha"), attribute(call, "activation_beta"), out);
}

// As the rule arranges the dims: the first axis behind the other batch axes, then the last two swapped.
Result<Tensor> arranged_linear_kernel(const Tensor& tensor, bool swap_last, bool batch_inside) {
  const size_t rank = tensor.rank();
  Temporary<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (batch_inside && rank > 2) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (swap_last && rank >= 2) std::swap(order[rank - 1], order[rank - 2]);
  return permuted(tensor, order);
}

}  // namespace

Status run_ms_fused_matmul(const Call& call, KernelArgs& args) {
  TRY(Tensor a, arranged_linear_kernel(args.in(0), call.i("transA") != 0, is_set(call, "transBatchA")));
  TRY(Tensor b, arranged_linear_kernel(args.in(1), call.i("transB") != 0, is_set(call, "transBatchB")));
  const Temporary<Datum> in{std::move(a), std::move(b)};
  KernelArgs arranged_args{in, args.outputs, nullptr, 0};
  const auto product = [&](KernelArgs& wide) -> Status {
    TRY_OK(kernels::matmul(wide.in(0), wide.in(1), wide.out(0)));
    const auto alpha = static_cast<double>(call.f("alpha"));
    return alpha == 1 ? Status() : map_reals(wide.out(0), [=](double x) { return alpha * x; });
  };
  TRY_OK(run_wide(arranged_args, product));
  return call.type() == "FusedMatMulActivation" ? activate_by_names(call, args.out(0)) : Status();
}

Status run_ms_fused_gemm(const Call& call, KernelArgs& args) {
  TRY_OK(run_as(kGemm11, 13, call, {args.in(0), args.in(1), args.in(2)}, args.out(0)));
  return activate_by_names(call, args.out(0));
}

Status run_ms_fused_conv(const Call& call, KernelArgs& args) {
  TRY_OK(run_as(kConv1, 11, call, {args.in(0), args.in(1), args.in(2)}, args.out(0)));
  if (args.in(3)) TRY_OK(add_to(args.out(0), args.in(3)));
  return activate_by_list(call, args.out(0));
}

namespace {

Result<Tensor> like_channels_first(const Tensor& tensor) {
  auto dims = temporary(tensor.dims());
  if (dims.size() < 3) return refuse("kernel.shape", "a tensor of rank {} has no channels", dims.size());
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return Tensor::allocate(tensor.dtype(), dims);
}

}  // namespace

Status run_ms_nhwc_conv(const Call& call, KernelArgs& args) {
  TRY(Tensor x, channels_to_front(args.in(0)));
  TRY(Tensor y, like_channels_first(args.out(0)));
  TRY_OK(run_as(kConv1, 11, call, {std::move(x), args.in(1), args.in(2)}, y));
  TRY(const Tensor turned, channels_to_back(y));
  TRY_OK(put(turned, args.out(0)));
  if (args.in(3)) TRY_OK(add_to(args.out(0), args.in(3)));
  return activate_by_list(call, args.out(0));
}

Status run_ms_nhwc_max_pool(const Call& call, KernelArgs& args) {
  TRY(Tensor x, channels_to_front(args.in(0)));
  TRY(Tensor y, like_channels_first(args.out(0)));
  TRY_OK(run_as(kMaxPool1, 12, call, {std::move(x)}, y));
  TRY(const Tensor turned, channels_to_back(y));
  return put(turned, args.out(0));
}

// Products with strides and dilations, which are below 2^31, stay within 63 bits.
constexpr int64_t kLongAxis = int64_t{1} << 31;

// The sizes follow from the pads, which are data.
Status run_ms_conv_transpose_pads(const Call& call, KernelArgs& args) {
  const Tensor &x = args.in(0), &w = args.in(1), &pads = args.in(2);
  if (!pads) return run_as(kConvTranspose1, 11, call, {x, w, args.in(3)}, args.out(0));
  if (x.rank() < 3 || w.rank() != x.rank()) return refuse("kernel.shape", "X and W do not fit each other");
  const size_t rank = x.rank() - 2;
  if (pads.dtype() != DType::i64 || pads.count() != static_cast<int64_t>(2 * rank))
    return refuse("convtranspose.pads", "there are {} pads for {} axes", pads.count(), rank);
  kernels::Conv conv;
  TRY(conv.strides, axis_ints(call, "strides", rank, 1, 1));
  TRY(conv.dilations, axis_ints(call, "dilations", rank, 1, 1));
  TRY(const auto extra, axis_ints(call, "output_padding", rank, 0, 0));
  conv.group = call.i("group");
  if (conv.group < 1 || conv.group > kFar / std::max<int64_t>(1, w.dims()[1]))
    return refuse("convtranspose.group", "group is {}", conv.group);
  Temporary<int64_t> dims{x.dims()[0], w.dims()[1] * conv.group};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t before = pads.int_at(static_cast<int64_t>(i)), after = pads.int_at(static_cast<int64_t>(rank + i));
    if (before < 0 || after < 0 || before > kFar || after > kFar)
      return refuse("convtranspose.pads", "the pads {} and {} of axis {} are out of range", before, after, i);
    if (x.dims()[i + 2] > kLongAxis || w.dims()[i + 2] > kLongAxis)
      return refuse("convtranspose.size", "axis {} is too long", i);
    conv.pads.push_back(before);
    dims.push_back((x.dims()[i + 2] - 1) * conv.strides[i] + extra[i] + (w.dims()[i + 2] - 1) * conv.dilations[i] + 1 -
                   before - after);
    if (dims.back() < 0) return refuse("convtranspose.pads", "the pads of axis {} take more than there is", i);
  }
  TRY(args.out(0), Tensor::allocate(x.dtype(), dims));
  return run_wide(args, [&](KernelArgs& wide) {
    return kernels::conv_transpose(conv, wide.in(0), wide.in(1), wide.in(3), wide.out(0));
  });
}

namespace {

// One number, or one per column, which is the last axis.
kernels::Parameter column_parameter_linear_kernel(const Tensor& tensor) {
  if (!tensor || tensor.count() == 1) return {tensor, {}};
  return {tensor, temporary(tensor.dims())};
}

// a * b without zero points, times the scales, plus bias.
Status scaled_product(const Tensor& a, const Tensor& a_zero, const Tensor& a_scale, const Tensor& b,
                      const Tensor& b_zero, const Tensor& b_scale, const Tensor& bias, Tensor& out) {
  TRY(const Tensor left, kernels::centered(a, {a_zero, {}}));
  TRY(const Tensor right, kernels::centered(b, column_parameter_linear_kernel(b_zero)));
  TRY(Tensor sums, Tensor::allocate(DType::f64, out.dims()));
  TRY_OK(kernels::matmul(left, right, sums));
  TRY(const auto a_scales, kernels::to_reals(a_scale));
  TRY(const auto b_scales, kernels::to_reals(b_scale));
  if (a_scales.size() != 1 || b_scales.empty()) return refuse("quantize.scale", "the scales do not fit");
  if (b_scales.size() != 1 && (out.rank() == 0 || out.dims().back() != static_cast<int64_t>(b_scales.size())))
    return refuse("quantize.scale", "there are {} scales of B", b_scales.size());
  size_t i = 0;
  TRY_OK(map_reals(sums, [&](double x) { return x * a_scales[0] * b_scales[i++ % b_scales.size()]; }));
  if (bias) TRY_OK(add_to(sums, bias));
  return kernels::convert(sums, out);
}

}  // namespace

Status run_ms_dynamic_matmul(const Call&, KernelArgs& args) {
  TRY(const Tensor a, kernels::converted(args.in(0), DType::f32));
  TRY(Tensor quantized, Tensor::allocate(DType::u8, a.dims()));
  TRY(Tensor scale, Tensor::allocate(DType::f32, {}));
  TRY(Tensor zero, Tensor::allocate(DType::u8, {}));
  kernels::quantize_dynamically(a, quantized, scale, zero);
  return scaled_product(quantized, zero, scale, args.in(1), args.in(3), args.in(2), args.in(4), args.out(0));
}

Status run_ms_integer_to_float(const Call&, KernelArgs& args) {
  return scaled_product(args.in(0), args.in(4), args.in(2), args.in(1), args.in(5), args.in(3), args.in(6),
                        args.out(0));
}

namespace {

// a * w^T for w [n, k] of doubles; a has k entries in its last axis.
Status multiply_rows(const Tensor& a, const Temporary<double>& w, int64_t n, int64_t k, const Tensor& bias,
                     Tensor& out) {
  TRY(const auto rows, kernels::to_reals(a));
  Temporary<double> sums;
  for (size_t start = 0; start < rows.size(); start += static_cast<size_t>(k))
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += rows[start + static_cast<size_t>(i)] * w[static_cast<size_t>(j * k + i)];
      sums.push_back(sum);
    }
  if (!bias) return kernels::from_reals(sums, out);
  TRY(const auto more, kernels::to_reals(bias));
  if (more.size() != static_cast<size_t>(n)) return refuse("matmul.bias", "the bias has {} entries", more.size());
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i % more.size()];
  return kernels::from_reals(sums, out);
}

// Number i of those packed from the low bits on, `bits` each, starting at byte `start`.
int bits_at(const Tensor& packed, int64_t start, int64_t i, int64_t bits) {
  const int64_t bit = i * bits;
  const int byte = packed.at<uint8_t>(start + bit / 8);
  return byte >> (bit % 8) & ((1 << bits) - 1);
}

struct NBits {
  int64_t k = 0, n = 0, bits = 4, block = 32, blocks = 0, blob = 0, zero_row = 0;
};

Result<NBits> read_nbits(const Call& call, const KernelArgs& args) {
  NBits how{call.i("K"), call.i("N"), call.i("bits"), call.i("block_size"), 0, 0, 0};
  if (how.bits != 2 && how.bits != 4 && how.bits != 8) return refuse("matmul.bits", "bits is {}", how.bits);
  if (how.block < 1 || how.block > kFar || how.k < 1 || how.k > kFar || how.n < 1 || how.n > kFar)
    return refuse("matmul.packed", "K is {}, N is {}, block_size is {}", how.k, how.n, how.block);
  how.blocks = (how.k - 1) / how.block + 1;
  how.blob = (how.block * how.bits + 7) / 8;
  how.zero_row = (how.blocks * how.bits + 7) / 8;
  const Tensor &b = args.in(1), &scales = args.in(2), &zeros = args.in(3);
  const bool packed_zeros = zeros.dtype() == DType::u8;
  const auto expected = element_count(std::array{how.n, how.blocks, how.blob});
  if (b.dtype() != DType::u8 || !expected || b.count() != *expected || scales.count() != how.n * how.blocks ||
      (zeros && zeros.count() != how.n * (packed_zeros ? how.zero_row : how.blocks)))
    return refuse("matmul.packed", "the packed weights, scales or zero points do not fit K {} and N {}", how.k, how.n);
  if (args.in(4) && (args.in(4).dtype() != DType::i32 || args.in(4).count() < how.k))
    return refuse("matmul.packed", "g_idx has {} entries for K {}", args.in(4).count(), how.k);
  return how;
}

}  // namespace

Status run_ms_matmul_nbits(const Call& call, KernelArgs& args) {
  TRY(const NBits how, read_nbits(call, args));
  const Tensor &b = args.in(1), &zeros = args.in(3), &groups = args.in(4);
  TRY(const auto scales, kernels::to_reals(args.in(2)));
  Temporary<double> float_zeros;
  if (zeros && zeros.dtype() != DType::u8) {
    TRY(float_zeros, kernels::to_reals(zeros));
  }
  Temporary<double> w(static_cast<size_t>(how.n * how.k));
  for (int64_t j = 0; j < how.n; ++j)
    for (int64_t i = 0; i < how.k; ++i) {
      const int64_t group = groups ? groups.int_at(i) : i / how.block;
      if (group < 0 || group >= how.blocks) return refuse("matmul.packed", "g_idx has the entry {}", group);
      const auto at = static_cast<size_t>(j * how.blocks + group);
      double zero = std::ldexp(1, static_cast<int>(how.bits) - 1);
      if (zeros) zero = float_zeros.empty() ? bits_at(zeros, j * how.zero_row, group, how.bits) : float_zeros[at];
      const int value = bits_at(b, (j * how.blocks + i / how.block) * how.blob, i % how.block, how.bits);
      w[static_cast<size_t>(j * how.k + i)] = (value - zero) * scales[at];
    }
  return multiply_rows(args.in(0), w, how.n, how.k, args.in(5), args.out(0));
}

namespace {

// The values of the 16 codes: 4-bit floats, and quantiles of the normal distribution.
constexpr double kFp4[] = {0,   5.208333333e-03,  0.66666667,  1,  0.33333333,  0.5,  0.16666667,  0.25,
                           -0., -5.208333333e-03, -0.66666667, -1, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double kNf4[] = {-1.0,
                           -0.6961928009986877,
                           -0.5250730514526367,
                           -0.39491748809814453,
                           -0.28444138169288635,
                           -0.18477343022823334,
                           -0.09105003625154495,
                           0.0,
                           0.07958029955625534,
                           0.16093020141124725,
                           0.24611230194568634,
                           0.33791524171829224,
                           0.44070982933044434,
                           0.5626170039176941,
                           0.7229568362236023,
                           1.0};

}  // namespace

Status run_ms_matmul_bnb4(const Call& call, KernelArgs& args) {
  const int64_t k = call.i("K"), n = call.i("N"), block = call.i("block_size"), type = call.i("quant_type");
  const Tensor& b = args.in(1);
  int64_t count = 0;
  if (k < 1 || n < 1 || block < 1 || block > kFar || __builtin_mul_overflow(k, n, &count) || b.dtype() != DType::u8 ||
      b.count() != (count + 1) / 2)
    return refuse("matmul.packed", "the packed weights do not fit K {} and N {}", k, n);
  if (type != 0 && type != 1) return refuse("matmul.packed", "quant_type is {}", type);
  TRY(const auto scales, kernels::to_reals(args.in(2)));
  if (static_cast<int64_t>(scales.size()) < (count + block - 1) / block)
    return refuse("matmul.packed", "absmax has {} entries", scales.size());
  Temporary<double> w(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int byte = b.at<uint8_t>(i / 2), code = i % 2 == 0 ? byte >> 4 : byte & 15;
    w[static_cast<size_t>(i)] = (type == 0 ? kFp4 : kNf4)[code] * scales[static_cast<size_t>(i / block)];
  }
  if (call.i("transB") != 0) return multiply_rows(args.in(0), w, n, k, {}, args.out(0));
  Temporary<double> turned(w.size());
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i) turned[static_cast<size_t>(i * n + j)] = w[static_cast<size_t>(j * k + i)];
  return multiply_rows(args.in(0), turned, k, n, {}, args.out(0));
}

}  // namespace anyshape::ops
