#include "solve/axes.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

namespace anyshape {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// "unk__12", "DynamicDimension.0", "p2o.DynamicDimension.1": a stem that converters use, and a number.
bool is_counted(std::string_view name, std::string_view stem) {
  return name.starts_with(stem) && all_digits(name.substr(stem.size()));
}

struct NamedAxes {
  InputAxes axes;
  std::unordered_map<std::string_view, size_t> named;  // indices of axes.symbols by names of the file
};

AxisSymbol& axis_symbol(NamedAxes& all, Symbols& symbols, const DeclaredDim& dim, const InputAxis& axis) {
  const bool anonymous = is_placeholder_name(dim.name);
  if (!anonymous)
    if (const auto known = all.named.find(dim.name); known != all.named.end()) {
      AxisSymbol& symbol = all.axes.symbols[known->second];
      if (all.axes.tied || symbol.axes.empty()) return symbol;
    }
  const std::string name = anonymous ? fmt::format("{}.{}", axis.input, axis.axis) : dim.name;
  const Dim symbol = symbols.find(name) ? symbols.fresh(name) : symbols.symbol(name);
  if (symbols.name(symbol) == dim.name) all.named.emplace(dim.name, all.axes.symbols.size());
  all.axes.symbols.push_back({symbol, std::string(symbols.name(symbol)), {}, anonymous});
  return all.axes.symbols.back();
}

Fact input_fact_axes(NamedAxes& axes, Symbols& symbols, const Value& value) {
  if (!value.declared) return {};
  const Declared& declared = *value.declared;
  Fact fact;
  fact.kind = declared.kind;
  fact.dtype = declared.dtype;
  if (declared.item) {
    Value item;
    item.name = value.name;
    item.declared = *declared.item;
    NamedAxes inner;
    fact.item = std::make_shared<const Fact>(input_fact_axes(inner, symbols, item));
  }
  if (!declared.dims) return fact;
  fact.dims.emplace();
  for (size_t i = 0; i < declared.dims->size(); ++i) {
    const DeclaredDim& dim = (*declared.dims)[i];
    if (const auto size = fixed_size(dim)) {
      fact.dims->push_back(*size);
      continue;
    }
    AxisSymbol& symbol = axis_symbol(axes, symbols, dim, {value.name, i});
    symbol.axes.push_back({value.name, i});
    fact.dims->push_back(symbol.symbol);
  }
  return fact;
}

}  // namespace

bool is_placeholder_name(std::string_view name) {
  if (name.empty() || name == "?" || name == "None" || all_digits(name)) return true;
  if (name.front() == '-' && all_digits(name.substr(1))) return true;
  for (std::string_view stem : {"unk__", "unk_", "DynamicDimension.", "p2o.DynamicDimension.", "?"})
    if (is_counted(name, stem)) return true;
  return name.find_first_of("()+*/<>=,%^") != std::string_view::npos || name.find(" - ") != std::string_view::npos;
}

std::optional<int64_t> fixed_size(const DeclaredDim& dim) {
  if (dim.value && *dim.value > 0) return dim.value;
  return std::nullopt;
}

InputAxes input_axes(const Graph& graph, Symbols& symbols, bool tied) {
  NamedAxes all;
  InputAxes& axes = all.axes;
  axes.tied = tied;
  // Names of the file come first, so that a made-up name never takes one of them.
  for (ValueId id : graph.required_inputs()) {
    const auto& declared = graph.values[id].declared;
    if (!declared || !declared->dims) continue;
    for (const DeclaredDim& dim : *declared->dims)
      if (!fixed_size(dim) && !is_placeholder_name(dim.name) && !symbols.find(dim.name)) {
        const Dim symbol = symbols.symbol(dim.name);
        all.named.emplace(dim.name, axes.symbols.size());
        axes.symbols.push_back({symbol, dim.name, {}, false});
      }
  }
  for (ValueId id : graph.required_inputs()) axes.facts.push_back(input_fact_axes(all, symbols, graph.values[id]));
  std::erase_if(axes.symbols, [](const AxisSymbol& s) { return s.axes.empty(); });
  return std::move(all.axes);
}

}  // namespace anyshape
