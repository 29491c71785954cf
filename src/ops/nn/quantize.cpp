#include "kernels/quantize.h"

#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
namespace anyshape::ops {
namespace {

constexpr Port kQuantizeIn[] = {{"x"}, {"y_scale"}, {"y_zero_point", Port::optional}};
constexpr Port kDequantizeIn[] = {{"x"}, {"x_scale"}, {"x_zero_point", Port::optional}};
constexpr Port kDynamicIn[] = {{"x"}};
constexpr Port kQuantizeOut[] = {{"y"}};
constexpr Port kDynamicOut[] = {{"y"}, {"y_scale"}, {"y_zero_point"}};
constexpr AttributeDef kDequantizeLinearAttributes[] = {
    {"axis", 1, {13}},
    {"block_size", 0, {21}},
    {"output_dtype", 0, {23}},
};
constexpr AttributeDef kQuantizeLinearAttributes[] = {
    {"axis", 1, {13}},      {"block_size", 0, {21}}, {"output_dtype", 0, {21}},
    {"precision", 0, {23}}, {"saturate", 1, {19}},
};

// One scale per block of `block` entries along the axis.
Status require_blocks(const Call& call, InferContext& context, const Dims& x, const Dims& scale, int64_t block) {
  TRY(const size_t axis, normalize_axis(call.i("axis"), x.size()));
  if (scale.size() != x.size())
    return refuse("quantize.scale", "blocked scales have the rank of the input, here {} against {}", text(scale),
                  text(x));
  for (size_t i = 0; i < x.size(); ++i) {
    const Dim expected = i == axis ? ceildiv(x[i], Dim(block)) : x[i];
    TRY_OK(context.require(Condition::eq(scale[i], expected), "quantize.scale",
                           "the scales {} must fit the input {} in blocks of {}: axis {} is {}, it must be {}",
                           text(scale), text(x), block, i, print(scale[i]), print(expected)));
  }
  return {};
}

// One scale, one per entry of the axis, or one per block.
Status require_scale(const Call& call, InferContext& context) {
  if (!call.in(0).dims || !call.in(1).dims) return {};
  const Dims &x = *call.in(0).dims, &scale = *call.in(1).dims;
  const int64_t block = call.version() >= 21 ? call.i("block_size") : 0;
  if (block < 0) return refuse("quantize.block", "the block size {} is negative", block);
  if (block > 0) return require_blocks(call, context, x, scale, block);
  if (scale.empty()) return {};
  if (scale.size() != 1)
    return refuse("quantize.scale", "without blocks the scale is a scalar or a list, its shape is {}", text(scale));
  if (scale[0] == Dim(1)) return {};
  TRY(const size_t axis, normalize_axis(call.i("axis"), x.size()));
  return context.require(Condition::eq(scale[0], 1) || Condition::eq(scale[0], x[axis]), "quantize.scale",
                         "there must be 1 scale or one for each entry along the axis: {} for axis {} of the input {}",
                         print(scale[0]), axis, text(x));
}

// The zero point has the shape of the scale; one-element tensors of any rank are alike.
Status require_zero_point(const Call& call, InferContext& context) {
  if (!call.has(2) || !call.in(1).dims || !call.in(2).dims) return {};
  const Dims &scale = *call.in(1).dims, &zero = *call.in(2).dims;
  const Condition single = Condition::eq(product(scale), 1) && Condition::eq(product(zero), 1);
  if (scale.size() != zero.size())
    return context.require(single, "quantize.zero_point", "the zero point {} must have the shape of the scale {}",
                           text(zero), text(scale));
  Condition equal = Condition::always();
  for (size_t i = 0; i < scale.size(); ++i) equal = equal && Condition::eq(scale[i], zero[i]);
  return context.require(equal || single, "quantize.zero_point",
                         "the zero point {} must have the shape of the scale {}", text(zero), text(scale));
}

Result<std::optional<DType>> output_dtype(const Call& call) {
  const int64_t code = call.i("output_dtype");
  if (code == 0) return std::optional<DType>();
  const auto dtype = dtype_from_onnx(code);
  if (!dtype) return refuse("quantize.dtype", "output_dtype {} is no element type", code);
  return dtype;
}

Status check(const Call& call, InferContext& context) {
  for (size_t i = 0; i < 3; ++i) TRY_OK(require_tensor(call, i, kMaskNumber | kMaskOther));
  TRY_OK(require_scale(call, context));
  return require_zero_point(call, context);
}

Result<Facts> infer_quantize(const Call& call, InferContext& context) {
  TRY_OK(check(call, context));
  TRY(const auto asked, output_dtype(call));
  DType dtype = asked.value_or(DType::u8);
  if (call.has(2)) {
    dtype = call.in(2).dtype;
    if (asked && dtype != DType::undefined && *asked != dtype)
      return refuse("quantize.dtype", "output_dtype is {}, the zero point has {}", name(*asked), name(dtype));
  }
  return Facts{typed(dtype, call.in(0).dims)};
}

Result<Facts> infer_dequantize(const Call& call, InferContext& context) {
  TRY_OK(check(call, context));
  TRY(const auto asked, output_dtype(call));
  if (call.has(2) && call.in(0).dtype != DType::undefined && call.in(2).dtype != DType::undefined &&
      call.in(0).dtype != call.in(2).dtype)
    return refuse("quantize.dtype", "the zero point has the type {}, the input {}", name(call.in(2).dtype),
                  name(call.in(0).dtype));
  const DType scale = call.version() < 19 ? DType::f32 : call.in(1).dtype;
  return Facts{typed(asked.value_or(scale), call.in(0).dims)};
}

Result<Facts> infer_dynamic(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskFloat));
  return Facts{typed(DType::u8, call.in(0).dims), Fact::scalar(DType::f32), Fact::scalar(DType::u8)};
}

// The axis is read only where there is more than one scale.
Result<kernels::QuantizeLayout> layout_of(const Call& call, const Tensor& x, const Tensor& scale) {
  kernels::QuantizeLayout layout;
  layout.block = call.version() >= 21 ? call.i("block_size") : 0;
  if (layout.block < 0) return refuse("quantize.block", "the block size {} is negative", layout.block);
  if (scale.count() == 1) return layout;
  TRY(layout.axis, normalize_axis(x.rank() == 1 && layout.block == 0 ? 0 : call.i("axis"), x.rank()));
  return layout;
}

// The precision is that of the scale unless the node names one; where neither is a float that divides, f32.
Result<DType> precision_of(const Call& call, const Tensor& scale) {
  const int64_t code = call.version() >= 23 ? call.i("precision") : 0;
  const auto asked = code == 0 ? std::optional(scale.dtype()) : dtype_from_onnx(code);
  if (!asked) return refuse("quantize.dtype", "precision {} is no element type", code);
  return is_float(*asked) && bits(*asked) >= 16 ? *asked : DType::f32;
}

Status reference_quantize(const Call& call, KernelArgs& args) {
  TRY(const auto layout, layout_of(call, args.in(0), args.in(1)));
  kernels::QuantizeRules rules;
  TRY(rules.precision, precision_of(call, args.in(1)));
  rules.saturate = call.i("saturate") != 0;
  return kernels::quantize(args.in(0), args.in(1), args.in(2), layout, rules, args.out(0));
}

Status reference_dequantize(const Call& call, KernelArgs& args) {
  TRY(const auto layout, layout_of(call, args.in(0), args.in(1)));
  return kernels::dequantize(args.in(0), args.in(1), args.in(2), layout, args.out(0));
}

Status reference_dynamic(const Call&, KernelArgs& args) {
  TRY(args.out(1), Tensor::allocate(DType::f32, {}));
  TRY(args.out(2), Tensor::allocate(DType::u8, {}));
  kernels::quantize_dynamically(args.in(0), args.out(0), args.out(1), args.out(2));
  return {};
}

constexpr Kernel kQuantizeKernels[] = {{"reference", reference_quantize}};
constexpr Kernel kDequantizeKernels[] = {{"reference", reference_dequantize}};
constexpr Kernel kDynamicKernels[] = {{"reference", reference_dynamic}};

}  // namespace

constexpr OpDef kDequantizeLinear10{
    .name = "DequantizeLinear",
    .since = 10,
    .sig = {kDequantizeIn, kQuantizeOut, "(x - zero point) scale", kDequantizeLinearAttributes},
    .infer = infer_dequantize,
    .kernels = kDequantizeKernels};
constexpr OpDef kDynamicQuantizeLinear11{
    .name = "DynamicQuantizeLinear",
    .since = 11,
    .sig = {kDynamicIn, kDynamicOut, "8-bit form, scale and zero point of a tensor"},
    .infer = infer_dynamic,
    .kernels = kDynamicKernels};
constexpr OpDef kQuantizeLinear10{
    .name = "QuantizeLinear",
    .since = 10,
    .sig = {kQuantizeIn, kQuantizeOut, "x / scale + zero point, rounded", kQuantizeLinearAttributes},
    .infer = infer_quantize,
    .kernels = kQuantizeKernels};

}  // namespace anyshape::ops
