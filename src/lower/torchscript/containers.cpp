#include <algorithm>

#include "lower/torchscript/library.h"

namespace anyshape::lower::script {
Result<bool> Library::decided(const Value& truth, std::string_view what) {
  if (const auto known = numbers_.decide(truth)) return *known;
  return refuse("script.value", "{} depends on data or sizes", what);
}

Result<int64_t> Library::index_in(const Value& index, size_t size) {
  const Dim* dim = index.get<Dim>();
  const auto known = dim ? in_->assumptions().simplify(*dim).constant() : std::nullopt;
  if (!known) return refuse("script.index", "a list is indexed by a number that only the running model knows");
  const int64_t count = static_cast<int64_t>(size);
  const int64_t place = *known < 0 ? *known + count : *known;
  if (place < 0 || place >= count) return refuse("script.index", "index {} of a list of {}", *known, count);
  return place;
}

Result<Value> Library::equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    TRY(auto same, numbers_.call("eq", {a, b}));
    if (same) return *std::move(same);
  }
  if (a.text() && b.text()) return Value(*a.text() == *b.text());
  if (a.is_none() || b.is_none()) return Value(a.is_none() && b.is_none());
  if (a.get<Device>() && b.get<Device>()) return Value(true);
  if (const List* x = a.list(), *y = b.list(); x && y && !x->stacked && !y->stacked) {
    if (x->items.size() != y->items.size()) return Value(false);
    Value all = true;
    for (size_t i = 0; i < x->items.size(); ++i) {
      TRY(const Value same, equal(x->items[i], y->items[i]));
      TRY(auto both, numbers_.call("__and__", {all, same}));
      if (!both) return refuse("script.type", "lists of {} cannot be compared", kind_of(x->items[i]));
      all = *std::move(both);
    }
    return all;
  }
  const auto* m = a.get<std::shared_ptr<const Enumerator>>();
  const auto* n = b.get<std::shared_ptr<const Enumerator>>();
  if (m && n) return Value((*m)->type == (*n)->type && (*m)->name == (*n)->name);
  if (a.instance() || b.instance()) return Value(a.instance() == b.instance());
  if (a.is_tensor() && b.is_tensor()) {
    return torch_call({"equal", {a, b}, {}});
  }
  if (a.is.index() != b.is.index()) return Value(false);
  return refuse("script.type", "{} cannot be compared with {}", kind_of(a), kind_of(b));
}

Result<Value> Library::contains(const Value& owner, const Value& item) {
  if (owner.text() && item.text()) return Value(owner.text()->find(*item.text()) != std::string::npos);
  Values among;
  if (const Dict* dict = owner.dict()) {
    for (const auto& entry : dict->entries) among.push_back(entry.first);
  } else if (const List* list = owner.list(); list && !list->stacked && !list->filling) {
    among = list->items;
  } else {
    return refuse("script.type", "{} cannot be searched", kind_of(owner));
  }
  Value any = false;
  for (const Value& one : among) {
    TRY(const Value same, equal(one, item));
    TRY(auto either, numbers_.call("__or__", {any, same}));
    if (!either) return refuse("script.type", "{} cannot be searched", kind_of(owner));
    any = *std::move(either);
  }
  return any;
}

Result<Value> Library::item_of(const Value& owner, const Value& index) {
  if (const List* list = owner.list()) {
    if (list->filling) return refuse("script.loop", "a loop of unknown length reads a list that it also fills");
    if (list->stacked) {
      Value whole = in_.memory().variable(list->stacked);
      return torch_call({"select", {std::move(whole), Value(Dim(0)), index}, {}});
    }
    TRY(const int64_t place, index_in(index, list->items.size()));
    return list->items[static_cast<size_t>(place)];
  }
  if (const Dict* dict = owner.dict()) {
    for (const auto& [key, value] : dict->entries) {
      TRY(const Value same, equal(key, index));
      TRY(const bool found, decided(same, "the key of a dict"));
      if (found) return value;
    }
    return refuse("script.index", "a dict has no entry {}", index.text() ? *index.text() : kind_of(index));
  }
  if (owner.text()) {
    TRY(const int64_t place, index_in(index, owner.text()->size()));
    return Value(std::string(1, (*owner.text())[static_cast<size_t>(place)]));
  }
  if (owner.is_tensor()) return torch_call({"select", {owner, Value(Dim(0)), index}, {}});
  return refuse("script.type", "{} cannot be indexed", kind_of(owner));
}

Result<Value> Library::sliced(const List& list, const Value* start, const Value* stop, const Value* step) {
  const int64_t size = static_cast<int64_t>(list.items.size());
  auto number = [&](const Value* value, int64_t fallback) -> Result<int64_t> {
    if (value == nullptr || value->is_none()) return fallback;
    const Dim* dim = value->get<Dim>();
    const auto known = dim ? in_->assumptions().simplify(*dim).constant() : std::nullopt;
    if (!known) return refuse("script.index", "a list is sliced by a number that only the running model knows");
    return *known;
  };
  TRY(const int64_t by, number(step, 1));
  if (by == 0) return refuse("script.index", "a slice has step 0");
  auto clamped = [&](int64_t at, int64_t low, int64_t high) {
    if (at < 0) at = at < -size ? low : at + size;
    return std::clamp(at, low, high);
  };
  TRY(int64_t from, number(start, by > 0 ? 0 : size - 1));
  TRY(int64_t to, number(stop, by > 0 ? size : -size - 1));
  from = by > 0 ? clamped(from, 0, size) : clamped(from, -1, size - 1);
  to = by > 0 ? clamped(to, 0, size) : (to < -size ? -1 : clamped(to, -1, size - 1));
  Values items;
  for (int64_t i = from; by > 0 ? i < to : i > to; i += by) items.push_back(list.items[static_cast<size_t>(i)]);
  return list.tuple ? tuple_of(std::move(items)) : list_of(std::move(items));
}

Library::Maybe Library::list_change(const Call& call, const std::shared_ptr<List>& list) {
  const std::string& name = call.name;
  const Value* second = call.arg(1);
  const Value none = None{};
  if (name == "append" && second) {
    journal_.note(list);
    list->items.push_back(*second);
    return Value(list);
  }
  if ((name == "extend" || name == "add_") && second && second->list() && !second->list()->stacked) {
    const Values more = second->list()->items;
    journal_.note(list);
    list->items.insert(list->items.end(), more.begin(), more.end());
    return name == "add_" ? Value(list) : none;
  }
  const bool changes = name == "insert" || name == "_set_item" || name == "pop" || name == "Delete" ||
                       name == "clear" || name == "reverse";
  if (list->filling && changes)
    return refuse("script.loop", "a loop of unknown length changes a list other than by append");
  if (name == "insert" && call.args.size() == 3 && second->get<Dim>() && second->get<Dim>()->constant()) {
    const int64_t size = static_cast<int64_t>(list->items.size());
    int64_t at = *second->get<Dim>()->constant();
    at = std::clamp(at < 0 ? at + size : at, int64_t{0}, size);
    journal_.note(list);
    list->items.insert(list->items.begin() + at, call.args[2]);
    return none;
  }
  if (name == "_set_item" && call.args.size() == 3) {
    TRY(const int64_t at, index_in(*second, list->items.size()));
    journal_.note(list);
    list->items[static_cast<size_t>(at)] = call.args[2];
    return Value(list);
  }
  if (name == "pop" || name == "Delete") {
    TRY(const int64_t at, index_in(second ? *second : Value(Dim(-1)), list->items.size()));
    journal_.note(list);
    Value taken = list->items[static_cast<size_t>(at)];
    list->items.erase(list->items.begin() + at);
    return name == "pop" ? taken : none;
  }
  if (name == "clear" || name == "reverse") {
    journal_.note(list);
    if (name == "clear") list->items.clear();
    std::reverse(list->items.begin(), list->items.end());
    return none;
  }
  return std::nullopt;
}

Library::Maybe Library::list_summary(const Call& call, const List& list) {
  const std::string& name = call.name;
  const bool extreme = name == "min" || name == "max";
  if (name == "any" || name == "all" || name == "sum" || extreme) {
    if (list.items.empty() && extreme) return std::nullopt;
    Value result = name == "sum" ? Value(Dim(0)) : extreme ? list.items[0] : Value(name == "all");
    for (const Value& item : list.items) {
      if (!item.is_number()) return std::nullopt;
      Value part = item;
      if (name == "any" || name == "all") {
        TRY(part, numbers_.to_bool(item));
      }
      const char* op = name == "any" ? "__or__" : name == "all" ? "__and__" : name == "sum" ? "add" : name.c_str();
      TRY(auto next, numbers_.call(op, {result, part}));
      if (!next) return std::nullopt;
      result = *std::move(next);
    }
    return result;
  }
  if (name == "index" || name == "count") {
    int64_t times = 0;
    for (size_t i = 0; i < list.items.size(); ++i) {
      TRY(const Value same, equal(list.items[i], call.args.at(1)));
      TRY(const bool found, decided(same, "an item of a list"));
      if (found && name == "index") return Value(Dim(i));
      times += found ? 1 : 0;
    }
    if (name == "index") return refuse("script.index", "a list does not hold what is looked for");
    return Value(Dim(times));
  }
  return std::nullopt;
}

Library::Maybe Library::list_primitive(const Call& call, const std::shared_ptr<List>& list) {
  const std::string& name = call.name;
  const Value* second = call.arg(1);
  TRY(auto changed, list_change(call, list));
  if (changed) return changed;
  if (list->filling) return refuse("script.loop", "a loop of unknown length reads a list that it also fills");
  if (name == "len") return list->stacked ? Value(in_->dim(list->stacked, 0)) : Value(Dim(list->items.size()));
  if (list->stacked) return std::nullopt;
  if (name == "slice")
    return sliced(*list, call.arg(1), call.arg(2), call.arg(3)).map([](Value v) { return std::optional(v); });
  if (name == "list" || name == "copy") return list_of(list->items);
  if (name == "add" && second && second->list() && !second->list()->stacked) {
    Values items = list->items;
    items.insert(items.end(), second->list()->items.begin(), second->list()->items.end());
    return list->tuple ? tuple_of(std::move(items)) : list_of(std::move(items));
  }
  if (name == "mul" && second && second->get<Dim>() && second->get<Dim>()->constant()) {
    const int64_t times = *second->get<Dim>()->constant();
    if (times > 0 && static_cast<int64_t>(list->items.size()) * std::min<int64_t>(times, 1 << 20) > (1 << 20)) {
      return refuse("script.value", "a list of more than a million items");
    }
    Values items;
    for (int64_t i = 0; i < times; ++i) items.insert(items.end(), list->items.begin(), list->items.end());
    return list_of(std::move(items));
  }
  if (name == "sorted" || name == "sort") {
    Values items = list->items;
    bool known = true;
    std::stable_sort(items.begin(), items.end(), [&](const Value& a, const Value& b) {
      if (a.text() && b.text()) return *a.text() < *b.text();
      const auto x = numbers_.constant(a), y = numbers_.constant(b);
      known = known && x && y;
      return x && y && *x < *y;
    });
    if (!known) return refuse("script.value", "a list is sorted by what only the running model knows");
    if (second && numbers_.decide(*second) == true) std::reverse(items.begin(), items.end());
    if (name == "sorted") return list_of(std::move(items));
    journal_.note(list);
    list->items = std::move(items);
    return Value(None{});
  }
  return list_summary(call, *list);
}

Library::Maybe Library::dict_primitive(const Call& call, const std::shared_ptr<Dict>& dict) {
  const std::string& name = call.name;
  if (name == "len") return Value(Dim(dict->entries.size()));
  if (name == "keys" || name == "values" || name == "items") {
    Values items;
    for (const auto& [key, value] : dict->entries) {
      items.push_back(name == "keys" ? key : name == "values" ? value : tuple_of({key, value}));
    }
    return list_of(std::move(items));
  }
  if (name == "copy" || name == "dict") return Value(std::make_shared<Dict>(*dict));
  if (name == "clear") {
    journal_.note(dict);
    dict->entries.clear();
    return Value(None{});
  }
  const Value* second = call.arg(1);
  if (second == nullptr) return std::nullopt;
  if (name == "update" && second->dict()) {
    for (const auto& [key, value] : std::vector(second->dict()->entries)) {
      TRY_OK(dict_primitive({"_set_item", {call.args[0], key, value}, {}}, dict).map([](auto&&) {}));
    }
    return Value(None{});
  }
  size_t place = dict->entries.size();
  for (size_t i = 0; i < dict->entries.size() && place == dict->entries.size(); ++i) {
    TRY(const Value same, equal(dict->entries[i].first, *second));
    TRY(const bool found, decided(same, "the key of a dict"));
    if (found) place = i;
  }
  const bool present = place < dict->entries.size();
  const Value fallback = call.arg(2) ? *call.arg(2) : Value(None{});
  if (name == "_set_item") {
    journal_.note(dict);
    if (!present) dict->entries.emplace_back(*second, None{});
    dict->entries[place].second = fallback;
    return Value(None{});
  }
  if (name == "get") return present ? dict->entries[place].second : fallback;
  if (name == "setdefault") {
    if (present) return dict->entries[place].second;
    journal_.note(dict);
    dict->entries.emplace_back(*second, fallback);
    return fallback;
  }
  if (name == "pop" || name == "Delete") {
    if (!present && (name == "Delete" || !call.arg(2)))
      return refuse("script.index", "a dict lacks the entry to remove");
    if (!present) return fallback;
    journal_.note(dict);
    Value taken = dict->entries[place].second;
    dict->entries.erase(dict->entries.begin() + static_cast<ptrdiff_t>(place));
    return name == "pop" ? taken : Value(None{});
  }
  return std::nullopt;
}

Library::Maybe Library::container_primitive(const Call& call) {
  if (call.args.empty()) return std::nullopt;
  const Value& first = call.args[0];
  const std::string& name = call.name;
  if (name == "__contains__" && call.args.size() == 2) {
    return contains(first, call.args[1]).map([](Value v) { return std::optional(v); });
  }
  if (name == "__getitem__" && call.args.size() == 2) {
    return item_of(first, call.args[1]).map([](Value v) { return std::optional(v); });
  }
  if ((name == "eq" || name == "ne") && call.args.size() == 2 && !first.is_tensor() && !call.args[1].is_tensor() &&
      !(first.is_number() && call.args[1].is_number())) {
    TRY(Value same, equal(first, call.args[1]));
    return name == "eq" ? std::move(same) : numbers_.negate(same);
  }
  if (const auto* list = first.get<std::shared_ptr<List>>()) return list_primitive(call, *list);
  if (const auto* dict = first.get<std::shared_ptr<Dict>>()) return dict_primitive(call, *dict);
  if (first.text()) return text_primitive(call, *first.text());
  return std::nullopt;
}

}  // namespace anyshape::lower::script
