#include "anyshape/graph.h"

#include "api/model_impl.h"
#include "base/bug.h"
#include "check/report.h"
#include "ir/named_bodies.h"
#include "ir/reads.h"

namespace anyshape {
namespace {

std::optional<size_t> index_of(ValueId id) { return id == kNoValue ? std::nullopt : std::optional<size_t>(id); }

std::vector<std::optional<size_t>> indices(const std::vector<ValueId>& ids) {
  std::vector<std::optional<size_t>> out;
  for (ValueId id : ids) out.push_back(index_of(id));
  return out;
}

std::vector<size_t> plain(const std::vector<ValueId>& ids) { return {ids.begin(), ids.end()}; }

AnyValue value_of(const Tensor& tensor) { return AnyValue(std::make_shared<Datum>(tensor)); }

// Nothing for bodies, types and sparse tensors.
struct ToValue {
  using Value = GraphAttribute::Value;
  Value operator()(int64_t value) const { return value; }
  Value operator()(float value) const { return value; }
  Value operator()(const std::string& value) const { return value; }
  Value operator()(const Box<Tensor>& value) const { return value ? Value(value_of(*value)) : Value(); }
  Value operator()(const std::vector<int64_t>& values) const { return values; }
  Value operator()(const std::vector<float>& values) const { return values; }
  Value operator()(const std::vector<std::string>& values) const { return values; }
  Value operator()(const std::vector<Tensor>& values) const {
    std::vector<AnyValue> out;
    for (const Tensor& value : values) out.push_back(value_of(value));
    return out;
  }
  template <class Other>
  Value operator()(const Other&) const {
    return {};
  }
};

std::optional<std::vector<std::string>> entries_of(const Fact& fact) {
  if (!fact.elements) return std::nullopt;
  std::vector<std::string> out;
  for (Dim entry : *fact.elements) {
    const std::string text = print(entry);
    out.push_back(fact.denominator == 1 ? text : fmt::format("({})/{}", text, fact.denominator));
  }
  return out;
}

std::vector<std::vector<size_t>> readers(const Graph& graph) {
  std::vector<std::vector<size_t>> out(graph.values.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for_each_read(graph.nodes[i], [&](ValueId id) {
      if (out[id].empty() || out[id].back() != i) out[id].push_back(i);
    });
  return out;
}

}  // namespace

struct GraphView::Impl {
  Impl(Model its_model, std::shared_ptr<const Typed> known, const Graph& of, const Facts* its_facts)
      : model(std::move(its_model)), typed(std::move(known)), graph(&of), facts(its_facts), consumers(readers(of)) {}

  Fact fact(size_t index) const { return facts && index < facts->size() ? (*facts)[index] : Fact(); }

  GraphView body(const Graph& of) const {
    const auto known = typed->bodies().find(&of);
    const Facts* its_facts = known == typed->bodies().end() ? nullptr : &known->second;
    return GraphView(std::make_shared<const Impl>(model, typed, of, its_facts));
  }

  std::vector<GraphBody> bodies(const Node& node) const {
    std::vector<GraphBody> out;
    if (node.body) out.push_back({{}, body(*node.body)});
    for_each_named_body(node, [&](const std::string& name, const Graph& each) { out.push_back({name, body(each)}); });
    return out;
  }

  Model model;  // it and the next keep what the pointers point at
  std::shared_ptr<const Typed> typed;
  const Graph* graph;
  const Facts* facts;  // by ValueId, possibly fewer; null: nothing is known
  std::vector<std::vector<size_t>> consumers;
};

Result<GraphView> GraphView::of(const Model& model) {
  const Typed& found = model.impl().typed();
  TRY_OK(model.impl().going_on());
  auto typed = model.impl().typed_in_full();
  if (!typed) typed = std::make_shared<const Typed>(found);
  const Graph& graph = typed->graph();
  const Facts* facts = &typed->facts();
  return GraphView(std::make_shared<const Impl>(model, std::move(typed), graph, facts));
}

const std::string& GraphView::name() const { return impl_->graph->name; }
size_t GraphView::node_count() const { return impl_->graph->nodes.size(); }
size_t GraphView::value_count() const { return impl_->graph->values.size(); }
std::vector<size_t> GraphView::inputs() const { return plain(impl_->graph->required_inputs()); }
std::vector<size_t> GraphView::outputs() const { return plain(impl_->graph->outputs); }

GraphNode GraphView::node(size_t index) const {
  ANYSHAPE_CHECK(index < node_count());
  const Node& node = impl_->graph->nodes[index];
  GraphNode out;
  out.name = node.name;
  out.label = impl_->graph->label(node);
  out.domain = node.domain;
  out.op = node.type;
  out.version = node.version;
  out.known = node.op || node.body;
  out.inputs = indices(node.in);
  out.outputs = indices(node.out);
  for (const Attribute& attribute : node.attributes)
    out.attributes.push_back({attribute.name, std::visit(ToValue(), attribute.value)});
  out.bodies = impl_->bodies(node);
  return out;
}

GraphValue GraphView::value(size_t index) const {
  ANYSHAPE_CHECK(index < value_count());
  const Value& value = impl_->graph->values[index];
  const Fact fact = impl_->fact(index);
  GraphValue out;
  out.name = value.name;
  out.type = value_type(value.name, fact);
  out.entries = entries_of(fact);
  out.constant = static_cast<bool>(constant(index));
  out.stored = value.is_initializer;
  if (value.producer != kNoValue) out.producer = value.producer;
  return out;
}

AnyValue GraphView::constant(size_t index) const {
  ANYSHAPE_CHECK(index < value_count());
  const Tensor tensor = impl_->fact(index).as_tensor();
  return tensor ? value_of(tensor) : AnyValue();
}

std::optional<size_t> GraphView::find(std::string_view value_name) const {
  const auto id = impl_->graph->find(value_name);
  return id ? std::optional<size_t>(*id) : std::nullopt;
}

const std::vector<size_t>& GraphView::consumers(size_t index) const {
  ANYSHAPE_CHECK(index < value_count());
  return impl_->consumers[index];
}

std::vector<std::pair<size_t, size_t>> GraphView::captures() const {
  std::vector<std::pair<size_t, size_t>> out;
  for (const Graph::Capture& capture : impl_->graph->captures) out.emplace_back(capture.outer, capture.inner);
  return out;
}

std::vector<GraphRequirement> GraphView::requirements() const {
  std::vector<GraphRequirement> out;
  const Typed& typed = *impl_->typed;
  if (impl_->graph != &typed.graph()) return out;
  for (const Requirement& one : typed.requirements()) {
    GraphRequirement& told = out.emplace_back();
    told.text = print(one.condition);
    if (!one.path.is_always()) told.path = print(one.path);
    told.because = {one.node, one.op, one.code, one.sentence};
    if (one.site != kNoValue && impl_->graph->values[one.site].producer != kNoValue)
      told.node = impl_->graph->values[one.site].producer;
    told.on_data = one.on_data;
    told.opaque = one.opaque;
    told.recorded = one.recorded;
  }
  return out;
}

}  // namespace anyshape
