#include "passes/body.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ops/all.h"

namespace anyshape {
namespace {

bool calls_functions(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) { return node.body != nullptr; });
}

std::shared_ptr<Graph> with_captures(const Graph& body, const std::vector<ValueId>& ids) {
  auto copy = std::make_shared<Graph>(body);
  for (auto& capture : copy->captures) capture.outer = ids[capture.outer];
  return copy;
}

// The node with other values in and out.
Node moved_node(const Node& node, const std::vector<ValueId>& ids) {
  Node copy = node;
  const auto moved = [&](ValueId id) { return id == kNoValue ? kNoValue : ids[id]; };
  std::transform(copy.in.begin(), copy.in.end(), copy.in.begin(), moved);
  std::transform(copy.out.begin(), copy.out.end(), copy.out.begin(), moved);
  replace_bodies(copy, [&](const Graph& body) { return with_captures(body, ids); });
  return copy;
}

// Copies nodes of one graph into another under new value ids.
class Inliner {
 public:
  explicit Inliner(const Graph& source) : out_(std::make_shared<Graph>(source)) { out_->nodes.clear(); }

  std::shared_ptr<const Graph> run(const Graph& source) {
    std::vector<ValueId> same(source.values.size());
    for (ValueId id = 0; id < same.size(); ++id) same[id] = id;
    for (const Node& node : source.nodes) add(node, source.label(node), same);
    out_->finish();
    return out_;
  }

 private:
  void add(const Node& node, const std::string& label, const std::vector<ValueId>& ids) {
    Node copy = moved_node(node, ids);
    copy.name = label;
    if (copy.body) {
      expand(copy, label);
    } else {
      out_->nodes.push_back(std::move(copy));
    }
  }

  // `call` has ids of the new graph already.
  void expand(const Node& call, const std::string& label) {
    const Graph& body = *call.body;
    std::vector<ValueId> ids(body.values.size(), kNoValue);
    const auto required = body.required_inputs();
    size_t next = 0;
    for (ValueId in : call.in)
      if (in != kNoValue && next < required.size()) ids[required[next++]] = in;
    for (size_t i = 0; i < body.outputs.size() && i < call.out.size(); ++i)
      if (call.out[i] != kNoValue && ids[body.outputs[i]] == kNoValue && !body.values[body.outputs[i]].is_initializer)
        ids[body.outputs[i]] = call.out[i];
    for (ValueId id = 0; id < ids.size(); ++id) {
      if (ids[id] != kNoValue) continue;
      ids[id] = static_cast<ValueId>(out_->values.size());
      Value value = body.values[id];
      value.name = label + "/" + value.name;
      out_->values.push_back(std::move(value));
    }
    for (const Node& node : body.nodes) add(node, label + "/" + body.label(node), ids);
    for (size_t i = 0; i < body.outputs.size() && i < call.out.size(); ++i)
      if (call.out[i] != kNoValue && ids[body.outputs[i]] != call.out[i])
        pass_on(ids[body.outputs[i]], call.out[i], label);
  }

  void pass_on(ValueId from, ValueId to, const std::string& label) {
    constexpr int64_t kVersion = 16;
    Node node;
    node.name = label;
    node.type = "Identity";
    node.version = kVersion;
    node.op = all_ops().find("", "Identity", kVersion);
    node.in = {from};
    node.out = {to};
    out_->nodes.push_back(std::move(node));
  }

  std::shared_ptr<Graph> out_;
};

// A name for each expression that is no number.
class SizeNames {
 public:
  DeclaredDim declared(Dim dim) {
    if (dim.is_unknown() || dim.is_constant()) return {dim.constant(), {}};
    const auto known = std::find(dims_.begin(), dims_.end(), dim);
    const auto index = known - dims_.begin();
    if (known == dims_.end()) dims_.push_back(dim);
    return {std::nullopt, fmt::format("size{}", index)};
  }

 private:
  Dims dims_;
};

std::optional<Declared> declared_as(const Fact& fact, SizeNames& names) {
  if (fact.kind == Fact::Kind::unknown || fact.kind == Fact::Kind::map) return std::nullopt;
  Declared out;
  out.kind = fact.kind;
  out.dtype = fact.dtype;
  if (fact.dims) {
    out.dims.emplace();
    for (Dim d : *fact.dims) out.dims->push_back(names.declared(d));
  }
  if (fact.item) {
    const auto item = declared_as(*fact.item, names);
    if (item) out.item = std::make_shared<const Declared>(*item);
  }
  return out;
}

}  // namespace

std::shared_ptr<const Graph> inline_functions(std::shared_ptr<const Graph> graph) {
  return calls_functions(*graph) ? Inliner(*graph).run(*graph) : graph;
}

namespace {

// What a body captures of constants is known to its nodes; the input for it stays, and nobody reads it.
void place_constants(Graph& closed, const Graph& body, const Facts& outer) {
  std::vector<ValueId> ids(closed.values.size());
  std::iota(ids.begin(), ids.end(), 0);
  for (const auto& capture : body.captures) {
    if (!outer[capture.outer].constant) continue;
    ids[capture.inner] = static_cast<ValueId>(closed.values.size());
    Value known = closed.values[capture.inner];
    known.is_initializer = true;
    known.constant = std::make_shared<const Fact>(outer[capture.outer]);
    closed.values.push_back(std::move(known));
  }
  for (Node& node : closed.nodes) node = moved_node(node, ids);
}

}  // namespace

std::shared_ptr<const Graph> closed_body(const Graph& body, const Facts& outer, const Facts* known) {
  auto closed = std::make_shared<Graph>(body);
  for (ValueId id : closed->outputs) closed->values[id].declared.reset();
  SizeNames names;
  for (ValueId id : body.required_inputs())
    closed->values[id].declared = known ? declared_as((*known)[id], names) : std::nullopt;
  for (const auto& capture : body.captures) {
    closed->inputs.push_back(capture.inner);
    closed->values[capture.inner].declared = declared_as(outer[capture.outer], names);
  }
  place_constants(*closed, body, outer);
  closed->captures.clear();
  closed->finish();
  return inline_functions(closed);
}

}  // namespace anyshape
