#include "fix/layouts.h"

#include <algorithm>

#include "base/among.h"
#include "passes/draft.h"

namespace anyshape::fixes {
namespace {

constexpr std::string_view kReshapes[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};

bool any_varies(const Layouts& layouts) {
  return std::any_of(layouts.begin(), layouts.end(), [](const Layout& layout) {
    return std::any_of(layout.begin(), layout.end(), [](const Piece& piece) { return piece.varies(); });
  });
}

}  // namespace

AxisLayouts::AxisLayouts(const Typed& typed, const Typed& before, std::vector<std::pair<Dim, Dim>> old_size)
    : AxisLayouts(typed.graph(), typed.facts(), std::move(old_size)) {
  const auto& values = before.graph().values;
  for (ValueId id = 0; id < values.size(); ++id) before_.emplace(values[id].name, &before.facts()[id]);
}

AxisLayouts::AxisLayouts(const Graph& body, const Facts& facts, std::vector<std::pair<Dim, Dim>> old_size)
    : graph_(body), facts_(facts), old_size_(std::move(old_size)) {}

const Fact* AxisLayouts::fact_before(ValueId id) const {
  const auto it = before_.find(graph_.values[id].name);
  return it == before_.end() ? nullptr : it->second;
}

Dims AxisLayouts::old_sizes(ValueId id) const {
  Dims out = *facts_[id].dims;
  const Fact* before = fact_before(id);
  const bool known = before && before->dims && before->dims->size() == out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    const auto number = known ? (*before->dims)[i].constant() : std::nullopt;
    out[i] = number ? Dim(*number) : substitute(out[i], old_size_);
  }
  return out;
}

bool AxisLayouts::lost(ValueId id) const {
  const Fact* before = fact_before(id);
  return !facts_[id].dims && before && before->dims;
}

Layouts AxisLayouts::of(ValueId id) const {
  if (const auto it = joined_.find(id); it != joined_.end()) return it->second;
  const Dims was = old_sizes(id);
  Layouts out;
  for (size_t i = 0; i < was.size(); ++i) out.push_back({{was[i], (*facts_[id].dims)[i]}});
  return out;
}

bool AxisLayouts::varies(ValueId id) const { return any_varies(of(id)); }

std::optional<Layouts> AxisLayouts::reshaped(const Node& node) const {
  return regroup(of(node.in[0]), old_sizes(node.out[0]));
}

std::optional<Layouts> AxisLayouts::transposed(const Node& node) const {
  const Layouts from = of(node.in[0]);
  const Attribute* attribute = node.attribute("perm");
  const auto* perm = attribute ? std::get_if<std::vector<int64_t>>(&attribute->value) : nullptr;
  if (perm && perm->size() != from.size()) return std::nullopt;
  Layouts out;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t axis = perm ? static_cast<size_t>((*perm)[i]) : from.size() - 1 - i;
    if (axis >= from.size()) return std::nullopt;
    out.push_back(from[axis]);
  }
  return out;
}

// That of the one axis of the inputs that has the size and, counted from the last, the place. Another axis of this size
// that is made of other pieces leaves it open whose they are.
Layout AxisLayouts::inherited(const Node& node, ValueId out, size_t axis) const {
  const Dims& dims = *facts_[out].dims;
  const Layout whole = {{old_sizes(out)[axis], dims[axis]}};
  std::optional<Layout> found;
  bool aligned = false;
  for (ValueId id : node.in) {
    if (id == kNoValue || !facts_[id].dims) continue;
    const Layouts layouts = of(id);
    for (size_t i = 0; i < layouts.size(); ++i) {
      if (!((*facts_[id].dims)[i] == dims[axis])) continue;
      if (found && !(*found == layouts[i])) return whole;
      found = layouts[i];
      aligned |= layouts.size() - i == dims.size() - axis;
    }
  }
  return found && aligned ? *found : whole;
}

void AxisLayouts::note(ValueId id, Layouts layouts) {
  const bool joined = std::any_of(layouts.begin(), layouts.end(), [](const Layout& one) { return one.size() > 1; });
  if (joined && any_varies(layouts) && sizes_now(layouts) == *facts_[id].dims) joined_[id] = std::move(layouts);
}

void AxisLayouts::follow(const Node& node) {
  const auto has_dims = [&](ValueId id) { return id != kNoValue && facts_[id].dims; };
  const bool one_to_one = !node.in.empty() && has_dims(node.in[0]) && !node.out.empty() && has_dims(node.out[0]);
  const bool reshapes = node.op && node.op->domain.empty() && among(node.op->name, kReshapes);
  if (reshapes || is_op(node, "Transpose")) {
    auto layouts = !one_to_one ? std::nullopt : reshapes ? reshaped(node) : transposed(node);
    if (layouts) note(node.out[0], *std::move(layouts));
    return;
  }
  if (std::none_of(node.in.begin(), node.in.end(), [&](ValueId id) { return joined_.contains(id); })) return;
  for (ValueId id : node.out) {
    if (!has_dims(id)) continue;
    Layouts layouts;
    for (size_t axis = 0; axis < facts_[id].dims->size(); ++axis) layouts.push_back(inherited(node, id, axis));
    note(id, std::move(layouts));
  }
}

}  // namespace anyshape::fixes
