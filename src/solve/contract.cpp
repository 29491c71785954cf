#include "solve/contract.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/nearest.h"
#include "base/running_command.h"
#include "solve/budget.h"
#include "solve/search.h"
#include "solve/walk_shape.h"

namespace anyshape {
namespace {

constexpr std::string_view kBox = "=[";

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Range {
  int64_t lo = 1;
  std::optional<int64_t> hi;
};

// "80", "1..64", "1..", "?" or "*".
std::optional<Range> parse_range(std::string_view text) {
  text = trim(text);
  if (text == "?" || text == "*") return Range{};
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto size = number(text);
    return size ? std::optional(Range{*size, *size}) : std::nullopt;
  }
  const auto lo = number(trim(text.substr(0, dots)));
  const std::string_view end = trim(text.substr(dots + 2));
  if (!lo || (!end.empty() && !number(end))) return std::nullopt;
  return Range{*lo, end.empty() ? std::nullopt : number(end)};
}

const Fact* fact_of_input(const Typed& typed, std::string_view name) {
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i)
    if (typed.graph().values[required[i]].name == name) return &typed.input_facts()[i];
  return nullptr;
}

// All of them by name, for many questions.
std::unordered_map<std::string_view, const Fact*> input_facts_by_name(const Typed& typed) {
  std::unordered_map<std::string_view, const Fact*> out;
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i)
    out.emplace(typed.graph().values[required[i]].name, &typed.input_facts()[i]);
  return out;
}

Error unknown_symbol(const Typed& typed, std::string_view name) {
  Error error = usage("require.symbol", "the model has no axis called {:?}", name).value();
  std::vector<std::string> names;
  for (const AxisSymbol& axis : typed.axes()) names.push_back(axis.name);
  if (const std::string near = nearest(name, names); !near.empty())
    error.hint = corrected_command({"require", name, near}, near);
  return error;
}

// `x=[1..64, 80]` put into the claim: ranges of symbols, and sizes that must equal what the file fixes.
Status add_box(const Typed& typed, std::string_view text, size_t begin, SetClaim& claim) {
  if (text.back() != ']') return usage("require.syntax", "{:?} is not of the form NAME=[1..64, 80]", text);
  const std::string_view name = wanted_input(text);
  const Fact* fact = fact_of_input(typed, name);
  if (!fact || !fact->dims) return usage("require.input", "the model has no input {:?} with declared axes", name);
  std::string_view rest = text.substr(begin, text.size() - begin - 1);
  std::vector<Range> ranges;
  while (!trim(rest).empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const auto range = parse_range(rest.substr(0, comma));
    if (!range) return usage("require.syntax", "{:?} is no size and no range", trim(rest.substr(0, comma)));
    ranges.push_back(*range);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (ranges.size() != fact->dims->size())
    return usage("require.input", "input {:?} has {} axes, {} are given", name, fact->dims->size(), ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    Dim d = (*fact->dims)[i];
    if (d.is_constant()) {
      // A fixed axis is a variable of the claim that must equal its number.
      d = claim.symbols->fresh(fmt::format("{}.{}", name, i));
      claim.variables.push_back(d);
      claim.fixed_axes.push_back({std::string(name), i, d});
      claim.conditions.push_back(Condition::eq(d, (*fact->dims)[i]));
    }
    claim.domain.push_back(Condition::ge(d, ranges[i].lo));
    if (ranges[i].hi) claim.domain.push_back(Condition::le(d, *ranges[i].hi));
  }
  return {};
}

// The symbols that the domain says may be 0: it bounds them by 0 or less, or gives 0 as a value.
std::unordered_set<Dim> named_empty(const std::vector<Condition>& domain) {
  std::unordered_set<Dim> out;
  for (const Condition& condition : domain)
    for (const Condition::Conjunction& all : condition.any_of())
      for (const Relation& relation : all) {
        const auto symbols = relation.expr.symbols();
        if (symbols.size() != 1) continue;
        const auto more = (relation.expr - symbols[0]).constant();
        const bool bound = relation.kind == Relation::Kind::ge && more && *more >= 0;
        if (bound || (relation.kind == Relation::Kind::eq && more == 0)) out.insert(symbols[0]);
      }
  return out;
}

Status add_condition(const Typed& typed, std::string_view text, SetClaim& claim) {
  std::string error;
  const auto condition = parse_condition(text, *claim.symbols, &error);
  if (!condition) return usage("require.syntax", "{:?}: {}", text, error);
  for (Dim symbol : condition->symbols()) {
    const auto known = [&](const AxisSymbol& axis) { return axis.symbol == symbol; };
    if (std::none_of(typed.axes().begin(), typed.axes().end(), known))
      return tl::unexpected(unknown_symbol(typed, claim.symbols->name(symbol)));
  }
  claim.domain.push_back(*condition);
  return {};
}

Status add_wanted(const Typed& typed, const std::vector<std::string>& wanted, SetClaim& claim) {
  for (const std::string& raw : wanted) {
    const std::string_view text = trim(raw);
    const size_t box = text.find(kBox);
    if (box != std::string_view::npos) {
      TRY_OK(add_box(typed, text, box + kBox.size(), claim));
    } else {
      TRY_OK(add_condition(typed, text, claim));
    }
  }
  return {};
}

SetClaim claim_of(const Typed& typed, const AcceptedSet& accepted) {
  SetClaim claim;
  claim.symbols = &typed.symbols();
  for (const AxisSymbol& axis : typed.axes()) claim.variables.push_back(axis.symbol);
  for (const AcceptedCondition& c : accepted.conditions) claim.conditions.push_back(c.condition);
  claim.exact = accepted.exact;
  claim.largest_axis = typed.largest_axis();
  if (!accepted.exact) {
    const Reason& b = accepted.not_exact_because.front();
    claim.why_not_exact = fmt::format("node {:?}: {}", b.node, b.sentence);
  }
  return claim;
}

}  // namespace

Shapes shapes_at(const Typed& typed, const Binding& binding) {
  Shapes shapes;
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    const Fact& fact = typed.input_facts()[i];
    if (!fact.is_tensor() || !fact.dims) continue;
    std::vector<int64_t> sizes;
    for (Dim d : *fact.dims) sizes.push_back(evaluate(d, binding).value_or(1));
    shapes[typed.graph().values[required[i]].name] = std::move(sizes);
  }
  return shapes;
}

std::string to_text(const Shapes& shapes) {
  std::vector<std::string> out;
  for (const auto& [input, sizes] : shapes)
    out.push_back(sizes.empty() ? input + "=scalar" : fmt::format("{}={}", input, fmt::join(sizes, "x")));
  return fmt::format("{}", fmt::join(out, " "));
}

std::string_view wanted_input(std::string_view text) {
  const size_t box = text.find(kBox);
  return box == std::string_view::npos ? std::string_view() : trim(text.substr(0, box));
}

Result<Proof> prove_accepts(const Typed& typed, const AcceptedSet& accepted, const std::vector<std::string>& wanted,
                            const AlsoRefused& also) {
  SetClaim claim = claim_of(typed, accepted);
  TRY_OK(add_wanted(typed, wanted, claim));
  const auto may_be_empty = named_empty(claim.domain);
  for (Dim variable : claim.variables)
    claim.domain.push_back(Condition::ge(variable, may_be_empty.contains(variable) ? 0 : 1));
  claim.judge = [&](const Binding& binding) {
    Shapes shapes = shapes_at(typed, binding);
    for (const auto& fixed : claim.fixed_axes) shapes[fixed.input][fixed.axis] = binding(fixed.variable).value_or(1);
    Walked walked = walk_shape(typed.graph(), shapes);
    if (walked.accepts() && also)
      if (auto refused = also(shapes)) walked.answer = *std::move(refused);
    return Judged{std::move(shapes), std::move(walked.answer), walked.visits};
  };
  return settle(claim);
}

Result<std::vector<Condition>> wanted_conditions(const Typed& typed, const std::vector<std::string>& wanted) {
  SetClaim claim;
  claim.symbols = &typed.symbols();
  TRY_OK(add_wanted(typed, wanted, claim));
  std::erase_if(claim.domain, [&](const Condition& condition) {
    return std::any_of(claim.variables.begin(), claim.variables.end(), [&](Dim d) { return condition.mentions(d); });
  });
  return std::move(claim.domain);
}

Shapes smallest_accepted_where(const Typed& typed, const AcceptedSet& accepted,
                               const std::vector<Condition>& conditions) {
  // As the counterexample to "no shape is accepted".
  SetClaim claim = claim_of(typed, accepted);
  claim.exact = true;
  Dim entangled = 0;  // the sum of the symbols that cannot be chosen one by one
  for (const Condition& condition : std::exchange(claim.conditions, {})) {
    if (condition.is_opaque()) continue;
    claim.domain.push_back(condition);
    const auto symbols = condition.symbols();
    if (symbols.size() < 2) continue;
    for (Dim symbol : symbols) entangled = entangled + symbol;
  }
  claim.domain.insert(claim.domain.end(), conditions.begin(), conditions.end());
  for (Dim variable : claim.variables) claim.domain.push_back(Condition::ge(variable, 1));
  claim.judge = [&](const Binding& binding) {
    Shapes shapes = shapes_at(typed, binding);
    Judged inverse{shapes, {}};
    if (walk_shape(typed.graph(), shapes).accepts()) inverse.answer.kind = Answer::Kind::refuse;
    return inverse;
  };
  for (const Condition& impossible : {Condition::never(), Condition::lt(entangled, 0)}) {
    claim.conditions = {impossible};
    auto proof = settle(claim);
    if (proof && proof->kind == Proof::Kind::refuted) return std::move(proof->shapes);
  }
  return shapes_at(typed, [](Dim) { return std::optional<int64_t>(1); });
}

Shapes smallest_accepted(const Typed& typed, const AcceptedSet& accepted, const Shapes& given) {
  std::vector<Condition> conditions;
  for (const auto& [name, sizes] : given) {
    const Fact* fact = fact_of_input(typed, name);
    for (size_t i = 0; fact && fact->dims && i < std::min(sizes.size(), fact->dims->size()); ++i)
      conditions.push_back(Condition::eq((*fact->dims)[i], sizes[i]));
  }
  return smallest_accepted_where(typed, accepted, conditions);
}

Shapes smallest_accepted_from(const Typed& typed, const AcceptedSet& accepted,
                              const std::unordered_map<Dim, int64_t>& least) {
  std::vector<Condition> conditions;
  for (const AxisSymbol& axis : typed.axes())
    if (const auto found = least.find(axis.symbol); found != least.end())
      conditions.push_back(Condition::ge(axis.symbol, found->second));
  return smallest_accepted_where(typed, accepted, conditions);
}

namespace {

// The conditions of `next` over the symbols of `old`, axis by axis.
Result<std::vector<Condition>> translate(const Typed& next, const AcceptedSet& next_set, const Typed& old) {
  std::vector<std::pair<Dim, Dim>> sizes;
  std::vector<Condition> conditions;
  const auto old_inputs = input_facts_by_name(old);
  for (const AxisSymbol& axis : next.axes()) {
    std::optional<Dim> first;
    for (const InputAxis& place : axis.axes) {
      const auto found = old_inputs.find(place.input);
      const Fact* fact = found == old_inputs.end() ? nullptr : found->second;
      if (!fact || !fact->dims || place.axis >= fact->dims->size())
        return usage("against.input", "the older model has no axis {} of input {:?}", place.axis, place.input);
      const Dim d = (*fact->dims)[place.axis];
      if (first) conditions.push_back(Condition::eq(*first, d));
      if (!first) first = d;
    }
    sizes.emplace_back(axis.symbol, *first);
  }
  for (const AcceptedCondition& c : next_set.conditions) conditions.push_back(substitute(c.condition, sizes));
  return conditions;
}

Status match_inputs(const Typed& next, const Typed& old, std::vector<Condition>& conditions) {
  const auto required = next.graph().required_inputs();
  const auto old_inputs = input_facts_by_name(old), next_inputs = input_facts_by_name(next);
  for (size_t i = 0; i < required.size(); ++i) {
    const std::string& name = next.graph().values[required[i]].name;
    const auto found = old_inputs.find(name);
    const Fact* before = found == old_inputs.end() ? nullptr : found->second;
    const Fact& now = next.input_facts()[i];
    if (!before)
      return usage("against.input", "the newer model needs an input {:?}, which the older one does not have", name);
    if (!now.dims || !before->dims) continue;
    if (now.dims->size() != before->dims->size()) {
      conditions.push_back(Condition::never());
      continue;
    }
    for (size_t k = 0; k < now.dims->size(); ++k)
      if ((*now.dims)[k].is_constant()) conditions.push_back(Condition::eq((*before->dims)[k], (*now.dims)[k]));
  }
  for (ValueId id : old.graph().required_inputs())
    if (!next_inputs.contains(old.graph().values[id].name))
      return usage("against.input", "the newer model has no input {:?}", old.graph().values[id].name);
  return {};
}

}  // namespace

Result<Proof> prove_covers(const Typed& next, const AcceptedSet& next_set, const Typed& old,
                           const AcceptedSet& old_set) {
  SetClaim claim = claim_of(old, old_set);
  claim.domain = std::move(claim.conditions);
  claim.conditions.clear();
  TRY_OK(match_inputs(next, old, claim.conditions));
  TRY(const std::vector<Condition> translated, translate(next, next_set, old));
  claim.conditions.insert(claim.conditions.end(), translated.begin(), translated.end());
  claim.exact = next_set.exact;
  // Both models are known as far as the other; sizes beyond that are compared by their conditions.
  claim.largest_axis = 0;
  if (!next_set.exact) claim.why_not_exact = claim_of(next, next_set).why_not_exact;
  int64_t visits = 0;
  claim.judge = [&](const Binding& binding) {
    Shapes shapes = shapes_at(old, binding);
    Walked now = walk_shape(next.graph(), shapes);
    visits += now.visits;
    if (now.accepts()) return Judged{std::move(shapes), std::move(now.answer), now.visits};
    Walked before = walk_shape(old.graph(), shapes);
    // Only what the older model takes can be missed.
    if (before.accepts()) return Judged{std::move(shapes), std::move(now.answer), now.visits};
    if (before.refuses()) before = {};
    return Judged{std::move(shapes), std::move(before.answer), before.visits};
  };
  // A counterexample without empty axes says more.
  SetClaim without_empty = claim;
  for (Dim variable : claim.variables) {
    claim.domain.push_back(Condition::ge(variable, 0));
    without_empty.domain.push_back(Condition::ge(variable, 1));
  }
  auto proof = settle(without_empty);
  if (!proof || proof->kind == Proof::Kind::refuted) return proof;
  claim.tried = visits < budget::kMaxSampleVisits;  // both proofs are tried with walks of one budget
  return settle(claim);
}

}  // namespace anyshape
