#pragma once

#include <optional>
#include <string>

#include "format/onnx/names.h"
#include "ir/graph.h"

namespace anyshape::onnx {

// The names one graph can see: its own and, through its parent, those outside.
struct Scope {
  Graph& graph;
  Scope* parent = nullptr;
  Names names;

  std::optional<ValueId> find(std::string_view name) {
    if (const ValueId* id = names.find(name)) return *id;
    const auto outer = parent ? parent->find(name) : std::nullopt;
    if (!outer || *outer == kNoValue) return outer;
    const ValueId inner = add(name);
    graph.values[inner].declared = parent->graph.values[*outer].declared;
    graph.captures.push_back({*outer, inner});
    return inner;
  }
  ValueId add(std::string_view name) {
    const auto id = static_cast<ValueId>(graph.values.size());
    Value value;
    value.name = std::string(name);
    graph.values.push_back(std::move(value));
    names.add(name, id);
    return id;
  }
  void reserve(size_t values) {
    names.reserve(values);
    graph.values.reserve(values);
  }
  bool visible(std::string_view name) const { return names.contains(name) || (parent && parent->visible(name)); }
};

}  // namespace anyshape::onnx
