#include <algorithm>
#include <cmath>

#include "passes/reading.h"

namespace anyshape {
namespace {

// A normalisation over the last axes, written in several nodes.
struct Norm {
  ValueId x = kNoValue, scale = kNoValue, bias = kNoValue;
  size_t axis = 0;
  float epsilon = 0;
  bool centered = false;
  std::vector<const Node*> nodes;  // that go
};

// What divides the entries: one over the root of `squared`'s mean.
struct Divisor {
  ValueId squared = kNoValue;  // itself, not its square
  uint32_t reads = 0;          // of `squared` by its square
};

// Before opset 7 operands were broadcast in another way.
bool is_binary(const Node& node, std::string_view name) {
  return is_op(node, name) && node.version >= 7 && node.in.size() == 2;
}

// The axes that a mean is taken over, given as the first of them. nullopt: they are not the last ones, or not kept, or
// not known to have entries (a mean of nothing is no error, a normalisation of nothing is one).
std::optional<size_t> mean_from(const Reading& r, const Node& node) {
  if (!is_op(node, "ReduceMean") || node.integer("keepdims") != 1 || !r.is_f32(node.in[0])) return std::nullopt;
  const Dims* dims = r.dims(node.in[0]);
  std::vector<int64_t> axes;
  if (const Attribute* written = node.attribute("axes")) {
    const auto* list = std::get_if<std::vector<int64_t>>(&written->value);
    if (list) axes = *list;
  } else if (has_input(node, 1)) {
    const Tensor* tensor = r.draft.constant(node.in[1]);
    for (int64_t i = 0; tensor && tensor->dtype() == DType::i64 && i < tensor->count(); ++i)
      axes.push_back(tensor->int_at(i));
  }
  if (!dims || axes.empty() || axes.size() > dims->size()) return std::nullopt;
  const size_t from = dims->size() - axes.size();
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(dims->size()) : 0;
  std::sort(axes.begin(), axes.end());
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto size = (*dims)[from + i].constant();
    if (axes[i] != static_cast<int64_t>(from + i) || !size || *size < 1) return std::nullopt;
  }
  return from;
}

// One entry for all rows, or one for each entry of a row.
bool is_parameter(const Reading& r, ValueId id, const Norm& norm, const Dims& x) {
  const Dims* own = r.dims(id);
  if (!own || !r.is_f32(id) || own->size() > x.size()) return false;
  const size_t left_out = x.size() - own->size();
  const bool single = std::all_of(own->begin(), own->end(), [](Dim size) { return size == Dim(1); });
  if (single) return true;
  for (size_t i = 0; i < x.size(); ++i) {
    const Dim size = i < left_out ? Dim(1) : (*own)[i - left_out];
    if (size != (i < norm.axis ? Dim(1) : x[i])) return false;
  }
  return true;
}

bool is_number(const Reading& r, ValueId id, int64_t wanted) {
  const Tensor* tensor = r.draft.constant(id);
  if (!tensor || tensor->count() != 1) return false;
  if (tensor->dtype() == DType::i64 || tensor->dtype() == DType::i32) return tensor->int_at(0) == wanted;
  const auto number = r.number(id);
  return number && *number == static_cast<float>(wanted);
}

// sqrt(mean(x * x) + epsilon), for one reader.
std::optional<Divisor> find_root(const Reading& r, ValueId id, Norm& norm) {
  const Node* root = r.maker(id);
  const Node* sum = root && is_op(*root, "Sqrt") ? r.maker(root->in[0]) : nullptr;
  if (!sum || !is_binary(*sum, "Add")) return std::nullopt;
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Node* mean = r.maker(sum->in[i]);
    const auto epsilon = r.number(sum->in[1 - i]);
    const auto axis = mean && epsilon && std::isfinite(*epsilon) ? mean_from(r, *mean) : std::nullopt;
    const Node* square = axis ? r.maker(mean->in[0]) : nullptr;
    if (!square || square->in.size() != 2) continue;
    const bool power = is_op(*square, "Pow") && is_number(r, square->in[1], 2);
    if (!power && !(is_binary(*square, "Mul") && square->in[0] == square->in[1])) continue;
    norm.axis = *axis, norm.epsilon = *epsilon;
    norm.nodes.insert(norm.nodes.end(), {root, sum, mean, square});
    return Divisor{square->in[0], power ? 1u : 2u};
  }
  return std::nullopt;
}

// One over such a root, also times a scale.
std::optional<Divisor> find_inverse(const Reading& r, ValueId id, uint32_t readers, const Dims& x, Norm& norm) {
  const Node* node = r.maker(id, readers);
  if (!node) return std::nullopt;
  const Norm before = norm;
  const bool over = is_binary(*node, "Div") && is_number(r, node->in[0], 1);
  if (over || is_op(*node, "Reciprocal")) {
    norm.nodes.push_back(node);
    return find_root(r, node->in[over ? 1 : 0], norm);
  }
  if (!is_binary(*node, "Mul") || norm.scale != kNoValue) return std::nullopt;
  for (size_t i : {size_t{0}, size_t{1}}) {
    norm = before;
    norm.nodes.push_back(node);
    norm.scale = node->in[1 - i];
    const auto divisor = find_inverse(r, node->in[i], 1, x, norm);
    if (divisor && is_parameter(r, norm.scale, norm, x)) return divisor;
  }
  return std::nullopt;
}

// The mean over the same axes of x, for so many readers.
bool is_mean_of(const Reading& r, ValueId id, ValueId x, uint32_t readers, Norm& norm) {
  const Node* mean = r.maker(id, readers);
  if (!mean || mean_from(r, *mean) != norm.axis || mean->in[0] != x) return false;
  norm.nodes.push_back(mean);
  return true;
}

// What is divided is x, or x minus its mean.
void take_input(const Reading& r, ValueId divided, uint32_t readers, Norm& norm) {
  norm.x = divided;
  const Node* difference = r.maker(divided, readers);
  if (!difference || !is_binary(*difference, "Sub") || !is_mean_of(r, difference->in[1], difference->in[0], 1, norm))
    return;
  norm.nodes.push_back(difference);
  norm.centered = true;
  norm.x = difference->in[0];
}

// x / root or x * (1 / root).
std::optional<Norm> find_quotient(const Reading& r, const Node& node) {
  const bool over = is_binary(node, "Div");
  if ((!over && !is_binary(node, "Mul")) || r.draft.is_demanding(node)) return std::nullopt;
  const Dims* dims = r.dims(node.out[0]);
  if (!dims) return std::nullopt;
  for (size_t i : {size_t{0}, size_t{1}}) {
    Norm norm;
    norm.nodes.push_back(&node);
    const auto divisor = !over    ? find_inverse(r, node.in[1 - i], 1, *dims, norm)
                         : i == 0 ? find_root(r, node.in[1], norm)
                                  : std::nullopt;
    if (!divisor || divisor->squared != node.in[i]) continue;
    take_input(r, node.in[i], divisor->reads + 1, norm);
    const Dims* x = r.dims(norm.x);
    if (x && *x == *dims && r.is_f32(norm.x)) return norm;
  }
  return std::nullopt;
}

std::optional<Norm> find_scaled(const Reading& r, const Node& node) {
  if (auto norm = find_quotient(r, node)) return norm;
  if (!is_binary(node, "Mul") || r.draft.is_demanding(node)) return std::nullopt;
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Node* quotient = r.maker(node.in[i]);
    auto norm = quotient ? find_quotient(r, *quotient) : std::nullopt;
    if (!norm || norm->scale != kNoValue || !is_parameter(r, node.in[1 - i], *norm, *r.dims(norm->x))) continue;
    norm->scale = node.in[1 - i];
    norm->nodes.push_back(&node);
    return norm;
  }
  return std::nullopt;
}

// x * inverse + (bias - mean * inverse), `by` being x * inverse and `shift` the rest.
std::optional<Norm> find_affine(const Reading& r, const Node& by, const Node& shift, const Dims& dims) {
  const Node* product = is_binary(shift, "Sub") && is_binary(by, "Mul") ? r.maker(shift.in[1]) : nullptr;
  if (!product || !is_binary(*product, "Mul")) return std::nullopt;
  for (size_t i : {size_t{0}, size_t{1}})
    for (size_t k : {size_t{0}, size_t{1}}) {
      Norm norm{.x = by.in[i], .bias = shift.in[0], .centered = true, .nodes = {&by, &shift, product}};
      const ValueId inverse = by.in[1 - i], mean = product->in[k];
      if (product->in[1 - k] != inverse || !r.dims(norm.x) || *r.dims(norm.x) != dims) continue;
      const auto divisor = find_inverse(r, inverse, 2, dims, norm);
      const Node* difference = divisor ? r.maker(divisor->squared, divisor->reads) : nullptr;
      if (!difference || !is_binary(*difference, "Sub") || !is_parameter(r, norm.bias, norm, dims)) continue;
      const bool turned = difference->in[0] == mean;
      if (difference->in[turned ? 1 : 0] != norm.x || difference->in[turned ? 0 : 1] != mean) continue;
      if (!r.is_f32(norm.x) || !is_mean_of(r, mean, norm.x, 2, norm)) continue;
      norm.nodes.push_back(difference);
      return norm;
    }
  return std::nullopt;
}

std::optional<Norm> find_norm(const Reading& r, const Node& node) {
  if (!is_binary(node, "Add") || r.draft.is_demanding(node)) return find_scaled(r, node);
  const Dims* dims = r.dims(node.out[0]);
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Node *one = r.maker(node.in[i]), *other = r.maker(node.in[1 - i]);
    if (!one || !dims) continue;
    if (other)
      if (auto norm = find_affine(r, *one, *other, *dims)) return norm;
    auto norm = find_scaled(r, *one);
    if (!norm || !norm->centered || *r.dims(norm->x) != *dims || !is_parameter(r, node.in[1 - i], *norm, *dims))
      continue;
    norm->bias = node.in[1 - i];
    return norm;
  }
  return std::nullopt;
}

Result<ValueId> scale_of(Draft& draft, const Norm& norm, const Node& last) {
  if (norm.scale != kNoValue) return norm.scale;
  TRY(Tensor one, Tensor::allocate(DType::f32, {1}));
  one.as_mutable<float>()[0] = 1;
  return draft.add_constant(draft.graph.values[last.out[0]].name + ".scale", std::move(one));
}

Status put_norm(Draft& draft, const Norm& norm, Node& last) {
  Node node;
  node.name = draft.graph.label(last);
  set_op(node, "", norm.centered ? "LayerNormalization" : "RMSNormalization", norm.centered ? 17 : 23);
  TRY(const ValueId scale, scale_of(draft, norm, last));
  node.in = {norm.x, scale};
  if (norm.bias != kNoValue) node.in.push_back(norm.bias);
  node.out = last.out;
  node.attributes.push_back({"axis", static_cast<int64_t>(norm.axis)});
  node.attributes.push_back({"epsilon", norm.epsilon});
  last = std::move(node);
  return {};
}

}  // namespace

Status find_norms(Draft& draft) {
  if (!takes_op(draft.target, "", "LayerNormalization", 17) || !takes_op(draft.target, "", "RMSNormalization", 23))
    return {};
  const Reading reading(draft);
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  // From the back, so that scale and bias are found with what they follow.
  for (size_t i = draft.graph.nodes.size(); i-- > 0;) {
    Node& node = draft.graph.nodes[i];
    const auto norm = dead[i] ? std::nullopt : find_norm(reading, node);
    if (!norm) continue;
    for (const Node* gone : norm->nodes) dead[static_cast<size_t>(gone - draft.graph.nodes.data())] = true;
    dead[i] = false;
    TRY_OK(put_norm(draft, *norm, node));
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
