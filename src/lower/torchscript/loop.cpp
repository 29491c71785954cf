#include <algorithm>

#include "lower/torchscript/evaluator.h"

namespace anyshape::lower::script {

using torchscript::Statement;

// What goes around a loop: the parts of the values of some spots, and lists that grow by one item each time.
struct Undecided::LoopPart {
  Carrier carrier;
  Fact fact;
  std::vector<bool> free = {};  // axes that may have any size
};

struct Undecided::LoopPlan {
  struct Around {
    Spot spot;
    Value before;
    std::vector<LoopPart> parts;
  };
  std::vector<Around> around;
  std::vector<std::shared_ptr<List>> filled;
};

namespace {

constexpr int kMaxAttempts = 24;

// Visits the parts of a value that a node can carry; false where some part is nothing of that kind and not `other`'s.
bool parts_of(const Value& value, Values& parts) {
  if (const List* list = value.list(); list && !list->stacked) {
    return std::all_of(list->items.begin(), list->items.end(), [&](const Value& v) { return parts_of(v, parts); });
  }
  if (carrier_of(value) == Carrier::none) return false;
  parts.push_back(value);
  return true;
}

Value rebuilt(const Value& like, const Values& parts, size_t& next) {
  const List* list = like.list();
  if (list == nullptr) return parts[next++];
  auto made = std::make_shared<List>(*list);
  for (Value& item : made->items) item = rebuilt(item, parts, next);
  return made;
}

}  // namespace

Fact Undecided::carried_fact(const Value& value) {
  switch (carrier_of(value)) {
    case Carrier::tensor: {
      const Fact& known = in_->fact(in_.memory().read(*value.get<Var>()));
      return known.has_rank() ? Fact::tensor(known.dtype, *known.dims) : Fact::tensor_of_unknown_rank(known.dtype);
    }
    case Carrier::integer:
      return Fact::scalar(DType::i64);
    case Carrier::truth:
      return Fact::scalar(DType::boolean);
    default:
      return Fact::scalar(DType::f64);
  }
}

// The plan after a run whose changes are known; true when it had to grow.
Result<bool> Undecided::extend_plan(LoopPlan& plan, const Outcome& outcome, const Mark& mark) {
  bool grew = false;
  for (const Changed& changed : outcome.changed) {
    if (changed.before.get<Missing>() && changed.spot.kind == Spot::Kind::name) continue;
    const auto known = std::find_if(plan.around.begin(), plan.around.end(),
                                    [&](const auto& around) { return around.spot == changed.spot; });
    Values parts, after;
    if (!parts_of(changed.before, parts) || !parts_of(changed.after, after) || parts.size() != after.size()) {
      return refuse("script.loop", "{} is {} before a loop of unknown length and {} in it", changed.spot.text(),
                    kind_of(changed.before), kind_of(changed.after));
    }
    if (known == plan.around.end()) {
      grew = true;
      LoopPlan::Around around{changed.spot, changed.before, {}};
      for (const Value& part : parts) around.parts.push_back({carrier_of(part), carried_fact(part)});
      plan.around.push_back(std::move(around));
      continue;
    }
    for (size_t i = 0; i < after.size(); ++i) {
      TRY(const bool wider, widen(known->parts[i], after[i], changed.spot));
      grew = grew || wider;
    }
  }
  for (const auto& list : outcome.grown) {
    const auto old = std::find_if(mark.lists.begin(), mark.lists.end(), [&](const auto& e) { return e.first == list; });
    if (std::find(plan.filled.begin(), plan.filled.end(), list) != plan.filled.end()) {
      if (list->items.size() == 1 && list->items[0].is_tensor()) continue;
      return refuse("script.loop", "a loop of unknown length appends more or less than one tensor to a list");
    }
    if (!old->second.items.empty() || old->second.stacked || list->stacked) {
      return refuse("script.loop", "a loop of unknown length appends to a list that is not empty before it");
    }
    plan.filled.push_back(list);
    grew = true;
  }
  return grew;
}

// An axis that does not keep its size is free from the next run on.
Result<bool> Undecided::widen(LoopPart& part, const Value& after, const Spot& spot) {
  Fact& fact = part.fact;
  const Carrier carrier = part.carrier;
  if (carrier != carrier_of(after) && !(carrier == Carrier::integer && after.is_float())) {
    return refuse("script.loop", "{} changes its type in a loop of unknown length", spot.text());
  }
  if (carrier != Carrier::tensor) return false;
  const Fact& now = in_->fact(in_.memory().read(*after.get<Var>()));
  if (now.dtype != fact.dtype || !now.has_rank() || !fact.has_rank() || now.rank() != fact.rank()) {
    return refuse("script.loop", "{} is {} before a loop of unknown length and {} after a round of it", spot.text(),
                  print(fact), print(now.type_only()));
  }
  bool wider = false;
  part.free.resize(now.rank());
  for (size_t i = 0; i < now.rank(); ++i) {
    if (part.free[i] || in_->same((*now.dims)[i], (*fact.dims)[i])) continue;
    (*fact.dims)[i] = in_->walk().data_symbol("n", 0, std::nullopt);
    part.free[i] = true;
    wider = true;
  }
  return wider;
}

// One run of the body as a graph. True when the plan held; then `graph` is that body, else the plan has grown.
Result<bool> Undecided::loop_once(const Statement& statement, const Value* count, LoopPlan& plan,
                                  std::shared_ptr<Graph>& graph) {
  std::vector<std::pair<std::string, Fact>> inputs = {{"i", Fact::scalar(DType::i64)},
                                                      {"again", Fact::scalar(DType::boolean)}};
  for (const auto& around : plan.around) {
    for (const auto& part : around.parts) inputs.emplace_back("v", part.fact);
  }
  Mark mark;
  open_mark(mark);
  in_->begin_body("body", inputs);
  size_t next = 2;
  for (const auto& around : plan.around) {
    Values parts;
    for (const auto& part : around.parts) parts.push_back(carried_value(part.carrier, in_->body_input(next++)));
    size_t at = 0;
    TRY_OK(put(around.spot, rebuilt(around.before, parts, at)));
  }
  for (const auto& list : plan.filled) {
    journal_.note(list);
    list->filling = true;
  }
  if (count != nullptr) {
    const Dim index = in_.item(in_->body_input(0));
    in_->assumptions().assume(Condition::ge(index, 0));
    in_->assumptions().assume(Condition::lt(index, *count->get<Dim>()));
    TRY_OK(program_.assign_to(statement.targets[0], index));
  }
  TRY(const Flow flow, program_.run_held(statement.body));
  if (flow != Flow::next) return refuse("script.loop", "a loop of unknown length is left from inside");
  Value again = true;
  if (count == nullptr) {
    frames_.top().line = statement.line;
    TRY(const Value given, program_.eval(*statement.value));
    TRY(again, numbers_.to_bool(given));
  }
  const Outcome outcome = since(mark);
  for (const auto& list : plan.filled) list->filling = false;
  TRY(const bool grew, extend_plan(plan, outcome, mark));
  Refs outputs;
  if (!grew) {
    outputs.push_back(numbers_.ref(again));
    for (const auto& around : plan.around) {
      TRY_OK(add_parts(around.spot, around.parts.size(), outcome, outputs));
    }
    for (const auto& list : plan.filled) outputs.push_back(in_.memory().read(*list->items[0].get<Var>()));
  }
  if (in_->failed()) return tl::unexpected(in_->status().error());
  graph = in_->end_body(outputs);
  bodies_.push_back(graph);
  put_back(mark);
  return !grew;
}

// What a spot holds at the end of a round.
Status Undecided::add_parts(const Spot& spot, size_t count, const Outcome& outcome, Refs& outputs) {
  const auto changed =
      std::find_if(outcome.changed.begin(), outcome.changed.end(), [&](const Changed& c) { return c.spot == spot; });
  Value value;
  if (changed != outcome.changed.end()) {
    value = changed->after;
  } else if (spot.kind == Spot::Kind::name) {
    value = frames_.top().names[spot.name];
  } else {
    return refuse("script.loop", "{} does not change in every round of a loop", spot.text());
  }
  Values parts;
  if (!parts_of(value, parts) || parts.size() != count)
    return refuse("script.loop", "{} changes its form", spot.text());
  for (const Value& part : parts) outputs.push_back(carried_ref(part));
  return {};
}

Result<Flow> Undecided::loop(const Statement& statement, const Value* count) {
  Value again = true;
  if (count == nullptr) {
    TRY(const Value given, program_.eval(*statement.value));
    TRY(again, numbers_.to_bool(given));
  }
  LoopPlan plan;
  std::shared_ptr<Graph> body;
  bool held = false;
  for (int attempt = 0; !held; ++attempt) {
    if (attempt == kMaxAttempts) return refuse("script.loop", "the sizes in a loop of unknown length do not settle");
    TRY(held, loop_once(statement, count, plan, body));
  }
  frames_.top().line = statement.line;
  frames_.show_place(in_);
  Refs inputs = {count ? in_->scalar(*count->get<Dim>()) : Ref{}, numbers_.ref(again)};
  for (const auto& around : plan.around) {
    Values parts;
    parts_of(around.before, parts);
    for (const Value& part : parts) inputs.push_back(carried_ref(part));
  }
  const Refs outputs = in_->emit("Loop", inputs, {attr("body", body)}, body->outputs.size() - 1);
  if (in_->failed()) return tl::unexpected(in_->status().error());
  size_t next = 0;
  for (const auto& around : plan.around) {
    Values parts;
    for (const auto& part : around.parts) parts.push_back(carried_value(part.carrier, outputs[next++]));
    size_t at = 0;
    TRY_OK(put(around.spot, rebuilt(around.before, parts, at)));
  }
  for (const auto& list : plan.filled) {
    journal_.note(list);
    list->stacked = outputs[next++];
  }
  return Flow::next;
}

}  // namespace anyshape::lower::script
