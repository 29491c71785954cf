#include <algorithm>
#include <functional>

#include "lower/torchscript/evaluator.h"

namespace anyshape::lower::script {

using torchscript::Expr;
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

bool mentions(const Expr& expr, const std::string& name) {
  if (expr.kind == Expr::Kind::name && expr.text == name) return true;
  return std::any_of(expr.args.begin(), expr.args.end(), [&](const Expr& arg) { return mentions(arg, name); });
}

bool mentions(const std::vector<Statement>& body, size_t first, const std::string& name) {
  return std::any_of(body.begin() + static_cast<std::ptrdiff_t>(first), body.end(), [&](const Statement& s) {
    if (s.value && mentions(*s.value, name)) return true;
    if (s.function && mentions(s.function->body, 0, name)) return true;
    return mentions(s.body, 0, name) || mentions(s.otherwise, 0, name);
  });
}

bool is_missing(const Value& value) {
  if (const auto* missing = value.get<Missing>()) return !missing->declared;
  const List* list = value.list();
  return list && list->tuple && std::any_of(list->items.begin(), list->items.end(), is_missing);
}

// What a function gives back, as a variable of it.
constexpr const char* kResult = "the result";
// Each doubles what is left of its function.
constexpr int kMaxEnds = 3;

}  // namespace

// A branch that the running model decides.
struct Undecided::Fork {
  int line = 0;
  Value truth;
  std::optional<Condition> condition;  // of sizes, where it is one
  Way yes, no;
  bool ends = false;                         // both ways run to the end of the function: only its result counts
  std::vector<Pair> pairs;                   // what both ways leave
  std::vector<Value> values;                 // per pair; None where a node has to choose
  std::vector<std::vector<Carrier>> chosen;  // per pair
};

// The value that is `a` where the condition holds, else `b`. Missing where no value can be both.
Value Undecided::joined(const Value& a, const Value& b, const std::optional<Condition>& condition,
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
Ref Undecided::stand_in(const Value& like) {
  switch (carrier_of(like)) {
    case Carrier::integer:
      return in_->number(int64_t{0});
    case Carrier::real:
      return in_->number(0.0, DType::f64);
    case Carrier::truth:
      return in_->truth(Condition::never());
    default:
      break;
  }
  const Fact& fact = closed_facts_[like.get<Var>()->get()];
  Dims dims = fact.dims.value_or(Dims());
  for (Dim& d : dims) d = from_inputs(d) ? d : Dim(0);
  const auto zero = Tensor::allocate(fact.dtype, {1});
  return zero ? in_->full(dims, *zero) : Ref{};
}

void Undecided::remember_fact(const Value& value) {
  if (const Var* tensor = value.get<Var>()) closed_facts_[tensor->get()] = in_->fact(in_.memory().read(*tensor));
  if (const List* list = value.list()) {
    for (const Value& item : list->items) remember_fact(item);
  }
}

bool Undecided::from_inputs(Dim dim) const {
  const auto symbols = dim.symbols();
  return std::all_of(symbols.begin(), symbols.end(), [&](Dim s) { return input_symbols_.count(s) != 0; });
}

// Runs one way inside a body that gives out the values of `spots`, and undoes it.
Result<Outcome> Undecided::run_way(const Way& way, const Condition& path, const std::string& name, const Emit& emit,
                                   std::shared_ptr<Graph>& graph) {
  Mark mark;
  open_mark(mark);
  in_->begin_body(name, {}, path);
  TRY(const Flow flow, way());
  Outcome outcome = since(mark);
  outcome.flow = flow;
  for (const Changed& changed : outcome.changed) remember_fact(changed.after);
  Refs outputs;
  if (emit) outputs = emit(outcome);
  if (in_->failed()) return tl::unexpected(in_->status().error());
  graph = in_->end_body(outputs);
  bodies_.push_back(graph);
  put_back(mark);
  if (flow != Flow::next) return refuse("script.branch", "a branch that data or sizes decide leaves its block");
  if (!outcome.grown.empty()) return refuse("script.branch", "a list grows in a branch that data or sizes decide");
  return outcome;
}

Result<Flow> Undecided::branch(const Statement& statement, const Value& truth) {
  Fork both;
  both.line = statement.line;
  both.truth = truth;
  both.yes = [&] { return program_.run_held(statement.body); };
  both.no = [&] { return program_.run_held(statement.otherwise); };
  TRY_OK(learn(both));
  if (torn(both)) return to_the_end(statement, truth);
  TRY_OK(join(both));
  return Flow::next;
}

// Some variable is used later that no node can choose: a text, or None on one way and a tensor on the other.
bool Undecided::torn(const Fork& fork) {
  if (frames_.top().held > 0 || ends_ >= kMaxEnds) return false;
  for (size_t i = 0; i < fork.pairs.size(); ++i) {
    const Pair& pair = fork.pairs[i];
    if (pair.spot.kind != Spot::Kind::name || is_missing(pair.a) || is_missing(pair.b)) continue;
    if (!is_missing(fork.values[i])) continue;
    for (const auto& [body, next] : frames_.top().open)
      if (mentions(*body, next, pair.spot.name)) return true;
  }
  return false;
}

// Both ways with all that comes after the branch in its function, so that every variable is what it is on that way;
// what the function gives back is chosen.
Result<Flow> Undecided::to_the_end(const Statement& statement, const Value& truth) {
  const auto rest = frames_.top().open;
  const auto way = [&](const Body& body) -> Result<Flow> {
    frames_.top().open = rest;
    TRY(Flow flow, program_.run(body));
    for (size_t k = rest.size(); flow == Flow::next && k-- > 0;) {
      frames_.top().open.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(k));
      TRY(flow, program_.run(*rest[k].first, rest[k].second));
    }
    frames_.top().names.insert_or_assign(kResult, std::exchange(frames_.top().result, Value()));
    return Flow::next;
  };
  Fork both;
  both.line = statement.line;
  both.truth = truth;
  both.ends = true;
  both.yes = [&] { return way(statement.body); };
  both.no = [&] { return way(statement.otherwise); };
  ++ends_;
  TRY_OK(learn(both));
  TRY_OK(join(both));
  --ends_;
  frames_.top().open = rest;
  frames_.top().result = std::exchange(frames_.top().names[kResult], Value());
  if (const auto* missing = frames_.top().result.get<Missing>()) return refuse("script.branch", "{}", missing->why);
  return Flow::give;
}

// Runs both ways without outputs, to learn what they change and what has to be chosen.
Status Undecided::learn(Fork& fork) {
  fork.condition = numbers_.condition(fork.truth);
  const Condition yes = fork.condition ? *fork.condition : Condition::always();
  const Condition no = fork.condition ? !*fork.condition : Condition::always();
  std::shared_ptr<Graph> graph;
  TRY(const Outcome first, run_way(fork.yes, yes, "then", {}, graph));
  TRY(const Outcome second, run_way(fork.no, no, "else", {}, graph));
  fork.pairs = pairs_of(first.changed, second.changed);
  if (fork.ends)
    std::erase_if(fork.pairs, [](const Pair& p) { return p.spot.kind == Spot::Kind::name && p.spot.name != kResult; });
  for (const Pair& pair : fork.pairs) {
    fork.chosen.emplace_back();
    fork.values.push_back(joined(pair.a, pair.b, fork.condition, [&](const Value&, const Value&, Carrier carrier) {
      fork.chosen.back().push_back(carrier);
      return Value(None{});
    }));
  }
  return {};
}

// What the chosen parts of the pairs are on one way, which has just run.
Refs Undecided::parts_on(const Fork& fork, bool first, const Outcome& outcome) {
  Refs refs;
  for (size_t i = 0; i < fork.pairs.size(); ++i) {
    if (fork.chosen[i].empty()) continue;
    const Pair& pair = fork.pairs[i];
    const Changed* changed = find(outcome.changed, pair.spot);
    const Value mine = changed ? changed->after : first ? pair.a : pair.b;
    const Value& other = first ? pair.b : pair.a;
    joined(first ? mine : other, first ? other : mine, fork.condition, [&](const Value& a, const Value& b, Carrier) {
      const Value &here = first ? a : b, &there = first ? b : a;
      refs.push_back(here.get<Missing>() ? stand_in(there) : carried_ref(here));
      return Value(None{});
    });
  }
  return refs;
}

// Runs both ways again with what has to be chosen as their outputs, and gives every spot its value.
Status Undecided::join(const Fork& fork) {
  const Condition yes = fork.condition ? *fork.condition : Condition::always();
  const Condition no = fork.condition ? !*fork.condition : Condition::always();
  const bool any = std::any_of(fork.chosen.begin(), fork.chosen.end(), [](const auto& list) { return !list.empty(); });
  Refs outputs;
  if (any) {
    std::shared_ptr<Graph> then_graph, else_graph;
    const Emit first = [&](const Outcome& outcome) { return parts_on(fork, true, outcome); };
    const Emit second = [&](const Outcome& outcome) { return parts_on(fork, false, outcome); };
    TRY_OK(run_way(fork.yes, yes, "then", first, then_graph).map([](Outcome) {}));
    TRY_OK(run_way(fork.no, no, "else", second, else_graph).map([](Outcome) {}));
    frames_.top().line = fork.line;
    frames_.show_place(in_);
    outputs = in_->emit("If", {numbers_.ref(fork.truth)},
                        {attr("then_branch", then_graph), attr("else_branch", else_graph)}, then_graph->outputs.size());
    if (in_->failed()) return tl::unexpected(in_->status().error());
  }
  size_t next = 0;
  for (const Pair& pair : fork.pairs) {
    TRY_OK(put(pair.spot, joined(pair.a, pair.b, fork.condition, [&](const Value&, const Value&, Carrier carrier) {
                 return next < outputs.size() ? carried_value(carrier, outputs[next++])
                                              : Value(Missing{"a value was lost"});
               })));
  }
  return {};
}

}  // namespace anyshape::lower::script
