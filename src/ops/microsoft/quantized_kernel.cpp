#include <algorithm>
#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/recurrent.h"
#include "kernels/scores.h"
#include "kernels/wide.h"
#include "kernels/zero_point.h"
#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

// Most of these compute on real numbers between dequantising and quantising.
namespace anyshape::ops {
namespace {

// Inputs i, i + 1 and i + 2: a tensor with its scale and zero point.
Result<Tensor> real_input(const KernelArgs& args, size_t i) {
  return dequantized(args.in(i), args.in(i + 1), args.in(i + 2));
}

// fn on a tensor of the sizes of input 0, between dequantising and quantising.
template <class Fn>
Status between(KernelArgs& args, Fn fn) {
  TRY(Tensor x, real_input(args, 0));
  TRY_OK(map_reals(x, fn));
  return quantize_to(x, args.in(3), args.in(4), args.out(0));
}

Result<Temporary<int64_t>> moved_dims(const Tensor& tensor) {
  auto dims = temporary(tensor.dims());
  if (dims.size() < 3) return refuse("kernel.shape", "a tensor of rank {} has no channels", dims.size());
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return dims;
}

// run(x, y) on tensors with the channels in front.
template <class Run>
Status with_channels_quantized_kernel(const Call& call, const Tensor& x, Tensor& y, Run run) {
  if (call.i("channels_last") == 0) return run(x, y);
  TRY(const Tensor front, channels_to_front(x));
  TRY(auto dims, moved_dims(y));
  TRY(Tensor out, Tensor::allocate(y.dtype(), std::move(dims)));
  TRY_OK(run(front, out));
  TRY(const Tensor turned, channels_to_back(out));
  return put(turned, y);
}

Status run_pool(const OpDef& op, int64_t version, const Call& call, KernelArgs& args) {
  return with_channels_quantized_kernel(call, args.in(0), args.out(0), [&](const Tensor& x, Tensor& y) -> Status {
    TRY(Tensor real, dequantized(x, args.in(1), args.in(2)));
    TRY(Tensor pooled, Tensor::allocate(DType::f32, y.dims()));
    TRY_OK(run_as(op, version, call, {std::move(real)}, pooled));
    return quantize_to(pooled, args.in(3), args.in(4), y);
  });
}

}  // namespace

Status run_ms_quantize_linear(const Call& call, KernelArgs& args) {
  return run_as(kQuantizeLinear10, 21, call, {args.in(0), args.in(1), args.in(2)}, args.out(0));
}

Status run_ms_dequantize_linear(const Call& call, KernelArgs& args) {
  return run_as(kDequantizeLinear10, 21, call, {args.in(0), args.in(1), args.in(2)}, args.out(0));
}

Status run_ms_q_average_pool(const Call& call, KernelArgs& args) { return run_pool(kAveragePool1, 11, call, args); }
Status run_ms_q_global_pool(const Call& call, KernelArgs& args) { return run_pool(kGlobalAveragePool1, 1, call, args); }

Status run_ms_q_leaky_relu(const Call& call, KernelArgs& args) {
  const auto alpha = static_cast<double>(call.f("alpha"));
  return between(args, [=](double x) { return x < 0 ? alpha * x : x; });
}

Status run_ms_q_sigmoid(const Call&, KernelArgs& args) { return between(args, kernels::logistic); }

Status run_ms_q_softmax(const Call& call, KernelArgs& args) {
  TRY(Tensor x, real_input(args, 0));
  TRY(Tensor y, Tensor::allocate(DType::f32, x.dims()));
  const int64_t version = call.i("opset");
  TRY_OK(run_as(kSoftmax1, version, call, {std::move(x)}, y));
  return quantize_to(y, args.in(3), args.in(4), args.out(0));
}

Status run_ms_q_reduce_mean(const Call& call, KernelArgs& args) {
  TRY(Tensor x, real_input(args, 0));
  TRY(Tensor y, Tensor::allocate(DType::f32, args.out(0).dims()));
  TRY_OK(run_as(kReduceMean1, 13, call, {std::move(x)}, y));
  return quantize_to(y, args.in(3), args.in(4), args.out(0));
}

Status run_ms_reduce_sum_integer(const Call& call, KernelArgs& args) {
  TRY(Tensor x, kernels::converted(args.in(0), DType::i32));
  return run_as(kReduceSum1, 11, call, {std::move(x)}, args.out(0));
}

namespace {

struct Quantity {
  Temporary<double> values;
  float scale = 1, zero = 0;
};

Result<float> one_float(const Tensor& tensor, float fallback) {
  if (!tensor) return fallback;
  TRY(const auto values, kernels::to_reals(tensor));
  if (values.size() != 1) return refuse("quantize.scale", "a parameter has {} entries, not 1", values.size());
  return static_cast<float>(values[0]);
}

Result<Quantity> quantity(const KernelArgs& args, size_t i) {
  Quantity out;
  TRY(out.values, kernels::to_reals(args.in(i)));
  TRY(out.scale, one_float(args.in(i + 1), 1));
  TRY(out.zero, one_float(args.in(i + 2), 0));
  return out;
}

}  // namespace

// In float and with the scales combined first, as ONNX Runtime does: ties are decided by the last bit.
Status run_ms_q_binary(const Call& call, KernelArgs& args) {
  TRY(const Quantity a, quantity(args, 0));
  TRY(const Quantity b, quantity(args, 3));
  TRY(const float scale, one_float(args.in(6), 1));
  TRY(const float zero, one_float(args.in(7), 0));
  const Tensor &x = args.in(0), &y = args.in(3);
  if (!kernels::broadcasts(x.dims(), args.out(0).dims()) || !kernels::broadcasts(y.dims(), args.out(0).dims()))
    return refuse("kernel.shape", "the inputs do not broadcast to the output");
  kernels::BroadcastIndex ia(x.dims(), args.out(0).dims()), ib(y.dims(), args.out(0).dims());
  const bool sum = call.type() == "QLinearAdd";
  const float left = a.scale / scale, right = b.scale / scale, both = a.scale * b.scale / scale;
  const float fixed = zero - (left * a.zero + right * b.zero);
  Temporary<double> out;
  for (int64_t n = 0; n < args.out(0).count(); ++n, ia.next(), ib.next()) {
    const auto u = static_cast<float>(a.values[static_cast<size_t>(ia.offset())]);
    const auto v = static_cast<float>(b.values[static_cast<size_t>(ib.offset())]);
    const float product = (u - a.zero) * (v - b.zero) * both;
    out.push_back(static_cast<double>(sum ? std::fma(right, v, std::fma(left, u, fixed)) : product + zero));
  }
  return kernels::from_reals(out, args.out(0));
}

Status run_ms_q_where(const Call& call, KernelArgs& args) {
  TRY(Tensor x, real_input(args, 1));
  TRY(Tensor y, real_input(args, 4));
  TRY(Tensor z, Tensor::allocate(DType::f32, args.out(0).dims()));
  TRY_OK(run_as(kWhere9, 16, call, {args.in(0), std::move(x), std::move(y)}, z));
  return quantize_to(z, args.in(7), args.in(8), args.out(0));
}

Status run_ms_q_concat(const Call& call, KernelArgs& args) {
  Temporary<Datum> parts;
  for (size_t i = 2; i + 2 < args.inputs.size(); i += 3) {
    TRY(Tensor part, real_input(args, i));
    parts.emplace_back(std::move(part));
  }
  TRY(Tensor whole, Tensor::allocate(DType::f32, args.out(0).dims()));
  TRY_OK(run_as(kConcat1, 13, call, std::move(parts), whole));
  return quantize_to(whole, args.in(0), args.in(1), args.out(0));
}

Status run_ms_q_conv(const Call& call, KernelArgs& args) {
  return with_channels_quantized_kernel(call, args.in(0), args.out(0), [&](const Tensor& x, Tensor& y) -> Status {
    Temporary<Datum> in(args.inputs.begin(), args.inputs.end());
    in[0] = x;
    for (size_t i : {size_t{2}, size_t{5}, size_t{7}}) {
      if (i >= in.size() || in[i]) continue;
      TRY(Tensor zero, Tensor::allocate(i == 5 ? args.in(3).dtype() : i == 2 ? x.dtype() : y.dtype(), {}));
      in[i] = std::move(zero);
    }
    if (in.size() < 8) return refuse("conv.inputs", "QLinearConv has {} inputs", in.size());
    return run_as(kQLinearConv10, 10, call, std::move(in), y);
  });
}

namespace {

Result<Tensor> turned_if(const Tensor& matrix, bool turn) {
  if (matrix.rank() != 2) return refuse("rank", "QGemm takes matrices");
  return turn ? permuted(matrix, {1, 0}) : Result<Tensor>(matrix);
}

// One number, or one per column of B, which is a row of it where B is turned.
kernels::Parameter column_parameter_quantized_kernel(const Tensor& tensor) {
  if (!tensor || tensor.count() == 1) return {tensor, {}};
  return {tensor, {tensor.count()}};
}

}  // namespace

// The bias counts in units of the product of both scales. In f32 and with the scales combined first, as ONNX Runtime
// does: ties are decided by the last bit.
Status run_ms_q_gemm(const Call& call, KernelArgs& args) {
  TRY(const Tensor a, turned_if(args.in(0), call.i("transA") != 0));
  TRY(const Tensor b, turned_if(args.in(3), call.i("transB") != 0));
  TRY(const Tensor left, kernels::centered(a, {args.in(2), {}}));
  TRY(const Tensor right, kernels::centered(b, column_parameter_quantized_kernel(args.in(5))));
  TRY(Tensor sums, Tensor::allocate(DType::f64, args.out(0).dims()));
  TRY_OK(kernels::matmul(left, right, sums));
  if (args.in(6)) TRY_OK(add_to(sums, args.in(6)));
  TRY(const float a_scale, one_float(args.in(1), 1));
  TRY(Tensor scale, Tensor::allocate(DType::f32, {}));
  scale.as_mutable<float>()[0] = call.f("alpha") * a_scale;
  const kernels::Parameter columns = column_parameter_quantized_kernel(args.in(4));
  if (args.in(7) && args.out(0).dtype() != DType::f32) {
    Tensor zero = args.in(8);
    if (!zero) {
      TRY(zero, Tensor::allocate(args.out(0).dtype(), {}));
    }
    return kernels::requantize(sums, {scale, {}}, columns, args.in(7), zero, args.out(0));
  }
  TRY(const auto factors, kernels::to_reals(args.in(4)));
  const auto count = static_cast<size_t>(args.out(0).dims()[1]);
  if (factors.size() != 1 && factors.size() != count)
    return refuse("quantize.scale", "the scales do not fit the matrices");
  size_t i = 0;
  TRY_OK(map_reals(sums, [&](double x) {
    const float factor = scale.at<float>(0) * static_cast<float>(factors[i++ % factors.size()]);
    return static_cast<double>(static_cast<float>(x) * factor);
  }));
  return kernels::convert(sums, args.out(0));
}

namespace {

// [directions, inputs, gates] as the [directions, gates, inputs] LSTM has, in real numbers. One scale per direction, or
// one per gate entry.
Result<Tensor> lstm_weights(const Tensor& w, const Tensor& scale, const Tensor& zero) {
  if (w.rank() != 3) return refuse("rank", "the weights of DynamicQuantizeLSTM have rank {}", w.rank());
  TRY(Tensor real, Tensor::allocate(DType::f32, w.dims()));
  TRY(Temporary<double> values, kernels::to_reals(w));
  TRY(const auto scales, kernels::to_reals(scale));
  TRY(const auto zeros, kernels::to_reals(zero));
  const auto directions = static_cast<size_t>(w.dims()[0]), gates = static_cast<size_t>(w.dims()[2]);
  const size_t inputs = static_cast<size_t>(w.dims()[1]);
  const auto parameter = [&](const Temporary<double>& list, size_t direction, size_t gate) -> std::optional<double> {
    if (list.size() == 1) return list[0];
    if (list.size() == directions) return list[direction];
    if (list.size() == directions * gates) return list[direction * gates + gate];
    return std::nullopt;
  };
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t direction = i / (inputs * gates), gate = i % gates;
    const auto s = parameter(scales, direction, gate), z = parameter(zeros, direction, gate);
    if (!s || !z) return refuse("quantize.scale", "there are {} scales for {} directions", scales.size(), directions);
    values[i] = (values[i] - *z) * *s;
  }
  TRY_OK(kernels::from_reals(values, real));
  return permuted(real, {0, 2, 1});
}

}  // namespace

// ONNX Runtime also rounds the inputs to 8 bits at each step; here they stay real numbers.
Status run_ms_dynamic_lstm(const Call& call, KernelArgs& args) {
  TRY(Tensor w, lstm_weights(args.in(1), args.in(8), args.in(9)));
  TRY(Tensor r, lstm_weights(args.in(2), args.in(10), args.in(11)));
  Temporary<Datum> in{args.in(0), std::move(w), std::move(r)};
  for (size_t i = 3; i < 8; ++i) in.emplace_back(args.in(i));
  return run_as(kLSTM1, 7, call, std::move(in), args.outputs);
}

}  // namespace anyshape::ops
