#include <algorithm>

#include "format/pt2/decode.h"

namespace anyshape::pt2 {
namespace {

using Kind = Argument::Kind;
using Read = Result<Argument> (*)(const Json&);

Result<Argument> none(const Json&) { return Argument{}; }

template <Kind kind>
Result<Argument> text(const Json& json) {
  Argument out;
  out.kind = kind;
  TRY(out.text, json_text(json));
  return out;
}

// {"name": ...}
template <Kind kind>
Result<Argument> named(const Json& json) {
  Argument out;
  out.kind = kind;
  TRY_OK(json_member(json, "name", json_into(out.text, json_text)));
  return out;
}

template <Kind kind>
Result<Argument> integer(const Json& json) {
  Argument out;
  out.kind = kind;
  TRY(out.integer, json_integer(json));
  return out;
}

Result<Argument> real(const Json& json) {
  Argument out;
  out.kind = Kind::real;
  TRY(out.real, json_real(json));
  return out;
}

Result<Argument> boolean(const Json& json) {
  Argument out;
  out.kind = Kind::boolean;
  TRY(const bool value, json_boolean(json));
  out.integer = value ? 1 : 0;
  return out;
}

Result<Argument> scalar_type(const Json& json) {
  Argument out;
  out.kind = Kind::dtype;
  TRY(const int64_t code, json_integer(json));
  const auto dtype = dtype_from_archive(code);
  if (!dtype) return refuse("pt2.schema", "{} is no element type", code);
  out.dtype = *dtype;
  return out;
}

Result<Argument> device(const Json& json) {
  Argument out;
  out.kind = Kind::device;
  TRY_OK(json_member(json, "type", json_into(out.text, json_text)));
  TRY_OK(json_optional(json, "index", [&](const Json& item) -> Status {
    TRY(const int64_t index, json_integer(item));
    out.text += fmt::format(":{}", index);
    return {};
  }));
  return out;
}

Result<Argument> complex(const Json& json) {
  Argument out;
  out.kind = Kind::complex;
  TRY_OK(json_member(json, "real", json_into(out.real, json_real)));
  TRY_OK(json_member(json, "imag", json_into(out.imaginary, json_real)));
  return out;
}

Result<Argument> graph(const Json& json) {
  TRY(Argument out, named<Kind::graph>(json));
  Graph body;
  TRY_OK(json_member(json, "graph", json_into(body, read_graph)));
  body.name = out.text;
  out.graph = std::make_shared<const Graph>(std::move(body));
  return out;
}

Result<Argument> dictionary(const Json& json) {
  Argument out;
  out.kind = Kind::list;
  TRY_OK(json_members(json, [&](std::string_view key, const Json& item) -> Status {
    Argument pair, first;
    pair.kind = Kind::list;
    first.kind = Kind::text;
    first.text = key;
    TRY(Argument second, read_argument(item));
    pair.items = {std::move(first), std::move(second)};
    out.items.push_back(std::move(pair));
    return {};
  }));
  return out;
}

struct Member {
  std::string_view key;
  Read read;
  int lists = 0;  // around what `read` reads
};

// Sorted by key.
constexpr Member kMembers[] = {
    {"as_bool", boolean},
    {"as_bools", boolean, 1},
    {"as_complex", complex},
    {"as_custom_obj", named<Kind::object>},
    {"as_device", device},
    {"as_float", real},
    {"as_float_lists", real, 2},
    {"as_floats", real, 1},
    {"as_graph", graph},
    {"as_int", integer<Kind::integer>},
    {"as_int_lists", integer<Kind::integer>, 2},
    {"as_ints", integer<Kind::integer>, 1},
    {"as_layout", integer<Kind::layout>},
    {"as_memory_format", integer<Kind::memory_format>},
    {"as_name", text<Kind::symbol>},
    {"as_nested_tensors", named<Kind::tensor>, 2},
    {"as_none", none},
    {"as_operator", text<Kind::op>},
    {"as_optional_tensor", read_argument},
    {"as_optional_tensors", read_argument, 1},
    {"as_scalar_type", scalar_type},
    {"as_string", text<Kind::text>},
    {"as_string_to_argument", dictionary},
    {"as_strings", text<Kind::text>, 1},
    {"as_sym_bool", read_argument},
    {"as_sym_bools", read_argument, 1},
    {"as_sym_float", read_argument},
    {"as_sym_floats", read_argument, 1},
    {"as_sym_int", read_argument},
    {"as_sym_ints", read_argument, 1},
    {"as_tensor", named<Kind::tensor>},
    {"as_tensors", named<Kind::tensor>, 1},
};
static_assert(std::is_sorted(std::begin(kMembers), std::end(kMembers),
                             [](const Member& a, const Member& b) { return a.key < b.key; }));

Result<Argument> read_lists(const Json& json, Read read, int lists) {
  if (lists == 0) return read(json);
  Argument out;
  out.kind = Kind::list;
  TRY_OK(json_list_into(out.items, [&](const Json& item) { return read_lists(item, read, lists - 1); })(json));
  return out;
}

}  // namespace

std::optional<DType> dtype_from_archive(int64_t code) {
  switch (code) {
    case 0:  // unknown
    case 9:  // complex of two halves
      return DType::undefined;
    case 1:
      return DType::u8;
    case 2:
      return DType::i8;
    case 3:
      return DType::i16;
    case 4:
      return DType::i32;
    case 5:
      return DType::i64;
    case 6:
      return DType::f16;
    case 7:
      return DType::f32;
    case 8:
      return DType::f64;
    case 10:
      return DType::c64;
    case 11:
      return DType::c128;
    case 12:
      return DType::boolean;
    case 13:
      return DType::bf16;
    case 28:
      return DType::u16;
    case 29:
      return DType::f8e4m3fn;
    case 30:
      return DType::f8e5m2;
    case 31:
      return DType::f8e4m3fnuz;
    case 32:
      return DType::f8e5m2fnuz;
    case 33:
      return DType::f8e8m0;
    case 34:
      return DType::u32;
    case 35:
      return DType::u64;
    default:
      return std::nullopt;
  }
}

Result<Argument> read_argument(const Json& json) {
  Argument out;
  TRY_OK(json_union(json, [&](std::string_view key, const Json& value) -> Status {
    const auto by_key = [](const Member& m, std::string_view k) { return m.key < k; };
    const auto* it = std::lower_bound(std::begin(kMembers), std::end(kMembers), key, by_key);
    if (it == std::end(kMembers) || it->key != key) return refuse("pt2.schema", "an argument of a kind not known");
    TRY(out, read_lists(value, it->read, it->lists));
    return {};
  }));
  return out;
}

}  // namespace anyshape::pt2
