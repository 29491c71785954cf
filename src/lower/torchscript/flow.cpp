#include <algorithm>
#include <cstring>
#include <functional>
#include <unordered_set>

#include "lower/torchscript/evaluator.h"

namespace anyshape::lower::script {

using torchscript::Statement;

bool Spot::operator==(const Spot& other) const {
  return kind == other.kind && name == other.name && list == other.list && dict == other.dict &&
         instance == other.instance && memory == other.memory && index == other.index;
}

std::string Spot::text() const {
  switch (kind) {
    case Kind::name:
      return fmt::format("the variable {}", name);
    case Kind::item:
      return fmt::format("item {} of a list", index);
    case Kind::entry:
      return "an entry of a dict";
    case Kind::attribute:
      return fmt::format("the attribute {}", name);
    case Kind::memory:
      return memory->name.empty() ? "a tensor written in place" : fmt::format("the tensor {}", memory->name);
  }
  return {};
}

Carrier carrier_of(const Value& value) {
  if (value.is_tensor()) return Carrier::tensor;
  if (value.get<Dim>()) return Carrier::integer;
  if (value.is_truth()) return Carrier::truth;
  return value.is_float() ? Carrier::real : Carrier::none;
}

bool same_value(const Value& a, const Value& b) {
  if (a.is.index() != b.is.index()) return false;
  if (const double* x = a.get<double>()) return std::memcmp(x, b.get<double>(), sizeof(double)) == 0;
  if (const auto* x = a.get<Ratio>()) {
    return x->numerator == b.get<Ratio>()->numerator && x->denominator == b.get<Ratio>()->denominator;
  }
  if (const auto* x = a.get<Scalar>()) return x->ref == b.get<Scalar>()->ref;
  if (const auto* x = a.get<Var>()) return *x == *b.get<Var>();
  if (const auto* x = a.get<bool>()) return *x == *b.get<bool>();
  if (const auto* x = a.get<Condition>()) return *x == *b.get<Condition>();
  if (const auto* x = a.get<Dim>()) return *x == *b.get<Dim>();
  if (const auto* x = a.get<std::string>()) return *x == *b.get<std::string>();
  if (const auto* x = a.get<std::complex<double>>()) return *x == *b.get<std::complex<double>>();
  if (a.list()) return a.list() == b.list();
  if (a.dict()) return a.dict() == b.dict();
  if (a.instance()) return a.instance() == b.instance();
  if (a.callable()) return a.callable() == b.callable();
  if (const auto* x = a.get<std::shared_ptr<const Enumerator>>()) {
    return *x == *b.get<std::shared_ptr<const Enumerator>>();
  }
  return true;
}

Undecided::Undecided(Evaluator& program)
    : program_(program),
      in_(program.in_),
      numbers_(program.numbers_),
      frames_(program.frames_),
      journal_(program.journal_),
      modules_(program.modules_) {}

std::vector<Var> Undecided::reachable(std::unordered_set<const void*>* containers) const {
  std::vector<Var> found;
  std::unordered_set<const void*> seen;
  std::function<void(const Value&)> visit = [&](const Value& value) {
    if (const Var* tensor = value.get<Var>()) {
      for (Var v = *tensor; v && seen.insert(v.get()).second; v = v->base) found.push_back(v);
    } else if (const List* list = value.list(); list && seen.insert(list).second) {
      for (const Value& item : list->items) visit(item);
    } else if (const Dict* dict = value.dict(); dict && seen.insert(dict).second) {
      for (const auto& entry : dict->entries) visit(entry.second);
    } else if (const Instance* instance = value.instance(); instance && seen.insert(instance).second) {
      for (const auto& [name, held] : instance->attributes) visit(held);
    } else if (const Callable* callable = value.callable(); callable && seen.insert(callable).second) {
      if (callable->captured) {
        for (const auto& [name, held] : *callable->captured) visit(held);
      }
    }
  };
  for (const auto& open : frames_.all()) {
    for (const auto& [name, value] : open->names) visit(value);
  }
  for (const auto& [path, tensor] : modules_.tensors()) visit(Value(tensor));
  if (containers) *containers = std::move(seen);
  return found;
}

// What a way makes for itself is nobody's concern after it, unless some name gets it. Lists of the archive are read
// when they are first used, which may be on one way.
bool Undecided::was_there(const Mark& mark, const void* container) const {
  if (mark.there.count(container) != 0) return true;
  return modules_.holds(container);
}

// Views are brought up to date, so that none of them is first computed inside a body.
void Undecided::settle() {
  for (const Var& tensor : reachable()) in_.memory().read(tensor);
}

void Undecided::open_mark(Mark& mark) {
  settle();
  mark.names = frames_.top().names;
  for (const Var& tensor : reachable(&mark.there)) {
    if (!tensor->base) mark.memories.push_back({tensor, tensor->value, tensor->writes});
  }
  journal_.open(mark);
}

Outcome Undecided::since(const Mark& mark) {
  Outcome out;
  auto add = [&](Spot spot, const Value& before, const Value& after) {
    if (!same_value(before, after)) out.changed.push_back({std::move(spot), before, after});
  };
  for (const auto& [name, value] : frames_.top().names) {
    const auto old = mark.names.find(name);
    Spot spot;
    spot.name = name;
    add(spot, old == mark.names.end() ? Value(Missing{"a variable has a value on one way only"}) : old->second, value);
  }
  for (const auto& [list, old] : mark.lists) {
    if (!was_there(mark, list.get())) continue;
    if (list->items.size() != old.items.size() || !(list->stacked == old.stacked)) {
      out.grown.push_back(list);
      continue;
    }
    for (size_t i = 0; i < old.items.size(); ++i) {
      Spot spot{Spot::Kind::item, {}, list, {}, {}, {}, i};
      add(spot, old.items[i], list->items[i]);
    }
  }
  for (const auto& [dict, old] : mark.dicts) {
    if (!was_there(mark, dict.get())) continue;
    for (size_t i = 0; i < dict->entries.size(); ++i) {
      Spot spot{Spot::Kind::entry, {}, {}, dict, {}, {}, i};
      const Value before = i < old.entries.size() ? old.entries[i].second : Value(Missing{"a dict grows on one way"});
      add(spot, before, dict->entries[i].second);
    }
  }
  for (const auto& [instance, old] : mark.instances) {
    for (const auto& [name, value] : instance->attributes) {
      const auto before = old.find(name);
      if (before == old.end() && !modules_.was_set(instance.get(), name)) continue;
      Spot spot{Spot::Kind::attribute, name, {}, {}, instance, {}, 0};
      add(spot, before == old.end() ? Value(Missing{"an attribute is set on one way only"}) : before->second, value);
    }
  }
  for (const Mark::Memory& memory : mark.memories) {
    if (memory.root->writes == memory.writes) continue;
    Spot spot{Spot::Kind::memory, {}, {}, {}, {}, memory.root, 0};
    out.changed.push_back(
        {std::move(spot), in_.memory().variable(memory.value), in_.memory().variable(memory.root->value)});
  }
  return out;
}

void Undecided::put_back(Mark& mark) {
  frames_.top().names = mark.names;
  for (auto& [list, old] : mark.lists) *list = old;
  for (auto& [dict, old] : mark.dicts) *dict = old;
  for (auto& [instance, old] : mark.instances) instance->attributes = old;
  for (Mark::Memory& memory : mark.memories) {
    if (memory.root->writes == memory.writes) continue;
    memory.root->value = memory.value;
    ++memory.root->writes;
  }
  journal_.close();
}

Status Undecided::put(const Spot& spot, Value value) {
  switch (spot.kind) {
    case Spot::Kind::name:
      frames_.top().names.insert_or_assign(spot.name, std::move(value));
      break;
    case Spot::Kind::item:
      journal_.note(spot.list);
      spot.list->items[spot.index] = std::move(value);
      break;
    case Spot::Kind::entry:
      if (spot.index >= spot.dict->entries.size()) {
        return refuse("script.branch", "a dict grows on one way through the program only");
      }
      journal_.note(spot.dict);
      spot.dict->entries[spot.index].second = std::move(value);
      break;
    case Spot::Kind::attribute:
      journal_.note(spot.instance);
      spot.instance->attributes.insert_or_assign(spot.name, std::move(value));
      break;
    case Spot::Kind::memory:
      spot.memory->value = in_.memory().read(*value.get<Var>());
      ++spot.memory->writes;
      break;
  }
  return {};
}

Ref Undecided::carried_ref(const Value& value) {
  if (const Var* tensor = value.get<Var>()) {
    const Ref ref = in_.memory().read(*tensor);
    if (in_.nested().mask(ref)) in_->refuse("aten.nested", "a nested tensor comes out of a branch or a loop");
    return ref;
  }
  const Ref ref = numbers_.ref(value);
  return carrier_of(value) == Carrier::real ? in_->cast(ref, DType::f64) : ref;
}

Value Undecided::carried_value(Carrier carrier, Ref ref) {
  switch (carrier) {
    case Carrier::tensor:
      return in_.memory().variable(ref);
    case Carrier::integer: {
      // What a rule says of it may be in terms of the rule's own symbols, which no value of the graph gives.
      const auto known = in_->fact(ref).single();
      if (known && from_inputs(*known)) return *known;
      const Dim symbol = in_->walk().data_symbol("n", Dim(INT64_MIN / 4), std::nullopt);
      in_->define(symbol, ref);
      return symbol;
    }
    case Carrier::truth:
      return Scalar{ref, true};
    default:
      return Scalar{ref};
  }
}

}  // namespace anyshape::lower::script
