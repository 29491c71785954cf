#include <algorithm>
#include <cctype>
#include <cstring>

#include "kernels/convert.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kCastIn[] = {{"input"}};
constexpr Port kLikeIn[] = {{"input"}, {"target_type"}};
constexpr Port kCastOut[] = {{"output"}};
constexpr AttributeDef kBitCastAttributes[] = {
    {"to", AttributeDef::integer, AttributeDef::required},
};
constexpr AttributeDef kCastAttributes[] = {
    {"round_mode", "up", {24}},
    {"saturate", 1, {19}},
    {"to", AttributeDef::string, AttributeDef::required, {1, 5}},
    {"to", AttributeDef::integer, AttributeDef::required, {6}},
};
constexpr AttributeDef kCastLikeAttributes[] = {
    {"round_mode", "up", {24}},
    {"saturate", 1, {19}},
};

// `to` of version 1 is the name of the type in capitals: "FLOAT".
std::optional<DType> dtype_by_name(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (low == "float") return DType::f32;
  if (low == "double") return DType::f64;
  if (low == "string") return DType::string;
  return parse_dtype(low);
}

Result<DType> target(const Call& call) {
  if (!call.has_attr("to")) return refuse("attr.missing", "{} needs the attribute \"to\"", call.type());
  const auto dtype = call.version() < 6 ? dtype_by_name(call.s("to")) : dtype_from_onnx(call.i("to"));
  if (!dtype) return refuse("cast.to", "the attribute \"to\" names no element type");
  return *dtype;
}

Ratio converted(InferContext& context, DType to, const Ratio& r) {
  if (to == DType::boolean) return {truth(context, Condition::ne(r.num, 0))};
  if (is_integer(to)) return {r.den == 1 ? r.num : truncated_div(context, r.num, Dim(r.den))};
  if (is_float(to)) return exact(r) ? r : unknown_ratio();
  return unknown_ratio();
}

Result<Facts> cast_to(const Call& call, InferContext& context, DType to) {
  TRY_OK(require_tensor(call, 0));
  const Fact& in = call.in(0);
  if (in.dtype == to && in.is_tensor()) {
    Fact same = in;
    return Facts{same};
  }
  Fact out = typed(to, in.dims);
  const auto dims = out.numeric_dims();
  const auto entries = known_entries(in);
  if (dims && entries) {
    std::vector<Ratio> values;
    for (const Ratio& r : *entries) {
      values.push_back(settle_ratio(context, to, converted(context, to, r)));
      if (values.back().num.is_unknown()) break;
    }
    set_entries(out, values);
  }
  if (out.elements || !is_integer(to)) return Facts{out};
  if (in.dtype == DType::boolean) set_bounds(context, out, 0, 1);
  if (const auto b = in.value_bounds()) set_bounds(context, out, b->lo, b->hi, b->attained);
  return Facts{out};
}

Result<Facts> infer_cast(const Call& call, InferContext& context) {
  TRY(const DType to, target(call));
  return cast_to(call, context, to);
}

Result<Facts> infer_cast_like(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 1));
  return cast_to(call, context, call.in(1).dtype);
}

Result<kernels::CastRules> rules_of(const Call& call) {
  kernels::CastRules rules;
  rules.saturate = call.i("saturate") != 0;
  const std::string_view mode = call.s("round_mode");
  if (mode == "down") rules.rounding = PowerRounding::down;
  if (mode == "nearest") rules.rounding = PowerRounding::nearest;
  if (mode != "up" && mode != "down" && mode != "nearest")
    return refuse("cast.round_mode", "round_mode is {:?}, not up, down or nearest", mode);
  return rules;
}

Status reference_cast(const Call& call, KernelArgs& args) {
  if (args.in(0).dtype() == args.out(0).dtype()) {
    args.out(0) = args.in(0);
    return {};
  }
  TRY(const kernels::CastRules rules, rules_of(call));
  return kernels::convert(args.in(0), args.out(0), rules);
}

constexpr Kernel kCastKernels[] = {{"reference", reference_cast}};

Result<Facts> infer_bit_cast(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskAny & ~kMaskString));
  TRY(const DType to, target(call));
  const DType from = call.in(0).dtype;
  if (to == DType::string || (from != DType::undefined && bits(from) != bits(to)))
    return refuse("bitcast.width", "{} and {} have different widths", name(from), name(to));
  return Facts{typed(to, call.in(0).dims)};
}

Status reference_bit_cast(const Call&, KernelArgs& args) {
  const Tensor& in = args.in(0);
  Tensor& out = args.out(0);
  if (in.bytes().size() != out.bytes().size() || bits(in.dtype()) == 0)
    return refuse("bitcast.width", "{} and {} have different widths", name(in.dtype()), name(out.dtype()));
  if (!in.bytes().empty()) std::memcpy(out.data(), in.bytes().data(), in.bytes().size());
  return {};
}

constexpr Kernel kBitKernels[] = {{"reference", reference_bit_cast}};

}  // namespace

constexpr OpDef kBitCast26{.name = "BitCast",
                           .since = 26,
                           .sig = {kCastIn, kCastOut, "the same bits as another element type", kBitCastAttributes},
                           .infer = infer_bit_cast,
                           .kernels = kBitKernels};
constexpr OpDef kCast1{.name = "Cast",
                       .since = 1,
                       .sig = {kCastIn, kCastOut, "the same values as another element type", kCastAttributes},
                       .infer = infer_cast,
                       .kernels = kCastKernels};
constexpr OpDef kCastLike15{
    .name = "CastLike",
    .since = 15,
    .sig = {kLikeIn, kCastOut, "the same values with the element type of a second tensor", kCastLikeAttributes},
    .infer = infer_cast_like,
    .kernels = kCastKernels};

}  // namespace anyshape::ops
