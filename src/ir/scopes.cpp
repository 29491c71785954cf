#include "ir/scopes.h"

#include <fmt/format.h>

#include "base/bug.h"

namespace anyshape {
namespace {

const Fact kUnknown;

uint64_t key_of(Ref ref) { return (uint64_t{ref.scope} << 32) | ref.id; }

}  // namespace

Scopes::Scope* Scopes::find(uint32_t id) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if ((*it)->id == id) return it->get();
  return nullptr;
}

Scopes::Scope& Scopes::open(std::string_view name) {
  scopes_.push_back(std::make_unique<Scope>());
  top().id = next_scope_++;
  top().graph.name = std::string(name);
  top().graph.strict = true;  // what is made here is for every runtime
  return top();
}

std::string Scopes::unique(std::string name) {
  const auto [it, first] = taken_.try_emplace(name, 0);
  if (first) return name;
  std::string other;
  do {
    other = fmt::format("{}_{}", name, ++it->second);
  } while (taken_.contains(other));
  taken_.emplace(other, 0);
  return other;
}

ValueId Scopes::add_value(Scope& scope, std::string name, Fact fact) {
  Value value;
  value.name = std::move(name);
  value.shape_relevant = true;
  scope.graph.values.push_back(std::move(value));
  scope.facts.push_back(std::move(fact));
  return static_cast<ValueId>(scope.graph.values.size() - 1);
}

ValueId Scopes::resolve(Ref ref) {
  if (!ref) return kNoValue;
  ANYSHAPE_CHECK(find(ref.scope) != nullptr);
  size_t depth = 0;
  while (scopes_[depth]->id != ref.scope) ++depth;
  const uint64_t key = key_of(ref);
  ValueId id = ref.id;
  for (size_t inner = depth + 1; inner < scopes_.size(); ++inner) {
    Scope& outer = *scopes_[inner - 1];
    Scope& body = *scopes_[inner];
    const auto [it, first] = body.captured.try_emplace(key, kNoValue);
    if (first) {
      it->second = add_value(body, outer.graph.values[id].name, outer.facts[id]);
      body.graph.captures.push_back({id, it->second});
    }
    id = it->second;
  }
  return id;
}

const Fact& Scopes::fact(Ref ref) const {
  const Scope* home = ref ? find(ref.scope) : nullptr;
  return home ? home->facts[ref.id] : kUnknown;
}

const Node* Scopes::producer(Ref ref) const {
  const Scope* home = ref ? find(ref.scope) : nullptr;
  if (!home || home->graph.values[ref.id].producer == kNoValue) return nullptr;
  return &home->graph.nodes[home->graph.values[ref.id].producer];
}

const Refs* Scopes::made_before(const std::string& text) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if (const auto found = (*it)->made.find(text); found != (*it)->made.end()) return &found->second;
  return nullptr;
}

void Scopes::note_sizes(Ref ref) {
  const Fact& known = fact(ref);
  if (!known.dims || !known.is_tensor()) return;
  for (size_t i = 0; i < known.dims->size(); ++i) {
    const Dim size = (*known.dims)[i];
    if (!size.is_constant() && !size.is_unknown()) top().axes.try_emplace(size, SizeSource{ref, i});
  }
}

std::optional<Scopes::SizeSource> Scopes::source_of(Dim dim) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if (const auto found = (*it)->axes.find(dim); found != (*it)->axes.end()) return found->second;
  return std::nullopt;
}

std::optional<Ref> Scopes::known_size(Dim dim) const {
  for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
    if (const auto found = (*it)->sizes.find(dim); found != (*it)->sizes.end()) return found->second;
  return std::nullopt;
}

}  // namespace anyshape
