#include <random>

#include "kernels/copy.h"
#include "kernels/wide.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kDropoutIn1[] = {{"data"}};
constexpr Port kIn12[] = {
    {"data"}, {"ratio", Port::optional}, {"training_mode", Port::optional | Port::value | Port::settled}};
constexpr Port kDropoutOut[] = {{"output"}, {"mask", Port::optional}};
constexpr AttributeDef kDropout1Attributes[] = {
    {"ratio", 0.5f},
    {"is_test", 0, {1, 6}},
};
constexpr AttributeDef kDropout12Attributes[] = {
    {"seed", AttributeDef::integer},
};

// The mask is a bool tensor from opset 10 on.
Facts results(const Call& call) {
  const Fact& in = call.in(0);
  return {typed(in.dtype, in.dims), typed(call.version() < 10 ? in.dtype : DType::boolean, in.dims)};
}

Result<Facts> infer1_dropout(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat | kMaskOther));
  return results(call);
}

Result<Facts> infer12(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat | kMaskOther));
  TRY_OK(require_tensor(call, 1, kMaskFloat | kMaskOther));
  TRY_OK(require_tensor(call, 2, kMaskBool));
  for (size_t i : {1u, 2u})
    if (call.has(i) && call.in(i).dims && !call.in(i).dims->empty())
      return refuse("dropout.scalar", "input {} of Dropout is a scalar, its shape is {}", i, text(*call.in(i).dims));
  return results(call);
}

// The share of entries to drop; 0 outside of training. Takes as much memory whatever the inputs say.
Result<double> drop_ratio(const Call& call, const KernelArgs& args) {
  if (call.version() < 12) {
    const bool trains = call.version() < 7 && call.i("is_test") == 0;
    return trains ? static_cast<double>(call.f("ratio")) : 0.0;
  }
  const Tensor &ratio = args.in(1), &training = args.in(2);
  double given = 0.5;
  if (ratio && ratio.count() == 1) {
    TRY(const Tensor wide, kernels::converted(ratio, DType::f64));
    given = wide.at<double>(0);
  }
  return training && training.count() == 1 && training.int_at(0) != 0 ? given : 0.0;
}

// Uniform in 0..1 with 53 bits from two draws, as NumPy makes them.
double uniform(std::mt19937& engine) {
  const auto high = static_cast<double>(engine() >> 5), low = static_cast<double>(engine() >> 6);
  return (high * 0x1p26 + low) * 0x1p-53;
}

// A tensor of bool, or of the element type of the data before opset 10.
Status fill_mask(const Temporary<bool>& kept, Tensor& mask) {
  TRY(Tensor flags, Tensor::allocate(DType::boolean, mask.dims()));
  for (size_t i = 0; i < kept.size(); ++i) flags.set_int(static_cast<int64_t>(i), kept[i]);
  return kernels::convert(flags, mask);
}

// data / (1 - ratio) where `kept` gets true, else 0. `wide` is the data in f64, `result` has room for as much.
void drop(double ratio, uint32_t seed, const Tensor& wide, Temporary<bool>& kept, Tensor& result) {
  std::mt19937 engine(seed);
  for (size_t i = 0; i < kept.size(); ++i) {
    kept[i] = uniform(engine) >= ratio;
    result.as_mutable<double>()[i] = kept[i] ? wide.as<double>()[i] / (1 - ratio) : 0.0;
  }
}

Status reference_dropout(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  TRY(const double ratio, drop_ratio(call, args));
  if (!(ratio >= 0 && ratio < 1)) return refuse("dropout.ratio", "the ratio is {}, not in 0..1", ratio);
  Temporary<bool> kept(static_cast<size_t>(data.count()), true);
  Tensor wide, result;
  // Also where this run drops nothing: the next one may, and takes no more memory then.
  if (call.version() < 12 ? ratio != 0 : static_cast<bool>(args.in(2))) {
    TRY(wide, kernels::converted(data, DType::f64));
    TRY(result, Tensor::allocate(DType::f64, data.dims()));
  }
  if (ratio == 0) {
    kernels::copy_elements(args.out(0), 0, data, 0, data.count());
  } else {
    const bool seeded = call.version() >= 12 && call.has_attr("seed");
    const uint64_t seed = seeded ? static_cast<uint64_t>(call.i("seed")) : args.seed;
    drop(ratio, static_cast<uint32_t>(seed), wide, kept, result);
    TRY_OK(kernels::convert(result, args.out(0)));
  }
  return call.has_output(1) ? fill_mask(kept, args.out(1)) : Status();
}

constexpr Kernel kDropoutKernels[] = {{"reference", reference_dropout}};

}  // namespace

constexpr OpDef kDropout1{
    .name = "Dropout",
    .since = 1,
    .sig = {kDropoutIn1, kDropoutOut, "the input; in training, some entries zeroed", kDropout1Attributes},
    .infer = infer1_dropout,
    .kernels = kDropoutKernels,
    .pure = false};
constexpr OpDef kDropout12{
    .name = "Dropout",
    .since = 12,
    .sig = {kIn12, kDropoutOut, "the input; in training, some entries zeroed", kDropout12Attributes},
    .infer = infer12,
    .kernels = kDropoutKernels,
    .pure = false};

}  // namespace anyshape::ops
