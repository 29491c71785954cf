#include "lower/axes.h"

#include <algorithm>

#include "base/nearest.h"
#include "ir/note.h"

namespace anyshape::lower {
namespace {

std::string axis_text(std::string_view value, size_t axis) { return fmt::format("{}:{}", value, axis); }

class Namer {
 public:
  Namer(const std::vector<RecordedInput>& inputs, const Request& request, Symbols& symbols)
      : inputs_(inputs), request_(request), symbols_(symbols) {}

  Status check_keys(const std::vector<std::pair<std::string, size_t>>& outputs);
  Result<Axes> run();

 private:
  std::optional<std::string> wanted(const RecordedInput& input, size_t axis) const;
  Dim named(const std::string& name, size_t input, size_t axis);
  Dim recorded(const RecordedAxis& axis, const std::optional<std::string>& name, size_t input, size_t at);
  std::optional<int64_t> frozen(const std::string& name) const;

  const std::vector<RecordedInput>& inputs_;
  const Request& request_;
  Symbols& symbols_;
  Axes out_;
  std::vector<bool> frozen_used_;
};

Status Namer::check_keys(const std::vector<std::pair<std::string, size_t>>& outputs) {
  for (const DynamicAxis& key : request_.dynamic) {
    std::optional<size_t> rank;
    std::vector<std::string> names;
    for (const RecordedInput& input : inputs_) {
      names.push_back(input.name);
      if (input.name == key.value) rank = input.axes.size();
    }
    for (const auto& [name, count] : outputs) {
      names.push_back(name);
      if (name == key.value && !rank) rank = count;
    }
    if (!rank) return unknown_value(key.value, names);
    const int64_t count = static_cast<int64_t>(*rank);
    if (key.axis < -count || key.axis >= count)
      return usage("dynamic.axis", "{:?} has {} axes, there is no axis {}", key.value, count, key.axis);
  }
  return {};
}

std::optional<std::string> Namer::wanted(const RecordedInput& input, size_t axis) const {
  for (const DynamicAxis& key : request_.dynamic) {
    if (key.value != input.name) continue;
    const int64_t at = key.axis < 0 ? key.axis + static_cast<int64_t>(input.axes.size()) : key.axis;
    if (at == static_cast<int64_t>(axis)) return key.name.empty() ? fmt::format("{}.{}", input.name, axis) : key.name;
  }
  return std::nullopt;
}

Dim Namer::named(const std::string& name, size_t input, size_t axis) {
  out_.places.try_emplace(name, axis_text(inputs_[input].name, axis));
  return symbols_.symbol(name);
}

std::optional<int64_t> Namer::frozen(const std::string& name) const {
  for (const auto& [symbol, size] : request_.freeze)
    if (symbol == name) return size;
  return std::nullopt;
}

// An axis the file itself holds dynamic: one size of the file is one symbol here, under the first name given to it.
Dim Namer::recorded(const RecordedAxis& axis, const std::optional<std::string>& name, size_t input, size_t at) {
  if (const auto it = out_.symbols.find(axis.symbol); it != out_.symbols.end()) {
    if (name && !(it->second == symbols_.symbol(*name)))
      out_.notes.push_back(fmt::format("{} is {:?}: the program makes it the same size, so {:?} is not used",
                                       axis_text(inputs_[input].name, at), print(it->second), *name));
    return it->second;
  }
  // A later axis of the same size may carry the name.
  std::optional<std::string> chosen = name;
  for (size_t i = 0; !chosen && i < inputs_.size(); ++i)
    for (size_t k = 0; !chosen && k < inputs_[i].axes.size(); ++k)
      if (inputs_[i].axes[k].symbol == axis.symbol) chosen = wanted(inputs_[i], k);
  if (!chosen && request_.all_static && axis.number) return out_.symbols[axis.symbol] = *axis.number;
  const std::string called = chosen ? *chosen : fmt::format("{}.{}", inputs_[input].name, at);
  if (const auto size = frozen(called)) return out_.symbols[axis.symbol] = *size;
  if (!chosen && !request_.dynamic.empty())
    out_.notes.push_back(fmt::format("{} is dynamic in the program and stays so, as {:?}; --static pins it",
                                     axis_text(inputs_[input].name, at), called));
  const Dim symbol = named(called, input, at);
  if (axis.number) out_.example.emplace_back(symbol, *axis.number);
  return out_.symbols[axis.symbol] = symbol;
}

Result<Axes> Namer::run() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Dims& dims = out_.dims.emplace_back();
    for (size_t k = 0; k < inputs_[i].axes.size(); ++k) {
      const RecordedAxis& axis = inputs_[i].axes[k];
      const auto name = wanted(inputs_[i], k);
      if (!axis.symbol.empty()) {
        dims.push_back(recorded(axis, name, i, k));
        continue;
      }
      const auto pinned = name ? frozen(*name) : std::nullopt;
      if (!name || pinned) {
        dims.push_back(pinned ? *pinned : axis.number.value_or(1));
        continue;
      }
      const Dim symbol = named(*name, i, k);
      const bool known =
          std::any_of(out_.freed.begin(), out_.freed.end(), [&](const auto& f) { return f.first == symbol; });
      if (axis.number && !known) out_.freed.emplace_back(symbol, *axis.number);
      if (axis.number) out_.example.emplace_back(symbol, *axis.number);
      dims.push_back(symbol);
    }
  }
  for (const auto& [name, size] : request_.freeze) {
    if (size < 0) return usage("freeze.size", "a size cannot be {}", size);
    std::vector<std::string> names;
    for (const auto& [known, place] : out_.places) names.push_back(known);
    const auto is_named = [&wanted = name](const DynamicAxis& key) { return key.name == wanted; };
    bool found = std::any_of(request_.dynamic.begin(), request_.dynamic.end(), is_named);
    for (const RecordedInput& input : inputs_)
      for (size_t k = 0; k < input.axes.size(); ++k)
        found |= !input.axes[k].symbol.empty() && name == fmt::format("{}.{}", input.name, k);
    if (!found) return usage("freeze.unknown", "no axis is called {:?}; there are: {}", name, fmt::join(names, ", "));
  }
  return std::move(out_);
}

}  // namespace

tl::unexpected<Error> unknown_value(const std::string& name, const std::vector<std::string>& names) {
  const std::string near = nearest(name, names);
  return usage("dynamic.unknown", "{:?} is neither an input nor an output{}; there are: {}", name,
               near.empty() ? "" : fmt::format(", did you mean {:?}?", near), fmt::join(names, ", "));
}

Result<Axes> name_axes(const std::vector<RecordedInput>& inputs,
                       const std::vector<std::pair<std::string, size_t>>& outputs, const Request& request,
                       Symbols& symbols) {
  Namer namer(inputs, request, symbols);
  TRY_OK(namer.check_keys(outputs));
  return namer.run();
}

namespace {

// " (model.py:12: x.view(3, -1))" of the node that makes the value.
std::string line_of(const Graph& graph, ValueId value) {
  for (const Node& node : graph.nodes) {
    const std::string* source = note(node, "source");
    if (source && std::find(node.out.begin(), node.out.end(), value) != node.out.end())
      return fmt::format(" ({})", *source);
  }
  return {};
}

}  // namespace

Status name_outputs(const Graph& graph, const Request& request, Assumptions& assumptions, Facts& facts,
                    std::vector<std::string>& notes) {
  for (const DynamicAxis& key : request.dynamic) {
    for (ValueId id : graph.outputs) {
      if (graph.values[id].name != key.value || !facts[id].dims) continue;
      Dims& dims = *facts[id].dims;
      const int64_t count = static_cast<int64_t>(dims.size());
      const int64_t axis = key.axis < 0 ? key.axis + count : key.axis;
      if (axis < 0 || axis >= count) return usage("dynamic.axis", "{:?} has {} axes", key.value, count);
      Dim& size = dims[static_cast<size_t>(axis)];
      if (key.name.empty()) continue;
      if (size.is_constant())
        return refuse("dynamic.output", "axis {} of output {:?} is always {}{}, so it cannot be called {:?}", axis,
                      key.value, print(size), line_of(graph, id), key.name);
      const auto known = assumptions.symbols().find(key.name);
      if (!known) {
        if (size.is_symbol()) {
          notes.push_back(fmt::format("axis {} of output {:?} is {:?}, so {:?} is not used", axis, key.value,
                                      print(size), key.name));
          continue;
        }
        size = assumptions.symbols().symbol(key.name);
      } else if (size != *known && assumptions.prove(Condition::eq(size, *known)) != Tri::yes) {
        return refuse("dynamic.output", "axis {} of output {:?} is {}{}, not {:?}", axis, key.value, print(size),
                      line_of(graph, id), key.name);
      }
    }
  }
  return {};
}

}  // namespace anyshape::lower
