#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/zip.h"

namespace simdjson::dom {
class element;
}

namespace anyshape::pt2 {

// Reading JSON whose shape is known: what is missing or of another type is refused with pt2.schema, and the place of
// the error is the path to the member, built on the way out.
using Json = simdjson::dom::element;
using OnItem = std::function<Status(const Json&)>;
using OnMember = std::function<Status(std::string_view key, const Json&)>;

// Parses and hands the root to `use`; no Json outlives the call. Codes: pt2.json, work.*, and those of `use`.
Status with_json(std::span<const std::byte> text, const OnItem& use);
// The same with a member of an archive. Codes also: zip.*, pt2.size (it would take too much memory for that file).
Status with_json(const ZipReader& archive, const ZipMember& member, const OnItem& use);

Result<int64_t> json_integer(const Json& json);
Result<double> json_real(const Json& json);  // also "Infinity", "-Infinity", "NaN"
Result<bool> json_boolean(const Json& json);
Result<std::string> json_text(const Json& json);
bool json_is_null(const Json& json);
bool json_is_text(const Json& json);

Status json_items(const Json& array, const OnItem& use);
Status json_members(const Json& object, const OnMember& use);
// The one member that a union is written as.
Status json_union(const Json& object, const OnMember& use);
Status json_member(const Json& object, std::string_view key, const OnItem& use);
// Nothing where it is missing or null.
Status json_optional(const Json& object, std::string_view key, const OnItem& use);

// Stores what `read` gives: json_member(object, "name", json_into(out.name, json_text)).
template <class T, class Read>
OnItem json_into(T& out, Read read) {
  return [&out, read](const Json& json) -> Status {
    TRY(out, read(json));
    return {};
  };
}

template <class T, class Read>
OnItem json_list_into(std::vector<T>& out, Read read) {
  return [&out, read](const Json& json) {
    return json_items(json, [&](const Json& item) -> Status {
      TRY(T value, read(item));
      out.push_back(std::move(value));
      return {};
    });
  };
}

template <class Map, class Read>
OnItem json_map_into(Map& out, Read read) {
  return [&out, read](const Json& json) {
    return json_members(json, [&](std::string_view key, const Json& item) -> Status {
      TRY(auto value, read(item));
      if (!out.emplace(key, std::move(value)).second) return refuse("pt2.schema", "it stands there twice");
      return {};
    });
  };
}

}  // namespace anyshape::pt2
