#include <algorithm>
#include <cmath>

#include "passes/reading.h"

namespace anyshape {
namespace {

// Entries 0, 1, 2, ... along the last axis, which is the only one.
bool counts(const Tensor* tensor) {
  if (!tensor || tensor->rank() == 0 || tensor->dims().back() != tensor->count()) return false;
  if (tensor->dtype() != DType::i32 && tensor->dtype() != DType::i64) return false;
  for (int64_t i = 0; i < tensor->count(); ++i)
    if (tensor->int_at(i) != i) return false;
  return true;
}

// A product of rows that have 1 in one place, or nowhere, and weights: it picks rows of those.
struct Pick {
  ValueId index = kNoValue;  // [..., 1]
  ValueId weights = kNoValue;
};

std::optional<Pick> pick_of(const Reading& reading, const Node& node) {
  const Draft& draft = reading.draft;
  if (!is_op(node, "MatMul") || draft.is_demanding(node) || !reading.is_f32(node.out[0])) return std::nullopt;
  const Tensor* weights = draft.constant(node.in[1]);
  const Node* cast = reading.maker(node.in[0]);
  if (!weights || weights->rank() != 2 || !cast || !is_op(*cast, "Cast")) return std::nullopt;
  const Node* equal = reading.maker(cast->in[0]);
  if (!equal || !is_op(*equal, "Equal")) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const ValueId index = equal->in[side];
    const Tensor* places = draft.constant(equal->in[1 - side]);
    const Dims* dims = reading.dims(index);
    if (!dims || dims->empty() || dims->back() != Dim(1) || !counts(places)) continue;
    if (places->rank() <= dims->size() && places->count() == weights->dims()[0]) return Pick{index, node.in[1]};
  }
  return std::nullopt;
}

// The weights and a row of zeros; nothing where a product with 0 would not be 0. Sums have no -0.
Result<Tensor> with_zeros(const Tensor& weights) {
  TRY(const Tensor from, weights.aligned());
  const int64_t n = from.count(), columns = from.dims()[1];
  TRY(Tensor out, Tensor::allocate(DType::f32, {from.dims()[0] + 1, columns}));
  const auto to = out.as_mutable<float>();
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(from.at<float>(i))) return Tensor();
    to[static_cast<size_t>(i)] = from.at<float>(i) + 0.0f;
  }
  std::fill_n(to.begin() + n, columns, 0.0f);
  return out;
}

class Picker {
 public:
  explicit Picker(Draft& draft) : draft_(draft), reading_(draft) {}

  Status run() {
    const auto picks = [&](const Node& node) { return pick_of(reading_, node).has_value(); };
    if (std::none_of(draft_.graph.nodes.begin(), draft_.graph.nodes.end(), picks)) return {};
    std::vector<Node> nodes;
    const std::vector<Node> before = draft_.graph.nodes;
    for (const Node& node : before) {
      const auto pick = pick_of(reading_, node);
      Tensor table;
      if (pick) {
        TRY(table, with_zeros(*draft_.constant(pick->weights)));
      }
      if (table)
        add(node, *pick, std::move(table), nodes);
      else
        nodes.push_back(node);
    }
    draft_.graph.nodes = std::move(nodes);
    return {};
  }

 private:
  ValueId number(DType dtype, int64_t value) {
    Tensor tensor = *Tensor::allocate(dtype, {});
    tensor.set_int(0, value);
    return draft_.add_constant(fmt::format("{}", value), std::move(tensor));
  }

  // A node whose result has that type.
  ValueId make(std::string_view op, int64_t version, std::vector<ValueId> in, Fact fact, const std::string& name,
               std::vector<Node>& nodes) {
    Node node;
    set_op(node, "", op, version);
    node.name = name;
    node.in = std::move(in);
    node.out = {draft_.add_value(name + "/" + std::string(op), std::move(fact))};
    nodes.push_back(std::move(node));
    return nodes.back().out[0];
  }

  // Weights of the index, or zeros where there are none: the last row.
  void add(const Node& product, const Pick& pick, Tensor table, std::vector<Node>& nodes) {
    const Fact index = draft_.facts[pick.index].type_only();
    const Fact flag = Fact::tensor(DType::boolean, *index.dims);
    const int64_t rows = table.dims()[0] - 1;
    const ValueId none = number(index.dtype, rows);
    const ValueId above = make("GreaterOrEqual", 12, {pick.index, number(index.dtype, 0)}, flag, product.name, nodes);
    const ValueId below = make("Less", 13, {pick.index, none}, flag, product.name, nodes);
    const ValueId inside = make("And", 7, {above, below}, flag, product.name, nodes);
    const ValueId at = make("Where", 9, {inside, pick.index, none}, index, product.name, nodes);
    Dims dims = *index.dims;
    dims.push_back(Dim(table.dims()[1]));
    Tensor axes = *Tensor::allocate(DType::i64, {1});
    axes.set_int(0, static_cast<int64_t>(index.dims->size()) - 1);
    const ValueId rows_of_weights =
        draft_.add_constant(draft_.graph.values[pick.weights].name + ".and_none", std::move(table));
    const ValueId picked =
        make("Gather", 13, {rows_of_weights, at}, Fact::tensor(DType::f32, std::move(dims)), product.name, nodes);
    Node squeeze = product;
    set_op(squeeze, "", "Squeeze", 13);
    squeeze.attributes.clear();
    squeeze.in = {picked, draft_.add_constant("axis", std::move(axes))};
    nodes.push_back(std::move(squeeze));
  }

  Draft& draft_;
  Reading reading_;
};

}  // namespace

Status pick_rows(Draft& draft) { return Picker(draft).run(); }

}  // namespace anyshape
