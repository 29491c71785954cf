#include <algorithm>
#include <unordered_map>

#include "ir/builder.h"
#include "lower/reroll/captured_steps.h"

namespace anyshape::lower::reroll {
namespace {

// What a Concat along one axis put together.
struct Pieces {
  int64_t axis = 0;
  std::vector<std::pair<Ref, int64_t>> parts;  // with their sizes
};

uint64_t key_of(Ref ref) { return uint64_t{ref.scope} << 32 | ref.id; }

class Tidy {
 public:
  Tidy(const Lowered& captured, const OpTable& ops)
      : captured_(captured), assumptions_(*captured.symbols), builder_(ops, assumptions_, opset_of(captured)) {
    for (const auto& [domain, version] : captured.opsets) builder_.import_domain(domain, version);
  }

  Result<CapturedSteps> run(int64_t length);

 private:
  static int64_t opset_of(const Lowered& captured) {
    for (const auto& [domain, version] : captured.opsets)
      if (domain.empty()) return version;
    return 17;
  }

  Fact input_fact(const Value& value);
  Status bind_values();
  Status add(const Node& node);
  Refs rewritten(const Node& node, const Refs& in);
  Ref concat(const Node& node, const Refs& in);
  Ref slice(const Refs& in);
  Ref gather(const Node& node, const Refs& in);
  Refs split(const Node& node, const Refs& in);
  Ref squeeze(const Refs& in);

  std::optional<int64_t> size(Ref x, int64_t axis) const {
    return builder_.dim(x, static_cast<size_t>(axis)).constant();
  }
  std::optional<std::vector<int64_t>> numbers(const Refs& in, size_t i) const {
    return i < in.size() && in[i] ? builder_.fact(in[i]).numbers() : std::nullopt;
  }
  const Pieces* pieces(Ref whole, int64_t axis) const;
  Ref entries(Ref x, int64_t axis, int64_t start, int64_t end);
  Ref join(const std::vector<std::pair<Ref, int64_t>>& parts, int64_t axis);
  // Entries start..end of what was put together; absent where the parts do not say.
  Ref range(Ref whole, int64_t axis, int64_t start, int64_t end);

  const Lowered& captured_;
  Assumptions assumptions_;
  Builder builder_;
  std::vector<Ref> refs_;  // by value id of the capture
  std::unordered_map<uint64_t, Pieces> pieces_;
};

Fact Tidy::input_fact(const Value& value) {
  if (!value.declared || !value.declared->dims) return {};
  Dims dims;
  for (const DeclaredDim& dim : *value.declared->dims) {
    dims.push_back(dim.value ? Dim(*dim.value) : captured_.symbols->symbol(dim.name));
    if (!dim.value) assumptions_.assume(Condition::ge(dims.back(), 0));
  }
  return Fact::tensor(value.declared->dtype, std::move(dims));
}

Status Tidy::bind_values() {
  const Graph& graph = *captured_.graph;
  refs_.resize(graph.values.size());
  for (ValueId id : graph.inputs) {
    Fact fact = input_fact(graph.values[id]);
    if (!fact.is_tensor())
      return refuse("reroll.input", "input {:?} is no tensor of known rank", graph.values[id].name);
    refs_[id] = builder_.input(graph.values[id].name, std::move(fact));
  }
  for (size_t id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].is_initializer)
      refs_[id] = builder_.constant(graph.values[id].constant->as_tensor(), graph.values[id].name);
  return builder_.status();
}

const Pieces* Tidy::pieces(Ref whole, int64_t axis) const {
  const auto it = pieces_.find(key_of(whole));
  return it != pieces_.end() && it->second.axis == axis ? &it->second : nullptr;
}

Ref Tidy::join(const std::vector<std::pair<Ref, int64_t>>& parts, int64_t axis) {
  if (parts.size() == 1) return parts[0].first;
  Refs refs;
  for (const auto& [ref, size] : parts) refs.push_back(ref);
  const Ref out = builder_.op("Concat", refs, {attr("axis", axis)});
  if (!builder_.failed()) pieces_[key_of(out)] = {axis, parts};
  return out;
}

Ref Tidy::range(Ref whole, int64_t axis, int64_t start, int64_t end) {
  const Pieces* known = pieces(whole, axis);
  if (!known || start >= end) return {};
  const std::vector<std::pair<Ref, int64_t>> all = known->parts;
  std::vector<std::pair<Ref, int64_t>> taken;
  int64_t at = 0;
  for (const auto& [part, size] : all) {
    const int64_t from = std::max(start - at, int64_t{0}), to = std::min(end - at, size);
    at += size;
    if (from >= to) continue;
    Ref piece = part;
    if (from > 0 || to < size) {
      piece = range(part, axis, from, to);
      if (!piece) piece = builder_.slice(part, axis, from, to);
    }
    taken.emplace_back(piece, to - from);
  }
  return join(taken, axis);
}

// Both ends counted from the front.
Ref Tidy::entries(Ref x, int64_t axis, int64_t start, int64_t end) {
  return builder_.op("Slice", {x, builder_.ints({start}), builder_.ints({end}), builder_.ints({axis})});
}

Ref Tidy::concat(const Node& node, const Refs& in) {
  int64_t axis = node.integer("axis");
  if (axis < 0) axis += static_cast<int64_t>(builder_.rank(in[0]));
  std::vector<std::pair<Ref, int64_t>> parts;
  for (Ref ref : in) {
    const auto known = size(ref, axis);
    if (!known) return {};
    if (*known == 0) continue;
    if (const Pieces* inner = pieces(ref, axis))
      parts.insert(parts.end(), inner->parts.begin(), inner->parts.end());
    else
      parts.emplace_back(ref, *known);
  }
  return parts.empty() ? Ref() : join(parts, axis);
}

Ref Tidy::slice(const Refs& in) {
  const auto starts = numbers(in, 1), ends = numbers(in, 2), axes = numbers(in, 3), steps = numbers(in, 4);
  if (!starts || !ends || !axes || starts->size() != 1 || (in.size() > 4 && in[4] && (!steps || steps->at(0) != 1)))
    return {};
  const int64_t axis = axes->at(0) < 0 ? axes->at(0) + static_cast<int64_t>(builder_.rank(in[0])) : axes->at(0);
  const auto length = size(in[0], axis);
  if (!length) return {};
  const auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + *length : at, int64_t{0}, *length); };
  const int64_t start = place(starts->at(0)), end = place(ends->at(0));
  const Ref part = range(in[0], axis, start, end);
  return part ? part : entries(in[0], axis, start, end);
}

Ref Tidy::gather(const Node& node, const Refs& in) {
  const auto index = numbers(in, 1);
  if (!index || index->size() != 1 || builder_.rank(in[1]) != 0) return {};
  int64_t axis = node.integer("axis");
  if (axis < 0) axis += static_cast<int64_t>(builder_.rank(in[0]));
  const auto length = size(in[0], axis);
  if (!length) return {};
  const int64_t at = index->at(0) < 0 ? index->at(0) + *length : index->at(0);
  const Ref one = range(in[0], axis, at, at + 1);
  return one ? squeeze({one, builder_.ints({axis})}) : builder_.gather(in[0], builder_.number(at), axis);
}

// One entry each, as a loop over them reads them.
Refs Tidy::split(const Node& node, const Refs& in) {
  int64_t axis = node.integer("axis");
  if (axis < 0) axis += static_cast<int64_t>(builder_.rank(in[0]));
  const size_t count = node.out.size();
  if (count < 2 || size(in[0], axis) != static_cast<int64_t>(count)) return {};
  if (const auto sizes = numbers(in, 1);
      sizes && std::any_of(sizes->begin(), sizes->end(), [](int64_t n) { return n != 1; }))
    return {};
  Refs out;
  for (size_t i = 0; i < count; ++i) {
    const int64_t at = static_cast<int64_t>(i);
    const Ref one = range(in[0], axis, at, at + 1);
    out.push_back(one ? one : entries(in[0], axis, at, at + 1));
  }
  return out;
}

// What an Unsqueeze added is taken away before it is added.
Ref Tidy::squeeze(const Refs& in) {
  const auto axes = numbers(in, 1);
  if (!axes || axes->size() != 1) return {};
  const Node* made = builder_.producer(in[0]);
  if (made && made->type == "Unsqueeze" && made->in.size() == 2) {
    const Fact& added = builder_.fact({in[0].scope, made->in[1]});
    if (added.numbers() == axes) return {in[0].scope, made->in[0]};
  }
  return builder_.squeeze(in[0], *axes);
}

Refs Tidy::rewritten(const Node& node, const Refs& in) {
  if (!node.domain.empty()) return {};
  Ref one;
  if (node.type == "Concat") one = concat(node, in);
  if (node.type == "Slice") one = slice(in);
  if (node.type == "Gather") one = gather(node, in);
  if (node.type == "Squeeze") one = squeeze(in);
  if (node.type == "Identity") one = in[0];
  if (node.type == "Split") return split(node, in);
  return one ? Refs{one} : Refs();
}

Status Tidy::add(const Node& node) {
  if (!node.op || node.body || node.has_graph_attribute())
    return refuse("reroll.node", "the program has a {}, which is not looked into", node.type);
  Refs in;
  for (ValueId id : node.in) in.push_back(id == kNoValue ? Ref() : refs_[id]);
  const std::string& name = node.name;
  builder_.set_place(name.substr(0, std::min(name.rfind('/'), name.size())),
                     node.metadata ? *node.metadata : std::vector<std::pair<std::string, std::string>>());
  Refs out = rewritten(node, in);
  if (out.empty()) out = builder_.emit(node.type, in, node.attributes, node.out.size(), node.domain);
  for (size_t i = 0; i < node.out.size(); ++i)
    if (node.out[i] != kNoValue) refs_[node.out[i]] = out[i];
  return builder_.status();
}

Result<CapturedSteps> Tidy::run(int64_t length) {
  TRY_OK(bind_values());
  for (const Node& node : captured_.graph->nodes) TRY_OK(add(node));
  std::vector<std::pair<std::string, Ref>> outputs;
  for (ValueId id : captured_.graph->outputs) outputs.emplace_back(captured_.graph->values[id].name, refs_[id]);
  CapturedSteps out;
  out.length = length;
  TRY(out.graph, builder_.finish(outputs));
  out.facts = builder_.facts();
  return out;
}

void number_steps(CapturedSteps& program) {
  const Graph& graph = *program.graph;
  std::vector<Source> made(graph.values.size());
  for (size_t i = 0; i < graph.inputs.size(); ++i) made[graph.inputs[i]] = {Source::input, static_cast<uint32_t>(i), 0};
  for (size_t id = 0; id < graph.values.size(); ++id)
    if (graph.values[id].is_initializer) made[id] = {Source::constant, static_cast<uint32_t>(id), 0};
  for (uint32_t index : order_of(graph, program.facts, program.length)) {
    Step step{&graph.nodes[index], {}};
    for (ValueId id : step.node->in) step.in.push_back(id == kNoValue ? Source() : made[id]);
    for (size_t i = 0; i < step.node->out.size(); ++i)
      if (step.node->out[i] != kNoValue)
        made[step.node->out[i]] = {Source::made, static_cast<uint32_t>(program.steps.size()), static_cast<uint32_t>(i)};
    program.steps.push_back(std::move(step));
  }
  for (ValueId id : graph.outputs) program.outputs.push_back(made[id]);
}

}  // namespace

Result<CapturedSteps> read_steps(const Lowered& captured, int64_t length, const OpTable& ops) {
  TRY(CapturedSteps out, Tidy(captured, ops).run(length));
  number_steps(out);
  return out;
}

}  // namespace anyshape::lower::reroll
