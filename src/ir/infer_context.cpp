#include <algorithm>
#include <optional>

#include "ir/infer.h"
#include "ir/note.h"

// What a rule may ask of the walk that calls it.
namespace anyshape {

Assumptions& InferContext::assumptions() const { return walk_.assumptions_; }
Symbols& InferContext::symbols() const { return walk_.assumptions_.symbols(); }
bool InferContext::numeric() const { return walk_.options_.numeric; }
int64_t InferContext::loop_limit() const { return walk_.options_.loop_limit; }
bool InferContext::certain() const { return walk_.options_.certain; }

void InferContext::bound(const Condition& condition) { walk_.add_bound(condition); }

Dim InferContext::only_if(const Condition& condition, Dim size) {
  if (!certain() || proves(condition)) return size;
  return walk_.add_symbol("u", on_data(size) ? SymbolKind::data : SymbolKind::opaque, 0, std::nullopt);
}

bool InferContext::fits(Dim value, int64_t lo, int64_t hi) const {
  const auto inside = [&] {
    const Interval r = assumptions().range(value);
    return r.lo && r.hi && *r.lo >= lo && *r.hi <= hi;
  };
  if (inside()) return true;
  for (int64_t most : kSizeClaims) {
    Assumptions::Scope scope(assumptions());
    for (Dim symbol : value.symbols()) assumptions().assume(Condition::le(symbol, most));
    if (!inside()) continue;
    walk_.largest_axis_ = walk_.largest_axis_ ? std::min(walk_.largest_axis_, most) : most;
    return true;
  }
  return false;
}

Tri InferContext::decide(const Condition& condition) const {
  if (condition.is_opaque()) return Tri::unknown;
  if (condition.is_always()) return Tri::yes;
  if (condition.is_never()) return Tri::no;
  return assumptions().prove(condition);
}

Status InferContext::settle(Tri answer, const Condition& condition, RuleCode code, std::string sentence) {
  const Condition everywhere = over_iterations(condition);
  if (!(everywhere == condition)) answer = decide(everywhere);
  if (const std::string* guard = note(node_, kGuardNote)) {
    code = "assumed.guard";
    sentence = fmt::format("the program was captured for {} only", *guard);
  }
  if (answer == Tri::no) return refuse(code, "{}", sentence);
  if (answer == Tri::yes) {
    assumptions().assume(condition);
    return {};
  }
  if (certain()) {
    ++walk_.unproved_;
    return {};
  }
  Requirement r{
      everywhere, Condition::always(),  std::string(code.text), std::move(sentence), graph_.label(node_), node_.type,
      false,      condition.is_opaque()};
  r.in_body = walk_.frames_.size() > 1;
  if (walk_.outermost_) r.site = walk_.outermost_->first_output();
  for (const Condition& branch : walk_.path_) r.path = r.path && branch;
  const auto classify = [&](const Condition& c) {
    for (Dim symbol : c.symbols()) {
      r.on_data |= walk_.kind(symbol) == SymbolKind::data;
      r.opaque |= walk_.kind(symbol) == SymbolKind::opaque || walk_.mixed_.contains(symbol);
    }
  };
  classify(everywhere);
  classify(r.path);
  if (r.opaque && numeric()) add_undecided(r.code, r.sentence);
  walk_.requirements_.push_back(std::move(r));
  if (!condition.is_opaque()) assumptions().assume(condition);
  return {};
}

Reason InferContext::reason(std::string_view code, std::string sentence) const {
  return {graph_.label(node_), node_.type, std::string(code), std::move(sentence)};
}

void InferContext::add_data_condition(std::string_view code, std::string sentence) {
  walk_.data_conditions_.push_back(reason(code, std::move(sentence)));
}

void InferContext::add_leniency(std::string_view code, std::string sentence) {
  Reason one = reason(code, std::move(sentence));
  const auto same = [&](const Reason& known) { return known.node == one.node && known.code == one.code; };
  auto& all = walk_.leniencies_;
  if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
}

void InferContext::add_undecided(std::string_view code, std::string sentence) {
  const bool has_rule = node_.op && walk_.outermost_;
  walk_.undecided_.push_back(
      {reason(code, std::move(sentence)), has_rule ? walk_.outermost_->first_output() : kNoValue});
}

Dim InferContext::fresh(const Fact& source, std::string_view stem, Dim lo, std::optional<Dim> hi) {
  const Dim symbol = walk_.add_symbol(stem, source.from_shapes ? SymbolKind::opaque : SymbolKind::data, lo, hi);
  if (!numeric() && !source.from_shapes && source.from_sizes) walk_.mixed_.insert(symbol);
  return symbol;
}

Dim InferContext::data_dim(std::string_view stem, Dim lo, std::optional<Dim> hi) {
  return walk_.add_symbol(stem, SymbolKind::data, lo, hi);
}

Result<Facts> InferContext::infer_body(const Graph& body, Facts inputs, const Condition& path) {
  if (static_cast<int>(walk_.frames_.size()) > walk_.options_.depth_limit)
    return refuse("graph.depth", "bodies are nested more than {} deep", walk_.options_.depth_limit);
  if (inputs.size() != body.required_inputs().size())
    return refuse("body.arity", "the body takes {} inputs, {} are given", body.required_inputs().size(), inputs.size());
  const size_t kept = walk_.requirements_.size();
  const size_t conditions = walk_.data_conditions_.size(), doubts = walk_.undecided_.size();
  const size_t leniencies = walk_.leniencies_.size();
  const size_t bounds = walk_.fresh_bounds_.size();
  std::optional<Assumptions::Scope> scope(std::in_place, assumptions());
  if (!path.is_always()) {
    walk_.path_.push_back(path);
    assumptions().assume(path);
  }
  auto facts = walk_.run_nodes(body, walk_.seed(body, std::move(inputs)));
  if (!path.is_always()) walk_.path_.pop_back();
  if (!facts) {
    walk_.requirements_.resize(kept);
    walk_.data_conditions_.resize(conditions);
    walk_.leniencies_.resize(leniencies);
    walk_.undecided_.resize(doubts);
    return tl::unexpected(std::move(facts).error());
  }
  Facts out;
  for (ValueId id : body.outputs) out.push_back((*facts)[id]);
  if (!numeric()) {
    walk_.reveal(body, *std::move(facts));
    return out;
  }
  // What lies between two numbers does so outside of the body, too.
  scope.reset();
  for (size_t i = bounds; i < walk_.fresh_bounds_.size(); ++i) assumptions().assume(walk_.fresh_bounds_[i]);
  return out;
}

Result<Facts> InferContext::try_body(const Graph& body, Facts inputs, const Condition& path, bool* conditional) {
  const size_t requirements = walk_.requirements_.size();
  const size_t conditions = walk_.data_conditions_.size(), doubts = walk_.undecided_.size();
  const size_t leniencies = walk_.leniencies_.size();
  const size_t bounds = walk_.fresh_bounds_.size();
  const int64_t largest_axis = walk_.largest_axis_, unproved = walk_.unproved_;
  auto out = infer_body(body, std::move(inputs), path);
  if (conditional)
    *conditional =
        walk_.requirements_.size() > requirements || walk_.undecided_.size() > doubts || walk_.unproved_ > unproved;
  walk_.requirements_.resize(requirements);
  walk_.data_conditions_.resize(conditions);
  walk_.leniencies_.resize(leniencies);
  walk_.undecided_.resize(doubts);
  walk_.fresh_bounds_.resize(bounds);
  walk_.largest_axis_ = largest_axis;
  return out;
}

bool InferContext::on_data(Dim dim) const {
  const auto used = dim.symbols();
  return std::any_of(used.begin(), used.end(), [&](Dim s) { return walk_.kind(s) == SymbolKind::data; });
}

size_t InferContext::data_dims() const { return walk_.data_dims_; }

bool InferContext::on_axes(Dim dim) const {
  const auto used = dim.symbols();
  return std::all_of(used.begin(), used.end(), [&](Dim s) { return walk_.kind(s) == SymbolKind::axis; });
}

Dim InferContext::iteration(Dim first, Dim last) {
  const Dim number = symbols().fresh("i");
  walk_.kinds_[number] = on_data(first) || on_data(last) ? SymbolKind::data : SymbolKind::opaque;
  assumptions().assume(Condition::ge(number, first));
  assumptions().assume(Condition::le(number, last));
  walk_.iterations_.push_back({number, first, last});
  return number;
}

Condition InferContext::over_iterations(const Condition& condition) const {
  Condition all = condition;
  for (auto it = walk_.iterations_.rbegin(); it != walk_.iterations_.rend(); ++it) {
    if (!all.mentions(it->number)) continue;
    const auto linear = [&](const Relation& r) {
      if (!r.expr.mentions(it->number)) return true;
      const bool ordered = r.kind == Relation::Kind::ge || r.kind == Relation::Kind::eq;
      const Dim step = substitute(r.expr, {{it->number, it->number + 1}}) - r.expr;
      return ordered && !step.is_unknown() && !step.mentions(it->number);
    };
    const bool on_path =
        std::any_of(walk_.path_.begin(), walk_.path_.end(), [&](const Condition& c) { return c.mentions(it->number); });
    if (on_path || all.any_of().size() != 1) return condition;
    if (!std::all_of(all.any_of()[0].begin(), all.any_of()[0].end(), linear)) return condition;
    all = substitute(all, {{it->number, it->first}}) && substitute(all, {{it->number, it->last}});
  }
  return all;
}

bool InferContext::can_split(const Condition& condition) const {
  const auto used = condition.symbols();
  const bool on_axes = std::all_of(used.begin(), used.end(), [&](Dim s) { return walk_.kind(s) == SymbolKind::axis; });
  return on_axes && walk_.path_.empty() && !condition.is_opaque();
}

void InferContext::offer_split(const Condition& condition) {
  if (can_split(condition)) walk_.splits_.push_back({condition});
}

void InferContext::tell_apart(const Condition& plain) {
  if (walk_.options_.corners != Walk::Options::Corners::told_apart) return;
  walk_.met_corners_ = true;
  walk_.splits_.push_back({plain, true});
}

bool InferContext::can_tell_apart(const Condition& plain) const {
  using Corners = Walk::Options::Corners;
  const Corners corners = walk_.options_.corners;
  if (corners == Corners::refused || (corners == Corners::told_apart && can_split(plain))) return true;
  walk_.met_corners_ = true;
  return false;
}

}  // namespace anyshape
