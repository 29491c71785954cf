#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "passes/draft.h"

namespace anyshape {

// What is known of the graph while nodes are joined.
struct Reading {
  explicit Reading(const Draft& d) : draft(d), uses(d.uses()), pinned(d.pinned()), producers(d.producers()) {}

  const Draft& draft;
  std::vector<uint32_t> uses;
  std::unordered_set<ValueId> pinned;
  std::vector<uint32_t> producers;

  // The node that makes a value which `readers` operands read and nothing else; null: none, or it must stay.
  const Node* maker(ValueId id, uint32_t readers = 1) const {
    if (id == kNoValue || producers[id] == kNoValue || uses[id] != readers || pinned.contains(id)) return nullptr;
    const Node& node = draft.graph.nodes[producers[id]];
    return draft.is_demanding(node) ? nullptr : &node;
  }
  const Dims* dims(ValueId id) const {
    const Fact& fact = draft.facts[id];
    return fact.is_tensor() && fact.dims ? &*fact.dims : nullptr;
  }
  bool is_f32(ValueId id) const { return draft.facts[id].is_tensor() && draft.facts[id].dtype == DType::f32; }
  // The one number that a value is.
  std::optional<float> number(ValueId id) const {
    const Tensor* tensor = draft.constant(id);
    if (!tensor || tensor->dtype() != DType::f32 || tensor->count() != 1) return std::nullopt;
    const auto aligned = tensor->aligned();
    return aligned ? std::optional(aligned->at<float>(0)) : std::nullopt;
  }
};

}  // namespace anyshape
