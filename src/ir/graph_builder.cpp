#include "ir/graph_builder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/bug.h"
#include "ir/builder_tidy.h"
#include "tensor/real.h"

namespace anyshape {
namespace {

// Larger ones are not looked up: two equal weights stay two.
constexpr size_t kShared = 1024;
// What is computed now may be this large, or four times what it is computed from: a mask made of two numbers stays a
// computation.
constexpr size_t kFolded = 128 << 10;

std::string content_of(const Tensor& tensor) {
  std::string text = fmt::format("{}[{}]", static_cast<int>(tensor.dtype()), fmt::join(tensor.dims(), ","));
  text.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  return text;
}

// Equal for nodes that compute the same; empty for those that cannot be told (random numbers, bodies, large
// attributes).
std::string text_of(const Node& node, const Refs& in, size_t outputs) {
  if (!node.op->pure || node.has_graph_attribute()) return {};
  std::string text = fmt::format("{}.{}/{}", node.domain, node.type, outputs);
  for (Ref ref : in) text += fmt::format(" {}:{}", ref.scope, ref.id);
  for (const Attribute& attribute : node.attributes) {
    text += fmt::format(" {}=", attribute.name);
    if (const auto* i = std::get_if<int64_t>(&attribute.value)) {
      text += fmt::format("{}", *i);
    } else if (const auto* f = std::get_if<float>(&attribute.value)) {
      text += fmt::format("{}f", *f);
    } else if (const auto* s = std::get_if<std::string>(&attribute.value)) {
      text += fmt::format("{}:{}", s->size(), *s);
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&attribute.value)) {
      text += fmt::format("{}", fmt::join(*list, ","));
    } else if (const auto* t = std::get_if<Box<Tensor>>(&attribute.value);
               t && (*t)->dtype() != DType::string && (*t)->bytes().size() <= kShared) {
      text += content_of(**t);
    } else {
      return {};
    }
  }
  return text;
}

// The type a body says of its inputs and results: ONNX Runtime's Scan wants at least the rank.
Declared annotation(const Fact& fact) {
  Declared out;
  out.kind = fact.kind;
  out.dtype = fact.dtype;
  if (!fact.dims) return out;
  out.dims.emplace();
  for (Dim d : *fact.dims) out.dims->push_back({d.constant(), {}});
  return out;
}

}  // namespace

GraphBuilder::GraphBuilder(const OpTable& ops, Assumptions& assumptions, int64_t opset)
    : BuildState(assumptions), ops_(ops), opset_(opset) {
  domains_[""] = opset;
}

void GraphBuilder::set_place(std::string prefix, std::vector<std::pair<std::string, std::string>> metadata) {
  prefix_ = std::move(prefix);
  metadata_ = std::move(metadata);
}

std::string GraphBuilder::node_name(std::string_view type) {
  return scopes_.unique(fmt::format("{}/{}", prefix_, type));
}

// bfloat16 came into most operators with opset 13.
void GraphBuilder::admit(DType dtype) {
  if (dtype == DType::bf16 && opset_ < 13)
    refuse(kOpsetCode, "the element type bf16 needs opset 13 or newer, here it is {}", opset_);
}

Ref GraphBuilder::input(std::string_view name, Fact fact) {
  admit(fact.dtype);
  Scopes::Scope& root = scopes_.root();
  const ValueId id = scopes_.add_value(root, scopes_.unique(std::string(name)), std::move(fact));
  root.graph.inputs.push_back(id);
  const Ref ref{root.id, id};
  scopes_.note_sizes(ref);
  return ref;
}

Ref GraphBuilder::constant(Tensor tensor, std::string_view name) {
  admit(tensor.dtype());
  if (failed()) return {};
  Scopes::Scope& root = scopes_.root();
  const bool shared = name.empty() && tensor.dtype() != DType::string && tensor.bytes().size() <= kShared;
  std::string text = shared ? content_of(tensor) : std::string();
  if (shared)
    if (const auto it = shared_.find(text); it != shared_.end()) return it->second;
  const ValueId id = scopes_.add_value(
      root, scopes_.unique(name.empty() ? fmt::format("{}/const", prefix_) : std::string(name)), Fact());
  root.facts[id] = Fact::of_constant(std::move(tensor));
  root.graph.values[id].constant = std::make_shared<const Fact>(root.facts[id]);
  root.graph.values[id].is_initializer = true;
  const Ref ref{root.id, id};
  if (shared) shared_.emplace(std::move(text), ref);
  return ref;
}

Ref GraphBuilder::ints(std::vector<int64_t> values) {
  return constant(Tensor::of_ints({static_cast<int64_t>(values.size())}, values));
}

template <class Number>
Ref GraphBuilder::rank_zero(Number value, DType dtype) {
  auto tensor = Tensor::allocate(dtype, {});
  if (!tensor) {
    fail(std::move(tensor).error());
    return {};
  }
  if (is_float(dtype))
    set_real(*tensor, 0, static_cast<double>(value));
  else
    tensor->set_int(0, static_cast<int64_t>(value));
  return constant(*std::move(tensor));
}

Ref GraphBuilder::integer(int64_t value, DType dtype) { return rank_zero(value, dtype); }
Ref GraphBuilder::number(double value, DType dtype) { return rank_zero(value, dtype); }

Refs GraphBuilder::folded(const Node& node, const Facts& facts) {
  if (!node.op || !node.op->pure || node.has_graph_attribute()) return {};
  std::vector<Tensor> known;
  size_t read = 0, made = 0;
  for (ValueId id : node.in)
    if (id != kNoValue) read += facts[id].as_tensor().bytes().size();
  for (ValueId id : node.out) {
    Tensor tensor = facts[id].as_tensor();
    if (!tensor) return {};
    made += tensor.bytes().size();
    known.push_back(std::move(tensor));
  }
  if (made > kFolded && made > 4 * read) return {};
  Refs out;
  for (size_t i = 0; i < known.size(); ++i) {
    const bool small = known[i].bytes().size() <= kShared && known[i].dtype() != DType::string;
    out.push_back(constant(std::move(known[i]),
                           small ? std::string() : scopes_.top().graph.values[node.out[i]].name + "_folded"));
  }
  return out;
}

Refs GraphBuilder::append(Node node, Facts* opaque) {
  Scopes::Scope& here = scopes_.top();
  const size_t outputs = node.out.size();
  const uint32_t index = static_cast<uint32_t>(here.graph.nodes.size());
  here.graph.nodes.push_back(std::move(node));
  const size_t asked = walk_.requirements().size();
  if (opaque) {
    for (size_t i = 0; i < outputs; ++i) here.facts[here.graph.nodes[index].out[i]] = std::move((*opaque)[i]);
  } else if (auto status = walk_.add(here.graph, here.graph.nodes[index], here.facts); !status) {
    here.graph.nodes.pop_back();
    fail(std::move(status).error());
    return Refs(outputs);
  }
  // A node that refuses some sizes is kept, be its value known: a guard is there to refuse.
  const bool demands = walk_.requirements().size() > asked;
  if (Refs known = demands ? Refs() : folded(here.graph.nodes[index], here.facts); !known.empty()) {
    here.graph.nodes.pop_back();
    return known;
  }
  Refs refs;
  for (ValueId id : here.graph.nodes[index].out) {
    here.graph.values[id].producer = index;
    refs.push_back({here.id, id});
    scopes_.note_sizes(refs.back());
  }
  return refs;
}

const OpDef* GraphBuilder::record(std::string_view domain, std::string_view type) const {
  const auto imported = domains_.find(std::string(domain));
  return ops_.find(domain, type, imported == domains_.end() ? 1 : imported->second);
}

// A node without inputs, outputs and attributes.
Node GraphBuilder::new_node(std::string_view domain, std::string_view type) {
  Node node;
  node.domain = std::string(domain);
  node.type = std::string(type);
  node.version = domains_.try_emplace(node.domain, 1).first->second;
  node.op = ops_.find(domain, type, node.version);
  if (!metadata_.empty()) node.metadata = metadata_;
  return node;
}

void GraphBuilder::connect(Node& node, const Refs& in, size_t outputs) {
  node.name = node_name(node.type);
  for (Ref ref : in) node.in.push_back(scopes_.resolve(ref));
  for (size_t i = 0; i < outputs; ++i)
    node.out.push_back(
        scopes_.add_value(scopes_.top(), scopes_.unique(fmt::format("{}_output_{}", node.name, i)), Fact()));
}

void GraphBuilder::refuse_type(std::string_view domain, std::string_view type) {
  int64_t first = std::numeric_limits<int64_t>::max();
  for (const OpDef* record : ops_.records())
    if (record->domain == domain && record->name == type && record->since > opset_)
      first = std::min(first, static_cast<int64_t>(record->since));
  if (first == std::numeric_limits<int64_t>::max())
    refuse(kOpsetCode, "{} is not part of opset {}", type, opset_);
  else
    refuse(kOpsetCode, "{} needs opset {} or later", type, first);
}

Refs GraphBuilder::emit(std::string_view type, const Refs& in, std::vector<Attribute> attributes, size_t outputs,
                        std::string_view domain) {
  if (failed()) return Refs(outputs);
  Node node = new_node(domain, type);
  if (!node.op) {
    refuse_type(domain, type);
    return Refs(outputs);
  }
  node.attributes = std::move(attributes);
  const std::string text = text_of(node, in, outputs);
  if (const Refs* known = text.empty() ? nullptr : scopes_.made_before(text)) return *known;
  connect(node, in, outputs);
  while (!node.in.empty() && node.in.back() == kNoValue) node.in.pop_back();
  Refs out = append(std::move(node), nullptr);
  if (!text.empty() && !failed()) scopes_.top().made.emplace(text, out);
  return out;
}

Refs GraphBuilder::emit_opaque(std::string_view domain, std::string_view type, const Refs& in,
                               std::vector<Attribute> attributes, Facts out) {
  if (failed()) return Refs(out.size());
  Node node = new_node(domain, type);
  node.op = nullptr;
  node.attributes = std::move(attributes);
  connect(node, in, out.size());
  return append(std::move(node), &out);
}

Ref GraphBuilder::op(std::string_view type, const Refs& in, std::vector<Attribute> attributes) {
  return emit(type, in, std::move(attributes), 1).front();
}

void GraphBuilder::begin_body(std::string_view name, const std::vector<std::pair<std::string, Fact>>& inputs,
                              const Condition& path) {
  scopes_.open(name).assumed = std::make_unique<Assumptions::Scope>(assumptions_);
  if (!path.is_always()) assumptions_.assume(path);
  for (const auto& [input_name, fact] : inputs) {
    const ValueId id = scopes_.add_value(scopes_.top(), scopes_.unique(input_name), fact);
    scopes_.top().graph.inputs.push_back(id);
    scopes_.top().graph.values[id].declared = annotation(fact);
    scopes_.note_sizes({scopes_.top().id, id});
  }
}

Ref GraphBuilder::body_input(size_t i) const { return {scopes_.top().id, scopes_.top().graph.inputs[i]}; }

// The same value under a name of its own; never folded.
Ref GraphBuilder::identity(Ref ref) {
  Node node = new_node("", "Identity");
  connect(node, {ref}, 1);
  scopes_.top().facts[node.out[0]] = fact(ref).type_only();
  scopes_.top().graph.values[node.out[0]].producer = static_cast<uint32_t>(scopes_.top().graph.nodes.size());
  scopes_.top().graph.nodes.push_back(std::move(node));
  return {scopes_.top().id, scopes_.top().graph.nodes.back().out[0]};
}

std::shared_ptr<Graph> GraphBuilder::end_body(const Refs& outputs) {
  Refs own;
  for (Ref ref : outputs) {
    // A body gives out values it makes itself: what comes from outside, or twice, goes through an Identity.
    const bool foreign =
        ref.scope != scopes_.top().id || !producer(ref) || std::find(own.begin(), own.end(), ref) != own.end();
    own.push_back(foreign && ref ? identity(ref) : ref);
  }
  for (Ref ref : own)
    if (ref) scopes_.top().graph.values[ref.id].declared = annotation(scopes_.top().facts[ref.id]);
  auto graph = std::make_shared<Graph>(std::move(scopes_.top().graph));
  skip_expands(*graph, scopes_.top().facts);
  scopes_.close();
  for (Ref ref : own)
    if (ref) graph->outputs.push_back(ref.id);
  drop_dead(*graph);
  graph->finish();
  return graph;
}

Result<std::shared_ptr<Graph>> GraphBuilder::finish(const std::vector<std::pair<std::string, Ref>>& outputs) {
  ANYSHAPE_CHECK(!scopes_.in_body());
  if (failed()) return tl::unexpected(status_.error());
  Scopes::Scope& root = scopes_.top();
  prefix_.clear();
  for (const auto& [name, ref] : outputs) {
    const auto& taken = root.graph.outputs;
    const bool own = producer(ref) && std::find(taken.begin(), taken.end(), ref.id) == taken.end();
    const Ref value = own ? ref : identity(ref);
    root.graph.values[value.id].name = scopes_.unique(name);
    root.graph.outputs.push_back(value.id);
  }
  auto graph = std::make_shared<Graph>(std::move(root.graph));
  skip_expands(*graph, root.facts);
  drop_dead(*graph);
  settle(*graph, root.facts);
  declare_ends(*graph, root.facts);
  return graph;
}

}  // namespace anyshape
