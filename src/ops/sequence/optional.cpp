#include "ops/control/bodies.h"
#include "ops/records.h"

// An optional holds its content as a sequence does: `items` of length 0 or 1 where that is known.
namespace anyshape::ops {
namespace {

constexpr Port kMaybe[] = {{"input", Port::optional}};
constexpr Port kOptionalIn[] = {{"input"}};
constexpr Port kOptionalOut[] = {{"output"}};
constexpr AttributeDef kOptionalAttributes[] = {
    {"type", AttributeDef::type},
};

Result<Facts> infer_optional(const Call& call, InferContext&) {
  if (!call.has(0)) {
    const Fact* type = call.type_attr("type");
    if (!type) return refuse("optional.type", "an empty optional needs its type");
    Fact out = Fact::optional(*type);
    out.items = std::make_shared<const Facts>();
    out.length = 0;
    return Facts{out};
  }
  Fact out = Fact::optional(call.in(0).type_only());
  out.items = std::make_shared<const Facts>(Facts{call.in(0)});
  out.length = 1;
  return Facts{out};
}

Result<Facts> infer_get(const Call& call, InferContext& context) {
  const Fact& in = call.in(0);
  if (in.kind == Fact::Kind::unknown) return unknown("infer.type", "input 0 is not known");
  if (in.kind != Fact::Kind::optional) {
    if (call.version() < 18) return refuse("optional.type", "the input must be an optional, it is {}", print(in));
    return Facts{in};
  }
  if (in.length)
    TRY_OK(context.require(Condition::ge(*in.length, 1), "optional.empty", "the optional must not be empty"));
  else
    context.data_condition("optional.empty", "the optional must not be empty");
  if (in.items && !in.items->empty()) return Facts{in.items->front()};
  if (!in.item) return unknown("infer.type", "the content of the optional is not known");
  return Facts{any_item(context, *in.item, in.from_shapes)};
}

Result<Facts> infer_has(const Call& call, InferContext& context) {
  Dim has = 0;
  if (call.has(0)) {
    const Fact& in = call.in(0);
    if (in.kind == Fact::Kind::unknown) return Facts{Fact::scalar(DType::boolean)};
    if (in.kind != Fact::Kind::optional && call.version() < 18)
      return refuse("optional.type", "the input must be an optional, it is {}", print(in));
    if (in.kind == Fact::Kind::optional && !in.length) {
      Fact out = Fact::scalar(DType::boolean);
      out.bounds = Bounds{0, 1};
      return Facts{out};
    }
    has = in.kind == Fact::Kind::optional ? context.simplify(*in.length) : Dim(1);
  }
  return Facts{Fact::of_elements(DType::boolean, {}, {has})};
}

// Of the tensors inside, however deep.
DType innermost_dtype(const Fact& type) {
  const Fact* fact = &type;
  while (!fact->is_tensor() && fact->item) fact = fact->item.get();
  return fact->dtype;
}

Status make(const Call& call, KernelArgs& args) {
  if (!args.inputs.empty() && args.inputs[0]) {
    const bool already = args.inputs[0].kind() == Datum::Kind::optional;
    args.outputs[0] = already ? args.inputs[0] : Datum::optional(args.inputs[0]);
    return {};
  }
  const Fact* type = call.type_attr("type");
  if (!type) return refuse("optional.type", "an empty optional needs its type");
  args.outputs[0] = Datum::empty_optional(innermost_dtype(*type));
  return {};
}

Status get(const Call&, KernelArgs& args) {
  const Datum& in = args.inputs[0];
  const bool wrapped = in.kind() == Datum::Kind::optional;
  if (!in || (wrapped && in.items().empty())) return refuse("optional.empty", "the optional must not be empty");
  args.outputs[0] = wrapped ? in.items()[0] : in;
  return {};
}

Status has(const Call&, KernelArgs& args) {
  const Datum in = args.inputs.empty() ? Datum() : args.inputs[0];
  const bool content = in && (in.kind() != Datum::Kind::optional || !in.items().empty());
  TRY(args.out(0), Tensor::allocate(DType::boolean, {}));
  args.out(0).set_int(0, content);
  return {};
}

constexpr Kernel kMakeKernels[] = {{"reference", make}};
constexpr Kernel kGetKernels[] = {{"reference", get}};
constexpr Kernel kHasKernels[] = {{"reference", has}};

}  // namespace

constexpr OpDef kOptional15{.name = "Optional",
                            .since = 15,
                            .sig = {kMaybe, kOptionalOut, "a value that may be absent", kOptionalAttributes},
                            .infer = infer_optional,
                            .kernels = kMakeKernels};
constexpr OpDef kOptionalGetElement15{.name = "OptionalGetElement",
                                      .since = 15,
                                      .sig = {kOptionalIn, kOptionalOut, "the content of an optional"},
                                      .infer = infer_get,
                                      .kernels = kGetKernels};
constexpr OpDef kOptionalHasElement15{.name = "OptionalHasElement",
                                      .since = 15,
                                      .sig = {kMaybe, kOptionalOut, "whether an optional has content"},
                                      .infer = infer_has,
                                      .kernels = kHasKernels};

}  // namespace anyshape::ops
