#include <algorithm>
#include <type_traits>

#include "passes/reading.h"

namespace anyshape {
namespace {

constexpr std::string_view kStack = "RecurrentStack";
constexpr size_t kInputsEach = 6, kMostLayers = 4;
// Larger ones are better shared unit by unit.
constexpr int64_t kMostWeights = 1 << 17;

bool is_stack(const Node& node) { return node.op && node.op->domain == "anyshape" && node.op->name == kStack; }

bool is_layer(const Node& node) {
  return (is_op(node, "LSTM") || is_op(node, "GRU") || is_op(node, "RNN")) && node.version >= 7;
}

size_t layers_of(const Node& node) { return is_stack(node) ? (node.in.size() - 1) / kInputsEach : 1; }

std::string_view cell_of_recurrent_stack(const Node& node) {
  return is_stack(node) ? std::string_view(std::get<std::string>(node.attribute("cell")->value)) : node.type;
}

bool is_f32_constant(const Reading& r, const Node& node, size_t i) {
  return !has_input(node, i) || (r.is_f32(node.in[i]) && r.draft.constant(node.in[i]) != nullptr);
}

// A layer of one direction with constant weights.
bool fits(const Reading& r, const Node& node) {
  if (!is_layer(node) || r.draft.is_demanding(node) || has_input(node, 4) || !r.is_f32(node.in[0])) return false;
  for (size_t i : {size_t{1}, size_t{2}, size_t{3}, size_t{7}})
    if (!is_f32_constant(r, node, i)) return false;
  const Tensor* weights = r.draft.constant(node.in[2]);
  return weights->rank() == 3 && weights->dims()[0] == 1 && weights->count() <= kMostWeights;
}

bool is_same(const Attribute::Value& a, const Attribute::Value& b) {
  return std::visit(
      [&]<class T>(const T& x) {
        constexpr bool kPlain = std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
                                std::is_same_v<T, std::string> || std::is_same_v<T, std::vector<float>> ||
                                std::is_same_v<T, std::vector<std::string>>;
        if constexpr (kPlain) return std::holds_alternative<T>(b) && x == std::get<T>(b);
        return false;
      },
      a);
}

bool is_of_one_layer(const Attribute& a) { return a.name == "hidden_size" || a.name == "cell"; }

// Each attribute of `a` that speaks of the computation is one of `b`, too.
bool has_all(const Node& a, const Node& b) {
  return std::all_of(a.attributes.begin(), a.attributes.end(), [&](const Attribute& one) {
    const Attribute* other = b.attribute(one.name);
    return is_of_one_layer(one) || (other && is_same(one.value, other->value));
  });
}

// By index: a layer, or a stack, the node that leaves out the axis of its directions, and the layer that reads that.
struct Pair {
  uint32_t lower, between, upper;
};

class Stacks {
 public:
  explicit Stacks(Draft& draft) : draft_(draft), reading_(draft) {}

  // False: there are no two to be joined.
  bool join_two() {
    for (uint32_t i = 0; i < draft_.graph.nodes.size(); ++i)
      if (const auto pair = pair_of(i)) {
        join(*pair);
        return true;
      }
    return false;
  }

 private:
  const Node& node(uint32_t i) const { return draft_.graph.nodes[i]; }
  uint32_t index_of(const Node* one) const { return static_cast<uint32_t>(one - draft_.graph.nodes.data()); }

  std::optional<Pair> pair_of(uint32_t upper) const {
    const Node& top = node(upper);
    if (!fits(reading_, top)) return std::nullopt;
    const Node* between = reading_.maker(top.in[0]);
    if (!between || !(is_op(*between, "Reshape") || is_op(*between, "Squeeze"))) return std::nullopt;
    const Node* lower = reading_.maker(between->in[0]);
    if (!lower || lower->out[0] != between->in[0] || !(is_stack(*lower) || fits(reading_, *lower))) return std::nullopt;
    const Pair pair{index_of(lower), index_of(between), upper};
    const bool same = cell_of_recurrent_stack(*lower) == top.type && has_all(*lower, top) && has_all(top, *lower);
    if (!same || layers_of(*lower) == kMostLayers || !leaves_out_directions(*lower, top)) return std::nullopt;
    return needs_states(pair) ? std::nullopt : std::optional(pair);
  }

  // What `upper` reads is what `lower` writes, without the axis of directions.
  bool leaves_out_directions(const Node& lower, const Node& upper) const {
    const Dims *y = reading_.dims(lower.out[0]), *x = reading_.dims(upper.in[0]);
    if (!y || y->size() != 4 || !x) return false;
    const Attribute* layout = lower.attribute("layout");
    Dims dims = *y;
    dims.erase(dims.begin() + (layout && std::get<int64_t>(layout->value) == 1 ? 2 : 1));
    return *x == dims;
  }

  // Of the nodes from `lower` on those that depend on its final states; the last entry is for `upper`.
  std::vector<bool> late(const Pair& pair) const {
    std::vector<bool> value(draft_.graph.values.size(), false), out;
    for (uint32_t i = pair.lower; i <= pair.upper; ++i) {
      const auto is_late = [&](ValueId id) { return id != kNoValue && value[id]; };
      out.push_back(std::any_of(node(i).in.begin(), node(i).in.end(), is_late));
      for (size_t k = i == pair.lower ? 1 : 0; k < node(i).out.size(); ++k)
        if (node(i).out[k] != kNoValue) value[node(i).out[k]] = out.back() || i == pair.lower;
    }
    return out;
  }
  bool needs_states(const Pair& pair) const { return late(pair).back(); }

  void append(Node& stack, const Node& one) const {
    if (is_stack(one)) {
      stack.in.insert(stack.in.end(), one.in.begin() + 1, one.in.end());
      stack.out.insert(stack.out.end(), one.out.begin() + 1, one.out.end());
      return;
    }
    for (size_t i : {1, 2, 3, 5, 6, 7}) stack.in.push_back(has_input(one, i) ? one.in[i] : kNoValue);
    const size_t outputs = is_op(one, "LSTM") ? 3 : 2;
    for (size_t i = 1; i < outputs; ++i) stack.out.push_back(i < one.out.size() ? one.out[i] : kNoValue);
  }

  Node stack_of(const Node& lower, const Node& upper) const {
    Node stack;
    stack.name = draft_.graph.label(upper);
    set_op(stack, "anyshape", kStack, 1);
    stack.in = {lower.in[0]};
    stack.out = {upper.out[0]};
    append(stack, lower);
    append(stack, upper);
    stack.attributes.push_back({"cell", std::string(upper.type)});
    for (const Attribute& one : upper.attributes)
      if (!is_of_one_layer(one)) stack.attributes.push_back(one);
    return stack;
  }

  // The stack stands where `upper` was; what depends on the states of `lower` comes after it.
  void join(const Pair& pair) {
    const std::vector<bool> is_late = late(pair);
    auto& nodes = draft_.graph.nodes;
    std::vector<Node> before, after;
    Node stack = stack_of(node(pair.lower), node(pair.upper));
    for (uint32_t i = pair.lower + 1; i < pair.upper; ++i)
      if (i != pair.between) (is_late[i - pair.lower] ? after : before).push_back(std::move(nodes[i]));
    auto to = std::move(before.begin(), before.end(), nodes.begin() + pair.lower);
    *to++ = std::move(stack);
    to = std::move(after.begin(), after.end(), to);
    nodes.erase(to, nodes.begin() + pair.upper + 1);
  }

  Draft& draft_;
  Reading reading_;
};

}  // namespace

Status stack_recurrent(Draft& draft) {
  if (!takes_op(draft.target, "anyshape", kStack, 1)) return {};
  while (Stacks(draft).join_two()) {
  }
  return {};
}

}  // namespace anyshape
