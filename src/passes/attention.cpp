#include <algorithm>
#include <cmath>

#include "passes/reading.h"

namespace anyshape {
namespace {

// A chain of nodes from a softmax up to the product of queries and keys, and down to that with the values.
struct Found {
  ValueId q = kNoValue, k = kNoValue, v = kNoValue, mask = kNoValue, where = kNoValue;
  double scale = 1;
  float fill = 0;
  bool keep = true, where_first = true, nan_to_zero = false;
  std::vector<const Node*> nodes;  // that go
};

// x of `x * c` and `x / c`; c goes into the scale. A scale that the model writes as no number stays where it is.
ValueId without_scale(const Reading& r, ValueId id, Found& found) {
  const Node* node = r.maker(id);
  if (!node || node->in.size() != 2) return id;
  for (size_t i : {size_t{0}, size_t{1}}) {
    const auto by = r.number(node->in[1 - i]);
    const bool times = is_op(*node, "Mul"), over = is_op(*node, "Div") && i == 0;
    if (!by || !(times || over) || r.dims(node->in[i]) == nullptr || *r.dims(node->in[i]) != *r.dims(id)) continue;
    const double scale = times ? found.scale * *by : found.scale / *by;
    if (!std::isfinite(scale) || scale == 0) continue;
    found.scale = scale;
    found.nodes.push_back(node);
    return without_scale(r, node->in[i], found);
  }
  return id;
}

// Each axis is 1 or that of the scores, counted from the back.
bool lies_under(const Reading& r, ValueId id, const Dims& scores) {
  const Dims* own = r.dims(id);
  if (!own || own->size() > scores.size()) return false;
  for (size_t i = 0; i < own->size(); ++i) {
    const Dim size = (*own)[own->size() - 1 - i];
    if (size != Dim(1) && size != scores[scores.size() - 1 - i]) return false;
  }
  return true;
}

bool find_scores(const Reading& r, ValueId id, const Dims& scores, Found& found);

// The scores plus a mask, or a number in their place.
bool find_masked(const Reading& r, const Node& node, const Dims& scores, Found& found) {
  const Found before = found;
  const bool add = is_op(node, "Add") && node.in.size() == 2, where = is_op(node, "Where") && node.in.size() == 3;
  if (add && found.mask == kNoValue) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      found = before;
      found.mask = node.in[1 - i];
      found.nodes.push_back(&node);
      if (r.is_f32(found.mask) && lies_under(r, found.mask, scores) && find_scores(r, node.in[i], scores, found))
        return true;
    }
  } else if (where && found.where == kNoValue) {
    for (size_t i : {size_t{1}, size_t{2}}) {
      found = before;
      const auto fill = r.number(node.in[3 - i]);
      if (!fill || !lies_under(r, node.in[0], scores)) continue;
      found.where = node.in[0], found.fill = *fill, found.keep = i == 1;
      found.where_first = found.mask != kNoValue;
      found.nodes.push_back(&node);
      if (find_scores(r, node.in[i], scores, found)) return true;
    }
  }
  found = before;
  return false;
}

bool find_scores(const Reading& r, ValueId id, const Dims& scores, Found& found) {
  const Dims* dims = r.dims(id);
  const Node* node = r.maker(id);
  if (!node || !dims || *dims != scores || !r.is_f32(id)) return false;
  if (find_masked(r, *node, scores, found)) return true;
  const size_t count = found.nodes.size();
  node = r.maker(without_scale(r, id, found));
  if (!node || !is_op(*node, "MatMul")) {
    found.nodes.resize(count);
    return false;
  }
  found.nodes.push_back(node);
  found.q = without_scale(r, node->in[0], found);
  found.k = without_scale(r, node->in[1], found);
  return true;
}

// Softmax over the last axis, also where NaN is replaced by 0 afterwards.
const Node* find_softmax(const Reading& r, ValueId weights, Found& found) {
  const Node* node = r.maker(weights);
  if (node && is_op(*node, "Where") && node->in.size() == 3) {
    const Node *test = r.maker(node->in[0]), *softmax = r.maker(node->in[2], 2);
    const auto zero = r.number(node->in[1]);
    if (!test || !softmax || !is_op(*test, "IsNaN") || test->in[0] != node->in[2] || !zero || *zero != 0)
      return nullptr;
    found.nodes.push_back(node);
    found.nodes.push_back(test);
    found.nan_to_zero = true;
    node = softmax;
  }
  if (!node || !is_op(*node, "Softmax")) return nullptr;
  const Dims* dims = r.dims(node->in[0]);
  const int64_t axis = node->integer("axis");
  if (!dims || (axis != -1 && axis + 1 != static_cast<int64_t>(dims->size()))) return nullptr;
  found.nodes.push_back(node);
  return node;
}

// Leading axes of the operand are those of the scores, or 1.
bool fits_attention(const Reading& r, ValueId id, const Dims& scores) {
  const Dims* own = r.dims(id);
  if (!own || !r.is_f32(id) || own->size() < 2 || own->size() > scores.size()) return false;
  for (size_t i = 2; i < own->size(); ++i) {
    const Dim size = (*own)[own->size() - 1 - i];
    if (size != Dim(1) && size != scores[scores.size() - 1 - i]) return false;
  }
  return true;
}

std::optional<Found> find(const Reading& r, const Node& product) {
  if (!is_op(product, "MatMul") || r.draft.is_demanding(product)) return std::nullopt;
  Found found;
  found.v = product.in[1];
  const Node* softmax = find_softmax(r, product.in[0], found);
  if (!softmax) return std::nullopt;
  const Dims& scores = *r.dims(softmax->in[0]);
  if (scores.size() < 2 || !find_scores(r, softmax->in[0], scores, found)) return std::nullopt;
  for (ValueId id : {found.q, found.k, found.v})
    if (!fits_attention(r, id, scores)) return std::nullopt;
  return found;
}

Node node_of(const Found& found, const Node& product, std::string label) {
  Node node;
  node.name = std::move(label);
  set_op(node, "anyshape", "Attention", 1);
  node.in = {found.q, found.k, found.v};
  if (found.mask != kNoValue || found.where != kNoValue) node.in.push_back(found.mask);
  if (found.where != kNoValue) node.in.push_back(found.where);
  node.out = product.out;
  node.attributes.push_back({"scale", static_cast<float>(found.scale)});
  if (found.where != kNoValue) {
    node.attributes.push_back({"fill", found.fill});
    node.attributes.push_back({"keep", int64_t{found.keep}});
    node.attributes.push_back({"where_first", int64_t{found.where_first}});
  }
  if (found.nan_to_zero) node.attributes.push_back({"nan_to_zero", int64_t{1}});
  return node;
}

// The order of axes in which a Transpose after it wants the result.
void take_transpose(Draft& draft, const Reading& r, Node& node, std::vector<bool>& dead) {
  if (!is_op(node, "Transpose") || node.in.empty() || draft.is_demanding(node)) return;
  const Node* maker = r.maker(node.in[0]);
  const auto* perm =
      node.attribute("perm") ? std::get_if<std::vector<int64_t>>(&node.attribute("perm")->value) : nullptr;
  if (!maker || maker->domain != "anyshape" || maker->type != "Attention" || !perm || perm->empty()) return;
  if (perm->back() + 1 != static_cast<int64_t>(perm->size())) return;
  Node one = *maker;
  one.out = node.out;
  one.attributes.push_back({"perm", *perm});
  dead[static_cast<size_t>(maker - draft.graph.nodes.data())] = true;
  node = std::move(one);
}

}  // namespace

Status fuse_attention(Draft& draft) {
  if (!takes_op(draft.target, "anyshape", "Attention", 1)) return {};
  const Reading reading(draft);
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (Node& node : draft.graph.nodes) {
    take_transpose(draft, reading, node, dead);
    const auto found = find(reading, node);
    if (!found) continue;
    for (const Node* gone : found->nodes) dead[static_cast<size_t>(gone - draft.graph.nodes.data())] = true;
    node = node_of(*found, node, draft.graph.label(node));
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
