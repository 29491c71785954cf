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

Result<Tensor> scaled(const Tensor& weights, const std::vector<double>& scale) {
  TRY(Tensor out, Tensor::allocate(DType::f32, weights.dims()));
  const int64_t inner = weights.count() / std::max<int64_t>(1, weights.dims()[0]);
  for (int64_t i = 0; i < weights.count(); ++i)
    out.as_mutable<float>()[static_cast<size_t>(i)] =
        static_cast<float>(weights.at<float>(i) * scale[static_cast<size_t>(i / inner)]);
  return out;
}

bool trains(const Node& norm) {
  return norm.integer("training_mode") != 0 || norm.version < 7 || norm.attribute("spatial") != nullptr;
}

void set_bias(Node& conv, ValueId bias) {
  conv.in.resize(std::max<size_t>(conv.in.size(), 3), kNoValue);
  conv.in[2] = bias;
}

// conv takes over the output of the node after it.
void take_over(Draft& draft, Node& conv, Node& next, std::vector<bool>& dead) {
  conv.out[0] = next.out[0];
  dead[static_cast<size_t>(&next - draft.graph.nodes.data())] = true;
}

// Rewrites every pair of a Conv and the only reader of its output for which `rewrite` says so.
template <class Rewrite>
Status for_each_pair(Draft& draft, Rewrite rewrite) {
  const auto uses = draft.uses();
  const auto producers = draft.producers();
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
      if (done) take_over(draft, conv, next, dead);
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

Status fold_bias(Draft& draft) {
  return for_each_pair(draft, [&](Node& conv, const Node& add, const ConvParts& parts) -> Result<bool> {
    if (!is_op(add, "Add") || add.version < 7 || add.in.size() != 2) return false;
    const ValueId other = add.in[add.in[0] == conv.out[0] ? 1 : 0];
    const Tensor* addend = draft.constant(other);
    const Fact& out = draft.facts[add.out[0]];
    const Fact& in = draft.facts[conv.out[0]];
    if (!addend || addend->dtype() != DType::f32 || !in.dims || !out.dims || *in.dims != *out.dims) return false;
    // One entry per channel, or one for all, and no other axis.
    const int64_t count = parts.weights->dims()[0];
    const size_t rank = in.rank();
    const bool per_channel = addend->count() == count && addend->rank() + 1 >= rank && addend->rank() <= rank &&
                             addend->dims()[addend->rank() + 1 - rank] == count;
    if (!per_channel && addend->count() != 1) return false;
    std::vector<double> bias = parts.bias;
    for (size_t i = 0; i < bias.size(); ++i)
      bias[i] += addend->at<float>(addend->count() == 1 ? 0 : static_cast<int64_t>(i));
    TRY(Tensor shift, to_tensor(bias));
    set_bias(conv, draft.add_constant(conv.name + ".folded_bias", std::move(shift)));
    return true;
  });
}

}  // namespace anyshape
