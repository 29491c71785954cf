#include "format/pt2/json.h"

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "base/work.h"

namespace anyshape::pt2 {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kDepth = 512;

// Bytes that the parser takes for one of the text, and that a value takes when it is decoded; and what both may take,
// for each byte of the file, and some more.
constexpr uint64_t kPerByte = 12, kPerValue = 192, kTimes = 256, kMore = uint64_t{512} << 20;

// Every value but the first has one of these before it.
uint64_t most_values(std::span<const std::byte> text) {
  const auto separates = [](std::byte b) {
    const char c = static_cast<char>(b);
    return c == ',' || c == '[' || c == '{' || c == ':';
  };
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), separates)) + 1;
}

Status check_size(uint64_t bytes, uint64_t values, uint64_t most) {
  if (bytes < most / kPerByte && values < most / kPerValue && bytes * kPerByte + values * kPerValue <= most) return {};
  return refuse("pt2.size", "{} bytes of JSON are more than an archive of this size needs", bytes);
}

std::string_view kind_of(const Json& json) {
  switch (json.type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE:
      return "a number";
    case dom::element_type::STRING:
      return "text";
    case dom::element_type::BOOL:
      return "a truth value";
    case dom::element_type::NULL_VALUE:
      return "null";
  }
  return "something else";
}

tl::unexpected<Error> expected(std::string_view what, const Json& json) {
  return refuse("pt2.schema", "{} was expected, not {}", what, kind_of(json));
}

// The error with `part` of the path put before its place.
Status within(std::string_view part, Error error) {
  const bool joined = error.place.empty() || error.place.front() == '[';
  error.place = fmt::format("{}{}{}", part, joined ? "" : ".", error.place);
  return tl::unexpected(std::move(error));
}

}  // namespace

Status with_json(std::span<const std::byte> text, const OnItem& use) {
  dom::parser parser;
  if (const auto error = parser.allocate(text.size(), kDepth)) {
    return system_error("pt2.memory", "no memory to read {} bytes of JSON: {}", text.size(),
                        simdjson::error_message(error));
  }
  Json root;
  if (const auto error = parser.parse(reinterpret_cast<const char*>(text.data()), text.size(), true).get(root)) {
    return refuse("pt2.json", "it is not the JSON of a program: {}", simdjson::error_message(error));
  }
  return use(root);
}

Status with_json(const ZipReader& archive, const ZipMember& member, const OnItem& use) {
  const uint64_t most = kMore + kTimes * archive.file_bytes();
  TRY_OK(check_size(member.size, 0, most));
  TRY(const ZipContent content, archive.read(member));
  TRY_OK(check_size(member.size, most_values(content.bytes), most));
  return with_json(content.bytes, use);
}

Result<int64_t> json_integer(const Json& json) {
  int64_t value = 0;
  if (json.get_int64().get(value)) return expected("an integer", json);
  return value;
}

Result<double> json_real(const Json& json) {
  double value = 0;
  if (!json.get_double().get(value)) return value;
  std::string_view text;
  if (json.get_string().get(text)) return expected("a number", json);
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return expected("a number", json);
}

Result<bool> json_boolean(const Json& json) {
  bool value = false;
  if (json.get_bool().get(value)) return expected("a truth value", json);
  return value;
}

Result<std::string> json_text(const Json& json) {
  std::string_view text;
  if (json.get_string().get(text)) return expected("text", json);
  return std::string(text);
}

bool json_is_null(const Json& json) { return json.is_null(); }
bool json_is_text(const Json& json) { return json.is_string(); }

Status json_items(const Json& array, const OnItem& use) {
  dom::array items;
  if (array.get_array().get(items)) return expected("a list", array);
  size_t i = 0;
  for (const Json item : items) {
    TRY_OK(Work::check());
    if (auto status = use(item); !status) return within(fmt::format("[{}]", i), std::move(status).error());
    ++i;
  }
  return {};
}

Status json_members(const Json& object, const OnMember& use) {
  dom::object members;
  if (object.get_object().get(members)) return expected("an object", object);
  for (const auto& [key, value] : members) {
    if (auto status = use(key, value); !status) return within(key, std::move(status).error());
  }
  return {};
}

Status json_union(const Json& object, const OnMember& use) {
  size_t count = 0;
  TRY_OK(json_members(object, [&](std::string_view key, const Json& value) -> Status {
    if (++count > 1) return refuse("pt2.schema", "one member was expected, here is another");
    return use(key, value);
  }));
  if (count == 0) return refuse("pt2.schema", "one member was expected, here is none");
  return {};
}

Status json_optional(const Json& object, std::string_view key, const OnItem& use) {
  dom::object members;
  if (object.get_object().get(members)) return expected("an object", object);
  Json value;
  if (members[key].get(value) || value.is_null()) return {};
  if (auto status = use(value); !status) return within(key, std::move(status).error());
  return {};
}

Status json_member(const Json& object, std::string_view key, const OnItem& use) {
  bool found = false;
  TRY_OK(json_optional(object, key, [&](const Json& value) {
    found = true;
    return use(value);
  }));
  if (!found) return refuse("pt2.schema", "the member {:?} is missing", key);
  return {};
}

}  // namespace anyshape::pt2
