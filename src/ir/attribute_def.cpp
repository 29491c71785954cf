#include "ir/attribute_def.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <type_traits>
#include <vector>

#include "ir/attribute.h"

namespace anyshape {
namespace {

constexpr std::string_view kKinds[] = {"",      "int",  "float",  "string",  "tensor",  "sparse tensor", "type",
                                       "graph", "ints", "floats", "strings", "tensors", "types",         "graphs"};
static_assert(std::size(kKinds) == std::variant_size_v<Attribute::Value>);
static_assert(std::is_same_v<std::variant_alternative_t<AttributeDef::integer, Attribute::Value>, int64_t>);
static_assert(
    std::is_same_v<std::variant_alternative_t<AttributeDef::strings, Attribute::Value>, std::vector<std::string>>);

struct ValueText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(int64_t value) const { return fmt::format(" = {}", value); }
  std::string operator()(float value) const { return fmt::format(" = {}", value); }
  std::string operator()(std::string_view value) const { return fmt::format(" = \"{}\"", value); }
  std::string operator()(std::span<const int64_t> list) const { return fmt::format(" = [{}]", fmt::join(list, ", ")); }
  std::string operator()(std::span<const std::string_view> list) const {
    return fmt::format(" = [{}]", fmt::join(list, ", "));
  }
};

}  // namespace

const AttributeDef* find_attribute(std::span<const AttributeDef> rows, std::string_view name, int64_t version) {
  const AttributeDef* last = nullptr;
  for (const AttributeDef& row : rows) {
    if (row.name != name) continue;
    if (row.versions.since <= version && version <= row.versions.until) return &row;
    last = &row;
  }
  return last;
}

std::string text(const AttributeDef& attribute) {
  return fmt::format("{}: {}{}{}", attribute.name, kKinds[attribute.kind], std::visit(ValueText(), attribute.fallback),
                     attribute.need == AttributeDef::required ? ", required" : "");
}

}  // namespace anyshape
