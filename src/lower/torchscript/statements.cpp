#include <algorithm>

#include "base/work.h"
#include "lower/torchscript/evaluator.h"

namespace anyshape::lower::script {

using torchscript::Expr;
using torchscript::Statement;
using Kind = Statement::Kind;

namespace {

constexpr int64_t kMaxSteps = 2'000'000;
constexpr int64_t kMaxUnrolled = 4096;

bool is_raise(const Expr& expr) {
  return expr.kind == Expr::Kind::call && expr.args[0].kind == Expr::Kind::attribute &&
         expr.args[0].text == "RaiseException";
}

// Whether every way through the block ends in an exception.
bool raises(const std::vector<Statement>& body) {
  return std::any_of(body.begin(), body.end(), [](const Statement& s) {
    if (s.kind == Kind::raise) return true;
    if (s.kind == Kind::branch) return raises(s.body) && raises(s.otherwise);
    return s.kind == Kind::expression && s.value && is_raise(*s.value);
  });
}

}  // namespace

Result<Flow> Evaluator::run(const Body& body, size_t first) {
  const size_t depth = frame().open.size();
  Flow flow = Flow::next;
  for (size_t i = first; i < body.size() && flow == Flow::next; ++i) {
    frame().line = body[i].line;
    frame().open.resize(depth);
    frame().open.emplace_back(&body, i + 1);
    auto after = run(body[i]);
    if (!after) return placed(std::move(after).error());
    if (in_->failed()) return placed(in_->status().error());
    flow = *after;
  }
  frame().open.resize(depth);
  return flow;
}

Result<Flow> Evaluator::run_held(const Body& body) {
  ++frame().held;
  TRY(const Flow flow, run(body));
  --frame().held;
  return flow;
}

Result<Flow> Evaluator::run(const Statement& statement) {
  TRY_OK(Work::check());
  if (++steps_ > kMaxSteps) return refuse("script.steps", "the program takes more than {} steps", kMaxSteps);
  switch (statement.kind) {
    case Kind::branch:
      return branch(statement);
    case Kind::repeat:
      return repeat(statement);
    case Kind::iterate:
      return iterate(statement);
    case Kind::scope:
      return scope(statement);
    default:
      return run_simple(statement);
  }
}

Result<Flow> Evaluator::run_simple(const Statement& statement) {
  switch (statement.kind) {
    case Kind::expression:
      TRY_OK(eval(*statement.value).map([](Value) {}));
      return Flow::next;
    case Kind::assign:
      TRY_OK(assign(statement));
      return Flow::next;
    case Kind::give:
      if (statement.value) {
        TRY(frame().result, eval(*statement.value));
      }
      return Flow::give;
    case Kind::raise:
      return refuse("script.raise", "the program raises {}",
                    statement.value ? print(*statement.value) : "an exception");
    case Kind::assertion: {
      TRY(const Value given, eval(*statement.value));
      TRY(const Value truth, numbers_.to_bool(given));
      if (numbers_.decide(truth) == false) return refuse("script.raise", "the program's assertion fails");
      return Flow::next;
    }
    case Kind::forget:
      for (const Expr& target : statement.targets) TRY_OK(forget(target));
      return Flow::next;
    case Kind::define: {
      auto closure = std::make_shared<Callable>();
      closure->kind = Callable::Kind::closure;
      closure->name = statement.function->name;
      closure->own = statement.function;
      closure->function = statement.function.get();
      closure->captured = std::make_shared<Names>(frame().names);
      frame().names[statement.function->name] = Value(std::move(closure));
      return Flow::next;
    }
    case Kind::leave:
      return Flow::leave;
    case Kind::next:
      return Flow::again;
    default:
      return Flow::next;
  }
}

Status Evaluator::assign(const Statement& statement) {
  if (!statement.value) return {};
  TRY(Value value, eval(*statement.value));
  if (!statement.unpack) return assign_to(statement.targets[0], std::move(value));
  const List* list = value.list();
  if (list == nullptr || list->stacked || list->filling) {
    return refuse("script.type", "{} cannot be taken apart", kind_of(value));
  }
  const Values items = list->items;
  if (items.size() != statement.targets.size()) {
    return refuse("script.value", "{} values are taken apart into {} variables", items.size(),
                  statement.targets.size());
  }
  for (size_t i = 0; i < items.size(); ++i) TRY_OK(assign_to(statement.targets[i], items[i]));
  return {};
}

Status Evaluator::assign_to(const Expr& target, Value value) {
  if (target.kind == Expr::Kind::name) {
    frame().names.insert_or_assign(target.text, std::move(value));
    return {};
  }
  if (target.kind == Expr::Kind::attribute) {
    TRY(const Value owner, eval(target.args[0]));
    return set_attribute(owner, target.text, std::move(value));
  }
  if (target.kind == Expr::Kind::subscript) {
    TRY(Value owner, eval(target.args[0]));
    TRY(Value index, eval(target.args[1]));
    return library_.torch_call({"_set_item", {std::move(owner), std::move(index), std::move(value)}, {}})
        .map([](Value) {});
  }
  return refuse("script.syntax", "{} cannot be assigned to", print(target));
}

Status Evaluator::forget(const Expr& target) {
  if (target.kind == Expr::Kind::name) {
    frame().names.erase(target.text);
    return {};
  }
  if (target.kind != Expr::Kind::subscript) return refuse("script.syntax", "{} cannot be deleted", print(target));
  TRY(Value owner, eval(target.args[0]));
  TRY(Value index, eval(target.args[1]));
  return library_.torch_call({"Delete", {std::move(owner), std::move(index)}, {}}).map([](Value) {});
}

// The text of the exception a block raises, as far as it can be told.
std::string Evaluator::message_of(const Body& body) {
  for (const Statement& statement : body) {
    if (statement.kind == Kind::assign && !statement.unpack && statement.value &&
        statement.targets[0].kind == Expr::Kind::name) {
      if (auto value = eval(*statement.value)) frame().names[statement.targets[0].text] = *std::move(value);
    }
    if (statement.kind == Kind::expression && statement.value && is_raise(*statement.value) &&
        statement.value->args.size() > 1) {
      const auto message = eval(statement.value->args[1]);
      if (message && message->text()) return *message->text();
    }
  }
  return "an exception";
}

Result<Flow> Evaluator::branch(const Statement& statement) {
  TRY(const Value given, eval(*statement.value));
  TRY(const Value truth, numbers_.to_bool(given));
  if (const auto known = numbers_.decide(truth)) return run(*known ? statement.body : statement.otherwise);
  const bool raising = raises(statement.body);
  if (!raising && !raises(statement.otherwise)) return undecided_.branch(statement, truth);
  // A check: the program goes on where it does not raise.
  const Names before = frame().names;
  std::string message = message_of(raising ? statement.body : statement.otherwise);
  frame().names = before;
  if (const auto condition = numbers_.condition(truth)) {
    const Condition holds = raising ? !*condition : *condition;
    if (!journal_.in_body()) checked_.push_back({holds, std::move(message), frames_.place()});
    in_->assumptions().assume(holds);
  } else {
    library_.note(fmt::format("{}: the program raises {:?} for some data; the exported model does not check it",
                              frames_.place(), message));
  }
  return run(raising ? statement.otherwise : statement.body);
}

Result<Flow> Evaluator::repeat(const Statement& statement) {
  for (int64_t round = 0;; ++round) {
    frame().line = statement.line;
    TRY(const Value given, eval(*statement.value));
    TRY(const Value truth, numbers_.to_bool(given));
    const auto known = numbers_.decide(truth);
    if (known == false) return Flow::next;
    if (!known || round >= kMaxUnrolled) return undecided_.loop(statement, nullptr);
    TRY(const Flow flow, run_held(statement.body));
    if (flow == Flow::leave) return Flow::next;
    if (flow == Flow::give) return flow;
  }
}

Result<Flow> Evaluator::iterate(const Statement& statement) {
  TRY(const Value over, eval(*statement.value));
  Values items;
  if (const Dim* count = over.get<Dim>()) {
    const auto known = in_->assumptions().simplify(*count).constant();
    if (!known || *known > kMaxUnrolled) return undecided_.loop(statement, &over);
    for (int64_t i = 0; i < *known; ++i) items.push_back(Dim(i));
  } else if (const List* list = over.list(); list && !list->stacked && !list->filling) {
    items = list->items;
  } else if (const Dict* dict = over.dict()) {
    for (const auto& entry : dict->entries) items.push_back(entry.first);
  } else {
    return refuse("script.loop", "a loop runs over {}", kind_of(over));
  }
  for (const Value& item : items) {
    if (statement.targets.size() == 1) {
      TRY_OK(assign_to(statement.targets[0], item));
    } else {
      const List* parts = item.list();
      if (!parts || parts->items.size() != statement.targets.size())
        return refuse("script.loop", "a loop with {} variables must run over tuples of as many entries",
                      statement.targets.size());
      for (size_t i = 0; i < parts->items.size(); ++i) TRY_OK(assign_to(statement.targets[i], parts->items[i]));
    }
    TRY(const Flow flow, run_held(statement.body));
    if (flow == Flow::leave) break;
    if (flow == Flow::give) return flow;
  }
  return Flow::next;
}

Result<Flow> Evaluator::scope(const Statement& statement) {
  TRY(const Value manager, eval(*statement.value));
  const auto* self = manager.get<std::shared_ptr<Instance>>();
  const bool entered = self != nullptr && (*self)->type != nullptr && (*self)->type->methods.count("__enter__") != 0;
  if (entered) {
    TRY(Value result, call_method(*self, "__enter__", {}));
    if (!statement.targets.empty()) TRY_OK(assign_to(statement.targets[0], std::move(result)));
  }
  TRY(const Flow flow, run_held(statement.body));
  if (entered && (*self)->type->methods.count("__exit__") != 0) {
    TRY_OK(call_method(*self, "__exit__", {{}, {None{}, None{}, None{}}, {}}).map([](Value) {}));
  }
  return flow;
}

}  // namespace anyshape::lower::script
