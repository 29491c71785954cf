#include "solve/walk_shape.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/effort.h"
#include "solve/axes.h"
#include "solve/fresh_sizes.h"

namespace anyshape {
namespace {

Answer refused(std::string code, std::string place, std::string sentence) {
  return {Answer::Kind::refuse, std::move(code), std::move(place), std::move(sentence), {}, {}};
}

struct Tie {
  std::string input;
  size_t axis;
  int64_t size;
};
using Ties = std::unordered_map<std::string, Tie>;

std::optional<Answer> match_axis(const Value& value, size_t axis, int64_t size, Ties& ties) {
  const DeclaredDim& dim = (*value.declared->dims)[axis];
  const std::string place = fmt::format("input {:?} axis {}", value.name, axis);
  if (size < 0) return refused("input.dim", place, fmt::format("{} is no size", size));
  const auto fixed = fixed_size(dim);
  if (fixed && *fixed != size)
    return refused("input.dim", place, fmt::format("the file declares {}, not {}", *fixed, size));
  if (fixed || is_placeholder_name(dim.name)) return std::nullopt;
  const auto [it, first] = ties.try_emplace(dim.name, Tie{value.name, axis, size});
  if (first || it->second.size == size) return std::nullopt;
  return refused("lenient.tied", place,
                 fmt::format("the file names this axis {:?} as it does axis {} of {:?}, which is {}, not {}", dim.name,
                             it->second.axis, it->second.input, it->second.size, size));
}

// The input's fact at the given sizes, or the refusal.
Answer bind_input(const Value& value, const std::vector<int64_t>& sizes, Ties& ties, Fact& fact) {
  fact = Fact::tensor(value.declared ? value.declared->dtype : DType::undefined, Dims(sizes.begin(), sizes.end()));
  if (!value.declared || !value.declared->dims) return {};
  if (value.declared->dims->size() != sizes.size())
    return refused(
        "input.rank", fmt::format("input {:?}", value.name),
        fmt::format("the file declares {} axes, the shape has {}", value.declared->dims->size(), sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i)
    if (auto mismatch = match_axis(value, i, sizes[i], ties)) return *std::move(mismatch);
  return {};
}

// The declared dims, when all are numbers.
std::optional<std::vector<int64_t>> declared_sizes(const Value& value) {
  if (!value.declared || value.declared->kind != Fact::Kind::tensor || !value.declared->dims) return std::nullopt;
  std::vector<int64_t> sizes;
  for (const DeclaredDim& dim : *value.declared->dims) {
    const auto size = fixed_size(dim);
    if (!size) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

Answer bind_inputs(const Graph& graph, const Shapes& shapes, Symbols& symbols, Facts& facts) {
  const auto required = graph.required_inputs();
  std::unordered_set<std::string_view> inputs;
  for (ValueId id : graph.inputs) inputs.insert(graph.values[id].name);
  for (const auto& [name, sizes] : shapes) {
    if (!inputs.contains(name))
      return refused("input.unknown", fmt::format("input {:?}", name), "the model has no such input");
  }
  Ties ties;
  const Facts declared = input_axes(graph, symbols).facts;
  for (size_t i = 0; i < required.size(); ++i) {
    const Value& value = graph.values[required[i]];
    const auto it = shapes.find(value.name);
    const auto sizes = it != shapes.end() ? std::optional(it->second) : declared_sizes(value);
    const bool is_tensor = !value.declared || value.declared->kind == Fact::Kind::tensor;
    if (!is_tensor) {
      facts.push_back(declared[i]);
      continue;
    }
    if (!sizes) return refused("input.missing", fmt::format("input {:?}", value.name), "no shape is given for it");
    facts.emplace_back();
    if (Answer a = bind_input(value, *sizes, ties, facts.back()); a.kind != Answer::Kind::accept) return a;
  }
  return {};
}

Answer undecided(const Reason& why) {
  return {Answer::Kind::unknown, why.code, fmt::format("node {:?}", why.node), why.sentence, {}, {}};
}

// Every rule alone takes some data. Where data chooses between several sizes at once, there may be none that all take:
// the first of those rules.
const Requirement* met_by_no_data(const Walk& walk, Symbols& symbols) {
  const FreshSizes sizes{walk.kinds(), walk.fresh_bounds()};
  const auto chooses = [](const Condition& bound) { return bound.any_of().size() > 1; };
  if (walk.requirements().size() < 2 || std::none_of(sizes.bounds.begin(), sizes.bounds.end(), chooses)) return nullptr;
  Condition all = Condition::always();
  for (const Requirement& r : walk.requirements())
    if (!r.condition.is_opaque()) all = all && whole(r);
  if (all.is_opaque()) return nullptr;
  Assumptions ground(symbols);
  for (const Condition& bound : sizes.bounds) ground.assume(bound);
  return without_data(sizes, ground, with_bounds(sizes, all)).condition.is_never() ? &walk.requirements()[0] : nullptr;
}

Answer ended(const Error& e) {
  const auto kind = e.kind == Error::Kind::refused ? Answer::Kind::refuse : Answer::Kind::unknown;
  return {kind, e.code, e.place, e.message, {}, {}};
}

}  // namespace

Walked walk_shape(const Graph& graph, const Shapes& shapes) {
  Effort::step(static_cast<int64_t>(graph.inputs.size()));
  Walked out;
  out.symbols = std::make_shared<Symbols>();
  Facts inputs;
  out.answer = bind_inputs(graph, shapes, *out.symbols, inputs);
  if (!out.accepts()) return out;

  Assumptions assumptions(*out.symbols);
  Walk::Options options;
  options.numeric = true;
  Walk walk(assumptions, options);
  auto facts = walk.run(graph, inputs);
  out.visits = walk.visits() + static_cast<int64_t>(graph.inputs.size());
  if (!facts) {
    out.answer = ended(facts.error());
  } else if (Effort::tired()) {
    // Without proofs, a condition on data that no data meets would pass for one that some do.
    out.answer = {Answer::Kind::unknown, std::string(kBudgetCode), {}, "the work budget is spent", {}, {}};
  } else if (!walk.undecided().empty()) {
    out.answer = undecided(walk.undecided().front().why);
  } else if (const Requirement* r = met_by_no_data(walk, *out.symbols)) {
    out.answer = refused(r->code, fmt::format("node {:?}", r->node), r->sentence);
  }
  if (!out.accepts()) return out;
  out.on_data = walk.requirements().size();
  out.answer.data_conditions = walk.data_conditions();
  out.answer.leniencies = graph.leniencies;
  out.answer.leniencies.insert(out.answer.leniencies.end(), walk.leniencies().begin(), walk.leniencies().end());
  for (ValueId id : graph.outputs) out.outputs.push_back((*facts)[id]);
  return out;
}

}  // namespace anyshape
