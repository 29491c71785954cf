#include <algorithm>
#include <cmath>
#include <cstring>

#include "passes/draft.h"
#include "tensor/real.h"

namespace anyshape {
namespace {

// A per-channel constant of f32 as doubles.
std::optional<std::vector<double>> channels(const Draft& draft, ValueId id, int64_t count) {
  const Tensor* tensor = draft.constant(id);
  if (!tensor || tensor->dtype() != DType::f32 || tensor->count() != count) return std::nullopt;
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(tensor->at<float>(i));
  return out;
}

struct ConvParts {
  const Tensor* weights = nullptr;
  std::vector<double> bias;
};

// The constant weights and bias of a Conv of f32 whose output nobody else reads.
std::optional<ConvParts> parts_of(const Draft& draft, const Node& conv) {
  ConvParts parts;
  if (!is_op(conv, "Conv")) return std::nullopt;
  parts.weights = draft.constant(conv.in[1]);
  if (!parts.weights || parts.weights->dtype() != DType::f32 || parts.weights->rank() < 2) return std::nullopt;
  const int64_t count = parts.weights->dims()[0];
  parts.bias.assign(static_cast<size_t>(count), 0);
  if (conv.in.size() > 2 && conv.in[2] != kNoValue) {
    const auto bias = channels(draft, conv.in[2], count);
    if (!bias) return std::nullopt;
    parts.bias = *bias;
  }
  return parts;
}

Result<Tensor> to_tensor(const std::vector<double>& values) {
  TRY(Tensor out, Tensor::allocate(DType::f32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) out.as_mutable<float>()[i] = static_cast<float>(values[i]);
  return out;
}

template <size_t kCount>
void scale_some(const std::byte* from, double factor, float* to) {
  float some[kCount];
  std::memcpy(some, from, sizeof some);
  for (float& weight : some) weight = static_cast<float>(weight * factor);
  std::memcpy(to, some, sizeof some);
}

Result<Tensor> scaled(const Tensor& weights, const std::vector<double>& scale) {
  constexpr size_t kVectors = 16;
  TRY(Tensor out, Tensor::allocate(DType::f32, weights.dims()));
  const size_t inner = scale.empty() ? 0 : static_cast<size_t>(weights.count()) / scale.size();
  const std::byte* from = weights.bytes().data();
  float* to = out.as_mutable<float>().data();
  for (const double factor : scale) {
    size_t i = 0;
    for (; i + kVectors <= inner; i += kVectors) scale_some<kVectors>(from + i * sizeof(float), factor, to + i);
    for (; i < inner; ++i) scale_some<1>(from + i * sizeof(float), factor, to + i);
    from += inner * sizeof(float), to += inner;
  }
  return out;
}

bool trains(const Node& norm) {
  return norm.integer("training_mode") != 0 || norm.version < 7 || norm.attribute("spatial") != nullptr;
}

void set_bias(Node& conv, ValueId bias) {
  conv.in.resize(std::max<size_t>(conv.in.size(), 3), kNoValue);
  conv.in[2] = bias;
}

// Rewrites every pair of a Conv and the only reader of its output for which `rewrite` says so.
template <class Rewrite>
Status for_each_pair(Draft& draft, Rewrite rewrite) {
  const auto uses = draft.uses();
  auto producers = draft.producers();
  const auto pinned = draft.pinned();
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (size_t i = 0; i < draft.graph.nodes.size(); ++i) {
    Node& next = draft.graph.nodes[i];
    if (draft.is_demanding(next)) continue;
    for (ValueId id : next.in) {
      if (id == kNoValue || producers[id] == kNoValue || uses[id] != 1 || pinned.contains(id)) continue;
      Node& conv = draft.graph.nodes[producers[id]];
      if (dead[producers[id]] || dead[i] || conv.out[0] != id) continue;
      const auto parts = parts_of(draft, conv);
      if (!parts) continue;
      TRY(const bool done, rewrite(conv, next, *parts));
      if (!done) continue;
      conv.out[0] = next.out[0];
      producers[next.out[0]] = producers[id];
      dead[i] = true;
      break;
    }
  }
  draft.drop(dead);
  return {};
}

}  // namespace

Status fold_batch_norm(Draft& draft) {
  return for_each_pair(draft, [&](Node& conv, const Node& norm, const ConvParts& parts) -> Result<bool> {
    const auto present = std::count_if(norm.out.begin(), norm.out.end(), [](ValueId id) { return id != kNoValue; });
    if (!is_op(norm, "BatchNormalization") || norm.in[0] != conv.out[0] || present != 1 || trains(norm)) return false;
    const int64_t count = parts.weights->dims()[0];
    const auto gamma = channels(draft, norm.in[1], count), beta = channels(draft, norm.in[2], count);
    const auto mean = channels(draft, norm.in[3], count), variance = channels(draft, norm.in[4], count);
    if (!gamma || !beta || !mean || !variance) return false;
    std::vector<double> scale, bias;
    for (size_t i = 0; i < gamma->size(); ++i) {
      scale.push_back((*gamma)[i] / std::sqrt((*variance)[i] + norm.real("epsilon")));
      bias.push_back((parts.bias[i] - (*mean)[i]) * scale.back() + (*beta)[i]);
    }
    if (!std::all_of(scale.begin(), scale.end(), [](double s) { return std::isfinite(s); })) return false;
    TRY(Tensor weights, scaled(*parts.weights, scale));
    TRY(Tensor shift, to_tensor(bias));
    conv.in[1] = draft.add_constant(conv.name + ".folded_weights", std::move(weights));
    set_bias(conv, draft.add_constant(conv.name + ".folded_bias", std::move(shift)));
    return true;
  });
}

namespace {

// A constant operand with one entry for each of `count` channels of a tensor of that rank, or one for all.
std::optional<std::vector<double>> per_channel(const Draft& draft, ValueId id, int64_t count, size_t rank) {
  const Tensor* tensor = draft.constant(id);
  if (!tensor || tensor->dtype() != DType::f32) return std::nullopt;
  const bool each = tensor->count() == count && tensor->rank() + 1 >= rank && tensor->rank() <= rank &&
                    tensor->dims()[tensor->rank() + 1 - rank] == count;
  if (!each && tensor->count() != 1) return std::nullopt;
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(tensor->at<float>(each ? i : 0));
  return out;
}

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

// What a node does with the channels it gets: x * scale + shift. Nothing for all other nodes.
struct Affine {
  std::vector<double> scale, shift;
};
std::optional<Affine> affine_of(const Node& node, bool first, const std::vector<double>& operand) {
  const size_t n = operand.size();
  if (is_op(node, "Add")) return Affine{std::vector<double>(n, 1), operand};
  Affine out{operand, std::vector<double>(n, 0)};
  if (is_op(node, "Mul")) return out;
  if (is_op(node, "Div") && first) {
    for (double& s : out.scale) s = 1 / s;
    return out;
  }
  if (!is_op(node, "Sub")) return std::nullopt;
  out = {std::vector<double>(n, first ? 1 : -1), operand};
  for (double& s : out.shift) s = first ? -s : s;
  return out;
}

}  // namespace

Status fold_bias(Draft& draft) {
  return for_each_pair(draft, [&](Node& conv, const Node& next, const ConvParts& parts) -> Result<bool> {
    if (next.version < 7 || next.in.size() != 2 || next.out.size() != 1 || next.in[0] == next.in[1]) return false;
    const bool first = next.in[0] == conv.out[0];
    const Fact &in = draft.facts[conv.out[0]], &out = draft.facts[next.out[0]];
    if (!in.dims || !out.dims || *in.dims != *out.dims) return false;
    const auto operand = per_channel(draft, next.in[first ? 1 : 0], parts.weights->dims()[0], in.rank());
    const auto affine = operand ? affine_of(next, first, *operand) : std::nullopt;
    if (!affine || !is_finite(affine->scale)) return false;
    std::vector<double> bias = affine->shift;
    for (size_t i = 0; i < bias.size(); ++i) bias[i] += parts.bias[i] * affine->scale[i];
    if (std::any_of(affine->scale.begin(), affine->scale.end(), [](double s) { return s != 1; })) {
      TRY(Tensor weights, scaled(*parts.weights, affine->scale));
      conv.in[1] = draft.add_constant(conv.name + ".folded_weights", std::move(weights));
    }
    TRY(Tensor shift, to_tensor(bias));
    set_bias(conv, draft.add_constant(conv.name + ".folded_bias", std::move(shift)));
    return true;
  });
}

namespace {

// One entry per channel, with the axes that follow the channels.
Result<ValueId> channel_constant(Draft& draft, const std::string& name, const std::vector<double>& values,
                                 size_t rank) {
  TRY(const Tensor flat, to_tensor(values));
  std::vector<int64_t> dims(rank - 1, 1);
  dims[0] = flat.count();
  return draft.add_constant(name, flat.reshaped(dims));
}

Node binary_conv_fold(const Node& norm, std::string_view type, ValueId a, ValueId b, ValueId out) {
  Node node;
  node.name = norm.name;
  set_op(node, "", type, 14);
  node.in = {a, b};
  node.out = {out};
  return node;
}

// (x - mean) * scale + shift in place of the node. Nothing where it is not that, or nobody computes it faster.
Result<std::vector<Node>> spelled_out(Draft& draft, const Node& norm) {
  std::vector<Node> out;
  const auto present = std::count_if(norm.out.begin(), norm.out.end(), [](ValueId id) { return id != kNoValue; });
  if (!is_op(norm, "BatchNormalization") || present != 1 || trains(norm) || draft.is_demanding(norm)) return out;
  const Fact x = draft.facts[norm.in[0]];
  if (!x.is_tensor() || x.dtype != DType::f32 || !x.dims || x.rank() < 2) return out;
  const auto count = (*x.dims)[1].constant().value_or(-1);
  const auto gamma = channels(draft, norm.in[1], count), beta = channels(draft, norm.in[2], count);
  const auto mean = channels(draft, norm.in[3], count), variance = channels(draft, norm.in[4], count);
  if (!gamma || !beta || !mean || !variance) return out;
  std::vector<double> scale;
  for (size_t i = 0; i < gamma->size(); ++i)
    scale.push_back((*gamma)[i] / std::sqrt((*variance)[i] + norm.real("epsilon")));
  if (!is_finite(scale)) return out;
  TRY(const ValueId middle, channel_constant(draft, norm.name + ".mean", *mean, x.rank()));
  TRY(const ValueId by, channel_constant(draft, norm.name + ".scale", scale, x.rank()));
  TRY(const ValueId shift, channel_constant(draft, norm.name + ".shift", *beta, x.rank()));
  const ValueId centred = draft.add_value(norm.name + ".centred", Fact::tensor(DType::f32, *x.dims));
  const ValueId stretched = draft.add_value(norm.name + ".scaled", Fact::tensor(DType::f32, *x.dims));
  out.push_back(binary_conv_fold(norm, "Sub", norm.in[0], middle, centred));
  out.push_back(binary_conv_fold(norm, "Mul", centred, by, stretched));
  out.push_back(binary_conv_fold(norm, "Add", stretched, shift, norm.out[0]));
  return out;
}

}  // namespace

Status spell_out_batch_norm(Draft& draft) {
  if (!takes_op(draft.target, "anyshape", "Elementwise", 1)) return {};
  const auto scales = [](const Node& node) { return is_op(node, "BatchNormalization"); };
  if (std::none_of(draft.graph.nodes.begin(), draft.graph.nodes.end(), scales)) return {};
  std::vector<Node> nodes;
  for (Node& node : draft.graph.nodes) {
    TRY(std::vector<Node> instead, spelled_out(draft, node));
    if (instead.empty()) instead.push_back(std::move(node));
    std::move(instead.begin(), instead.end(), std::back_inserter(nodes));
  }
  draft.graph.nodes = std::move(nodes);
  return {};
}

}  // namespace anyshape
