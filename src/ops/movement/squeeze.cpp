#include <algorithm>

#include "ops/movement/movement.h"
#include "ops/records.h"
#include "ops/shown.h"

// Operators that change the dims and leave the elements in their order.
namespace anyshape::ops {
namespace {

constexpr Port kSqueezeIn1[] = {{"data"}};
constexpr Port kSqueezeIn13[] = {{"data"}, {"axes", Port::optional | Port::value}};
constexpr Port kUnsqueezeIn13[] = {{"data"}, {"axes", Port::value}};
constexpr Port kSqueezeOut[] = {{"output"}};
constexpr AttributeDef kFlattenAttributes[] = {
    {"axis", 1},
};
constexpr AttributeDef kSqueezeAttributes[] = {
    {"axes", AttributeDef::integers},
};
constexpr AttributeDef kUnsqueezeAttributes[] = {
    {"axes", AttributeDef::integers, AttributeDef::required},
};

std::optional<size_t> axes_input(const Call& call) {
  return call.version() >= 13 ? std::optional<size_t>(1) : std::nullopt;
}

// Without axes every axis of size 1 goes; the rank is known only where each size is provably 1 or provably not.
Result<Facts> squeeze_all(const Call& call, InferContext& context, const Dims& data) {
  Dims kept;
  for (Dim d : data) {
    const Tri one = context.assumptions().prove(Condition::eq(d, 1));
    if (one == Tri::unknown) return Facts{Fact::tensor_of_unknown_rank(call.in(0).dtype)};
    if (one == Tri::no) kept.push_back(d);
  }
  return Facts{with_dims(call.in(0), std::move(kept))};
}

Result<Facts> infer_squeeze(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY_OK(require_integers(call, 1));
  TRY(const auto axes, axes_of(call, axes_input(call)));
  if (!axes || axes->empty()) return squeeze_all(call, context, data);
  std::vector<bool> gone(data.size(), false);
  for (int64_t raw : *axes) {
    TRY(const size_t axis, normalize_axis(raw, data.size()));
    gone[axis] = true;
  }
  Dims kept;
  for (size_t i = 0; i < data.size(); ++i) {
    if (!gone[i]) {
      kept.push_back(data[i]);
      continue;
    }
    TRY_OK(context.require(Condition::eq(data[i], 1), "squeeze.one", "axis {} of {} must be 1 to be removed", i,
                           shown(data)));
  }
  return Facts{with_dims(call.in(0), std::move(kept))};
}

Result<Facts> infer_unsqueeze(const Call& call, InferContext&) {
  TRY(const Dims data, call.dims(0));
  TRY_OK(require_integers(call, 1));
  TRY(const auto axes, axes_of(call, axes_input(call)));
  if (!axes) return refuse("unsqueeze.axes", "the axes are missing");
  TRY(const auto added, normalize_axes(*axes, data.size() + axes->size()));
  Dims out;
  for (size_t i = 0, from = 0; i < data.size() + added.size(); ++i) {
    const bool is_new = std::find(added.begin(), added.end(), i) != added.end();
    out.push_back(is_new ? Dim(1) : data[from++]);
  }
  return Facts{with_dims(call.in(0), std::move(out))};
}

Result<Facts> infer_flatten(const Call& call, InferContext&) {
  TRY(const Dims data, call.dims(0));
  const auto rank = static_cast<int64_t>(data.size());
  const int64_t raw = call.i("axis");
  if (raw < -rank || raw > rank) return refuse("axis.range", "axis {} is out of range for rank {}", raw, rank);
  const auto middle = data.begin() + (raw < 0 ? raw + rank : raw);
  return Facts{with_dims(call.in(0), {product(Dims(data.begin(), middle)), product(Dims(middle, data.end()))})};
}

Status reference_squeeze(const Call&, KernelArgs& args) {
  if (!args.out(0)) return unknown("infer.rank", "the rank of the output is not known");
  args.out(0) = args.in(0).reshaped(args.out(0).dims());
  return {};
}

constexpr Kernel kSqueezeKernels[] = {{"reference", reference_squeeze}};

}  // namespace

constexpr OpDef kFlatten1{.name = "Flatten",
                          .since = 1,
                          .sig = {kSqueezeIn1, kSqueezeOut, "the same elements as a matrix", kFlattenAttributes},
                          .infer = infer_flatten,
                          .kernels = kSqueezeKernels,
                          .view = same_elements_view};
constexpr OpDef kSqueeze1{.name = "Squeeze",
                          .since = 1,
                          .sig = {kSqueezeIn1, kSqueezeOut, "axes of size 1 removed", kSqueezeAttributes},
                          .infer = infer_squeeze,
                          .kernels = kSqueezeKernels,
                          .view = same_elements_view};
constexpr OpDef kSqueeze13{.name = "Squeeze",
                           .since = 13,
                           .sig = {kSqueezeIn13, kSqueezeOut, "axes of size 1 removed"},
                           .infer = infer_squeeze,
                           .kernels = kSqueezeKernels,
                           .view = same_elements_view};
constexpr OpDef kUnsqueeze1{.name = "Unsqueeze",
                            .since = 1,
                            .sig = {kSqueezeIn1, kSqueezeOut, "axes of size 1 added", kUnsqueezeAttributes},
                            .infer = infer_unsqueeze,
                            .kernels = kSqueezeKernels,
                            .view = same_elements_view};
constexpr OpDef kUnsqueeze13{.name = "Unsqueeze",
                             .since = 13,
                             .sig = {kUnsqueezeIn13, kSqueezeOut, "axes of size 1 added"},
                             .infer = infer_unsqueeze,
                             .kernels = kSqueezeKernels,
                             .view = same_elements_view};

}  // namespace anyshape::ops
