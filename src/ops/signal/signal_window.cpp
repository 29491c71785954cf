#include <cmath>
#include <numbers>

#include "kernels/reals.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kSignalWindowIn[] = {{"size", Port::value}};
constexpr Port kMelIn[] = {{"num_mel_bins", Port::value},
                           {"dft_length", Port::value},
                           {"sample_rate"},
                           {"lower_edge_hertz"},
                           {"upper_edge_hertz"}};
constexpr Port kSignalWindowOut[] = {{"output"}};
constexpr AttributeDef kBlackmanWindowAttributes[] = {
    {"output_datatype", 1},
    {"periodic", 1},
};
constexpr AttributeDef kMelWeightMatrixAttributes[] = {
    {"output_datatype", 1},
};

Result<DType> output_dtype(const Call& call) {
  const int64_t code = call.i("output_datatype");
  const auto dtype = dtype_from_onnx(code);
  if (!dtype || *dtype == DType::undefined) return refuse("window.dtype", "{} is no element type", code);
  return *dtype;
}

// One size given as a scalar input, not negative.
Result<Dim> size_input_signal_window(const Call& call, InferContext& context, size_t input) {
  const Fact& fact = call.in(input);
  TRY_OK(require_integers(call, input));
  if (fact.dims)
    TRY_OK(context.require(Condition::eq(product(*fact.dims), 1), "window.size",
                           "input {} must be one number, it is {}", input, print(fact)));
  const auto known = fact.single();
  const Dim size = known ? *known : context.fresh(fact, "size");
  TRY_OK(context.require(Condition::ge(size, 0), "window.size", "a size must not be negative, it is {}", print(size)));
  return size;
}

Result<Facts> infer_window(const Call& call, InferContext& context) {
  TRY(const DType dtype, output_dtype(call));
  TRY(const Dim size, size_input_signal_window(call, context, 0));
  return Facts{Fact::tensor(dtype, {size})};
}

Result<Facts> infer_mel(const Call& call, InferContext& context) {
  TRY(const DType dtype, output_dtype(call));
  TRY(const Dim bins, size_input_signal_window(call, context, 0));
  TRY(const Dim length, size_input_signal_window(call, context, 1));
  return Facts{Fact::tensor(dtype, {floordiv(length, 2) + 1, bins})};
}

// Integers are cut towards zero, not rounded.
Status store(std::span<double> values, Tensor& out) {
  if (is_integer(out.dtype()))
    for (double& value : values) value = std::trunc(value);
  return kernels::from_reals(values, out);
}

double window_at(std::string_view type, double n, double length) {
  const double turn = 2 * std::numbers::pi * n / length;
  if (type == "BlackmanWindow") return 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn);
  if (type == "HammingWindow") return 25.0 / 46.0 - 21.0 / 46.0 * std::cos(turn);
  const double half = std::sin(turn / 2);
  return half * half;
}

// A symmetric window of one entry is 0 / 0, as ONNX's text gives it.
Status run_window(const Call& call, KernelArgs& args) {
  if (!args.out(0)) return unknown("window.size", "the size is not known");
  Temporary<double> values(static_cast<size_t>(args.out(0).count()));
  const double length = static_cast<double>(values.size()) - (call.i("periodic") != 0 ? 0 : 1);
  for (size_t i = 0; i < values.size(); ++i) values[i] = window_at(call.type(), static_cast<double>(i), length);
  return store(values, args.out(0));
}

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz_of(double mel) { return 700 * std::expm1(mel / 2595 * std::numbers::ln10); }

Result<double> one_number(const Tensor& tensor) {
  TRY(const auto values, kernels::to_reals(tensor));
  if (values.size() != 1) return refuse("melweightmatrix.inputs", "an input has {} numbers, not 1", values.size());
  return values[0];
}

// The spectrum bins where the triangles start, peak and end.
Result<Temporary<int64_t>> mel_edges(const KernelArgs& args, int64_t mels, int64_t bins) {
  TRY(const double length, one_number(args.in(1)));
  TRY(const double rate, one_number(args.in(2)));
  TRY(const double lower, one_number(args.in(3)));
  TRY(const double upper, one_number(args.in(4)));
  const double low = mel_of(lower), step = (mel_of(upper) - low) / static_cast<double>(mels + 2);
  Temporary<int64_t> edges;
  for (int64_t i = 0; i < mels + 2; ++i) {
    const double edge = std::floor((length + 1) * hertz_of(static_cast<double>(i) * step + low) / rate);
    if (!(edge >= 0 && edge <= static_cast<double>(bins)))
      return refuse("melweightmatrix.edge", "the edges {} to {} Hz do not fit a spectrum of {} bins", lower, upper,
                    bins);
    edges.push_back(static_cast<int64_t>(edge));
  }
  return edges;
}

Status run_mel(const Call&, KernelArgs& args) {
  if (!args.out(0)) return unknown("window.size", "the size is not known");
  const int64_t bins = args.out(0).dims()[0], mels = args.out(0).dims()[1];
  TRY(const auto edges, mel_edges(args, mels, bins));
  Temporary<double> values(static_cast<size_t>(bins * mels));
  for (int64_t m = 0; m < mels; ++m) {
    const int64_t left = edges[static_cast<size_t>(m)], peak = edges[static_cast<size_t>(m) + 1],
                  right = edges[static_cast<size_t>(m) + 2];
    const auto at = [&](int64_t bin) -> double& { return values[static_cast<size_t>(bin * mels + m)]; };
    if (peak >= bins || peak < left)
      return refuse("melweightmatrix.edge", "bin {} is past a spectrum of {} bins", peak, bins);
    if (left == peak) at(peak) = 1;
    for (int64_t bin = left; left != peak && bin <= peak; ++bin)
      at(bin) = static_cast<double>(bin - left) / static_cast<double>(peak - left);
    for (int64_t bin = peak; bin < right; ++bin)
      at(bin) = static_cast<double>(right - bin) / static_cast<double>(right - peak);
  }
  return store(values, args.out(0));
}

constexpr Kernel kWindowKernels[] = {{"reference", run_window}};
constexpr Kernel kMelKernels[] = {{"reference", run_mel}};

}  // namespace

constexpr OpDef kBlackmanWindow17{
    .name = "BlackmanWindow",
    .since = 17,
    .sig = {kSignalWindowIn, kSignalWindowOut, "a Blackman window", kBlackmanWindowAttributes},
    .infer = infer_window,
    .kernels = kWindowKernels};
constexpr OpDef kHammingWindow17{
    .name = "HammingWindow",
    .since = 17,
    .sig = {kSignalWindowIn, kSignalWindowOut, "a Hamming window", kBlackmanWindowAttributes},
    .infer = infer_window,
    .kernels = kWindowKernels};
constexpr OpDef kHannWindow17{.name = "HannWindow",
                              .since = 17,
                              .sig = {kSignalWindowIn, kSignalWindowOut, "a Hann window", kBlackmanWindowAttributes},
                              .infer = infer_window,
                              .kernels = kWindowKernels};
constexpr OpDef kMelWeightMatrix17{
    .name = "MelWeightMatrix",
    .since = 17,
    .sig = {kMelIn, kSignalWindowOut, "weights from a spectrum to mel bins", kMelWeightMatrixAttributes},
    .infer = infer_mel,
    .kernels = kMelKernels};

}  // namespace anyshape::ops
