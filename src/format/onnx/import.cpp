#include "format/onnx/import.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/work.h"
#include "format/onnx/import_tensor.h"
#include "format/onnx/names.h"
#include "format/onnx/order.h"
#include "format/onnx/scope.h"
#include "ir/note.h"
#include "ir/relevance.h"

namespace anyshape::onnx {
namespace {

constexpr int kMaxBodies = 64;
constexpr int64_t kMaxExpanded = 200'000;  // nodes that calls of functions add
constexpr int64_t kLatest = int64_t{1} << 40;

using Opsets = std::unordered_map<std::string_view, int64_t>;
using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

std::string_view canonical(std::string_view domain) { return domain == "ai.onnx" ? std::string_view("") : domain; }

size_t count_outputs(const std::vector<NodeProto>& nodes) {
  size_t count = 0;
  for (const NodeProto& node : nodes) count += node.output.size();
  return count;
}

class Importer {
 public:
  Importer(const ModelFile& model, std::shared_ptr<const OpTable> ops)
      : model_(model), ops_(std::move(ops)), source_{model.file, model.external.get()} {
    for (const auto& f : model.proto.functions)
      functions_.emplace(FunctionKey(canonical(f.domain), f.name, f.overload), &f);
  }

  Result<std::shared_ptr<const Graph>> run() {
    if (!model_.proto.graph) return refuse("model.graph", "the file holds no graph");
    TRY(const Opsets opsets, opsets_of(model_.proto.opset_import));
    TRY(auto graph, import_graph(*model_.proto.graph, nullptr, opsets, nullptr));
    graph->leniencies = std::move(leniencies_);
    return graph;
  }

 private:
  using Bound = std::unordered_map<std::string_view, Attribute>;  // attributes a function call gives its body

  Result<Opsets> opsets_of(const std::vector<OperatorSetIdProto>& imports) {
    Opsets opsets;
    for (const auto& import : imports) opsets[canonical(import.domain)] = import.version.value_or(1);
    if (imports.empty()) {
      if (model_.proto.ir_version.value_or(1) >= 3)
        return refuse("model.opset", "the file does not say which opset it uses");
      opsets[""] = 1;
    }
    return opsets;
  }

  Result<std::shared_ptr<Graph>> import_graph(const GraphProto& proto, Scope* parent, const Opsets& opsets,
                                              const Bound* bound);
  Status add_inputs(const GraphProto& proto, Scope& scope);
  Status add_initializers(const GraphProto& proto, Scope& scope);
  Status declare(const std::vector<ValueInfoProto>& infos, Scope& scope);
  Status add_nodes(const std::vector<NodeProto>& nodes, Scope& scope, const Opsets& opsets, const Bound* bound);
  Status add_node(const NodeProto& proto, Scope& scope, const Opsets& opsets, const Bound* bound);
  Status add_outputs(const NodeProto& proto, Scope& scope, Node& node);
  Status add_attributes(const NodeProto& proto, Scope& scope, const Opsets& opsets, const Bound* bound, Node& node);
  Result<Attribute::Value> import_attribute(const AttributeProto& proto, Scope& scope, const Opsets& opsets,
                                            const Bound* bound);
  Result<std::shared_ptr<const Graph>> instantiate(const FunctionProto& function, const Node& node);
  Status define(Scope& scope, std::string_view name, bool by_node = false);
  std::shared_ptr<Graph> new_graph(std::string_view name) const;

  const ModelFile& model_;
  std::shared_ptr<const OpTable> ops_;
  Source source_;
  std::map<FunctionKey, const FunctionProto*> functions_;
  std::vector<Reason> leniencies_;
  std::set<std::string_view> hidden_;
  int depth_ = 0;
  int64_t expanded_ = 0;
};

Status Importer::define(Scope& scope, std::string_view name, bool by_node) {
  if (scope.names.contains(name)) return refuse("graph.duplicate", "the name {:?} is defined twice", name);
  const bool hides = scope.parent && scope.parent->visible(name);
  if (!hides) return {};
  const std::string sentence = fmt::format("the name {:?} of a body hides a value of the graph around it", name);
  // Of an input or initializer of a body ONNX Runtime takes the innermost, of what a node gives it takes none.
  if (by_node) return refuse("graph.shadow", "{}", sentence);
  if (model_.strict) return refuse(lenient("lenient.shadow"), "{}", sentence);
  if (hidden_.insert(name).second) leniencies_.push_back({"", "", "lenient.shadow", sentence});
  return {};
}

std::shared_ptr<Graph> Importer::new_graph(std::string_view name) const {
  auto graph = std::make_shared<Graph>();
  graph->ops = ops_;
  graph->name = std::string(name);
  graph->strict = model_.strict;
  return graph;
}

Status Importer::add_inputs(const GraphProto& proto, Scope& scope) {
  for (const auto& input : proto.input) {
    TRY_OK(define(scope, input.name));
    const ValueId id = scope.add(input.name);
    scope.graph.inputs.push_back(id);
    if (!input.type) continue;
    auto declared = import_type(*input.type);
    if (!declared) return at(fmt::format("input {:?}", input.name), std::move(declared).error());
    scope.graph.values[id].declared = *std::move(declared);
  }
  return {};
}

Status Importer::add_initializers(const GraphProto& proto, Scope& scope) {
  const auto place = [&](std::string_view name) -> Result<ValueId> {
    const ValueId* id = scope.names.find(name);
    if (!id) {
      TRY_OK(define(scope, name));
      return scope.add(name);
    }
    if (scope.graph.values[*id].is_initializer)
      return refuse("graph.duplicate", "initializer {:?} is defined twice", name);
    return *id;
  };
  for (const auto& initializer : proto.initializer) {
    TRY_OK(Work::check());
    TRY(const ValueId id, place(initializer.name));
    auto tensor = import_tensor(initializer, source_);
    if (!tensor) return at(fmt::format("initializer {:?}", initializer.name), std::move(tensor).error());
    scope.graph.values[id].constant = std::make_shared<const Fact>(Fact::of_constant(*std::move(tensor)));
    scope.graph.values[id].is_initializer = true;
  }
  for (const auto& initializer : proto.sparse_initializer) {
    const std::string_view name = initializer.values ? initializer.values->name : std::string_view();
    TRY(const ValueId id, place(name));
    auto sparse = import_sparse(initializer, source_);
    if (!sparse) return at(fmt::format("sparse initializer {:?}", name), std::move(sparse).error());
    Fact fact = Fact::tensor(sparse->values.dtype(), Dims(sparse->dims.begin(), sparse->dims.end()));
    fact.from_shapes = true;
    scope.graph.values[id].constant = std::make_shared<const Fact>(std::move(fact));
    scope.graph.values[id].is_initializer = true;
  }
  return {};
}

Status Importer::declare(const std::vector<ValueInfoProto>& infos, Scope& scope) {
  for (const auto& info : infos) {
    const ValueId* id = scope.names.find(info.name);
    if (!id || *id == kNoValue || !info.type) continue;
    Value& value = scope.graph.values[*id];
    if (value.declared) continue;
    auto declared = import_type(*info.type);
    if (!declared) return at(fmt::format("value {:?}", info.name), std::move(declared).error());
    value.declared = *std::move(declared);
  }
  return {};
}

// What a body gives may be read outside of it.
void mark_results(Graph& body) {
  for (ValueId id : body.outputs) body.values[id].shape_relevant = true;
}

Result<std::shared_ptr<Graph>> Importer::import_graph(const GraphProto& proto, Scope* parent, const Opsets& opsets,
                                                      const Bound* bound) {
  if (++depth_ > kMaxBodies) return refuse("graph.depth", "bodies are nested more than {} deep", kMaxBodies);
  auto graph = new_graph(proto.name);
  Scope scope{*graph, parent, {}};
  scope.reserve(proto.input.size() + proto.initializer.size() + count_outputs(proto.node));
  TRY_OK(add_inputs(proto, scope));
  TRY_OK(add_initializers(proto, scope));
  TRY_OK(add_nodes(proto.node, scope, opsets, bound));
  for (const auto& output : proto.output) {
    const auto id = scope.find(output.name);
    if (!id || *id == kNoValue) return refuse("graph.output", "output {:?} is produced by no node", output.name);
    graph->outputs.push_back(*id);
  }
  TRY_OK(declare(proto.output, scope));
  TRY_OK(declare(proto.value_info, scope));
  if (parent) mark_results(*graph);
  graph->finish();
  if (!parent) narrow_relevance(*graph);
  --depth_;
  return graph;
}

Status Importer::add_nodes(const std::vector<NodeProto>& nodes, Scope& scope, const Opsets& opsets,
                           const Bound* bound) {
  for (const NodeProto& node : nodes)
    for (std::string_view name : node.output)
      if (!name.empty()) TRY_OK(define(scope, name, true));
  TRY(const std::vector<size_t> order, topological_order(nodes));
  scope.graph.nodes.reserve(nodes.size());
  for (size_t i : order) {
    const NodeProto& node = nodes[i];
    if (auto status = add_node(node, scope, opsets, bound); !status) {
      const std::string label = node.name.empty() ? fmt::format("{}_{}", node.op_type, i) : std::string(node.name);
      return at(fmt::format("node {:?}", label), std::move(status).error());
    }
  }
  return {};
}

Status Importer::add_node(const NodeProto& proto, Scope& scope, const Opsets& opsets, const Bound* bound) {
  TRY_OK(Work::check());
  Node node;
  node.name = std::string(proto.name);
  node.domain = std::string(canonical(proto.domain));
  node.type = std::string(proto.op_type);
  node.in.reserve(proto.input.size());
  for (std::string_view name : proto.input) {
    const auto id = name.empty() ? std::optional(kNoValue) : scope.find(name);
    if (!id) return refuse("graph.missing", "input {:?} is defined nowhere", name);
    node.in.push_back(*id);
  }
  for (const StringStringEntryProto& entry : proto.metadata_props)
    if (entry.key == kGuardNote) node.metadata.emplace().emplace_back(entry.key, entry.value);
  TRY_OK(add_attributes(proto, scope, opsets, bound, node));
  const auto function = functions_.find(FunctionKey(node.domain, node.type, proto.overload));
  const auto opset = opsets.find(node.domain);
  if (function != functions_.end()) {
    TRY(node.body, instantiate(*function->second, node));
  } else if (opset == opsets.end() && node.domain.empty()) {
    return refuse("model.opset", "the file does not import the default operator set");
  } else {
    node.version = opset == opsets.end() ? kLatest : opset->second;
    node.op = ops_->find(node.domain, node.type, node.version);
  }
  TRY_OK(add_outputs(proto, scope, node));
  scope.graph.nodes.push_back(std::move(node));
  return {};
}

Status Importer::add_outputs(const NodeProto& proto, Scope& scope, Node& node) {
  node.out.reserve(proto.output.size());
  for (std::string_view name : proto.output) {
    if (name.empty()) {
      node.out.push_back(kNoValue);
      continue;
    }
    TRY_OK(define(scope, name, true));
    node.out.push_back(scope.add(name));
  }
  return {};
}

// The first attribute whose name another one before it has.
const AttributeProto* given_again(const std::vector<AttributeProto>& attributes) {
  constexpr size_t kFew = 16;
  Names seen;
  for (auto it = attributes.begin(); it != attributes.end(); ++it) {
    const auto is_it = [&](const AttributeProto& other) { return other.name == it->name; };
    if (attributes.size() <= kFew ? std::any_of(attributes.begin(), it, is_it) : !seen.add(it->name, 0)) return &*it;
  }
  return nullptr;
}

Status Importer::add_attributes(const NodeProto& proto, Scope& scope, const Opsets& opsets, const Bound* bound,
                                Node& node) {
  if (const AttributeProto* again = given_again(proto.attribute))
    return refuse("node.attribute", "attribute {:?} is given twice", again->name);
  node.attributes.reserve(proto.attribute.size());
  for (const auto& attribute : proto.attribute) {
    if (!attribute.ref_attr_name.empty()) {
      if (!bound)
        return refuse("node.attribute", "attribute {:?} refers to a function's, outside of one", attribute.name);
      const auto it = bound->find(attribute.ref_attr_name);
      if (it != bound->end()) node.attributes.push_back({std::string(attribute.name), it->second.value});
      continue;
    }
    auto value = import_attribute(attribute, scope, opsets, bound);
    if (!value) return at(fmt::format("attribute {:?}", attribute.name), std::move(value).error());
    node.attributes.push_back({std::string(attribute.name), *std::move(value)});
  }
  return {};
}

Result<Attribute::Value> Importer::import_attribute(const AttributeProto& proto, Scope& scope, const Opsets& opsets,
                                                    const Bound* bound) {
  switch (type_of(proto)) {
    case AttributeType::float_:
      return proto.f.value_or(0.0f);
    case AttributeType::int_:
      return proto.i.value_or(0);
    case AttributeType::string:
      return std::string(proto.s);
    case AttributeType::floats:
      return proto.floats.get();
    case AttributeType::ints:
      return proto.ints;
    case AttributeType::strings:
      return std::vector<std::string>(proto.strings.begin(), proto.strings.end());
    case AttributeType::tensor: {
      if (!proto.t) return refuse("node.attribute", "the tensor is missing");
      TRY(Tensor tensor, import_tensor(*proto.t, source_));
      return tensor;
    }
    case AttributeType::tensors: {
      std::vector<Tensor> tensors(proto.tensors.size());
      for (size_t i = 0; i < tensors.size(); ++i) {
        TRY(tensors[i], import_tensor(proto.tensors[i], source_));
      }
      return tensors;
    }
    case AttributeType::graph: {
      if (!proto.g) return refuse("node.attribute", "the graph is missing");
      TRY(auto graph, import_graph(*proto.g, &scope, opsets, bound));
      return graph;
    }
    case AttributeType::graphs: {
      std::vector<std::shared_ptr<Graph>> graphs(proto.graphs.size());
      for (size_t i = 0; i < graphs.size(); ++i) {
        TRY(graphs[i], import_graph(proto.graphs[i], &scope, opsets, bound));
      }
      return graphs;
    }
    case AttributeType::sparse_tensor: {
      if (!proto.sparse_tensor) return refuse("node.attribute", "the sparse tensor is missing");
      TRY(SparseTensor sparse, import_sparse(*proto.sparse_tensor, source_));
      return sparse;
    }
    case AttributeType::type_proto: {
      if (!proto.tp) return refuse("node.attribute", "the type is missing");
      TRY(const Declared declared, import_type(*proto.tp));
      return fact_of(declared);
    }
    default:
      return std::monostate();
  }
}

Result<std::shared_ptr<const Graph>> Importer::instantiate(const FunctionProto& function, const Node& node) {
  if (++depth_ > kMaxBodies)
    return refuse("function.depth", "function {:?} calls itself, or calls are nested more than {} deep", function.name,
                  kMaxBodies);
  if (node.in.size() > function.input.size())
    return refuse("node.arity", "function {:?} takes {} inputs, the call has {}", function.name, function.input.size(),
                  node.in.size());
  expanded_ += static_cast<int64_t>(function.node.size());
  if (expanded_ > kMaxExpanded)
    return refuse("model.size", "the calls of functions expand to more than {} nodes", kMaxExpanded);
  Bound bound;
  auto graph = new_graph(function.name);
  graph->overload = std::string(function.overload);
  Scope scope{*graph, nullptr, {}};
  TRY(const Opsets opsets,
      opsets_of(function.opset_import.empty() ? model_.proto.opset_import : function.opset_import));
  for (const auto& attribute : function.attribute_proto) {
    TRY(Attribute::Value value, import_attribute(attribute, scope, opsets, nullptr));
    bound[attribute.name] = {std::string(attribute.name), std::move(value)};
  }
  for (const Attribute& attribute : node.attributes) bound[attribute.name] = attribute;
  for (size_t i = 0; i < function.input.size(); ++i) {
    TRY_OK(define(scope, function.input[i]));
    if (i < node.in.size() && node.in[i] != kNoValue) {
      graph->inputs.push_back(scope.add(function.input[i]));
    } else {
      scope.names.add(function.input[i], kNoValue);
    }
  }
  TRY_OK(add_nodes(function.node, scope, opsets, &bound));
  for (std::string_view output : function.output) {
    const auto id = scope.find(output);
    if (!id || *id == kNoValue)
      return refuse("graph.output", "output {:?} of function {:?} is produced by no node", output, function.name);
    graph->outputs.push_back(*id);
  }
  TRY_OK(declare(function.value_info, scope));
  mark_results(*graph);
  graph->finish();
  --depth_;
  return std::shared_ptr<const Graph>(std::move(graph));
}

}  // namespace

Result<std::shared_ptr<const Graph>> import_model(const ModelFile& model, std::shared_ptr<const OpTable> ops) {
  return Importer(model, std::move(ops)).run();
}

Result<std::shared_ptr<const Graph>> import_model(const ModelFile& model, const OpTable& ops) {
  return import_model(model, std::shared_ptr<const OpTable>(std::shared_ptr<const void>(), &ops));
}

}  // namespace anyshape::onnx
