#include <cmath>
#include <limits>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

// The numbers of a module that keeps statistics but is in train() mode.
bool refuse_training(Lowering& l, std::string_view what) {
  if (l.options().training) return false;
  l->refuse("export.training",
            "{} normalizes with the statistics of the batch because the module is in training mode; call model.eval() "
            "before the model is captured, or export with --training preserve",
            what);
  return true;
}

Ref of_channels(Lowering& l, Ref given, Dim channels, double value, DType dtype) {
  return given ? l->cast(given, dtype) : filled(l, {channels}, value, dtype);
}

// x * weight + bias, both along axis 1.
Ref per_channel(Lowering& l, Ref x, Ref weight, Ref bias) {
  const size_t behind = l->rank(x) < 2 ? 0 : l->rank(x) - 2;
  if (weight) x = l.op("Mul", {x, with_trailing_ones(l, l->cast(weight, l->dtype(x)), behind)});
  if (bias) x = l.op("Add", {x, with_trailing_ones(l, l->cast(bias, l->dtype(x)), behind)});
  return x;
}

std::vector<int64_t> axes_from(size_t first, size_t rank) {
  std::vector<int64_t> axes;
  for (size_t i = first; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

// What a layer in training leaves in its running statistics: a part of the old ones and of those of this input, which
// were taken over `axes`.
void update_statistics(Lowering& l, const Args& a, Ref x, const Normalized& found, const std::vector<int64_t>& axes) {
  Dim count = 1;
  for (int64_t axis : axes) count = count * l->dim(x, static_cast<size_t>(axis));
  const DType wide = l->dtype(found.mean);
  const Ref entries = l->cast(l->scalar(count), wide), others = l->cast(l->scalar(count - 1), wide);
  const Ref unbiased = l.op("Mul", {found.variance, l.op("Div", {entries, others})});
  const double part = a.f("momentum", 0.1);
  const auto update = [&](std::string_view name, Ref now) {
    const Var running = a.variable(name);
    if (!running) return;
    // Of several instances the mean.
    std::vector<int64_t> rest = axes_from(0, l->rank(now));
    std::erase(rest, 1);
    const Ref mean = l.reduce("ReduceMean", now, rest, false);
    const Ref old = l->cast(l.memory().read(running), wide);
    l.memory().write(running, l.op("Add", {l.op("Mul", {old, l->number(1 - part, wide)}),
                                           l.op("Mul", {mean, l->number(part, wide)})}));
  };
  update("running_mean", found.mean);
  update("running_var", unbiased);
}

// With the statistics of this input, over all axes but the channels'.
Ref by_batch_statistics(Lowering& l, const Args& a, Ref x, bool tracked) {
  std::vector<int64_t> axes = axes_from(2, l->rank(x));
  axes.insert(axes.begin(), 0);
  const Normalized found = normalized(l, x, axes, a.f("eps"));
  const Ref weight = a.tensor("weight"), bias = a.tensor("bias");
  if (tracked) update_statistics(l, a, x, found, axes);
  return per_channel(l, found.value, weight, bias);
}

Ref by_running_statistics(Lowering& l, const Args& a, Ref x) {
  const Ref mean = a.tensor("running_mean"), variance = a.tensor("running_var");
  const DType dtype = l->dtype(x);
  const Dim channels = l->dim(mean, 0);
  const Ref scale = of_channels(l, a.tensor("weight"), channels, 1, dtype);
  const Ref bias = of_channels(l, a.tensor("bias"), channels, 0, dtype);
  return l.op("BatchNormalization", {x, scale, bias, l->cast(mean, dtype), l->cast(variance, dtype)},
              {attr("epsilon", a.f("eps"))});
}

Ref batch_norm_of(Lowering& l, const Args& a, bool training) {
  const Ref x = a.self();
  if (!l.need_rank(x, 2, 8)) return {};
  const bool tracked = a.has("running_mean") && a.has("running_var");
  if (!tracked) return by_batch_statistics(l, a, x, false);
  if (!training) return by_running_statistics(l, a, x);
  return refuse_training(l, "batch_norm") ? Ref() : by_batch_statistics(l, a, x, true);
}

Arg batch_norm(Lowering& l, const Args& a) { return batch_norm_of(l, a, a.flag("training")); }

// The statistics that follow the result are empty in evaluation.
Arg native_batch_norm(Lowering& l, const Args& a) {
  const Ref y = batch_norm_of(l, a, a.flag("training"));
  Arguments out{y};
  const Ref none = l->constant(Tensor::borrow(l->dtype(y), {0}, {}, nullptr));
  while (out.size() < a.schema().results) out.push_back(none);
  return out;
}

Arg instance_norm(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 2, 8)) return {};
  if (!a.flag("use_input_stats", true)) return by_running_statistics(l, a, x);
  const DType dtype = l->dtype(x);
  if (a.has("running_mean")) {
    if (refuse_training(l, "instance_norm")) return {};
    const std::vector<int64_t> axes = axes_from(2, l->rank(x));
    update_statistics(l, a, x, normalized(l, x, axes, a.f("eps")), axes);
  }
  if (l->rank(x) < 3 || dtype == DType::f64 || !l->dim(x, 1).is_constant())
    return per_channel(l, normalized(l, x, axes_from(2, l->rank(x)), a.f("eps")).value, a.tensor("weight"),
                       a.tensor("bias"));
  const Ref scale = of_channels(l, a.tensor("weight"), l->dim(x, 1), 1, dtype);
  const Ref bias = of_channels(l, a.tensor("bias"), l->dim(x, 1), 0, dtype);
  return l.op("InstanceNormalization", {x, scale, bias}, {attr("epsilon", a.f("eps"))});
}

Ref layer_norm_of(Lowering& l, const Args& a, Ref x, size_t axis) {
  const Ref weight = a.tensor("weight"), bias = a.tensor("bias");
  const DType dtype = l->dtype(x);
  const Dims sizes = a.dims("normalized_shape");
  if (l->opset() >= 17 && (weight || numbers_of(sizes))) {
    const Ref scale = weight ? l->cast(weight, dtype) : filled(l, sizes, 1, dtype);
    return l.op("LayerNormalization", {x, scale, bias ? l->cast(bias, dtype) : bias},
                {attr("axis", static_cast<int64_t>(axis) - static_cast<int64_t>(l->rank(x))),
                 attr("epsilon", a.f("eps", 1e-5))});
  }
  Ref y = normalized(l, x, axes_from(axis, l->rank(x)), a.f("eps", 1e-5)).value;
  if (weight) y = l.op("Mul", {y, l->cast(weight, dtype)});
  return bias ? l.op("Add", {y, l->cast(bias, dtype)}) : y;
}

Arg layer_norm(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const size_t inner = a.dims("normalized_shape").size();
  if (!l.need_rank(x, inner, 64) || inner == 0) return {};
  return layer_norm_of(l, a, x, l->rank(x) - inner);
}

Arg native_layer_norm(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const size_t inner = a.dims("normalized_shape").size();
  if (!l.need_rank(x, inner, 64) || inner == 0) return {};
  const size_t axis = l->rank(x) - inner;
  const Normalized parts = normalized(l, x, axes_from(axis, l->rank(x)), a.f("eps"));
  return Arguments{layer_norm_of(l, a, x, axis), parts.mean, parts.inverse_deviation};
}

Dims grouped_sizes(Lowering& l, Ref x, int64_t groups) {
  const Dims sizes = l->dims(x);
  const Dim inner = product({sizes.begin() + 1, sizes.end()});
  return {sizes[0], groups, l->assumptions().exact_div(inner, groups).value_or(floordiv(inner, groups))};
}

// Groups are the channels of an instance normalization.
Ref group_norm_of(Lowering& l, const Args& a, Ref x, int64_t groups) {
  const Ref weight = a.tensor("weight"), bias = a.tensor("bias");
  const DType dtype = l->dtype(x);
  const Dim channels = l->dim(x, 1);
  const double eps = a.f("eps", 1e-5);
  if (l->opset() >= 21 && channels.is_constant() && l->rank(x) > 2 && dtype != DType::f64)
    return l.op("GroupNormalization",
                {x, of_channels(l, weight, channels, 1, dtype), of_channels(l, bias, channels, 0, dtype)},
                {attr("epsilon", eps), attr("num_groups", groups)});
  const Ref grouped = l->reshape(x, grouped_sizes(l, x, groups));
  const Ref even = dtype == DType::f64 ? normalized(l, grouped, {2}, eps).value
                                       : l.op("InstanceNormalization",
                                              {grouped, filled(l, {groups}, 1, dtype), filled(l, {groups}, 0, dtype)},
                                              {attr("epsilon", eps)});
  return per_channel(l, l->reshape(even, l->dims(x)), weight, bias);
}

Arg group_norm(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 2, 64)) return {};
  return group_norm_of(l, a, x, a.i("num_groups", 1));
}

Arg native_group_norm(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 2, 64)) return {};
  const int64_t groups = a.i("group", 1);
  const Normalized parts = normalized(l, l->reshape(x, grouped_sizes(l, x, groups)), {2}, a.f("eps"));
  return Arguments{group_norm_of(l, a, x, groups), l->squeeze(parts.mean, {2}),
                   l->squeeze(parts.inverse_deviation, {2})};
}

double smallest_step(DType dtype) {
  if (dtype == DType::f64) return std::numeric_limits<double>::epsilon();
  return std::numeric_limits<float>::epsilon();
}

Arg rms_norm(Lowering& l, const Args& a) {
  const Ref x = a.self(), weight = a.tensor("weight");
  const size_t inner = a.dims("normalized_shape").size();
  if (!l.need_rank(x, inner, 64) || inner == 0) return {};
  const DType dtype = l->dtype(x), wide = compute_type(dtype);
  const double eps = a.f("eps", smallest_step(wide));
  if (l->opset() >= 23 && (weight || numbers_of(a.dims("normalized_shape")))) {
    const Ref scale = weight ? l->cast(weight, dtype) : filled(l, a.dims("normalized_shape"), 1, dtype);
    return l.op("RMSNormalization", {x, scale}, {attr("axis", -static_cast<int64_t>(inner)), attr("epsilon", eps)});
  }
  const Ref input = l->cast(x, wide);
  const std::vector<int64_t> axes = axes_from(l->rank(x) - inner, l->rank(x));
  const Ref square = l.reduce("ReduceMean", l.op("Pow", {input, l->number(2.0, wide)}), axes, true);
  const Ref root = l.op("Sqrt", {l.op("Add", {square, l->number(eps, wide)})});
  const Ref y = l.op("Div", {input, root});
  if (!weight) return l->cast(y, dtype);
  return l->cast(l.op("Mul", {y, l->cast(weight, wide)}), dtype);
}

// Over all axes but one, which stays in its place; -1 is over all.
Ref norm_except(Lowering& l, Ref v, int64_t dim, int64_t power) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < static_cast<int64_t>(l->rank(v)); ++i)
    if (dim < 0 || i != dim) axes.push_back(i);
  if (axes.empty()) return l.op("Abs", {v});
  if (power == 2) return l.reduce("ReduceL2", v, axes, dim >= 0);
  const double p = static_cast<double>(power);
  const Ref sum = l.reduce("ReduceSum", l.op("Pow", {l.op("Abs", {v}), l->number(p, l->dtype(v))}), axes, dim >= 0);
  return l.op("Pow", {sum, l->number(1 / p, l->dtype(v))});
}

Ref weight_norm_of(Lowering& l, const Args& a, Ref norm) {
  return l.op("Mul", {a.tensor("v"), l.op("Div", {a.tensor("g"), norm})});
}

Arg weight_norm(Lowering& l, const Args& a) {
  return weight_norm_of(l, a, norm_except(l, a.tensor("v"), a.i("dim"), 2));
}

Arg weight_norm_interface(Lowering& l, const Args& a) {
  const Ref norm = norm_except(l, a.tensor("v"), a.i("dim"), 2);
  return Arguments{weight_norm_of(l, a, norm), norm};
}

Arg norm_except_dim(Lowering& l, const Args& a) { return norm_except(l, a.self(), a.i("dim"), a.i("pow", 2)); }

constexpr AtenOp kNormalizeOps[] = {
    {"_batch_norm_no_update", native_batch_norm},
    {"_native_batch_norm_legit", native_batch_norm},
    {"_native_batch_norm_legit_no_training", native_batch_norm},
    {"_weight_norm", weight_norm},
    {"_weight_norm_interface", weight_norm_interface},
    {"batch_norm", batch_norm},
    {"group_norm", group_norm},
    {"instance_norm", instance_norm},
    {"layer_norm", layer_norm},
    {"native_batch_norm", native_batch_norm},
    {"native_group_norm", native_group_norm},
    {"native_layer_norm", native_layer_norm},
    {"norm_except_dim", norm_except_dim},
    {"rms_norm", rms_norm},
};

}  // namespace

std::span<const AtenOp> normalize_ops() { return kNormalizeOps; }

}  // namespace anyshape::lower
