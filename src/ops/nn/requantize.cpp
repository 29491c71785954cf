#include <algorithm>

#include "kernels/reals.h"
#include "ops/microsoft/kernel.h"
#include "ops/records.h"

// anyshape.Requantize: DequantizeLinear, a difference, a product and a sum with one number per channel, bounds, and
// QuantizeLinear as one node; each step rounds to f32. Made by passes, never in files.
namespace anyshape::ops {
namespace {

constexpr Port kRequantizeIn[] = {{"X"},
                                  {"x_scale"},
                                  {"x_zero_point", Port::optional},
                                  {"shift", Port::optional},
                                  {"factor", Port::optional},
                                  {"bias", Port::optional},
                                  {"y_scale"},
                                  {"y_zero_point", Port::optional}};
constexpr Port kRequantizeOut[] = {{"Y"}};
constexpr AttributeDef kRequantizeAttributes[] = {
    {"axis", 1}, {"least", AttributeDef::real}, {"most", AttributeDef::real}};

Result<Facts> infer_requantize(const Call& call, InferContext&) {
  TRY(Dims dims, call.dims(0));
  return Facts{Fact::tensor(call.has(7) ? call.in(7).dtype : DType::u8, std::move(dims))};
}

Status reference_requantize(const Call& call, KernelArgs& args) {
  TRY(Tensor x, dequantized(args.in(0), args.in(1), args.in(2)));
  int64_t axis = call.i("axis"), inner = 1;
  if (axis < 0) axis += static_cast<int64_t>(x.rank());
  for (auto i = static_cast<size_t>(axis) + 1; i < x.rank(); ++i) inner *= x.dims()[i];
  const int64_t channels = x.dims()[static_cast<size_t>(axis)];
  for (size_t k : {size_t{3}, size_t{4}, size_t{5}})
    if (args.in(k) && args.in(k).count() != 1 && args.in(k).count() != channels)
      return refuse("kernel.shape", "there are {} numbers for {} channels", args.in(k).count(), channels);
  const auto *least = call.given<float>("least"), *most = call.given<float>("most");
  auto values = x.as_mutable<float>();
  for (int64_t i = 0; i < x.count(); ++i) {
    const auto entry = [&](const Tensor& t) { return t.at<float>(t.count() == 1 ? 0 : i / inner % channels); };
    float& y = values[static_cast<size_t>(i)];
    if (args.in(3)) y -= entry(args.in(3));
    if (args.in(4)) y *= entry(args.in(4));
    if (args.in(5)) y += entry(args.in(5));
    if (least) y = std::max(y, *least);
    if (most) y = std::min(y, *most);
  }
  return quantize_to(x, args.in(6), args.in(7), args.out(0));
}

constexpr Kernel kRequantizeKernels[] = {{"reference", reference_requantize}};

}  // namespace

constexpr OpDef kRequantize1{
    .name = "Requantize",
    .since = 1,
    .domain = "anyshape",
    .sig = {kRequantizeIn, kRequantizeOut, "bytes of one scale as those of another, with steps by channel between",
            kRequantizeAttributes},
    .infer = infer_requantize,
    .kernels = kRequantizeKernels};

}  // namespace anyshape::ops
