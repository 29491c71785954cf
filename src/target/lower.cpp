#include "target/lower.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "format/onnx/from_graph.h"
#include "format/onnx/walk.h"
#include "ops/all.h"
#include "target/edits.h"
#include "target/lower_steps.h"

namespace anyshape::target {
namespace {

using onnx::NodeProto;
using Nodes = std::vector<NodeProto>;
using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

std::string_view canonical(std::string_view domain) { return domain == "ai.onnx" ? std::string_view() : domain; }

// A node that no rule has looked at, in a branch that is never taken, may lack what its operator needs.
bool has_its_inputs(const Node& node) {
  const auto ports = node.op ? node.op->sig.in : std::span<const Port>();
  for (size_t i = 0; i < ports.size(); ++i)
    if ((ports[i].flags & (Port::optional | Port::variadic)) == 0 && (i >= node.in.size() || node.in[i] == kNoValue))
      return false;
  return node.op != nullptr;
}

// A body as it is called, and what is known of its values.
struct Known {
  const Graph* graph = nullptr;
  Facts facts;
  bool shared = false;  // by calls that may give other attributes
};

void keep_common(Fact& known, const Fact& seen) {
  if (known.kind != seen.kind || known.dtype != seen.dtype) {
    known = {};
    return;
  }
  const auto dims = known.dims;
  known = known.type_only();
  known.item = nullptr;
  if (!dims || !seen.dims || dims->size() != seen.dims->size()) known.dims.reset();
  for (size_t i = 0; known.dims && i < dims->size(); ++i)
    if ((*dims)[i] != (*seen.dims)[i]) (*known.dims)[i] = Dim::unknown();
}

class Lowerer {
 public:
  Lowerer(const Profile& profile, const Typed& typed, fixes::Edit& edit)
      : profile_(profile), typed_(typed), edit_(edit), world_(typed.ground()) {}
  Lowering run();

 private:
  struct Place {
    const Known& known;
    const Node& node;
  };

  void find_calls(const Graph& graph);
  Facts facts_of(const Graph& body) const;
  void take_names();
  std::string_view fresh_name(std::string_view like);
  void lower_nodes(Nodes& nodes, const Known& known);
  void lower_bodies(NodeProto& proto, const Node& node);
  void lower_functions();
  void lower_node(NodeProto proto, const Place& place, Nodes& out);
  bool check_types(const Place& place);
  bool check_step(const LowerStep& step, const Call& call, const Place& place);
  bool take_step(const LowerStep& step, const Call& call, const Place& place, NodeProto& proto, Nodes& out);
  bool replace(const LowerStep& step, const Call& call, const Place& place, const NodeProto& proto, Nodes& out);
  void splice(const onnx::GraphProto& graph, const std::unordered_set<std::string_view>& outer, const NodeProto& like,
              Nodes& out);
  void refuse_node(const Place& place, std::string_view rule, std::string message, std::string fix = {});
  void lower_versions(std::vector<onnx::OperatorSetIdProto>& imports, bool tell);
  void lower_format();

  const Profile& profile_;
  const Typed& typed_;
  fixes::Edit& edit_;
  std::unique_ptr<Assumptions> world_;
  std::map<FunctionKey, Known> calls_;
  std::unordered_set<std::string_view> taken_;
  std::unordered_map<std::string, int> numbered_;
  Lowering out_;
};

Facts Lowerer::facts_of(const Graph& body) const {
  const auto known = typed_.bodies().find(&body);
  return known == typed_.bodies().end() ? Facts(body.values.size()) : known->second;
}

void Lowerer::find_calls(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for_each_body(node, [&](const Graph& body) { find_calls(body); });
    if (!node.body) continue;
    const auto [it, first] = calls_.try_emplace({node.domain, node.type, node.body->overload});
    Facts facts = facts_of(*node.body);
    if (first) {
      it->second = {node.body.get(), std::move(facts), false};
    } else {
      it->second.shared = true;
      it->second.facts.resize(std::min(it->second.facts.size(), facts.size()));
      for (size_t i = 0; i < it->second.facts.size(); ++i) keep_common(it->second.facts[i], facts[i]);
      it->second.facts.resize(it->second.graph->values.size());
    }
    find_calls(*node.body);
  }
}

void Lowerer::take_names() {
  taken_ = fixes::value_names(edit_.graph());
  for (const onnx::FunctionProto& function : edit_.proto.functions) {
    onnx::GraphProto body;
    body.node = function.node;
    taken_.merge(fixes::value_names(body));
    taken_.insert(function.input.begin(), function.input.end());
  }
}

std::string_view Lowerer::fresh_name(std::string_view like) {
  std::string name(like);
  int& last = numbered_[name];
  while (taken_.contains(name)) name = fmt::format("{}_{}", like, ++last);
  return *taken_.insert(edit_.keep(std::move(name))).first;
}

void Lowerer::refuse_node(const Place& place, std::string_view rule, std::string message, std::string fix) {
  if (fix.empty())
    fix = fmt::format("export the model again with opset 17 or {} (torch.onnx.export takes it as opset_version)",
                      profile_.opset);
  out_.refused.push_back(
      {std::string(rule), Severity::error, place.known.graph->label(place.node), std::move(message), std::move(fix)});
}

void Lowerer::lower_nodes(Nodes& nodes, const Known& known) {
  std::unordered_map<std::string_view, const Node*> makers;
  for (const Node& node : known.graph->nodes)
    if (const ValueId id = node.first_output(); id != kNoValue) makers.emplace(known.graph->values[id].name, &node);
  Nodes out;
  for (NodeProto& proto : nodes) {
    const auto named = std::find_if(proto.output.begin(), proto.output.end(), [](auto name) { return !name.empty(); });
    const auto maker = named == proto.output.end() ? makers.end() : makers.find(*named);
    if (maker == makers.end()) {
      out.push_back(std::move(proto));
      continue;
    }
    lower_bodies(proto, *maker->second);
    lower_node(std::move(proto), {known, *maker->second}, out);
  }
  nodes = std::move(out);
}

void Lowerer::lower_bodies(NodeProto& proto, const Node& node) {
  for (onnx::AttributeProto& attribute : proto.attribute) {
    const Attribute* imported = attribute.g ? node.attribute(attribute.name) : nullptr;
    const auto* body = imported ? std::get_if<std::shared_ptr<Graph>>(&imported->value) : nullptr;
    if (body) lower_nodes(attribute.g->node, {body->get(), facts_of(**body), false});
  }
}

bool Lowerer::check_types(const Place& place) {
  for (const auto* ids : {&place.node.in, &place.node.out})
    for (ValueId id : *ids) {
      const Fact* fact = id == kNoValue ? nullptr : &place.known.facts[id];
      while (fact && !fact->is_tensor()) fact = fact->item.get();
      if (!fact || fact->dtype == DType::undefined || profile_.values.contains(fact->dtype)) continue;
      refuse_node(place, "target.type",
                  fmt::format("{} has a value of {}, a type that no operator of opset {} knows", place.node.type,
                              name(fact->dtype), profile_.opset),
                  "export the model with weights and values of f32");
      return false;
    }
  return true;
}

bool Lowerer::check_step(const LowerStep& step, const Call& call, const Place& place) {
  const auto refuse_use = [&](std::string_view what) {
    refuse_node(place, "target.opset",
                fmt::format("{}{} came with opset {}{}, and nothing of opset {} is equal to it", step.op, what,
                            step.since, step.domain.empty() ? "" : fmt::format(" of {}", step.domain),
                            highest_version(profile_, step.domain)));
    return false;
  };
  if (step.no_equal) return refuse_use("");
  for (const auto* ids : {&place.node.in, &place.node.out})
    for (ValueId id : *ids)
      if (id != kNoValue && place.known.facts[id].is_tensor() && step.lacks.contains(place.known.facts[id].dtype))
        return refuse_use(fmt::format(" of {}", name(place.known.facts[id].dtype)));
  const std::string what = step.refuses ? step.refuses(call) : "";
  return what.empty() ? true : refuse_use(what);
}

bool Lowerer::take_step(const LowerStep& step, const Call& call, const Place& place, NodeProto& proto, Nodes& out) {
  for (std::string_view name : step.drop)
    if (!name.empty()) edits::drop_attribute(proto, name);
  if (step.edit) {
    if (const Status done = step.edit(call, proto, edit_); !done) {
      refuse_node(place, "target.opset",
                  fmt::format("{} came with opset {} and cannot be written in opset {} here: {}", step.op, step.since,
                              highest_version(profile_, step.domain), done.error().message));
      return true;
    }
  }
  return step.rewrite && replace(step, call, place, proto, out);
}

// True where other nodes stand in `out` now, or the node is refused.
bool Lowerer::replace(const LowerStep& step, const Call& call, const Place& place, const NodeProto& proto, Nodes& out) {
  Builder builder(all_ops(), *world_, profile_.opset);
  builder.set_place(place.known.graph->label(place.node));
  std::unordered_map<std::string_view, Ref> inputs;
  Refs in;
  for (size_t i = 0; i < place.node.in.size(); ++i) {
    const ValueId id = place.node.in[i];
    if (id != kNoValue && !inputs.contains(proto.input[i]))
      inputs[proto.input[i]] = builder.input(proto.input[i], place.known.facts[id]);
    in.push_back(id == kNoValue ? Ref() : inputs[proto.input[i]]);
  }
  const Refs made = step.rewrite(builder, call, in);
  if (!builder.failed() && (made.empty() || !made[0])) return false;
  std::vector<std::pair<std::string, Ref>> outputs;
  for (size_t i = 0; i < proto.output.size() && i < made.size(); ++i)
    if (!proto.output[i].empty()) outputs.emplace_back(proto.output[i], made[i]);
  const auto graph = builder.finish(outputs);
  if (!graph) {
    refuse_node(place, "target.opset",
                fmt::format("{} came with opset {} and cannot be written in opset {} here: {}", step.op, step.since,
                            highest_version(profile_, step.domain), graph.error().message));
    return true;
  }
  onnx::GraphFile file = onnx::from_graph(*graph, {});
  for (const auto& owner : file.owners) edit_.keep(owner);
  std::unordered_set<std::string_view> outer(proto.input.begin(), proto.input.end());
  outer.insert(proto.output.begin(), proto.output.end());
  const size_t before = out.size();
  splice(*file.file.proto.graph, outer, proto, out);
  out_.changes.push_back(fmt::format("node {:?} ({}) is written as {} nodes of opset {}",
                                     place.known.graph->label(place.node), step.op, out.size() - before,
                                     profile_.opset));
  return true;
}

// The nodes of `graph` behind those of `out`; what it has beside the outer values gets names of its own.
void Lowerer::splice(const onnx::GraphProto& graph, const std::unordered_set<std::string_view>& outer,
                     const NodeProto& like, Nodes& out) {
  std::unordered_map<std::string_view, std::string_view> names;
  const auto rename = [&](std::string_view& name) {
    if (name.empty() || outer.contains(name)) return;
    auto& own = names[name];
    if (own.empty()) own = fresh_name(name);
    name = own;
  };
  for (const onnx::TensorProto& tensor : graph.initializer) {
    NodeProto& node = out.emplace_back();
    node.op_type = "Constant";
    node.output = {tensor.name};
    rename(node.output[0]);
    node.name = node.output[0];
    onnx::AttributeProto& value = edits::attribute(node, "value", onnx::AttributeType::tensor);
    value.t = tensor;
    value.t->name = {};
  }
  for (const NodeProto& one : graph.node) {
    NodeProto& node = out.emplace_back(one);
    for (std::string_view& name : node.input) rename(name);
    for (std::string_view& name : node.output) rename(name);
    node.doc_string = like.doc_string;
    node.metadata_props = like.metadata_props;
  }
}

void Lowerer::lower_node(NodeProto proto, const Place& place, Nodes& out) {
  const std::string_view domain = canonical(proto.domain);
  const int64_t highest = highest_version(profile_, domain);
  if (place.node.body || highest == 0 || place.node.version <= highest || !check_types(place)) {
    out.push_back(std::move(proto));
    return;
  }
  std::vector<const Fact*> in;
  for (ValueId id : place.node.in) in.push_back(id == kNoValue ? nullptr : &place.known.facts[id]);
  const std::string label = place.known.graph->label(place.node);
  const Call call(place.node, label, in);
  std::vector<const LowerStep*> steps;
  for (const LowerStep& step : lower_steps())
    if (step.op == proto.op_type && step.domain == domain && step.since > highest && step.since <= place.node.version)
      steps.push_back(&step);
  if (!steps.empty() && !has_its_inputs(place.node)) {
    refuse_node(place, "target.opset", fmt::format("{} lacks an input", proto.op_type), "correct the model");
    return;
  }
  const auto by_reference = [](const onnx::AttributeProto& one) { return !one.ref_attr_name.empty(); };
  if (!steps.empty() && place.known.shared &&
      std::any_of(proto.attribute.begin(), proto.attribute.end(), by_reference)) {
    refuse_node(place, "target.opset",
                fmt::format("{} takes attributes of a function that is called several times", proto.op_type));
    return;
  }
  for (const LowerStep* step : steps)
    if (!check_step(*step, call, place)) return;
  for (const LowerStep* step : steps)
    if (take_step(*step, call, place, proto, out)) return;
  out.push_back(std::move(proto));
}

void Lowerer::lower_functions() {
  std::erase_if(edit_.proto.functions, [&](const onnx::FunctionProto& function) {
    return !calls_.contains({canonical(function.domain), function.name, function.overload});
  });
  for (onnx::FunctionProto& function : edit_.proto.functions) {
    lower_nodes(function.node, calls_.at({canonical(function.domain), function.name, function.overload}));
    lower_versions(function.opset_import, false);
  }
}

void Lowerer::lower_versions(std::vector<onnx::OperatorSetIdProto>& imports, bool tell) {
  for (onnx::OperatorSetIdProto& import : imports) {
    const int64_t highest = highest_version(profile_, import.domain), version = import.version.value_or(1);
    if (highest == 0 || version <= highest) continue;
    const int64_t newest = canonical(import.domain).empty() ? kNewestOpset : kNewestMlOpset;
    const std::string_view name = import.domain.empty() ? "ai.onnx" : import.domain;
    if (version > newest)
      out_.refused.push_back(
          {"target.opset", Severity::error, "",
           fmt::format("opset {} of {} is newer than {}, the last one known here", version, name, newest),
           "export the model again with opset 17"});
    if (tell) out_.changes.push_back(fmt::format("opset {} of {} instead of {}", highest, name, version));
    import.version = highest;
  }
}

// What later versions of the format brought beside operators: overloads of functions, and devices.
void Lowerer::lower_format() {
  const int64_t version = edit_.proto.ir_version.value_or(0);
  if (version <= profile_.ir_version) return;
  edit_.proto.ir_version = profile_.ir_version;
  edit_.proto.configuration.clear();
  const auto plain = [&](Nodes& nodes) {
    for (NodeProto& node : nodes) {
      node.device_configurations.clear();
      if (node.overload.empty()) continue;
      node.op_type = edit_.keep(fmt::format("{}.{}", node.op_type, node.overload));
      node.overload = {};
    }
  };
  onnx::for_each_graph(edit_.graph(), [&](onnx::GraphProto& graph) { plain(graph.node); });
  for (onnx::FunctionProto& function : edit_.proto.functions) {
    plain(function.node);
    if (!function.overload.empty()) function.name = edit_.keep(fmt::format("{}.{}", function.name, function.overload));
    function.overload = {};
  }
  out_.changes.push_back(fmt::format("IR version {} instead of {}", profile_.ir_version, version));
}

Lowering Lowerer::run() {
  find_calls(typed_.graph());
  take_names();
  lower_nodes(edit_.graph().node, {&typed_.graph(), typed_.facts(), false});
  lower_functions();
  lower_versions(edit_.proto.opset_import, true);
  lower_format();
  return std::move(out_);
}

}  // namespace

Lowering lower(const Profile& profile, const Typed& typed, fixes::Edit& edit) {
  return Lowerer(profile, typed, edit).run();
}

}  // namespace anyshape::target
