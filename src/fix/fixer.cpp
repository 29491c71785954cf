#include "fix/fixer.h"

#include <algorithm>
#include <iterator>

#include "base/effort.h"
#include "base/work.h"
#include "check/lint.h"
#include "check/narrowed_axis.h"
#include "fix/repair.h"
#include "fix/simplify.h"
#include "fix/value_info.h"
#include "solve/baked.h"
#include "solve/budget.h"
#include "solve/contract.h"

namespace anyshape::fixes {
namespace {

// In place of the conditions that are recorded now, unless some of them cannot be read.
void record(const CheckedModel& model, const std::vector<AssumedCondition>& conditions, Edit& edit) {
  for (onnx::StringStringEntryProto& entry : edit.proto.metadata_props)
    if (entry.key == kAssumedKey && model.assumed().unreadable.empty())
      entry.value = edit.keep(write_assumed(conditions));
}

bool same_place(const InputAxis& a, const InputAxis& b) { return a.input == b.input && a.axis == b.axis; }

// The symbol an axis had; null where it was a number.
const AxisSymbol* symbol_at(const Typed& typed, const InputAxis& place) {
  for (const AxisSymbol& symbol : typed.axes())
    for (const InputAxis& axis : symbol.axes)
      if (same_place(axis, place)) return &symbol;
  return nullptr;
}

// A name for two axes that could have two sizes would tie them: fewer shapes than before.
Status check_ties(const Typed& before, const std::vector<Freed>& named) {
  const auto tied = [](const Freed& one, const InputAxis& other) {
    return usage("dynamic.tied",
                 "axis {} of {:?} cannot be called {}: axis {} of {:?} is, too, and may have another size",
                 one.axis.axis, one.axis.input, one.name, other.axis, other.input);
  };
  for (const Freed& one : named) {
    for (const Freed& other : named) {
      const bool one_size = one.old_size == other.old_size &&
                            (one.old_size || symbol_at(before, one.axis) == symbol_at(before, other.axis));
      if (other.name == one.name && !one_size) return tied(one, other.axis);
    }
    for (const AxisSymbol& symbol : before.axes()) {
      if (symbol.name != one.name || &symbol == symbol_at(before, one.axis)) continue;
      for (const InputAxis& place : symbol.axes)
        if (std::none_of(named.begin(), named.end(), [&](const Freed& other) { return same_place(other.axis, place); }))
          return tied(one, place);
    }
  }
  return {};
}

// Without all conditions it is not known what stands against a dynamic axis.
Status check_complete(const CheckedModel& model) {
  const Reason* cut = model.typed().cut_short();
  if (!cut && model.accepted().minimal) return {};
  return at(cut ? fmt::format("node {:?}", cut->node) : std::string(),
            unknown(kBudgetCode, "the work budget is spent before all conditions on the axes are known").value());
}

// A target of Reshape that leaves a named axis some of its sizes only.
Status check_literals(const CheckedModel& model, const std::vector<Freed>& named) {
  for (const Narrowed& one : narrowed_axes(model.typed(), model.accepted())) {
    const Reason& because = one.condition->because.front();
    const auto is_it = [&](const Freed& freed) { return symbol_at(model.typed(), freed.axis) == one.axis; };
    if (because.code != "reshape.count" || std::none_of(named.begin(), named.end(), is_it)) continue;
    return tl::unexpected(Error{Error::Kind::refused, "fix.narrowed", fmt::format("node {:?}", because.node),
                                fmt::format("{} would take only {}: {}", describe(*one.axis),
                                            print(one.condition->condition), because.sentence),
                                fmt::format("{}, and export it again", one.advice)});
  }
  return {};
}

}  // namespace

// The recorded conditions with every symbol in them as an axis, which keeps its meaning when symbols change.
std::vector<AssumedCondition> Fixer::assumed_by_axis() const {
  const Typed& typed = model_.typed();
  std::vector<AssumedCondition> out;
  for (const Assumed::Entry& entry : model_.assumed().entries) {
    AssumedCondition& condition = out.emplace_back(entry.text);
    for (const AxisSymbol& axis : typed.axes())
      if (entry.condition.mentions(axis.symbol))
        condition.symbols.try_emplace(axis.name, fmt::format("{}:{}", axis.axes.front().input, axis.axes.front().axis));
  }
  return out;
}

template <class Change>
Result<CheckedModel> Fixer::edited(Change change) {
  const std::vector<AssumedCondition> recorded = assumed_by_axis();
  CheckedModel before = std::move(model_);
  Edit edit(std::move(before.file.proto));
  record(before, recorded, edit);
  const Effort effort(budget::with_nodes(budget::kSolve, before.graph->nodes.size()));
  TRY_OK(change(before, edit));
  TRY(model_, before.with(std::move(edit.proto), edit.owner()));
  if (const auto& refusal = model_.typed().refusal()) return tl::unexpected(*refusal);
  TRY_OK(Work::check());
  return before;
}

Status Fixer::freeze(const std::string& symbol, int64_t size) {
  const std::vector<AssumedCondition> recorded = assumed_by_axis();
  TRY_OK(
      edited([&](const CheckedModel& model, Edit& edit) { return fixes::freeze(model.typed(), symbol, size, edit); }));
  const auto& now = model_.assumed().entries;
  for (size_t i = 0; i < recorded.size() && i < now.size(); ++i)
    if (recorded[i].binding && now[i].condition.is_never())
      return refuse(kAssumedCode, "{}", assumed_sentence(recorded[i]));
  changes_.push_back(fmt::format("{} is {}", symbol, size));
  return {};
}

Status Fixer::check_recorded(const std::vector<Freed>& freed) const {
  for (const Assumed::Entry& entry : model_.assumed().entries)
    for (const Freed& one : freed)
      if (entry.text.binding && baked_size(entry.condition, model_.typed().symbols().symbol(one.name)))
        return refuse(kAssumedCode, "{}", assumed_sentence(entry.text));
  return {};
}

Status Fixer::make_dynamic(const std::vector<DynamicAxis>& axes) {
  const CheckedModel before = model_;
  std::vector<Freed> named, freed;
  const auto declare = [&](const CheckedModel& model, Edit& edit) -> Status {
    for (const DynamicAxis& wanted : axes) {
      TRY(Freed one, declare_dynamic(model.typed(), model.accepted(), wanted, edit));
      const AxisSymbol* had = symbol_at(model.typed(), one.axis);
      if (!had || had->anonymous || had->name != one.name)
        changes_.push_back(fmt::format("axis {} of {:?} is {}", one.axis.axis, one.axis.input, one.name));
      named.push_back(std::move(one));
    }
    return check_ties(model.typed(), named);
  };
  TRY_OK(edited(declare));
  std::copy_if(named.begin(), named.end(), std::back_inserter(freed), [](const Freed& one) { return one.old_size; });
  TRY_OK(check_recorded(freed));
  bool again = !freed.empty();
  const auto repair = [&](const CheckedModel& model, Edit& edit) -> Status {
    TRY_OK(check_complete(model));
    TRY(const auto repaired, repair_all_seen(model.typed(), model.accepted(), freed, before.typed(), edit));
    again = !repaired.empty();
    changes_.insert(changes_.end(), repaired.begin(), repaired.end());
    drop_unused(edit);
    return {};
  };
  while (again) TRY_OK(edited(repair));
  return check_literals(model_, named);
}

Status Fixer::rename(const std::string& from, const std::string& to) {
  auto assumed = assumed_by_axis();
  const auto change = [&](const CheckedModel& model, Edit& edit) -> Status {
    TRY_OK(fixes::rename(model.typed(), model.accepted(), from, to, edit));
    for (AssumedCondition& condition : assumed) rename_input(condition, from, to);
    record(model, assumed, edit);
    return {};
  };
  TRY_OK(edited(change));
  changes_.push_back(fmt::format("{} is called {}", from, to));
  return {};
}

Status Fixer::simplify() {
  TRY(const CheckedModel before,
      edited([](const CheckedModel& model, Edit& edit) { return fixes::simplify(model.graph, edit); }));
  TRY(const Proof proof, prove_covers(model_.typed(), model_.accepted(), before.typed(), before.accepted()));
  TRY_OK(Work::check());
  if (proof.kind == Proof::Kind::refuted)
    return refuse("fix.narrower", "simplified, the model would refuse {}, which it takes: {}", to_text(proof.shapes),
                  proof.answer.sentence);
  changes_.push_back(fmt::format("{} of {} nodes are left", model_.graph->nodes.size(), before.graph->nodes.size()));
  return {};
}

Status Fixer::write_types(DimText dims) {
  if (const auto& refusal = model_.typed().refusal()) return tl::unexpected(*refusal);
  auto texts = std::make_shared<TextPool>();
  onnx::ModelProto proto = std::move(model_.file.proto);
  write_value_info(model_.typed(), certain_facts(model_.graph, proto), dims, *texts, proto);
  // Its graph and what is known of it go before the new ones are made: of a large model both would not fit.
  CheckedModel origin;
  origin.file = std::move(model_.file);
  origin.owners = std::move(model_.owners);
  model_ = {};
  TRY(model_, origin.with(std::move(proto), std::move(texts)));
  return {};
}

void Fixer::replace(CheckedModel model, const std::vector<std::string>& changes) {
  model_ = std::move(model);
  changes_.insert(changes_.end(), changes.begin(), changes.end());
}

}  // namespace anyshape::fixes
