#include <algorithm>
#include <functional>

#include "lower/torchscript_flow.h"

namespace anyshape::lower::script {

using torchscript::Statement;

namespace {

// The pieces of two values that differ and that a node has to choose between, in one fixed order.
struct Choice {
  Value a, b;
  Carrier carrier;
};

using Choose = std::function<Value(const Choice&)>;

const Changed* find(const std::vector<Changed>& changed, const Spot& spot) {
  const auto found = std::find_if(changed.begin(), changed.end(), [&](const Changed& c) { return c.spot == spot; });
  return found == changed.end() ? nullptr : &*found;
}

struct Pair {
  Spot spot;
  Value a, b;
};

// Every spot either way changes, with what it holds on both.
std::vector<Pair> pairs_of(const std::vector<Changed>& a, const std::vector<Changed>& b) {
  std::vector<Pair> pairs;
  for (const Changed& one : a) {
    const Changed* other = find(b, one.spot);
    pairs.push_back({one.spot, one.after, other ? other->after : one.before});
  }
  for (const Changed& other : b) {
    if (find(a, other.spot) == nullptr) pairs.push_back({other.spot, other.before, other.after});
  }
  return pairs;
}

}  // namespace

// The value that is `a` where the condition holds, else `b`. Missing where no value can be both.
Value Evaluator::joined(const Value& a, const Value& b, const std::optional<Condition>& condition,
                        const std::function<Value(const Value&, const Value&, Carrier)>& choose) {
  if (same_value(a, b)) return a;
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const auto* missing = one->get<Missing>();
    if (missing == nullptr) continue;
    if (!missing->declared) return *missing;
    const Dim* whole = other->get<Dim>();
    if (other->get<bool>() || other->get<double>() || other->text() || (whole && from_inputs(*whole))) return *other;
    const Carrier carrier = carrier_of(*other);
    return carrier == Carrier::none ? Value(*missing) : choose(a, b, carrier);
  }
  const List *x = a.list(), *y = b.list();
  if (x && y && x->items.size() == y->items.size() && !x->stacked && !y->stacked && x->tuple == y->tuple) {
    auto list = std::make_shared<List>(*x);
    for (size_t i = 0; i < x->items.size(); ++i) list->items[i] = joined(x->items[i], y->items[i], condition, choose);
    return list;
  }
  const Carrier carrier = carrier_of(a);
  if (carrier == Carrier::none || carrier != carrier_of(b)) {
    return Missing{
        fmt::format("a variable is {} on one way through the program and {} on the other, as data or sizes "
                    "decide",
                    kind_of(a), kind_of(b))};
  }
  if (condition && carrier == Carrier::integer) {
    const Dim chosen = select(*condition, *a.get<Dim>(), *b.get<Dim>());
    if (!chosen.is_unknown() && from_inputs(chosen)) return chosen;
  }
  const auto p = numbers_.condition(a), q = numbers_.condition(b);
  if (condition && p && q) {
    const Condition both = (*condition && *p) || (!*condition && *q);
    if (!both.is_opaque()) return numbers_.truth(both);
  }
  return choose(a, b, carrier);
}

// Any value of the kind that `like` had in a body that is closed by now.
Ref Evaluator::stand_in(const Value& like) {
  switch (carrier_of(like)) {
    case Carrier::integer:
      return in_.number(int64_t{0});
    case Carrier::real:
      return in_.number(0.0, DType::f64);
    case Carrier::truth:
      return in_.truth(Condition::never());
    default:
      break;
  }
  const Fact& fact = closed_facts_[like.get<Var>()->get()];
  Dims dims = fact.dims.value_or(Dims());
  for (Dim& d : dims) d = from_inputs(d) ? d : Dim(0);
  const auto zero = Tensor::allocate(fact.dtype, {1});
  return zero ? in_.full(dims, *zero) : Ref{};
}

void Evaluator::remember_fact(const Value& value) {
  if (const Var* tensor = value.get<Var>()) closed_facts_[tensor->get()] = in_.fact(in_.read(*tensor));
  if (const List* list = value.list()) {
    for (const Value& item : list->items) remember_fact(item);
  }
}

bool Evaluator::from_inputs(Dim dim) const {
  const auto symbols = dim.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](Dim s) { return input_symbols_.count(s) != 0; });
}

// Runs one way inside a body that gives out the values of `spots`, and undoes it.
Result<Evaluator::Outcome> Evaluator::run_way(const Body& body, const Condition& path, const std::string& name,
                                              const Emit& emit, std::shared_ptr<Graph>& graph) {
  Mark mark;
  open_mark(mark);
  in_.begin_body(name, {}, path);
  TRY(const Flow flow, run(body));
  Outcome outcome = since(mark);
  outcome.flow = flow;
  for (const Changed& changed : outcome.changed) remember_fact(changed.after);
  Refs outputs;
  if (emit) outputs = emit(outcome);
  if (in_.failed()) return tl::unexpected(in_.status().error());
  graph = in_.end_body(outputs);
  bodies_.push_back(graph);
  put_back(mark);
  if (flow != Flow::next) return wrong("script.branch", "a branch that data or sizes decide leaves its block");
  if (!outcome.grown.empty()) return wrong("script.branch", "a list grows in a branch that data or sizes decide");
  return outcome;
}

Result<Evaluator::Flow> Evaluator::conditional(const Statement& statement, const Value& truth) {
  const auto condition = numbers_.condition(truth);
  const Condition yes = condition ? *condition : Condition::always();
  const Condition no = condition ? !*condition : Condition::always();
  std::shared_ptr<Graph> then_graph, else_graph;
  // First without outputs, to learn what the two ways change; then with what has to be chosen.
  TRY(const Outcome then_first, run_way(statement.body, yes, "then", {}, then_graph));
  TRY(const Outcome else_first, run_way(statement.otherwise, no, "else", {}, else_graph));
  const std::vector<Pair> pairs = pairs_of(then_first.changed, else_first.changed);
  std::vector<std::vector<Carrier>> chosen;  // per pair
  for (const Pair& pair : pairs) {
    chosen.emplace_back();
    joined(pair.a, pair.b, condition, [&](const Value&, const Value&, Carrier carrier) {
      chosen.back().push_back(carrier);
      return Value(None{});
    });
  }
  const bool any = std::any_of(chosen.begin(), chosen.end(), [](const auto& list) { return !list.empty(); });
  // The refs of one way, given the pairs as that way sees them now.
  const auto emit_of = [&](bool first) {
    return [&, first](const Outcome& outcome) {
      Refs refs;
      for (size_t i = 0; i < pairs.size(); ++i) {
        if (chosen[i].empty()) continue;
        const Changed* changed = find(outcome.changed, pairs[i].spot);
        Value mine = changed ? changed->after : first ? pairs[i].a : pairs[i].b;
        const Value& other = first ? pairs[i].b : pairs[i].a;
        joined(first ? mine : other, first ? other : mine, condition, [&](const Value& a, const Value& b, Carrier) {
          const Value &here = first ? a : b, &there = first ? b : a;
          refs.push_back(here.get<Missing>() ? stand_in(there) : carried_ref(here));
          return Value(None{});
        });
      }
      return refs;
    };
  };
  Refs outputs;
  if (any) {
    TRY_OK(run_way(statement.body, yes, "then", emit_of(true), then_graph).map([](Outcome) {}));
    TRY_OK(run_way(statement.otherwise, no, "else", emit_of(false), else_graph).map([](Outcome) {}));
    frame().line = statement.line;
    show_place();
    outputs = in_.emit("If", {numbers_.ref(truth)}, {attr("then_branch", then_graph), attr("else_branch", else_graph)},
                       then_graph->outputs.size());
    if (in_.failed()) return tl::unexpected(in_.status().error());
  }
  size_t next = 0;
  for (const Pair& pair : pairs) {
    TRY_OK(put(pair.spot, joined(pair.a, pair.b, condition, [&](const Value&, const Value&, Carrier carrier) {
                 return next < outputs.size() ? carried_value(carrier, outputs[next++])
                                              : Value(Missing{"a value was lost"});
               })));
  }
  return Flow::next;
}

}  // namespace anyshape::lower::script
