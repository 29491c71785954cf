#include "solve/verdict.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/effort.h"
#include "solve/axes.h"

namespace anyshape {
namespace {

Verdict refused(std::string code, std::string place, std::string sentence) {
  return {Verdict::Kind::refuse, std::move(code), std::move(place), std::move(sentence), {}, {}, {}};
}

struct Tie {
  std::string input;
  size_t axis;
  int64_t size;
};
using Ties = std::unordered_map<std::string, Tie>;

std::optional<Verdict> match_axis(const Value& value, size_t axis, int64_t size, Ties& ties) {
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
Verdict bind_input(const Value& value, const std::vector<int64_t>& sizes, Ties& ties, Fact& fact) {
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

Verdict bind_inputs(const Graph& graph, const Shapes& shapes, Symbols& symbols, Facts& facts) {
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
    if (Verdict v = bind_input(value, *sizes, ties, facts.back()); v.kind != Verdict::Kind::accept) return v;
  }
  return {};
}

}  // namespace

Verdict verdict(const Graph& graph, const Shapes& shapes) {
  Effort::step(static_cast<int64_t>(graph.inputs.size()));
  const auto symbols = std::make_shared<Symbols>();
  Facts inputs;
  if (Verdict v = bind_inputs(graph, shapes, *symbols, inputs); v.kind != Verdict::Kind::accept) return v;

  Assumptions assumptions(*symbols);
  Walk::Options options;
  options.numeric = true;
  Walk walk(assumptions, options);
  auto facts = walk.run(graph, inputs);
  if (!facts) {
    const Error& e = facts.error();
    const auto kind = e.kind == Error::Kind::refused ? Verdict::Kind::refuse : Verdict::Kind::unknown;
    return {kind, e.code, e.place, e.message, {}, {}, {}, walk.visits()};
  }
  // Without proofs, a condition on data that no data meets would pass for one that some do.
  if (Effort::tired())
    return {Verdict::Kind::unknown, std::string(kBudgetCode), {}, "the work budget is spent", {}, {}, {},
            walk.visits()};
  if (!walk.undecided().empty()) {
    const Remark& first = walk.undecided().front();
    return {Verdict::Kind::unknown, first.code, fmt::format("node {:?}", first.node), first.sentence, {}, {}, {},
            walk.visits()};
  }
  Verdict accepted;
  accepted.visits = walk.visits();
  accepted.on_data = walk.requirements().size();
  accepted.symbols = symbols;
  accepted.data_conditions = walk.data_conditions();
  for (ValueId id : graph.outputs) accepted.outputs.push_back((*facts)[id]);
  return accepted;
}

}  // namespace anyshape
