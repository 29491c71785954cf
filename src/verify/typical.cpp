#include "verify/typical.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "base/among.h"
#include "base/work.h"
#include "check/lint.h"
#include "solve/contract.h"
#include "verify/solutions.h"

namespace anyshape {
namespace {

using Sizes = SymbolSizes;

constexpr int64_t kImages[] = {224, 256, 512}, kSequences[] = {16, 128, 512};
// Of one input; what a run makes of more is no longer typical.
constexpr int64_t kMostEntries = int64_t{1} << 24;
// What training frameworks record of the images of a model: "[640, 640]".
constexpr std::string_view kImageSizeKey = "imgsz";

// One size only: `h == 1`.
std::optional<Dim> pinned(const Relation& relation) {
  if (relation.kind != Relation::Kind::eq) return std::nullopt;
  const auto symbols = relation.expr.symbols();
  if (symbols.size() != 1) return std::nullopt;
  const bool plain = (relation.expr - symbols[0]).is_constant() || (relation.expr + symbols[0]).is_constant();
  return plain ? std::optional(symbols[0]) : std::nullopt;
}

bool pins(const Condition::Conjunction& all) {
  return std::any_of(all.begin(), all.end(), [](const Relation& relation) { return pinned(relation).has_value(); });
}

Condition joined(const Condition::Conjunction& all) {
  Condition out;
  for (const Relation& relation : all) out = out && Condition::of(relation);
  return out;
}

Condition meant(const Condition& condition) {
  const auto& any = condition.any_of();
  const bool mixed = std::any_of(any.begin(), any.end(), pins) && !std::all_of(any.begin(), any.end(), pins);
  if (condition.is_opaque() || !mixed) return condition;
  Condition out = Condition::never();
  for (const auto& all : any)
    if (!pins(all)) out = out || joined(all);
  return out;
}

bool few_channels(Dim dim) {
  const auto size = dim.constant();
  return size == 1 || size == 3 || size == 4;
}

// The two axes of height and width of an input that looks like images; none for others.
std::vector<Dim> image_axes(const Fact& fact) {
  if (!fact.is_tensor() || !fact.dims || fact.rank() != 4) return {};
  const Dims& d = *fact.dims;
  if (few_channels(d[1])) return {d[2], d[3]};
  if (few_channels(d[3])) return {d[1], d[2]};
  return {};
}

std::vector<int64_t> numbers_in(std::string_view text) {
  std::vector<int64_t> out;
  while (!text.empty()) {
    int64_t value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong == std::errc()) out.push_back(value);
    text.remove_prefix(std::max<size_t>(1, static_cast<size_t>(end - text.data())));
  }
  return out;
}

// Which size each symbol usually has.
class Habits {
 public:
  explicit Habits(const CheckedModel& model) : typed_(model.typed()) {
    for (const AxisSymbol& axis : batch_symbols(typed_, model.accepted())) batch_.insert(axis.symbol);
    for (const Fact& fact : typed_.input_facts())
      for (Dim dim : image_axes(fact))
        if (!dim.is_constant()) images_.push_back(dim);
    for (const auto& entry : model.file.proto.metadata_props)
      if (entry.key == kImageSizeKey) add_image_size(numbers_in(entry.value));
    for (const Value& value : typed_.graph().values) add_declared(value);
  }

  // Empty: the file speaks of none.
  const Sizes& hints() const { return hints_; }

  Sizes level(size_t i) const {
    Sizes out;
    for (const AxisSymbol& axis : typed_.axes())
      if (!batch_.contains(axis.symbol)) out[axis.symbol] = among(axis.symbol, images_) ? kImages[i] : kSequences[i];
    return out;
  }

 private:
  void add_image_size(const std::vector<int64_t>& numbers) {
    for (size_t i = 0; i < images_.size() && !numbers.empty(); ++i)
      hints_[images_[i]] = numbers[std::min(i % 2, numbers.size() - 1)];
  }

  // A number the file declares for an axis that is a symbol is what the symbol was when the file was made.
  void add_declared(const Value& value) {
    const auto id = static_cast<size_t>(&value - typed_.graph().values.data());
    const Fact& fact = typed_.facts()[id];
    if (!value.declared || !value.declared->dims || !fact.dims || fact.rank() != value.declared->dims->size()) return;
    for (size_t i = 0; i < fact.rank(); ++i)
      if (const auto number = (*value.declared->dims)[i].value; number && (*fact.dims)[i].is_symbol() && *number > 0)
        hints_.try_emplace((*fact.dims)[i], *number);
  }

  const Typed& typed_;
  std::unordered_set<Dim> batch_;
  std::vector<Dim> images_;
  Sizes hints_;
};

bool affordable(const Shapes& shapes) {
  return std::all_of(shapes.begin(), shapes.end(), [](const auto& input) {
    int64_t entries = 1;
    for (int64_t size : input.second) entries = std::min(entries * std::max<int64_t>(size, 1), kMostEntries + 1);
    return entries <= kMostEntries;
  });
}

Shapes with_sizes(const Typed& typed, const Shapes& shapes, const Sizes& sizes) {
  Shapes out = shapes;
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    const auto found = out.find(typed.graph().values[required[i]].name);
    const auto& dims = typed.input_facts()[i].dims;
    for (size_t k = 0; found != out.end() && dims && k < std::min(dims->size(), found->second.size()); ++k)
      if (const auto size = sizes.find((*dims)[k]); size != sizes.end()) found->second[k] = size->second;
  }
  return out;
}

Sizes sizes_in(const Typed& typed, const Shapes& shapes) {
  Sizes sizes;
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    const auto found = shapes.find(typed.graph().values[required[i]].name);
    const auto& dims = typed.input_facts()[i].dims;
    for (size_t k = 0; found != shapes.end() && dims && k < std::min(dims->size(), found->second.size()); ++k)
      sizes.try_emplace((*dims)[k], found->second[k]);
  }
  return sizes;
}

}  // namespace

std::vector<Condition> meant_conditions(const AcceptedSet& accepted) {
  std::vector<Condition> out;
  for (const AcceptedCondition& one : accepted.conditions) out.push_back(meant(one.condition));
  return out;
}

std::vector<Condition> meant_conditions(const CheckedModel& model) {
  std::vector<Condition> out = meant_conditions(model.accepted());
  for (const Assumed::Entry& entry : model.assumed().entries)
    if (entry.text.binding) out.push_back(entry.condition);
  return out;
}

bool all_hold(const Typed& typed, const std::vector<Condition>& conditions, const Shapes& shapes) {
  const Sizes sizes = sizes_in(typed, shapes);
  const Binding binding = [&](Dim symbol) -> std::optional<int64_t> {
    const auto found = sizes.find(symbol);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& one) { return one.is_opaque() || evaluate(one, binding) == Tri::yes; });
}

std::vector<Shapes> typical_shapes(const CheckedModel& model, const Shapes& smallest,
                                   const std::function<bool(const Shapes&)>& taken) {
  const Typed& typed = model.typed();
  const Habits habits(model);
  std::vector<Shapes> out;
  const auto add = [&](const Sizes& sizes) {
    if (sizes.empty() || Work::stopped()) return;
    Shapes shapes = with_sizes(typed, smallest, sizes);
    if (!affordable(shapes)) return;
    if (!taken(shapes)) shapes = smallest_accepted_from(typed, model.accepted(), sizes);
    if (affordable(shapes) && !among(shapes, out) && taken(shapes)) out.push_back(std::move(shapes));
  };
  add(habits.hints());
  for (size_t i = 0; i < std::size(kImages); ++i) add(habits.level(i));
  for (const Condition& condition : meant_conditions(model))
    for (const Sizes& sizes : few_solutions(condition, sizes_in(typed, smallest))) add(sizes);
  return out;
}

}  // namespace anyshape
