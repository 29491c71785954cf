#include "picture/spots.h"

#include <map>
#include <tuple>

#include "solve/explain.h"

namespace anyshape::picture {
namespace {

class Finder {
 public:
  Finder(const Typed& typed, const Scene& scene, Spots& out) : typed_(typed), scene_(scene), out_(out) {}

  void add_axes(const Part& part);
  // Rows are added for what they lead to.
  void explain(uint32_t row);

 private:
  uint32_t add(const Spot& spot);
  uint32_t size(Dim dim);
  uint32_t symbol(Dim dim);
  uint32_t reason(const SizeCause& step);

  const Typed& typed_;
  const Scene& scene_;
  Spots& out_;
  std::vector<Spot> spots_;  // by row
  std::map<std::tuple<uint32_t, size_t>, uint32_t> entries_;
  std::unordered_map<Dim, uint32_t> sizes_, symbols_;
  std::map<Spots::Reason, uint32_t> reasons_;
};

uint32_t Finder::symbol(Dim dim) {
  const auto [it, made] = symbols_.try_emplace(dim, static_cast<uint32_t>(out_.symbols.size()));
  if (made) out_.symbols.emplace_back(typed_.symbols().name(dim));
  return it->second;
}

uint32_t Finder::size(Dim dim) {
  const auto [it, made] = sizes_.try_emplace(dim, static_cast<uint32_t>(out_.sizes.size()));
  if (!made) return it->second;
  Spots::Size& size = out_.sizes.emplace_back(Spots::Size{print(dim), {}});
  for (Dim one : dim.symbols()) size.symbols.push_back(symbol(one));
  return it->second;
}

uint32_t Finder::reason(const SizeCause& step) {
  Spots::Reason words{step.before, step.after, !step.names_next};
  const auto [it, made] = reasons_.try_emplace(std::move(words), static_cast<uint32_t>(out_.reasons.size()));
  if (made) out_.reasons.push_back(it->first);
  return it->second;
}

uint32_t Finder::add(const Spot& spot) {
  const Part& part = *scene_.part_of(*spot.scope.graph);
  const uint32_t value = part.first_value + spot.value;
  const auto row = static_cast<uint32_t>(out_.rows.size());
  const Fact& fact = (*spot.scope.facts)[spot.value];
  const Dims* of = spot.entry ? fact.elements.get() : fact.dims ? &*fact.dims : nullptr;
  const Dim here = of && spot.index < of->size() ? (*of)[spot.index] : Dim(0);
  out_.rows.push_back({value, static_cast<uint32_t>(spot.index), spot.entry, size(here), 0, kNone});
  spots_.push_back(spot);
  return row;
}

void Finder::add_axes(const Part& part) {
  for (ValueId id = 0; id < part.graph->values.size(); ++id) {
    const Fact& fact = (*part.facts)[id];
    out_.first.push_back(static_cast<uint32_t>(out_.rows.size()));
    for (size_t axis = 0; fact.dims && axis < fact.dims->size(); ++axis)
      add({{part.graph, part.facts}, id, axis, false});
  }
}

void Finder::explain(uint32_t row) {
  const SizeCause step = cause_of(typed_, spots_[row]);
  out_.rows[row].reason = reason(step);
  if (!step.next) return;
  const Part* part = scene_.part_of(*step.next->scope.graph);
  if (!part) return;
  const uint32_t value = part->first_value + step.next->value;
  uint32_t next = kNone;
  if (step.next->entry) {
    const auto [it, made] = entries_.try_emplace({value, step.next->index}, static_cast<uint32_t>(out_.rows.size()));
    if (made) add(*step.next);
    next = it->second;
  } else {
    next = out_.first[value] + static_cast<uint32_t>(step.next->index);
  }
  out_.rows[row].next = next;
}

}  // namespace

Spots find_spots(const Typed& typed, const Scene& scene) {
  Spots out;
  Finder finder(typed, scene, out);
  for (const Part& part : scene.parts) finder.add_axes(part);
  for (uint32_t row = 0; row < out.rows.size(); ++row) finder.explain(row);
  return out;
}

}  // namespace anyshape::picture
