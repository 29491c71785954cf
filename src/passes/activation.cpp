#include "passes/activation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace anyshape {
namespace {

constexpr size_t kMostFactors = 4;

bool near(double x, double wanted) { return std::abs(x - wanted) <= 2e-6 * std::abs(wanted); }

std::optional<float> scalar(const Draft& draft, ValueId id) {
  const Tensor* tensor = draft.constant(id);
  if (!tensor || tensor->dtype() != DType::f32 || tensor->count() != 1) return std::nullopt;
  return tensor->at<float>(0);
}

// A bound of Clip: an attribute up to opset 10, then an input. Nothing where it is known only when the model runs.
std::optional<float> bound_of(const Draft& draft, const Node& node, size_t input, std::string_view name,
                              float no_bound) {
  if (node.version < 11) return node.real(name);
  if (input >= node.in.size() || node.in[input] == kNoValue) return no_bound;
  return scalar(draft, node.in[input]);
}

// A constant factor times values.
struct ScaledProduct {
  double scale = 1;
  std::vector<ValueId> factors;

  bool is(double wanted, std::initializer_list<ValueId> values) const {
    return near(scale, wanted) && std::is_permutation(factors.begin(), factors.end(), values.begin(), values.end());
  }
};

// Takes an expression apart from its last node on, and notes which nodes it consists of.
class Expression {
 public:
  Expression(const Draft& draft, const Readers& readers) : draft_(draft), readers_(readers) {}

  const std::vector<uint32_t>& nodes() const { return nodes_; }
  // To go back to when a try fails.
  size_t taken() const { return nodes_.size(); }
  Expression& back_to(size_t taken) {
    nodes_.resize(taken);
    return *this;
  }

  const Node* take(uint32_t index) {
    nodes_.push_back(index);
    return &draft_.graph.nodes[index];
  }
  // The node by that name that makes a value for nobody else.
  const Node* take(ValueId id, std::string_view name) {
    const Node* node = maker(id, name);
    return node ? take(readers_.producers[id]) : nullptr;
  }

  std::optional<ScaledProduct> product(ValueId id) {
    ScaledProduct out;
    return multiply(id, out) ? std::optional(std::move(out)) : std::nullopt;
  }
  bool multiply_inputs(const Node& node, ScaledProduct& out) {
    if (is_op(node, "Mul")) return multiply(node.in[0], out) && multiply(node.in[1], out);
    const auto divisor = scalar(draft_, node.in[1]);
    if (!divisor || *divisor == 0) return false;
    out.scale /= *divisor;
    return multiply(node.in[0], out);
  }

  // The other term where the value is a sum with that constant.
  std::optional<ValueId> sum_with(ValueId id, double constant) {
    const Node* add = take(id, "Add");
    if (!add || add->version < 7) return std::nullopt;
    for (size_t i : {0u, 1u})
      if (const auto value = scalar(draft_, add->in[i]); value && near(*value, constant)) return add->in[1 - i];
    return std::nullopt;
  }

 private:
  const Node* maker(ValueId id, std::string_view name) const {
    if (id == kNoValue || !readers_.is_private(id) || readers_.producers[id] == kNoValue) return nullptr;
    const Node& node = draft_.graph.nodes[readers_.producers[id]];
    return is_op(node, name) && !draft_.is_demanding(node) ? &node : nullptr;
  }

  bool multiply(ValueId id, ScaledProduct& out) {
    if (id == kNoValue || out.factors.size() > kMostFactors) return false;
    if (const auto constant = scalar(draft_, id)) {
      out.scale *= *constant;
      return true;
    }
    for (const char* name : {"Mul", "Div"})
      if (const Node* node = maker(id, name); node && node->version >= 7) {
        if (is_op(*node, "Div") && !scalar(draft_, node->in[1])) break;
        return multiply_inputs(*take(readers_.producers[id]), out);
      }
    if (const Node* pow = maker(id, "Pow"); pow && scalar(draft_, pow->in[1]) == 3.0f) {
      out.factors.insert(out.factors.end(), 3, take(readers_.producers[id])->in[0]);
      return true;
    }
    out.factors.push_back(id);
    return true;
  }

  const Draft& draft_;
  const Readers& readers_;
  std::vector<uint32_t> nodes_;
};

bool is_gelu_gate(Expression& e, ValueId gate, ValueId x) {
  const auto erf = e.sum_with(gate, 1);
  const Node* node = erf ? e.take(*erf, "Erf") : nullptr;
  const auto argument = node ? e.product(node->in[0]) : std::nullopt;
  return argument && argument->is(std::sqrt(0.5), {x});
}

// 1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)), or with x * (1 + 0.044715 * x^2) in it.
bool is_gelu_tanh_gate(Expression& e, const Draft& draft, const Readers& readers, ValueId gate, ValueId x) {
  constexpr double kCube = 0.044715, kOutside = 0.7978845608028654;
  const auto tanh = e.sum_with(gate, 1);
  const Node* node = tanh ? e.take(*tanh, "Tanh") : nullptr;
  const auto argument = node ? e.product(node->in[0]) : std::nullopt;
  if (!argument || !near(argument->scale, kOutside) || argument->factors.empty()) return false;
  if (argument->factors.size() == 2) {
    const ValueId other = argument->factors[argument->factors[0] == x ? 1 : 0];
    if (!argument->is(kOutside, {x, other})) return false;
    const auto square = e.sum_with(other, 1);
    const auto term = square ? e.product(*square) : std::nullopt;
    return term && term->is(kCube, {x, x});
  }
  const ValueId sum = argument->factors[0];
  if (argument->factors.size() != 1 || readers.producers[sum] == kNoValue) return false;
  const Node& maker = draft.graph.nodes[readers.producers[sum]];
  if (!is_op(maker, "Add") || maker.version < 7 || (maker.in[0] != x && maker.in[1] != x)) return false;
  const Node* add = e.take(sum, "Add");
  const auto term = add ? e.product(add->in[add->in[0] == x ? 1 : 0]) : std::nullopt;
  return term && term->is(kCube, {x, x, x});
}

bool is_hard_sigmoid(Expression& e, ValueId gate, ValueId x) {
  const Node* node = e.take(gate, "HardSigmoid");
  return node && node->in[0] == x && near(node->real("alpha"), 1.0 / 6) && near(node->real("beta"), 0.5);
}

bool is_clipped_sum(Expression& e, const Draft& draft, ValueId gate, ValueId x) {
  const Node* clip = e.take(gate, "Clip");
  return clip && bound_of(draft, *clip, 1, "min", -1) == 0.0f && bound_of(draft, *clip, 2, "max", -1) == 6.0f &&
         e.sum_with(clip->in[0], 3) == x;
}

// What x times a gate of x is. Each try begins with what is taken so far.
std::string_view gated(Expression& e, const Draft& draft, const Readers& readers, double scale, ValueId x,
                       ValueId gate) {
  const size_t before = e.taken();
  const auto again = [&]() -> Expression& { return e.back_to(before); };
  if (const Node* sigmoid = e.take(gate, "Sigmoid"); near(scale, 1) && sigmoid && sigmoid->in[0] == x) return "Silu";
  if (near(scale, 1) && is_hard_sigmoid(again(), gate, x)) return "HardSwish";
  if (near(scale, 1.0 / 6) && is_clipped_sum(again(), draft, gate, x)) return "HardSwish";
  if (near(scale, 0.5) && is_gelu_gate(again(), gate, x)) return "Gelu";
  if (near(scale, 0.5) && is_gelu_tanh_gate(again(), draft, readers, gate, x)) return "GeluTanh";
  return "";
}

std::string_view gated(Expression& e, const Draft& draft, const Readers& readers, const Node& last, ValueId& in) {
  ScaledProduct product;
  if (last.version < 7 || !e.multiply_inputs(last, product) || product.factors.size() != 2) return "";
  const size_t before = e.taken();
  for (size_t i : {0u, 1u}) {
    in = product.factors[i];
    const std::string_view name = gated(e, draft, readers, product.scale, in, product.factors[1 - i]);
    if (!name.empty()) return name;
    e.back_to(before);
  }
  return "";
}

// Activations that are operators of ONNX.
std::string_view operator_name(const Node& node) {
  for (const char* name : {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSwish"})
    if (is_op(node, name)) return name;
  if (is_op(node, "Swish") && node.real("alpha") == 1) return "Silu";
  const bool microsoft = node.op && node.op->domain == "com.microsoft";
  if (microsoft && node.op->name == "Gelu") return "Gelu";
  if (microsoft && node.op->name == "FastGelu" && (node.in.size() < 2 || node.in[1] == kNoValue)) return "GeluTanh";
  if (!is_op(node, "Gelu")) return "";
  const Attribute* approximate = node.attribute("approximate");
  const auto* text = approximate ? std::get_if<std::string>(&approximate->value) : nullptr;
  return text && *text == "tanh" ? "GeluTanh" : "Gelu";
}

// False: they are not known, or such that the order of two comparisons shows.
bool read_params(const Draft& draft, const Node& node, std::vector<float>& params) {
  if (is_op(node, "LeakyRelu")) params = {node.real("alpha")};
  if (!is_op(node, "Clip")) return true;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto least = bound_of(draft, node, 1, "min", -infinity), most = bound_of(draft, node, 2, "max", infinity);
  if (!least || !most || !(*least <= *most)) return false;
  params = {*least, *most};
  return true;
}

bool is_f32_like(const Draft& draft, ValueId in, ValueId out) {
  const Fact &x = draft.facts[in], &y = draft.facts[out];
  return x.is_tensor() && y.is_tensor() && x.dtype == DType::f32 && y.dtype == DType::f32 && x.dims && y.dims &&
         *x.dims == *y.dims;
}

}  // namespace

std::optional<FoundActivation> find_activation(const Draft& draft, const Readers& readers, uint32_t last) {
  const Node& node = draft.graph.nodes[last];
  if (node.in.empty() || node.in[0] == kNoValue || node.out.empty() || node.out[0] == kNoValue) return std::nullopt;
  if (draft.is_demanding(node)) return std::nullopt;
  Expression e(draft, readers);
  e.take(last);
  FoundActivation out{std::string(operator_name(node)), {}, node.in[0], {}, 0};
  if (out.name.empty() && (is_op(node, "Mul") || is_op(node, "Div"))) out.name = gated(e, draft, readers, node, out.in);
  if (out.name.empty() || !read_params(draft, node, out.params) || !is_f32_like(draft, out.in, node.out[0]))
    return std::nullopt;
  out.nodes = e.nodes();
  for (uint32_t index : out.nodes) {
    const auto& in = draft.graph.nodes[index].in;
    out.reads += static_cast<uint32_t>(std::count(in.begin(), in.end(), out.in));
  }
  return out;
}

}  // namespace anyshape
