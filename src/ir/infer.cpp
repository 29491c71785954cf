#include "ir/infer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/bug.h"
#include "base/effort.h"
#include "ir/rank_probe.h"

namespace anyshape {
namespace {

std::vector<const Fact*> input_facts(const Node& node, const Facts& facts) {
  std::vector<const Fact*> in;
  in.reserve(node.in.size());
  for (ValueId id : node.in) in.push_back(id == kNoValue ? nullptr : &facts[id]);
  return in;
}

Status check_arity(const Node& node, const Signature& sig) {
  const auto variadic = [](std::span<const Port> ports) {
    return !ports.empty() && (ports.back().flags & Port::variadic);
  };
  if (node.in.size() > sig.in.size() && !variadic(sig.in))
    return refuse("node.arity", "{} takes at most {} inputs, this node has {}", node.type, sig.in.size(),
                  node.in.size());
  if (node.out.size() > sig.out.size() && !variadic(sig.out))
    return refuse("node.arity", "{} gives at most {} outputs, this node has {}", node.type, sig.out.size(),
                  node.out.size());
  for (size_t i = 0; i < sig.in.size(); ++i) {
    const bool present = i < node.in.size() && node.in[i] != kNoValue;
    if (!present && !(sig.in[i].flags & Port::optional))
      return refuse("node.arity", "{} needs its input {} ({:?})", node.type, i, sig.in[i].name);
  }
  return {};
}

int64_t byte_size(const Tensor& tensor) {
  return tensor.dtype() == DType::string ? tensor.count() * int64_t{sizeof(std::string)}
                                         : static_cast<int64_t>(tensor.bytes().size());
}

// Leaves in `known` what `seen` says too.
void keep_common(Fact& known, const Fact& seen) {
  if (known.kind != seen.kind || known.dtype != seen.dtype) {
    known = {};
    return;
  }
  known = known.type_only();
  known.length.reset();
  if (known.item && !(seen.item && same_facts(*known.item, *seen.item))) known.item = nullptr;
  if (!known.dims || !seen.dims || known.dims->size() != seen.dims->size()) {
    known.dims.reset();
    return;
  }
  for (size_t i = 0; i < known.dims->size(); ++i)
    if ((*known.dims)[i] != (*seen.dims)[i]) (*known.dims)[i] = Dim::unknown();
}

// Steps of a visit to a node, beyond what its rule computes.
constexpr int64_t kVisit = 10;

// About what a kernel takes that looks at every entry, and multiplies its two largest inputs as matrices to make so
// many entries.
int64_t kernel_steps(const std::vector<Datum>& in, int64_t made) {
  constexpr double kPerStep = 32;
  std::vector<double> counts = {1, 1};
  for (const Datum& datum : in) counts.push_back(static_cast<double>(datum.tensor().count()));
  const double entries = std::accumulate(counts.begin(), counts.end(), static_cast<double>(made));
  std::nth_element(counts.begin(), counts.begin() + 1, counts.end(), std::greater<>());
  return static_cast<int64_t>((entries + std::sqrt(counts[0] * counts[1] * static_cast<double>(made))) / kPerStep);
}

std::string place_of(const Graph& graph, const Node& node) { return fmt::format("node {:?}", graph.label(node)); }

}  // namespace

// Steps of an unrolled loop differ; what is kept holds in all of them.
void Walk::reveal(const Graph& body, Facts facts) {
  const auto [it, first] = bodies_.try_emplace(&body);
  if (first) {
    it->second = std::move(facts);
    return;
  }
  for (size_t i = 0; i < facts.size(); ++i) keep_common(it->second[i], facts[i]);
}

void Walk::add_bound(const Condition& bound, const Condition& unless) {
  // A symbol of a branch is bounded only where the branch is taken: its bounds must not constrain other symbols there.
  Condition elsewhere = unless;
  for (const Condition& branch : path_) elsewhere = elsewhere || !branch;
  fresh_bounds_.push_back(elsewhere || bound);
  assumptions_.assume(bound);
}

Dim Walk::add_symbol(std::string_view stem, SymbolKind kind, Dim lo, std::optional<Dim> hi) {
  const Dim symbol = assumptions_.symbols().fresh(stem);
  kinds_[symbol] = kind;
  data_dims_ += kind == SymbolKind::data;
  add_bound(Condition::ge(symbol, lo));
  // Where there is no room between the bounds, a requirement does not hold: that is not to follow from them.
  if (hi) add_bound(Condition::le(symbol, *hi), Condition::lt(*hi, lo));
  return symbol;
}

SymbolKind Walk::kind(Dim symbol) const {
  const auto it = kinds_.find(symbol);
  return it == kinds_.end() ? SymbolKind::axis : it->second;
}

Result<Facts> infer_node(const Graph& graph, const Node& node, const std::vector<const Fact*>& in) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  Walk walk(assumptions, {.numeric = true});
  return walk.call_rule(graph, node, in);
}

Facts Walk::seed(const Graph& body, Facts inputs) {
  Facts facts(body.values.size());
  Effort::step(static_cast<int64_t>(facts.size()) / 2);
  for (ValueId id = 0; id < facts.size(); ++id)
    if (body.values[id].is_initializer) facts[id] = *body.values[id].constant;
  const auto required = body.required_inputs();
  for (size_t i = 0; i < required.size() && i < inputs.size(); ++i) facts[required[i]] = std::move(inputs[i]);
  for (const auto& capture : body.captures) facts[capture.inner] = (*frames_.back().second)[capture.outer];
  return facts;
}

Result<Facts> Walk::run(const Graph& graph, const Facts& inputs) {
  ANYSHAPE_CHECK(inputs.size() == graph.required_inputs().size() && graph.captures.empty());
  return run_nodes(graph, seed(graph, inputs));
}

Status Walk::add(const Graph& graph, const Node& node, Facts& facts) {
  frames_.emplace_back(&graph, &facts);
  Status status = infer_node(graph, node, facts);
  frames_.pop_back();
  return status;
}

Dim Walk::data_symbol(std::string_view stem, Dim lo, std::optional<Dim> hi) {
  return add_symbol(stem, SymbolKind::data, lo, hi);
}

Result<Facts> Walk::run_nodes(const Graph& graph, Facts facts) {
  frames_.emplace_back(&graph, &facts);
  Status status;
  for (const Node& node : graph.nodes) {
    status = infer_node(graph, node, facts);
    if (!status) break;
  }
  frames_.pop_back();
  if (!status && frames_.empty()) partial_ = std::move(facts);
  if (!status) return tl::unexpected(std::move(status).error());
  return facts;
}

Status Walk::infer_node(const Graph& graph, const Node& node, Facts& facts) {
  if (frames_.size() == 1) outermost_ = &node;
  Effort::step(kVisit + static_cast<int64_t>(node.in.size() + node.out.size()) / 4);
  ++visits_;
  const auto over = [&] { return visits_ > options_.node_limit || Effort::spent(); };
  Result<Facts> out;
  if (!over()) out = node.body ? call_function(graph, node, facts) : call_rule(graph, node, facts);
  // A rule whose body was not walked to its end may say anything.
  if (over()) out = unknown(kBudgetCode, "the work budget is spent: nothing is known of this node and those after it");
  if (out && node.op) {
    if (auto folded = fold(graph, node, facts, *out); !folded) out = tl::unexpected(std::move(folded).error());
  }
  if (!out && out.error().kind == Error::Kind::unknown && out.error().code != kBudgetCode) {
    InferContext(*this, graph, node).undecided(out.error().code, "{}", out.error().message);
    out = Facts();
  }
  if (!out) return at(place_of(graph, node), std::move(out).error());
  for (size_t i = 0; i < node.out.size(); ++i) {
    if (node.out[i] == kNoValue) continue;
    Fact fact = i < out->size() ? std::move((*out)[i]) : opaque_output(graph, node, i);
    settle_output(fact);
    facts[node.out[i]] = std::move(fact);
  }
  return {};
}

Result<Facts> Walk::call_rule(const Graph& graph, const Node& node, const Facts& facts) {
  if (!node.op) {
    const std::string full = node.domain.empty() ? node.type : node.domain + "." + node.type;
    return unknown("infer.missing", "no rule for operator {} (version {})", full, node.version);
  }
  return call_rule(graph, node, input_facts(node, facts));
}

namespace {

bool any_opaque(const std::vector<Requirement>& all, size_t from) {
  return std::any_of(all.begin() + static_cast<ptrdiff_t>(from), all.end(), [](const auto& r) { return r.opaque; });
}

// The rule has answered without a rank that it may refuse: the numeric walk may know it, if not, it hangs on data.
void leave_rank(InferContext& context, const Node& node) {
  constexpr std::string_view kCode = "infer.rank";
  if (context.numeric())
    context.data_condition(kCode, "{} takes inputs of some ranks only, and the data decides which it gets", node.type);
  else
    static_cast<void>(context
                          .require(Condition::opaque(), kCode,
                                   "{} takes inputs of some ranks only, and only a concrete shape tells which it gets",
                                   node.type)
                          .has_value());
}

}  // namespace

Result<Facts> Walk::call_rule(const Graph& graph, const Node& node, const std::vector<const Fact*>& in) {
  TRY_OK(check_arity(node, node.op->sig));
  const std::string label = graph.label(node);
  const Call call(node, label, in);
  InferContext context(*this, graph, node);
  const size_t requirements = requirements_.size(), conditions = data_conditions_.size();
  auto out = node.op->infer(call, context);
  if (!call.mistyped().empty())
    return refuse("attr.type", "attribute {:?} has another type than {} takes", call.mistyped(), node.type);
  if (!out) return out;
  const bool said = data_conditions_.size() > conditions || any_opaque(requirements_, requirements);
  if (!said && lacks_rank(in) && (node.has_graph_attribute() || refuses_some_rank(graph, node, in)))
    leave_rank(context, node);
  if (!node.has_graph_attribute()) {
    if (!options_.numeric) leave_to_numbers(graph, node, in, requirements, conditions);
    const auto from_shapes = [&](const Fact* fact) {
      if (!fact) return true;
      if (!node.op->reads_shapes_only) return fact->from_shapes;
      if (!options_.numeric) return true;
      if (!fact->dims) return false;
      return std::none_of(fact->dims->begin(), fact->dims->end(), [&](Dim d) {
        const auto used = d.symbols();
        return std::any_of(used.begin(), used.end(), [&](Dim s) { return kind(s) == SymbolKind::data; });
      });
    };
    const bool all = node.op->pure && std::all_of(in.begin(), in.end(), from_shapes);
    // Bounds by sizes may tell an entry, too.
    const auto has_sizes = [](const Fact* fact) {
      const auto is_size = [](Dim d) { return !d.is_constant(); };
      return fact && (fact->from_sizes || (fact->bounds && (is_size(fact->bounds->lo) || is_size(fact->bounds->hi))));
    };
    const bool sized = node.op->reads_shapes_only || std::any_of(in.begin(), in.end(), has_sizes);
    for (Fact& fact : *out) {
      fact.from_shapes = all;
      fact.from_sizes = sized;
    }
  }
  return out;
}

namespace {

// A port of the node whose entries follow from shapes, at least in part, but are not known to the rule, which reads
// them.
// `as_numbers`: an entry that is an expression does not count as known.
const Port* unseen_port(const Node& node, const std::vector<const Fact*>& in, bool as_numbers) {
  const std::span<const Port> ports = node.op->sig.in;
  for (size_t i = 0; i < in.size() && !ports.empty(); ++i) {
    const Port& port = ports[std::min(i, ports.size() - 1)];
    if (!(port.flags & Port::value) || !in[i] || !in[i]->is_tensor()) continue;
    if (!in[i]->from_shapes && (!in[i]->from_sizes || (port.flags & Port::settled))) continue;
    const bool known = in[i]->elements && (!as_numbers || in[i]->numbers());
    if (!in[i]->constant && !known) return &port;
  }
  return nullptr;
}

}  // namespace

// What a rule would ask of entries that only numbers tell is asked by the numeric walk, so it is part of the set.
void Walk::leave_to_numbers(const Graph& graph, const Node& node, const std::vector<const Fact*>& in,
                            size_t requirements, size_t conditions) {
  InferContext context(*this, graph, node);
  if (data_conditions_.size() > conditions && unseen_port(node, in, true)) {
    const std::vector<Reason> asked(data_conditions_.begin() + static_cast<ptrdiff_t>(conditions),
                                    data_conditions_.end());
    data_conditions_.resize(conditions);
    for (const Reason& one : asked)
      static_cast<void>(context.require(Condition::opaque(), one.code, "{}", one.sentence).has_value());
  }
  const Port* port = unseen_port(node, in, false);
  if (!port) return;
  if (any_opaque(requirements_, requirements) || (port->flags & Port::settled)) return;
  static_cast<void>(context
                        .require(Condition::opaque(), "infer.entries",
                                 "{} reads the entries of its input {:?}, which only a concrete shape tells", node.type,
                                 port->name)
                        .has_value());
}

Result<Facts> Walk::call_function(const Graph& graph, const Node& node, const Facts& facts) {
  Facts inputs;
  for (ValueId id : node.in)
    if (id != kNoValue) inputs.push_back(facts[id]);
  return InferContext(*this, graph, node).infer_body(*node.body, std::move(inputs));
}

Status Walk::fold(const Graph& graph, const Node& node, const Facts& facts, Facts& out) {
  if (node.op->kernels.empty() || !node.op->pure || node.has_graph_attribute()) return {};
  const auto relevant = [&](ValueId id) { return id != kNoValue && graph.values[id].shape_relevant; };
  // Sizes that entries tell are there once they are computed.
  const auto sized = [](const Fact& f) {
    return f.dims && std::all_of(f.dims->begin(), f.dims->end(), [](Dim d) { return d.is_constant(); });
  };
  if (std::none_of(node.out.begin(), node.out.end(), relevant) && std::all_of(out.begin(), out.end(), sized)) return {};
  const auto known = [](const Fact& f) { return f.constant || (f.elements && f.numbers()); };
  if (std::all_of(out.begin(), out.end(), known)) return {};

  std::vector<Datum> in;
  int64_t bytes = 0, made = 0;
  for (ValueId id : node.in) {
    Tensor tensor = id == kNoValue ? Tensor() : facts[id].as_tensor();
    if (id != kNoValue && !tensor) return {};
    bytes += byte_size(tensor);
    in.emplace_back(std::move(tensor));
  }
  for (const Fact& fact : out) {
    const auto sizes = fact.numeric_dims();
    const auto count = sizes ? element_count(*sizes) : std::nullopt;
    if (sizes && (!count || *count > options_.fold_bytes)) return {};
    bytes += count.value_or(0) * std::max(bits(fact.dtype), 8) / 8;
    made += count.value_or(0);
  }
  if (bytes > options_.fold_bytes || folded_bytes_ + bytes > options_.fold_total_bytes) return {};
  const int64_t steps = kernel_steps(in, made);
  if (!Effort::affords(steps)) {
    InferContext(*this, graph, node).undecided(kBudgetCode, "its value takes more work to compute than is left");
    return {};
  }
  Effort::step(steps);
  folded_bytes_ += bytes;
  for (Datum& datum : in) {
    TRY(datum.tensor(), datum.tensor().aligned());
  }
  const auto in_facts = input_facts(node, facts);
  const std::string label = graph.label(node);
  const Call call(node, label, in_facts);
  auto computed = run_reference(call, in, out);
  if (!computed) {
    // A kernel that lacks an element type leaves the facts as the rule made them.
    if (computed.error().kind == Error::Kind::unknown) return {};
    return tl::unexpected(std::move(computed).error());
  }
  for (size_t i = 0; i < out.size(); ++i)
    if ((*computed)[i].is_tensor()) out[i] = Fact::of_constant((*computed)[i].tensor());
  return {};
}

void Walk::settle_output(Fact& fact) {
  if (fact.dims)
    for (Dim& d : *fact.dims) {
      if (d.is_unknown()) {
        d = add_symbol("u", SymbolKind::opaque, 0, std::nullopt);
      } else if (!d.is_constant()) {
        d = assumptions_.simplify(d);
      }
    }
  if (fact.bounds && (fact.bounds->lo.is_unknown() || fact.bounds->hi.is_unknown())) fact.bounds.reset();
}

// Of an operator without a rule the file is believed. Where a rule cannot tell the sizes, a run decides, and it may
// give others than the file declares.
Fact Walk::opaque_output(const Graph& graph, const Node& node, size_t i) {
  const auto& declared = graph.values[node.out[i]].declared;
  if (!declared || declared->kind != Fact::Kind::tensor) return {};
  Fact fact = Fact::tensor_of_unknown_rank(declared->dtype);
  if (!declared->dims || options_.certain || node.op) return fact;
  fact.dims.emplace();
  for (const DeclaredDim& d : *declared->dims)
    fact.dims->push_back(d.value && *d.value >= 0 ? Dim(*d.value) : Dim::unknown());
  return fact;
}

}  // namespace anyshape
