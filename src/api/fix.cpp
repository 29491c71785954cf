#include "anyshape/fix.h"

#include <algorithm>

#include "anyshape/check.h"
#include "api/model_impl.h"
#include "api/policy.h"
#include "api/target.h"
#include "api/value_info.h"
#include "base/effort.h"
#include "fix/relabel.h"
#include "fix/repair.h"
#include "fix/simplify.h"
#include "solve/baked.h"
#include "solve/budget.h"

namespace anyshape {
namespace {

using fixes::Edit;
using fixes::Freed;

class Fixer {
 public:
  Fixer(const Model& model, const FixOptions& options) : options_(options), model_(model) {}
  Result<Fixed> run();

 private:
  // What `change` makes of the model, checked.
  template <class Change>
  Status edited(Change change);
  Status freeze();
  Status free();
  Status rename();
  Status simplify();
  Status bring_to_target();
  Status write_types();
  Status check_recorded(const std::vector<Freed>& freed) const;
  std::vector<AssumedCondition> assumed_by_axis() const;

  const FixOptions& options_;
  Model model_;
  std::vector<std::string> changes_;
};

// The recorded conditions with every symbol in them as an axis, which keeps its meaning when symbols change.
std::vector<AssumedCondition> Fixer::assumed_by_axis() const {
  const Typed& typed = model_.impl().typed();
  std::vector<AssumedCondition> out;
  for (const Assumed::Entry& entry : model_.impl().assumed().entries) {
    AssumedCondition& condition = out.emplace_back(entry.text);
    for (const AxisSymbol& axis : typed.axes())
      if (entry.condition.mentions(axis.symbol))
        condition.symbols.try_emplace(axis.name, fmt::format("{}:{}", axis.axes.front().input, axis.axes.front().axis));
  }
  return out;
}

// In place of the conditions that are recorded now, unless some of them cannot be read.
void record(const Model::Impl& model, const std::vector<AssumedCondition>& conditions, Edit& edit) {
  for (onnx::StringStringEntryProto& entry : edit.proto.metadata_props)
    if (entry.key == kAssumedKey && model.assumed().unreadable.empty())
      entry.value = edit.keep(write_assumed(conditions));
}

template <class Change>
Status Fixer::edited(Change change) {
  const Model::Impl& before = model_.impl();
  Edit edit(before.file.proto);
  record(before, assumed_by_axis(), edit);
  const Effort effort(budget::with_nodes(budget::kSolve, before.graph->nodes.size()));
  TRY_OK(change(before, edit));
  onnx::ModelFile file = before.file;
  file.proto = std::move(edit.proto);
  auto owners = before.owners;
  owners.push_back(edit.owner());
  TRY(model_, Model::Impl::make(std::move(file), before.name, std::move(owners)));
  if (const auto& refusal = model_.impl().typed().refusal()) return tl::unexpected(*refusal);
  return model_.impl().going_on();
}

Status Fixer::freeze() {
  for (const auto& [symbol, size] : options_.freeze) {
    const std::vector<AssumedCondition> recorded = assumed_by_axis();
    TRY_OK(
        edited([&](const Model::Impl& model, Edit& edit) { return fixes::freeze(model.typed(), symbol, size, edit); }));
    const auto& now = model_.impl().assumed().entries;
    for (size_t i = 0; i < recorded.size() && i < now.size(); ++i)
      if (recorded[i].binding && now[i].condition.is_never())
        return refuse("assumed.condition", "{}", assumed_sentence(recorded[i]));
    changes_.push_back(fmt::format("{} is {}", symbol, size));
  }
  return {};
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

Status Fixer::check_recorded(const std::vector<Freed>& freed) const {
  for (const Assumed::Entry& entry : model_.impl().assumed().entries)
    for (const Freed& one : freed)
      if (entry.text.binding && baked_size(entry.condition, model_.impl().typed().symbols().symbol(one.name)))
        return refuse("assumed.condition", "{}", assumed_sentence(entry.text));
  return {};
}

// Without all conditions it is not known what stands against a dynamic axis.
Status check_complete(const Model::Impl& model) {
  const Remark* cut = model.typed().cut_short();
  if (!cut && model.accepted().minimal) return {};
  return at(cut ? fmt::format("node {:?}", cut->node) : std::string(),
            unknown(kBudgetCode, "the work budget is spent before all conditions on the axes are known").value());
}

Status Fixer::free() {
  const Model before = model_;
  std::vector<Freed> named, freed;
  TRY_OK(edited([&](const Model::Impl& model, Edit& edit) -> Status {
    for (const DynamicAxis& wanted : options_.dynamic) {
      TRY(Freed one, fixes::make_dynamic(model.typed(), model.accepted(), wanted, edit));
      changes_.push_back(fmt::format("axis {} of {:?} is {}", one.axis.axis, one.axis.input, one.name));
      named.push_back(std::move(one));
    }
    return check_ties(model.typed(), named);
  }));
  std::copy_if(named.begin(), named.end(), std::back_inserter(freed), [](const Freed& one) { return one.old_size; });
  TRY_OK(check_recorded(freed));
  for (bool again = !freed.empty(); again;)
    TRY_OK(edited([&](const Model::Impl& model, Edit& edit) -> Status {
      TRY_OK(check_complete(model));
      TRY(auto change, fixes::repair(model.typed(), model.accepted(), freed, before.impl().typed(), edit));
      again = change.has_value();
      if (change) changes_.push_back(*std::move(change));
      fixes::drop_unused(edit);
      return {};
    }));
  return {};
}

Status Fixer::rename() {
  for (const auto& [from, to] : options_.rename) {
    TRY_OK(edited([&](const Model::Impl& model, Edit& edit) -> Status {
      TRY_OK(fixes::rename(model.typed(), from, to, edit));
      auto assumed = assumed_by_axis();
      for (AssumedCondition& condition : assumed)
        for (auto& [symbol, place] : condition.symbols)
          if (const size_t colon = place.rfind(':'); place.substr(0, colon) == from) place = to + place.substr(colon);
      record(model, assumed, edit);
      return {};
    }));
    changes_.push_back(fmt::format("{} is called {}", from, to));
  }
  return {};
}

Status Fixer::simplify() {
  const Model before = model_;
  TRY_OK(edited([](const Model::Impl& model, Edit& edit) { return fixes::simplify(model.graph, edit); }));
  TRY(const Proof proof, against(model_, before));
  if (proof.kind == Proof::Kind::refuted)
    return refuse("fix.narrower", "simplified, the model would refuse {}, which it takes: {}", to_text(proof.shapes),
                  proof.answer.sentence);
  const auto nodes = [](const Model& model) { return model.impl().graph->nodes.size(); };
  changes_.push_back(fmt::format("{} of {} nodes are left", nodes(model_), nodes(before)));
  return {};
}

Status Fixer::write_types() {
  const Model::Impl& model = model_.impl();
  if (const auto& refusal = model.typed().refusal()) return tl::unexpected(*refusal);
  auto texts = std::make_shared<TextPool>();
  onnx::ModelFile file = model.file;
  const Typed certain = fixes::certain_facts(model.graph, file.proto);
  write_value_info(model.typed(), certain, options_.dims, *texts, file.proto);
  auto owners = model.owners;
  owners.push_back(std::move(texts));
  TRY(model_, Model::Impl::make(std::move(file), model.name, std::move(owners)));
  return {};
}

Status Fixer::bring_to_target() {
  TRY(auto made, for_target(model_, options_.target));
  model_ = std::move(made.first);
  changes_.insert(changes_.end(), made.second.begin(), made.second.end());
  return {};
}

Result<Fixed> Fixer::run() {
  if (const auto& refusal = model_.impl().typed().refusal()) return tl::unexpected(*refusal);
  TRY_OK(freeze());
  if (!options_.dynamic.empty()) TRY_OK(free());
  TRY_OK(rename());
  if (options_.simplify) TRY_OK(simplify());
  if (options_.batch_only || !options_.target.empty()) TRY_OK(check_batch_only(model_, options_.allow, "fix.policy"));
  if (!options_.target.empty()) TRY_OK(bring_to_target());
  TRY_OK(write_types());
  return Fixed{std::move(model_), std::move(changes_)};
}

}  // namespace

Result<Fixed> fix(const Model& model, const FixOptions& options) {
  TRY_OK(check_target(options.target));
  auto fixed = Fixer(model, options).run();
  if (fixed || fixed.error().place.starts_with(model.name())) return fixed;
  return at(model.name(), std::move(fixed).error());
}

}  // namespace anyshape
