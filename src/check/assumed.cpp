#include "check/assumed.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/json.h"
#include "solve/explain.h"

namespace anyshape {
namespace {

namespace dom = simdjson::dom;

std::string text_or_empty(dom::element object, std::string_view key) {
  std::string_view text;
  return object[key].get_string().get(text) ? std::string() : std::string(text);
}

// The size of "input:axis", split from the right.
std::optional<Dim> axis_size(const Typed& typed, std::string_view place) {
  const auto [input, given] = split_axis(place);
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; given && i < required.size(); ++i) {
    if (typed.graph().values[required[i]].name != input) continue;
    const auto& dims = typed.input_facts()[i].dims;
    const int64_t rank = dims ? static_cast<int64_t>(dims->size()) : 0, axis = *given < 0 ? *given + rank : *given;
    if (axis < 0 || axis >= rank) return std::nullopt;
    return (*dims)[static_cast<size_t>(axis)];
  }
  return std::nullopt;
}

// Names of the record put into the symbols of the model. An error is a sentence.
tl::expected<Condition, std::string> resolve(const Typed& typed, const AssumedCondition& text) {
  std::string why;
  const auto parsed = parse_condition(text.text, typed.symbols(), &why);
  if (!parsed) return tl::unexpected(fmt::format("{:?} is no condition: {}", text.text, why));
  std::vector<std::pair<Dim, Dim>> values;
  for (Dim symbol : parsed->symbols()) {
    const std::string symbol_name(typed.symbols().name(symbol));
    const auto is_axis = [&](const AxisSymbol& axis) { return axis.symbol == symbol; };
    if (const auto it = text.symbols.find(symbol_name); it != text.symbols.end()) {
      const auto size = axis_size(typed, it->second);
      if (!size) return tl::unexpected(fmt::format("{:?} is no axis of an input", it->second));
      values.emplace_back(symbol, *size);
    } else if (std::none_of(typed.axes().begin(), typed.axes().end(), is_axis)) {
      return tl::unexpected(fmt::format("{:?} in {:?} names no input axis", symbol_name, text.text));
    }
  }
  return substitute(*parsed, values);
}

void read_entry(const Typed& typed, dom::element element, Assumed& out) {
  AssumedCondition text{text_or_empty(element, "text"), {}, text_or_empty(element, "origin"), true};
  dom::object symbols;
  if (!element["symbols"].get_object().get(symbols))
    for (const dom::key_value_pair field : symbols) {
      std::string_view place;
      if (!field.value.get_string().get(place)) text.symbols.emplace(field.key, place);
    }
  bool advisory = false;
  if (element["advisory"].get_bool().get(advisory)) advisory = false;
  auto condition = resolve(typed, text);
  text.binding = !advisory && condition && can_bind(*condition);
  if (condition)
    out.entries.push_back({std::move(text), *std::move(condition)});
  else
    out.unreadable.push_back(std::move(condition).error());
}

}  // namespace

Assumed read_assumed(const Typed& typed, std::string_view metadata) {
  Assumed out;
  if (metadata.empty()) return out;
  dom::parser parser;
  dom::element document;
  dom::array conditions;
  int64_t version = 0;
  const simdjson::padded_string padded(metadata);
  if (parser.parse(padded).get(document) || document["version"].get_int64().get(version) ||
      document["conditions"].get_array().get(conditions)) {
    out.unreadable.emplace_back("it is no JSON object with a version and a list of conditions");
    return out;
  }
  if (version != 1) {
    out.unreadable.push_back(fmt::format("its version is {}, this build reads version 1", version));
    return out;
  }
  for (const dom::element element : conditions) read_entry(typed, element, out);
  return out;
}

std::string assumed_sentence(const AssumedCondition& condition) {
  return fmt::format("the exporter recorded that the file is right only where {}", condition.text);
}

void rename_input(AssumedCondition& condition, std::string_view from, std::string_view to) {
  for (auto& [symbol, place] : condition.symbols)
    if (split_axis(place).first == from) place.replace(0, from.size(), to);
}

std::string write_assumed(const std::vector<AssumedCondition>& conditions) {
  JsonWriter json;
  json.begin_object().key("version").number(1).key("conditions").begin_array();
  for (const AssumedCondition& condition : conditions) {
    json.begin_object().key("text").text(condition.text).key("symbols").begin_object();
    for (const auto& [name, axis] : condition.symbols) json.key(name).text(axis);
    json.end_object().key("origin").text(condition.origin);
    if (!condition.binding) json.key("advisory").boolean(true);
    json.end_object();
  }
  return json.end_array().end_object().take();
}

bool can_bind(const Condition& condition) {
  if (condition.is_opaque() || condition.any_of().size() != 1) return false;
  const auto used = condition.symbols();
  const auto linear = [&](const Relation& r) {
    return std::all_of(used.begin(), used.end(), [&](Dim symbol) {
      const Dim step = substitute(r.expr, {{symbol, symbol + 1}}) - r.expr;
      return step.is_constant() && r.divisor.is_constant();
    });
  };
  const auto& relations = condition.any_of()[0];
  return std::all_of(relations.begin(), relations.end(), [&](const Relation& r) {
    return r.kind != Relation::Kind::ne && (used.size() == 1 || linear(r));
  });
}

const Assumed::Entry* violated(const Typed& typed, const Assumed& assumed, const Shapes& shapes) {
  const Binding binding = [&](Dim symbol) -> std::optional<int64_t> {
    for (const AxisSymbol& axis : typed.axes()) {
      if (axis.symbol != symbol) continue;
      for (const InputAxis& place : axis.axes)
        if (const auto it = shapes.find(place.input); it != shapes.end() && place.axis < it->second.size())
          return it->second[place.axis];
    }
    return std::nullopt;
  };
  for (const Assumed::Entry& entry : assumed.entries)
    if (entry.text.binding && evaluate(entry.condition, binding) == Tri::no) return &entry;
  return nullptr;
}

}  // namespace anyshape
