#include "fix/value_info.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "fix/resize_sizes.h"
#include "solve/axes.h"

namespace anyshape::fixes {
namespace {

using onnx::TypeProto;

class ValueInfoWriter {
 public:
  ValueInfoWriter(const Typed& typed, DimText dims, TextPool& texts) : typed_(typed), dims_(dims), texts_(texts) {
    for (const AxisSymbol& axis : typed.axes()) taken_.insert(axis.name);
  }

  // `repeated`: a body that may not run at all; what it gives then has the sizes that the file declares, and keeps
  // them.
  void write(const Graph& graph, const Facts& facts, onnx::GraphProto& proto, bool repeated);
  void write_outputs(const Graph& graph, const Facts& facts, onnx::GraphProto& proto, bool repeated);
  void write_inner(const Graph& graph, const Facts& facts, onnx::GraphProto& proto);
  void write_bodies(const Graph& graph, onnx::GraphProto& proto);
  // Names that mean something else already.
  void avoid(const std::vector<onnx::ValueInfoProto>& types);

 private:
  std::optional<TypeProto> type_of(const Fact& fact);
  TypeProto::Tensor tensor_type(const Fact& fact);
  onnx::TensorShapeProto::Dimension dimension(Dim size);
  std::string_view made_up_name(Dim size);
  bool keeps(const Fact& fact, const Value& value) const;

  const Typed& typed_;
  DimText dims_;
  TextPool& texts_;
  std::unordered_map<Dim, std::string_view> names_;
  std::unordered_set<std::string> taken_;
  int made_up_ = 0;
};

std::string_view ValueInfoWriter::made_up_name(Dim size) {
  auto& known = names_[size];
  while (known.empty()) {
    std::string name = fmt::format("dim_{}", made_up_++);
    if (taken_.insert(name).second) known = texts_.keep(std::move(name));
  }
  return known;
}

onnx::TensorShapeProto::Dimension ValueInfoWriter::dimension(Dim size) {
  onnx::TensorShapeProto::Dimension out;
  if (size.is_unknown()) return out;
  if (const auto number = size.constant()) {
    if (*number >= 0) out.dim_value = *number;
  } else if (size.is_symbol()) {
    out.dim_param = texts_.keep(std::string(typed_.symbols().name(size)));
  } else {
    out.dim_param = dims_ == DimText::expressions ? texts_.keep(print(size)) : made_up_name(size);
  }
  return out;
}

TypeProto::Tensor ValueInfoWriter::tensor_type(const Fact& fact) {
  TypeProto::Tensor out;
  out.elem_type = static_cast<int32_t>(fact.dtype);
  if (!fact.dims) return out;
  onnx::TensorShapeProto shape;
  for (Dim size : *fact.dims) shape.dim.push_back(dimension(size));
  out.shape = std::move(shape);
  return out;
}

std::optional<TypeProto> ValueInfoWriter::type_of(const Fact& fact) {
  TypeProto out;
  if (fact.kind == Fact::Kind::tensor) {
    if (fact.dtype == DType::undefined) return std::nullopt;
    out.tensor_type = tensor_type(fact);
    return out;
  }
  const bool holds_one = fact.kind == Fact::Kind::sequence || fact.kind == Fact::Kind::optional;
  auto item = holds_one && fact.item ? type_of(*fact.item) : std::nullopt;
  if (!item) return std::nullopt;
  if (fact.kind == Fact::Kind::sequence)
    out.sequence_type = TypeProto::Sequence{*std::move(item), {}};
  else
    out.optional_type = TypeProto::Optional{*std::move(item), {}};
  return out;
}

// The declaration is complete and nothing inferred speaks against it.
bool ValueInfoWriter::keeps(const Fact& fact, const Value& value) const {
  if (fact.kind == Fact::Kind::unknown) return true;
  if (!value.declared || value.declared->kind != fact.kind) return false;
  const Declared& declared = *value.declared;
  if (fact.kind != Fact::Kind::tensor) return true;
  if (fact.dtype != DType::undefined && declared.dtype != fact.dtype) return false;
  if (!fact.dims) return true;
  if (!declared.dims || declared.dims->size() != fact.dims->size()) return false;
  for (size_t i = 0; i < fact.dims->size(); ++i) {
    const DeclaredDim& claim = (*declared.dims)[i];
    const Dim size = (*fact.dims)[i];
    if (claim.value ? size != Dim(*claim.value) : size.is_constant() || is_placeholder_name(claim.name)) return false;
    if (claim.value) continue;
    const auto symbol = typed_.symbols().find(claim.name);
    if (symbol && typed_.kind(*symbol) == SymbolKind::axis && size != *symbol) return false;
    if (!symbol && size.is_symbol()) return false;
  }
  return true;
}

// The declaration gives another rank, or a number where the size is another or none.
bool contradicts(const Fact& fact, const Value& value) {
  if (!fact.dims || !value.declared || !value.declared->dims) return false;
  const auto& claims = *value.declared->dims;
  if (claims.size() != fact.dims->size()) return true;
  for (size_t i = 0; i < claims.size(); ++i)
    if (claims[i].value && (*fact.dims)[i] != Dim(*claims[i].value)) return true;
  return false;
}

void ValueInfoWriter::write_outputs(const Graph& graph, const Facts& known_facts, onnx::GraphProto& proto,
                                    bool repeated) {
  const auto counted = with_counted_sizes(graph, known_facts);
  const Facts& facts = counted ? *counted : known_facts;
  for (size_t i = 0; i < graph.outputs.size() && i < proto.output.size(); ++i) {
    const Fact& fact = facts[graph.outputs[i]];
    const Value& value = graph.values[graph.outputs[i]];
    if (repeated ? !contradicts(fact, value) : keeps(fact, value)) continue;
    if (auto type = type_of(fact)) proto.output[i].type = *std::move(type);
  }
}

void ValueInfoWriter::write_inner(const Graph& graph, const Facts& known_facts, onnx::GraphProto& proto) {
  const auto counted = with_counted_sizes(graph, known_facts);
  const Facts& facts = counted ? *counted : known_facts;
  std::unordered_map<std::string_view, size_t> known;
  for (size_t i = 0; i < proto.value_info.size(); ++i) known.emplace(proto.value_info[i].name, i);
  std::unordered_set<ValueId> outputs(graph.outputs.begin(), graph.outputs.end());
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.out) {
      if (id == kNoValue || outputs.contains(id)) continue;
      const Value& value = graph.values[id];
      const auto it = known.find(value.name);
      if (it != known.end() && keeps(facts[id], value)) continue;
      auto type = type_of(facts[id]);
      if (!type) continue;
      if (it != known.end()) {
        proto.value_info[it->second].type = *std::move(type);
        continue;
      }
      onnx::ValueInfoProto info;
      info.name = texts_.keep(value.name);
      info.type = *std::move(type);
      proto.value_info.push_back(std::move(info));
    }
  }
}

void ValueInfoWriter::write_bodies(const Graph& graph, onnx::GraphProto& proto) {
  if (typed_.bodies().empty()) return;
  std::unordered_map<std::string_view, const Node*> makers;
  for (const Node& node : graph.nodes)
    for (ValueId id : node.out)
      if (id != kNoValue) makers.emplace(graph.values[id].name, &node);
  for (onnx::NodeProto& node : proto.node) {
    const auto named = std::find_if(node.output.begin(), node.output.end(), [](auto name) { return !name.empty(); });
    const auto maker = named == node.output.end() ? makers.end() : makers.find(*named);
    if (maker == makers.end()) continue;
    for (onnx::AttributeProto& attribute : node.attribute) {
      const Attribute* imported = attribute.g ? maker->second->attribute(attribute.name) : nullptr;
      const auto* body = imported ? std::get_if<std::shared_ptr<Graph>>(&imported->value) : nullptr;
      const auto facts = body ? typed_.bodies().find(body->get()) : typed_.bodies().end();
      const bool repeated = maker->second->type == "Loop" || maker->second->type == "Scan";
      if (facts != typed_.bodies().end()) write(**body, facts->second, *attribute.g, repeated);
    }
  }
}

void ValueInfoWriter::avoid(const std::vector<onnx::ValueInfoProto>& types) {
  for (const onnx::ValueInfoProto& info : types)
    if (info.type && info.type->tensor_type && info.type->tensor_type->shape)
      for (const auto& dim : info.type->tensor_type->shape->dim) taken_.emplace(dim.dim_param);
}

void ValueInfoWriter::write(const Graph& graph, const Facts& facts, onnx::GraphProto& proto, bool repeated) {
  write_outputs(graph, facts, proto, repeated);
  write_inner(graph, facts, proto);
  write_bodies(graph, proto);
}

// The facts without the numbers that follow from conditions ONNX Runtime does not enforce: it would take them for
// granted, also of other values.
Facts only_certain_numbers(Facts facts, const Facts& certain) {
  for (size_t i = 0; i < facts.size() && i < certain.size(); ++i) {
    const auto& known = certain[i].dims;
    for (size_t axis = 0; facts[i].dims && axis < facts[i].dims->size(); ++axis) {
      Dim& size = (*facts[i].dims)[axis];
      const bool same = known && axis < known->size() && (*known)[axis] == size;
      if (size.is_constant() && !same) size = Dim::unknown();
    }
  }
  return facts;
}

}  // namespace

void write_value_info(const Typed& typed, DimText dims, TextPool& texts, onnx::ModelProto& model) {
  if (has_uncounted_sizes(typed)) return;
  ValueInfoWriter(typed, dims, texts).write(typed.graph(), typed.facts(), *model.graph, false);
}

void write_value_info(const Typed& typed, const Typed& certain, DimText dims, TextPool& texts,
                      onnx::ModelProto& model) {
  if (has_uncounted_sizes(certain)) return;
  ValueInfoWriter outputs(typed, dims, texts);
  // Such a model runs only where ONNX Runtime does not know the sizes: told what they are, it refuses the file.
  if (certain.refusal()) return outputs.write_outputs(typed.graph(), typed.facts(), *model.graph, false);
  outputs.write_outputs(typed.graph(), only_certain_numbers(typed.facts(), certain.facts()), *model.graph, false);
  ValueInfoWriter inner(certain, dims, texts);
  inner.avoid(model.graph->output);
  inner.write_inner(certain.graph(), certain.facts(), *model.graph);
  inner.write_bodies(certain.graph(), *model.graph);
}

}  // namespace anyshape::fixes
