#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "passes/reading.h"

namespace anyshape {
namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();

// A value kept between two numbers, one of which may be infinite.
struct Limited {
  ValueId x = kNoValue;
  float low = -kFar, high = kFar;

  bool is_relu() const { return low == 0 && high == kFar; }
  bool is_clip() const { return low != -kFar && high != kFar; }
};

class Limiter {
 public:
  explicit Limiter(Draft& draft) : draft_(draft), reading_(draft), dead_(draft.graph.nodes.size(), false) {}

  Status run() {
    for (Node& node : draft_.graph.nodes) {
      if (draft_.is_demanding(node)) continue;
      if (is_op(node, "Max") || is_op(node, "Min")) TRY_OK(rewrite(node));
    }
    draft_.drop(dead_);
    return {};
  }

 private:
  // One number that leaves the sizes as they are.
  std::optional<float> number(ValueId id) const {
    const auto found = reading_.number(id);
    return found && std::isfinite(*found) ? found : std::nullopt;
  }
  bool same_sizes(ValueId a, ValueId b) const {
    const Dims *x = reading_.dims(a), *y = reading_.dims(b);
    return reading_.is_f32(a) && reading_.is_f32(b) && x && y && *x == *y;
  }

  std::optional<Limited> clip_of(const Node& node) const {
    Limited out{node.in[0]};
    if (node.version < 11) return std::nullopt;
    for (size_t i : {size_t{1}, size_t{2}}) {
      if (!has_input(node, i)) continue;
      const auto limit = number(node.in[i]);
      if (!limit) return std::nullopt;
      (i == 1 ? out.low : out.high) = *limit;
    }
    return out.low <= out.high ? std::optional(out) : std::nullopt;
  }

  std::optional<Limited> limited(const Node& node) const {
    if (is_op(node, "Relu")) return Limited{node.in[0], 0, kFar};
    if (is_op(node, "Clip")) return clip_of(node);
    const bool max = is_op(node, "Max");
    if ((!max && !is_op(node, "Min")) || node.version < 8 || node.in.size() != 2) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}})
      if (const auto limit = number(node.in[1 - i]); limit && same_sizes(node.in[i], node.out[0]))
        return max ? Limited{node.in[i], *limit, kFar} : Limited{node.in[i], -kFar, *limit};
    return std::nullopt;
  }

  void drop(ValueId id) { dead_[reading_.producers[id]] = true; }

  Result<ValueId> constant(const Node& node, std::string_view what, float value) {
    TRY(Tensor tensor, Tensor::allocate(DType::f32, std::initializer_list<int64_t>{}));
    tensor.as_mutable<float>()[0] = value;
    return draft_.add_constant(draft_.graph.values[node.out[0]].name + std::string(what), std::move(tensor));
  }

  Status rewrite(Node& node) {
    if (take_slope(node)) return {};
    auto own = limited(node);
    if (!own) return {};
    const Node* inner = reading_.maker(own->x);
    if (const auto first = inner ? limited(*inner) : std::nullopt) {
      const auto between = [&](float x) { return std::min(std::max(x, own->low), own->high); };
      const Limited both{first->x, between(first->low), between(first->high)};
      if (both.is_relu() || both.is_clip()) {
        drop(own->x);
        own = both;
      }
    }
    return put(node, *own);
  }

  // The greater one of x and a part of it.
  bool take_slope(Node& node) {
    if (!is_op(node, "Max") || node.version < 8 || node.in.size() != 2) return false;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const Node* part = reading_.maker(node.in[i]);
      if (!part || !is_op(*part, "Mul") || part->version < 7) continue;
      const ValueId x = node.in[1 - i];
      const size_t side = part->in[0] == x ? 1 : 0;
      const auto slope = number(part->in[side]);
      if (part->in[1 - side] != x || !slope || !(*slope > 0) || !(*slope < 1) || !same_sizes(x, node.out[0])) continue;
      drop(node.in[i]);
      set_op(node, "", "LeakyRelu", 16);
      node.attributes.push_back({"alpha", *slope});
      node.in = {x};
      return true;
    }
    return false;
  }

  Status put(Node& node, const Limited& all) {
    if (all.is_relu()) {
      set_op(node, "", "Relu", 14);
      node.in = {all.x};
    } else if (all.is_clip()) {
      TRY(const ValueId low, constant(node, ".low", all.low));
      TRY(const ValueId high, constant(node, ".high", all.high));
      set_op(node, "", "Clip", 13);
      node.in = {all.x, low, high};
    }
    return {};
  }

  Draft& draft_;
  Reading reading_;
  std::vector<bool> dead_;
};

}  // namespace

Status join_limits(Draft& draft) { return Limiter(draft).run(); }

}  // namespace anyshape
