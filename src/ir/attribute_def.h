#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace anyshape {

// Of an operator's domain, both included.
struct Versions {
  int since = 1;
  int until = std::numeric_limits<int>::max();
};

// One attribute of an operator, as the operator's text states it. An attribute whose type or default changed from one
// version to the next has a row for each.
struct AttributeDef {
  // The order is that of Attribute::Value.
  enum Kind : uint8_t {
    nothing,
    integer,
    real,
    string,
    tensor,
    sparse_tensor,
    type,
    graph,
    integers,
    reals,
    strings,
    tensors,
    types,
    graphs,
  };
  enum Need : uint8_t { optional, required };
  using Default = std::variant<std::monostate, int64_t, float, std::string_view, std::span<const int64_t>,
                               std::span<const std::string_view>>;

  std::string_view name;
  Kind kind;
  Need need = optional;
  Default fallback = {};  // what holds for a node that does not have it; nothing: the rule says
  Versions versions = {};

  constexpr AttributeDef(std::string_view n, Kind k, Versions v = {}) : name(n), kind(k), versions(v) {}
  constexpr AttributeDef(std::string_view n, Kind k, Need needed, Versions v = {})
      : name(n), kind(k), need(needed), versions(v) {}
  constexpr AttributeDef(std::string_view n, int value, Versions v = {})
      : name(n), kind(integer), fallback(int64_t{value}), versions(v) {}
  constexpr AttributeDef(std::string_view n, float value, Versions v = {})
      : name(n), kind(real), fallback(value), versions(v) {}
  constexpr AttributeDef(std::string_view n, const char* value, Versions v = {})
      : name(n), kind(string), fallback(std::string_view(value)), versions(v) {}
  constexpr AttributeDef(std::string_view n, std::span<const int64_t> value, Versions v = {})
      : name(n), kind(integers), fallback(value), versions(v) {}
  constexpr AttributeDef(std::string_view n, std::span<const std::string_view> value, Versions v = {})
      : name(n), kind(strings), fallback(value), versions(v) {}
};

// The row of that name in force at that version, else the last one of that name, else null.
const AttributeDef* find_attribute(std::span<const AttributeDef> rows, std::string_view name, int64_t version);

// The default as a T; T() where there is none.
template <class T>
T default_of(const AttributeDef& attribute) {
  const T* value = std::get_if<T>(&attribute.fallback);
  return value ? *value : T();
}

// "axis: int = -1", "size: int, required", "pads: ints".
std::string text(const AttributeDef& attribute);

}  // namespace anyshape
