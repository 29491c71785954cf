#include "ir/builder.h"

#include <algorithm>
#include <cstring>

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

const Fact kUnknown;

uint64_t key_of(Ref ref) { return (uint64_t{ref.scope} << 32) | ref.id; }

std::string content_of(const Tensor& tensor) {
  std::string text = fmt::format("{}[{}]", static_cast<int>(tensor.dtype()), fmt::join(tensor.dims(), ","));
  text.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
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

bool has_room(const Fact& fact) { return fact.dims.has_value() && fact.is_tensor(); }

}  // namespace

Attribute attr(std::string_view name, int64_t value) { return {std::string(name), value}; }
Attribute attr(std::string_view name, double value) { return {std::string(name), static_cast<float>(value)}; }
Attribute attr(std::string_view name, std::string_view value) { return {std::string(name), std::string(value)}; }
Attribute attr(std::string_view name, std::vector<int64_t> value) { return {std::string(name), std::move(value)}; }
Attribute attr(std::string_view name, std::vector<double> value) {
  return {std::string(name), std::vector<float>(value.begin(), value.end())};
}
Attribute attr(std::string_view name, Tensor value) { return {std::string(name), std::move(value)}; }
Attribute attr(std::string_view name, std::shared_ptr<Graph> value) { return {std::string(name), std::move(value)}; }

Builder::Builder(const OpTable& ops, Assumptions& assumptions, int64_t opset)
    : ops_(ops), assumptions_(assumptions), walk_(assumptions), opset_(opset) {
  domains_[""] = opset;
  scopes_.push_back(std::make_unique<Scope>());
  scopes_.back()->id = next_scope_++;
  scopes_.back()->graph.name = "main_graph";
}

void Builder::fail(Error error) {
  if (status_) status_ = tl::unexpected(std::move(error));
}

Error Builder::take_error() {
  Error error = std::move(status_).error();
  status_ = Status();
  return error;
}

void Builder::set_place(std::string prefix, std::vector<std::pair<std::string, std::string>> metadata) {
  prefix_ = std::move(prefix);
  metadata_ = std::move(metadata);
}

std::string Builder::unique(std::string name) {
  const auto [it, first] = taken_.try_emplace(name, 0);
  if (first) return name;
  std::string other;
  do {
    other = fmt::format("{}_{}", name, ++it->second);
  } while (taken_.contains(other));
  taken_.emplace(other, 0);
  return other;
}

std::string Builder::node_name(std::string_view type) { return unique(fmt::format("{}/{}", prefix_, type)); }

ValueId Builder::add_value(Scope& scope, std::string name, Fact fact) {
  Value value;
  value.name = std::move(name);
  value.shape_relevant = true;
  scope.graph.values.push_back(std::move(value));
  scope.facts.push_back(std::move(fact));
  return static_cast<ValueId>(scope.graph.values.size() - 1);
}

Builder::Scope* Builder::scope(uint32_t id) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if ((*it)->id == id) return it->get();
  return nullptr;
}

// The value's id in the innermost scope; captured on the way down where it is an outer one.
ValueId Builder::resolve(Ref ref) {
  if (!ref) return kNoValue;
  ANYSHAPE_CHECK(scope(ref.scope) != nullptr);
  size_t depth = 0;
  while (scopes_[depth]->id != ref.scope) ++depth;
  const uint64_t key = key_of(ref);
  ValueId id = ref.id;
  for (size_t inner = depth + 1; inner < scopes_.size(); ++inner) {
    Scope& outer = *scopes_[inner - 1];
    Scope& body = *scopes_[inner];
    const auto [it, first] = body.captured.try_emplace(key, kNoValue);
    if (first) {
      it->second = add_value(body, outer.graph.values[id].name, outer.facts[id]);
      body.graph.captures.push_back({id, it->second});
    }
    id = it->second;
  }
  return id;
}

const Fact& Builder::fact(Ref ref) const {
  const Scope* home = ref ? scope(ref.scope) : nullptr;
  return home ? home->facts[ref.id] : kUnknown;
}

size_t Builder::rank(Ref ref) const { return dims(ref).size(); }

Dims Builder::dims(Ref ref) const {
  const Fact& known = fact(ref);
  return known.dims ? *known.dims : Dims();
}

void Builder::claim(Ref ref, const Dims& dims) {
  Scope* home = ref ? scope(ref.scope) : nullptr;
  if (!home || !home->facts[ref.id].dims || home->facts[ref.id].dims->size() != dims.size()) return;
  home->facts[ref.id].dims = dims;
  note_sizes(ref);
}

Dim Builder::dim(Ref ref, size_t axis) const {
  const Fact& known = fact(ref);
  return known.dims && axis < known.dims->size() ? (*known.dims)[axis] : Dim::unknown();
}

const Tensor* Builder::tensor(Ref ref) const { return fact(ref).constant.get(); }

const Node* Builder::producer(Ref ref) const {
  const Scope* home = ref ? scope(ref.scope) : nullptr;
  if (!home || home->graph.values[ref.id].producer == kNoValue) return nullptr;
  return &home->graph.nodes[home->graph.values[ref.id].producer];
}

void Builder::note_sizes(Ref ref) {
  const Fact& known = fact(ref);
  if (!has_room(known)) return;
  for (size_t i = 0; i < known.dims->size(); ++i) {
    const Dim size = (*known.dims)[i];
    if (!size.is_constant() && !size.is_unknown()) top().axes.try_emplace(size, SizeSource{ref, i});
  }
}

// bfloat16 came into most operators with opset 13.
void Builder::admit(DType dtype) {
  if (dtype == DType::bf16 && opset_ < 13)
    refuse("export.opset", "the element type bf16 needs opset 13 or newer, here it is {}", opset_);
}

Ref Builder::input(std::string_view name, Fact fact) {
  admit(fact.dtype);
  Scope& root = *scopes_.front();
  const ValueId id = add_value(root, unique(std::string(name)), std::move(fact));
  root.graph.inputs.push_back(id);
  const Ref ref{root.id, id};
  note_sizes(ref);
  return ref;
}

Ref Builder::constant(Tensor tensor, std::string_view name) {
  admit(tensor.dtype());
  if (failed()) return {};
  Scope& root = *scopes_.front();
  const bool shared = name.empty() && tensor.dtype() != DType::string && tensor.bytes().size() <= kShared;
  std::string text = shared ? content_of(tensor) : std::string();
  if (shared)
    if (const auto it = shared_.find(text); it != shared_.end()) return it->second;
  const ValueId id =
      add_value(root, unique(name.empty() ? fmt::format("{}/const", prefix_) : std::string(name)), Fact());
  root.facts[id] = Fact::of_constant(std::move(tensor));
  root.graph.values[id].constant = std::make_shared<const Fact>(root.facts[id]);
  root.graph.values[id].is_initializer = true;
  const Ref ref{root.id, id};
  if (shared) shared_.emplace(std::move(text), ref);
  return ref;
}

Ref Builder::ints(std::vector<int64_t> values) {
  return constant(Tensor::of_ints({static_cast<int64_t>(values.size())}, values));
}

template <class Number>
Ref Builder::rank_zero(Number value, DType dtype) {
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

Ref Builder::integer(int64_t value, DType dtype) { return rank_zero(value, dtype); }
Ref Builder::number(double value, DType dtype) { return rank_zero(value, dtype); }

Refs Builder::folded(const Node& node, const Facts& facts) {
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
    out.push_back(
        constant(std::move(known[i]), small ? std::string() : top().graph.values[node.out[i]].name + "_folded"));
  }
  return out;
}

Refs Builder::append(Node node, Facts* opaque) {
  Scope& here = top();
  const size_t outputs = node.out.size();
  const uint32_t index = static_cast<uint32_t>(here.graph.nodes.size());
  here.graph.nodes.push_back(std::move(node));
  if (opaque) {
    for (size_t i = 0; i < outputs; ++i) here.facts[here.graph.nodes[index].out[i]] = std::move((*opaque)[i]);
  } else if (auto status = walk_.add(here.graph, here.graph.nodes[index], here.facts); !status) {
    here.graph.nodes.pop_back();
    fail(std::move(status).error());
    return Refs(outputs);
  }
  if (Refs known = folded(here.graph.nodes[index], here.facts); !known.empty()) {
    here.graph.nodes.pop_back();
    return known;
  }
  Refs refs;
  for (ValueId id : here.graph.nodes[index].out) {
    here.graph.values[id].producer = index;
    refs.push_back({here.id, id});
    note_sizes(refs.back());
  }
  return refs;
}

const OpDef* Builder::record(std::string_view domain, std::string_view type) const {
  const auto imported = domains_.find(std::string(domain));
  return ops_.find(domain, type, imported == domains_.end() ? 1 : imported->second);
}

// A node without inputs, outputs and attributes.
Node Builder::new_node(std::string_view domain, std::string_view type) {
  Node node;
  node.domain = std::string(domain);
  node.type = std::string(type);
  node.version = domains_.try_emplace(node.domain, 1).first->second;
  node.op = ops_.find(domain, type, node.version);
  if (!metadata_.empty()) node.metadata = metadata_;
  return node;
}

void Builder::connect(Node& node, const Refs& in, size_t outputs) {
  node.name = node_name(node.type);
  for (Ref ref : in) node.in.push_back(resolve(ref));
  for (size_t i = 0; i < outputs; ++i)
    node.out.push_back(add_value(top(), unique(fmt::format("{}_output_{}", node.name, i)), Fact()));
}

Refs Builder::emit(std::string_view type, const Refs& in, std::vector<Attribute> attributes, size_t outputs,
                   std::string_view domain) {
  if (failed()) return Refs(outputs);
  Node node = new_node(domain, type);
  if (!node.op) {
    refuse("export.opset", "{} is not part of opset {}", type, node.version);
    return Refs(outputs);
  }
  node.attributes = std::move(attributes);
  const std::string text = text_of(node, in, outputs);
  if (const Refs* known = text.empty() ? nullptr : made_before(text)) return *known;
  connect(node, in, outputs);
  while (!node.in.empty() && node.in.back() == kNoValue) node.in.pop_back();
  Refs out = append(std::move(node), nullptr);
  if (!text.empty() && !failed()) top().made.emplace(text, out);
  return out;
}

// Equal for nodes that compute the same; empty for those that cannot be told (random numbers, bodies, large
// attributes).
std::string Builder::text_of(const Node& node, const Refs& in, size_t outputs) const {
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

const Refs* Builder::made_before(const std::string& text) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if (const auto found = (*it)->made.find(text); found != (*it)->made.end()) return &found->second;
  return nullptr;
}

Refs Builder::emit_opaque(std::string_view domain, std::string_view type, const Refs& in,
                          std::vector<Attribute> attributes, Facts out) {
  if (failed()) return Refs(out.size());
  Node node = new_node(domain, type);
  node.op = nullptr;
  node.attributes = std::move(attributes);
  connect(node, in, out.size());
  return append(std::move(node), &out);
}

Ref Builder::op(std::string_view type, const Refs& in, std::vector<Attribute> attributes) {
  return emit(type, in, std::move(attributes), 1).front();
}

void Builder::begin_body(std::string_view name, const std::vector<std::pair<std::string, Fact>>& inputs,
                         const Condition& path) {
  auto body = std::make_unique<Scope>();
  body->id = next_scope_++;
  body->graph.name = std::string(name);
  body->assumed = std::make_unique<Assumptions::Scope>(assumptions_);
  if (!path.is_always()) assumptions_.assume(path);
  scopes_.push_back(std::move(body));
  for (const auto& [input_name, fact] : inputs) {
    const ValueId id = add_value(top(), unique(input_name), fact);
    top().graph.inputs.push_back(id);
    top().graph.values[id].declared = annotation(fact);
    note_sizes({top().id, id});
  }
}

Ref Builder::body_input(size_t i) const { return {top().id, top().graph.inputs[i]}; }

// The same value under a name of its own; never folded.
Ref Builder::identity(Ref ref) {
  Node node = new_node("", "Identity");
  connect(node, {ref}, 1);
  top().facts[node.out[0]] = fact(ref).type_only();
  top().graph.values[node.out[0]].producer = static_cast<uint32_t>(top().graph.nodes.size());
  top().graph.nodes.push_back(std::move(node));
  return {top().id, top().graph.nodes.back().out[0]};
}

std::shared_ptr<Graph> Builder::end_body(const Refs& outputs) {
  Refs own;
  for (Ref ref : outputs) {
    // A body gives out values it makes itself: what comes from outside, or twice, goes through an Identity.
    const bool foreign = ref.scope != top().id || !producer(ref) || std::find(own.begin(), own.end(), ref) != own.end();
    own.push_back(foreign && ref ? identity(ref) : ref);
  }
  for (Ref ref : own)
    if (ref) top().graph.values[ref.id].declared = annotation(top().facts[ref.id]);
  auto graph = std::make_shared<Graph>(std::move(top().graph));
  skip_expands(*graph, top().facts);
  scopes_.pop_back();
  for (Ref ref : own)
    if (ref) graph->outputs.push_back(ref.id);
  drop_dead(*graph);
  graph->finish();
  return graph;
}

Result<std::shared_ptr<Graph>> Builder::finish(const std::vector<std::pair<std::string, Ref>>& outputs) {
  ANYSHAPE_CHECK(scopes_.size() == 1);
  if (failed()) return tl::unexpected(status_.error());
  Scope& root = top();
  prefix_.clear();
  for (const auto& [name, ref] : outputs) {
    const auto& taken = root.graph.outputs;
    const bool own = producer(ref) && std::find(taken.begin(), taken.end(), ref.id) == taken.end();
    const Ref value = own ? ref : identity(ref);
    root.graph.values[value.id].name = unique(name);
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
