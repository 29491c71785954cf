#include "target/rewrites.h"

namespace anyshape::target::rewrites {
namespace {

// x in the type that stash_type asks statistics to be computed in.
Ref stashed(Builder& b, const Call& call, Ref x) {
  const auto stash = dtype_from_onnx(call.i("stash_type"));
  const bool narrow = b.dtype(x) == DType::f16 || b.dtype(x) == DType::bf16;
  return narrow && stash == DType::f32 ? b.cast(x, DType::f32) : x;
}

// x / sqrt(mean of x*x + epsilon) along the axes.
Ref over_root_mean_square(Builder& b, Ref x, const std::vector<int64_t>& axes, double epsilon) {
  const Ref square = b.reduce("ReduceMean", b.op("Mul", {x, x}), axes, true);
  return b.op("Div", {x, b.op("Sqrt", {b.op("Add", {square, b.number(epsilon, b.dtype(x))})})});
}

Ref as_type_of(Builder& b, Ref x, Ref other) { return b.dtype(x) == b.dtype(other) ? x : b.cast(x, b.dtype(other)); }

}  // namespace

Refs rms_normalization(Builder& b, const Call& call, const Refs& in) {
  const auto rank = static_cast<int64_t>(b.rank(in[0]));
  std::vector<int64_t> axes;
  for (int64_t axis = call.i("axis"); axis < (call.i("axis") < 0 ? 0 : rank); ++axis) axes.push_back(axis);
  const double epsilon = static_cast<double>(call.f("epsilon"));
  const Ref normal = over_root_mean_square(b, stashed(b, call, in[0]), axes, epsilon);
  return {b.op("Mul", {as_type_of(b, normal, in[1]), in[1]})};
}

Refs group_normalization(Builder& b, const Call& call, const Refs& in) {
  const Dims sizes = b.dims(in[0]);
  if (sizes.size() < 2) {
    b.refuse("rank", "the input has {} axes, at least 2 are needed", sizes.size());
    return {};
  }
  const Ref grouped = b.reshape(stashed(b, call, in[0]), {sizes[0], call.i("num_groups"), -1});
  const Ref centred = b.op("Sub", {grouped, b.reduce("ReduceMean", grouped, {2}, true)});
  const Ref normal = over_root_mean_square(b, centred, {2}, static_cast<double>(call.f("epsilon")));
  const Ref y = as_type_of(b, b.reshape(normal, sizes), in[0]);
  std::vector<int64_t> behind;
  for (size_t axis = 2; axis < sizes.size(); ++axis) behind.push_back(static_cast<int64_t>(axis) - 1);
  const auto per_channel = [&](Ref x) { return behind.empty() ? x : b.unsqueeze(x, behind); };
  return {b.op("Add", {b.op("Mul", {y, per_channel(in[1])}), per_channel(in[2])})};
}

}  // namespace anyshape::target::rewrites
