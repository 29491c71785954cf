#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "passes/chains.h"
#include "tensor/real.h"

// Operators between DequantizeLinear and QuantizeLinear become those on 8-bit integers.
namespace anyshape {
namespace {

// A tensor of bytes with constant scales and zero points.
struct Quantity {
  ValueId bytes = kNoValue, scale_id = kNoValue, zero_id = kNoValue;
  const Tensor *scale = nullptr, *zero = nullptr;  // zero may be absent
  int64_t axis = 1;
  DType dtype = DType::undefined;

  bool single() const { return scale->count() == 1 && (!zero || zero->count() == 1); }
  double step(int64_t i) const { return static_cast<double>(scale->at<float>(scale->count() == 1 ? 0 : i)); }
  int64_t shift(int64_t i) const { return zero ? zero->int_at(zero->count() == 1 ? 0 : i) : 0; }
  bool like(const Quantity& other) const {
    return single() && other.single() && dtype == other.dtype && step(0) == other.step(0) && shift(0) == other.shift(0);
  }
};

bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

struct Rewrite : Chains {
  using Chains::Chains;

  // The parameters of a QuantizeLinear or DequantizeLinear whose bytes are that value; all scales are normal numbers.
  std::optional<Quantity> quantity(const Node& node, ValueId bytes) const {
    if (draft.is_demanding(node) || node.in.size() < 2 || node.integer("block_size") != 0) return std::nullopt;
    if (node.integer("precision") > 1) return std::nullopt;
    Quantity out{bytes, node.in[1], node.in.size() > 2 ? node.in[2] : kNoValue};
    out.scale = draft.constant(out.scale_id);
    if (out.zero_id != kNoValue && !(out.zero = draft.constant(out.zero_id))) return std::nullopt;
    if (!out.scale || out.scale->dtype() != DType::f32 || !draft.facts[bytes].is_tensor()) return std::nullopt;
    for (int64_t i = 0; i < out.scale->count(); ++i)
      if (const auto s = out.scale->at<float>(i); !(s >= std::numeric_limits<float>::min()) || !std::isfinite(s))
        return std::nullopt;
    out.axis = node.integer("axis");
    out.dtype = draft.facts[bytes].dtype;
    if (out.axis < 0 && draft.facts[bytes].dims) out.axis += static_cast<int64_t>(draft.facts[bytes].rank());
    return out;
  }

  // What a value is dequantised from.
  std::optional<Quantity> real(ValueId id) const {
    const uint32_t maker = id == kNoValue ? kNoValue : producers[id];
    if (maker == kNoValue || !is_op(draft.graph.nodes[maker], "DequantizeLinear")) return std::nullopt;
    if (draft.facts[id].dtype != DType::f32) return std::nullopt;
    return quantity(draft.graph.nodes[maker], draft.graph.nodes[maker].in[0]);
  }
  std::optional<Quantity> single_bytes(ValueId id) const {
    auto out = real(id);
    return out && out->single() && is_byte(out->dtype) ? out : std::nullopt;
  }

  // The zero point, one that is made where it is absent.
  Result<ValueId> zero_of(const Quantity& of, const std::string& name) {
    if (of.zero_id != kNoValue) return of.zero_id;
    TRY(Tensor zeros, Tensor::allocate(of.dtype, of.scale->dims()));
    for (int64_t i = 0; i < zeros.count(); ++i) zeros.set_int(i, 0);
    return draft.add_constant(name + ".zero", std::move(zeros));
  }
  Status push(Node& node, const Quantity& of) {
    TRY(const ValueId zero, zero_of(of, node.name));
    node.in.insert(node.in.end(), {of.bytes, of.scale_id, zero});
    return {};
  }
  Status push_parameters(Node& node, const Quantity& of) {
    TRY(const ValueId zero, zero_of(of, node.name));
    node.in.insert(node.in.end(), {of.scale_id, zero});
    return {};
  }

  // The entries of a constant of floats, or of one that is dequantised.
  std::optional<std::vector<double>> numbers(ValueId id) const {
    std::vector<double> out;
    if (const Tensor* plain = draft.constant(id); plain && plain->dtype() == DType::f32) {
      for (int64_t i = 0; i < plain->count(); ++i) out.push_back(static_cast<double>(plain->at<float>(i)));
      return out;
    }
    const auto q = real(id);
    const Tensor* bytes = q ? draft.constant(q->bytes) : nullptr;
    if (!bytes || bytes->rank() > 1 || !is_integer(bytes->dtype())) return std::nullopt;
    for (int64_t i = 0; i < bytes->count(); ++i)
      out.push_back(static_cast<float>(static_cast<double>(bytes->int_at(i) - q->shift(i)) * q->step(i)));
    return out;
  }

  // The bias in units of both scales: kNoValue where that is no whole number but for the rounding of f32.
  Result<ValueId> whole_bias(ValueId id, const Quantity& x, const Quantity& w, int64_t count, const std::string& name) {
    const auto values = numbers(id);
    if (!values || (static_cast<int64_t>(values->size()) != count && values->size() != 1)) return kNoValue;
    TRY(Tensor out, Tensor::allocate(DType::i32, {count}));
    for (int64_t i = 0; i < count; ++i) {
      const double units = (*values)[values->size() == 1 ? 0 : static_cast<size_t>(i)] / (x.step(0) * w.step(i));
      const double whole = std::nearbyint(units);
      if (!(std::abs(units - whole) <= 2.5e-7 * std::abs(units)) || std::abs(whole) >= 0x1p30) return kNoValue;
      out.set_int(i, static_cast<int64_t>(whole));
    }
    return draft.add_constant(name + ".bias", std::move(out));
  }
};

void keep_attributes(const Node& from, std::initializer_list<std::string_view> names, Node& to) {
  for (const Attribute& attribute : from.attributes)
    if (std::find(names.begin(), names.end(), attribute.name) != names.end()) to.attributes.push_back(attribute);
}

// The node in place of `op` and the QuantizeLinear to `y` behind it; without an operator: there is none.
using Instead = Result<std::optional<Node>>;

Node begin_node(const Node& op, const Quantity& y, std::string_view domain, std::string_view type, int64_t version) {
  Node node;
  node.name = op.name;
  set_op(node, domain, type, version);
  node.out = {y.bytes};
  return node;
}

// Weights with one scale, or one per entry of that axis.
bool fits_quantized_nodes(const Quantity& w, int64_t axis) {
  return is_byte(w.dtype) && (w.single() || w.axis == axis);
}

Instead convolution(Rewrite& rewrite, const Node& op, const Quantity& y) {
  const auto x = rewrite.single_bytes(op.in[0]), w = rewrite.real(op.in[1]);
  const Tensor* weights = w ? rewrite.draft.constant(w->bytes) : nullptr;
  if (!x || !weights || weights->rank() < 3 || !fits_quantized_nodes(*w, 0)) return std::nullopt;
  Node node = begin_node(op, y, "", "QLinearConv", 10);
  keep_attributes(op, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}, node);
  TRY_OK(rewrite.push(node, *x));
  TRY_OK(rewrite.push(node, *w));
  TRY_OK(rewrite.push_parameters(node, y));
  if (!has_input(op, 2)) return node;
  TRY(const ValueId bias, rewrite.whole_bias(op.in[2], *x, *w, weights->dims()[0], op.name));
  node.in.push_back(bias);
  return bias == kNoValue ? std::nullopt : std::optional(std::move(node));
}

Instead product(Rewrite& rewrite, const Node& op, const Quantity& y) {
  const auto a = rewrite.single_bytes(op.in[0]), b = rewrite.real(op.in[1]);
  if (!a || !b || !rewrite.draft.facts[b->bytes].dims || rewrite.draft.facts[b->bytes].rank() < 2) return std::nullopt;
  if (!fits_quantized_nodes(*b, static_cast<int64_t>(rewrite.draft.facts[b->bytes].rank()) - 1)) return std::nullopt;
  Node node = begin_node(op, y, "", "QLinearMatMul", 10);
  TRY_OK(rewrite.push(node, *a));
  TRY_OK(rewrite.push(node, *b));
  TRY_OK(rewrite.push_parameters(node, y));
  return node;
}

Instead gemm(Rewrite& rewrite, const Node& op, const Quantity& y) {
  const auto a = rewrite.single_bytes(op.in[0]), b = rewrite.real(op.in[1]);
  const Tensor* weights = b ? rewrite.draft.constant(b->bytes) : nullptr;
  if (op.version < 7 || !a || !weights || weights->rank() != 2) return std::nullopt;
  if (op.real("alpha") != 1 || op.real("beta") != 1) return std::nullopt;
  const int64_t axis = op.integer("transB") != 0 ? 0 : 1;
  if (!fits_quantized_nodes(*b, axis)) return std::nullopt;
  Node node = begin_node(op, y, "com.microsoft", "QGemm", 1);
  keep_attributes(op, {"transA", "transB"}, node);
  TRY_OK(rewrite.push(node, *a));
  TRY_OK(rewrite.push(node, *b));
  ValueId bias = kNoValue;
  if (has_input(op, 2)) {
    TRY(bias, rewrite.whole_bias(op.in[2], *a, *b, weights->dims()[static_cast<size_t>(axis)], op.name));
    if (bias == kNoValue) return std::nullopt;
  }
  node.in.push_back(bias);
  TRY_OK(rewrite.push_parameters(node, y));
  return node;
}

// Within these ratios of scales the f32 of QLinearAdd and QLinearMul is off by less than a fifth of a step.
bool is_near(double ratio) { return ratio <= 4096; }

Instead binary(Rewrite& rewrite, const Node& op, const Quantity& y) {
  const auto a = rewrite.single_bytes(op.in[0]), b = rewrite.single_bytes(op.in[1]);
  if (op.version < 7 || !a || !b || a->dtype != y.dtype || b->dtype != y.dtype) return std::nullopt;
  const bool sum = op.type == "Add";
  if (sum && !(is_near(a->step(0) / y.step(0)) && is_near(b->step(0) / y.step(0)))) return std::nullopt;
  Node node = begin_node(op, y, "com.microsoft", sum ? "QLinearAdd" : "QLinearMul", 1);
  TRY_OK(rewrite.push(node, *a));
  TRY_OK(rewrite.push(node, *b));
  TRY_OK(rewrite.push_parameters(node, y));
  return node;
}

Instead unary(Rewrite& rewrite, const Node& op, const Quantity& y) {
  const auto x = rewrite.single_bytes(op.in[0]);
  if (!x || x->dtype != y.dtype || (op.type == "AveragePool" && op.version >= 19)) return std::nullopt;
  Node node = begin_node(op, y, "com.microsoft", "QLinear" + op.type, 1);
  keep_attributes(op, {"alpha", "auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}, node);
  TRY_OK(rewrite.push(node, *x));
  TRY_OK(rewrite.push_parameters(node, y));
  return node;
}

Instead concat(Rewrite& rewrite, const Node& op, const Quantity& y) {
  Node node = begin_node(op, y, "com.microsoft", "QLinearConcat", 1);
  keep_attributes(op, {"axis"}, node);
  TRY_OK(rewrite.push_parameters(node, y));
  for (ValueId id : op.in) {
    const auto part = rewrite.single_bytes(id);
    if (!part || part->dtype != y.dtype) return std::nullopt;
    TRY_OK(rewrite.push(node, *part));
  }
  return node;
}

// What only moves entries, or chooses among them by their order, does the same with bytes of the same scale.
Instead same(Rewrite& rewrite, const Node& op, const Quantity& y) {
  const auto x = rewrite.single_bytes(op.in[0]);
  if (!x || !x->like(y)) return std::nullopt;
  Node node = op;
  node.in[0] = x->bytes;
  node.out = {y.bytes};
  return node;
}

struct Rule {
  std::string_view op;
  Instead (*instead)(Rewrite&, const Node&, const Quantity&);
  bool faster = true;  // only where the engine has a kernel for it
};
constexpr Rule kRules[] = {
    {"Add", binary},
    {"AveragePool", unary},
    {"Concat", concat},
    {"Conv", convolution},
    {"Flatten", same, false},
    {"Gemm", gemm},
    {"GlobalAveragePool", unary},
    {"LeakyRelu", unary},
    {"MatMul", product},
    {"MaxPool", same},
    {"Mul", binary},
    {"Reshape", same, false},
    {"Sigmoid", unary},
    {"Squeeze", same, false},
    {"Transpose", same, false},
    {"Unsqueeze", same, false},
};

// A Relu that cuts off what is below the least byte anyway is left out.
ValueId before_relu(Rewrite& rewrite, const Quantity& y, ValueId id) {
  const int64_t least = y.dtype == DType::u8 ? 0 : -128;
  const Node* relu = rewrite.only_for_this(id);
  return relu && is_op(*relu, "Relu") && y.shift(0) == least ? relu->in[0] : id;
}

Status rewrite_node(Rewrite& rewrite, Node& quantize, bool& changed) {
  if (!is_op(quantize, "QuantizeLinear")) return {};
  const auto y = rewrite.quantity(quantize, quantize.out[0]);
  if (!y || !y->single() || !is_byte(y->dtype)) return {};
  const ValueId from = before_relu(rewrite, *y, quantize.in[0]);
  const Node* op = rewrite.only_for_this(from);
  if (!op || !op->op || !op->op->domain.empty() || rewrite.draft.facts[from].dtype != DType::f32) return {};
  const auto rule = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.op == op->type; });
  if (rule == std::end(kRules)) return {};
  TRY(std::optional<Node> instead, rule->instead(rewrite, *op, *y));
  if (!instead || (rule->faster && !rewrite.takes(*instead))) return {};
  quantize = std::move(*instead);
  return changed = true, Status();
}

}  // namespace

Status fuse_quantized(Draft& draft) {
  if (draft.target.exact || !takes_op(draft.target, "", "QLinearConv", 10)) return {};
  Rewrite rewrite(draft);
  bool changed = false;
  for (Node& node : draft.graph.nodes) TRY_OK(rewrite_node(rewrite, node, changed));
  return changed ? remove_dead_nodes(draft) : Status();
}

}  // namespace anyshape
