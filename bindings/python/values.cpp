#include "values.h"

#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "errors.h"
#include "text.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

using Dense = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Code = nb::dlpack::dtype_code;

struct Layout {
  DType type;
  Code code;
  uint8_t bits;
};

// The element types NumPy has itself.
constexpr Layout kLayouts[] = {
    {DType::f32, Code::Float, 32},   {DType::f64, Code::Float, 64},     {DType::f16, Code::Float, 16},
    {DType::i64, Code::Int, 64},     {DType::i32, Code::Int, 32},       {DType::i16, Code::Int, 16},
    {DType::i8, Code::Int, 8},       {DType::u64, Code::UInt, 64},      {DType::u32, Code::UInt, 32},
    {DType::u16, Code::UInt, 16},    {DType::u8, Code::UInt, 8},        {DType::boolean, Code::Bool, 8},
    {DType::c64, Code::Complex, 64}, {DType::c128, Code::Complex, 128},
};

std::optional<DType> type_of(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  if (dtype.code == static_cast<uint8_t>(Code::Bfloat) && dtype.bits == 16) return DType::bf16;
  for (const Layout& layout : kLayouts)
    if (dtype.code == static_cast<uint8_t>(layout.code) && dtype.bits == layout.bits) return layout.type;
  return std::nullopt;
}

std::optional<nb::dlpack::dtype> dlpack_of(DType type) {
  for (const Layout& layout : kLayouts)
    if (layout.type == type) return nb::dlpack::dtype{static_cast<uint8_t>(layout.code), layout.bits, 1};
  return std::nullopt;
}

nb::object helper(const char* name) { return nb::module_::import_("anyshape._values").attr(name); }

template <class Array>
std::vector<int64_t> shape_of(const Array& array) {
  std::vector<int64_t> shape(array.ndim());
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = static_cast<int64_t>(array.shape(i));
  return shape;
}

template <class Array>
bool is_aligned(const Array& array) {
  return reinterpret_cast<uintptr_t>(array.data()) % std::max<size_t>(1, array.itemsize()) == 0;
}

// `const` is the array's, not the engine's: inputs are only read.
AnyValue borrowed(DType type, std::vector<int64_t> shape, const Dense& array, Keep& keep) {
  if (!is_aligned(array)) return value_of(AnyValue::copy_of(type, std::move(shape), array.data(), array.nbytes()));
  keep.emplace_back(array);
  return value_of(AnyValue::borrow(type, std::move(shape), const_cast<void*>(array.data()), array.nbytes()));
}

// What is no array of a type NumPy has: lists, strings, bfloat16, arrays with holes.
AnyValue converted(nb::handle object, DType type, Keep& keep) {
  const auto parts = nb::cast<nb::tuple>(helper("parts")(object, static_cast<int>(type)));
  const auto found = static_cast<DType>(nb::cast<int>(parts[0]));
  auto shape = nb::cast<std::vector<int64_t>>(parts[1]);
  if (found == DType::string)
    return value_of(AnyValue::strings(std::move(shape), nb::cast<std::vector<std::string>>(parts[2])));
  return borrowed(found, std::move(shape), nb::cast<Dense>(parts[2]), keep);
}

AnyValue tensor(nb::handle object, DType type, Keep& keep) {
  if (object.is_none()) raise({Error::Kind::usage, "input.type", {}, "None is no array", {}});
  Dense array;
  if (!nb::try_cast(object, array, false)) return converted(object, type, keep);
  const auto found = type_of(array.dtype());
  if (!found) return converted(object, type, keep);
  return borrowed(*found, shape_of(array), array, keep);
}

AnyValue sequence(nb::handle object, DType type, Keep& keep) {
  std::vector<AnyValue> items;
  // A tuple of its own: an item may be an object whose conversion changes the list.
  for (nb::handle item : nb::tuple(object)) items.push_back(tensor(item, type, keep));
  return AnyValue::sequence(type, items);
}

nb::object array_over(const AnyValue& value, nb::dlpack::dtype dtype, const std::vector<size_t>& shape, Access access) {
  auto owner = std::make_unique<AnyValue>(value);
  void* data = owner->mutable_data();
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<AnyValue*>(p); });
  if (access == Access::read)
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, shape.size(), shape.data(), capsule, nullptr, dtype));
  return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), capsule, nullptr, dtype));
}

// Arrays that are made, not over the memory of the value.
nb::object made_array(const AnyValue& value, Access access) {
  if (value.type() == DType::string) return helper("text_array")(value.string_entries(), value.shape());
  const nb::object bytes = array_over(value, {static_cast<uint8_t>(Code::UInt), 8, 1}, {value.bytes()}, access);
  return helper("from_bits")(static_cast<int>(value.type()), value.shape(), bytes);
}

nb::object tensor_array(const AnyValue& value, Access access) {
  const auto& dims = value.shape();
  if (const auto dtype = dlpack_of(value.type())) return array_over(value, *dtype, {dims.begin(), dims.end()}, access);
  const nb::object array = made_array(value, access);
  if (access == Access::read) array.attr("flags").attr("writeable") = false;
  return array;
}

nb::object map_dict(const AnyValue& value) {
  const auto items = value.items();
  nb::dict out;
  const nb::object keys = to_python(items[0], Access::read).attr("tolist")();
  const nb::object values = to_python(items[1], Access::read).attr("tolist")();
  for (size_t i = 0; i < nb::len(keys); ++i) out[keys[i]] = values[i];
  return out;
}

}  // namespace

AnyValue to_value(nb::handle object, AnyValue::Kind kind, DType type, Keep& keep) {
  const bool is_list = nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object);
  switch (kind) {
    case AnyValue::Kind::sequence:
      if (!is_list) raise({Error::Kind::usage, "input.kind", {}, "a sequence is a list of arrays", {}});
      return sequence(object, type, keep);
    case AnyValue::Kind::optional:
      if (object.is_none()) return AnyValue::empty_optional(type);
      return AnyValue::optional(is_list ? sequence(object, type, keep) : tensor(object, type, keep));
    case AnyValue::Kind::map:
      raise({Error::Kind::usage, "input.kind", {}, "maps cannot be inputs", {}});
    default:
      return tensor(object, type, keep);
  }
}

AnyValue to_place(nb::handle object, std::vector<nb::ndarray<>>& keep) {
  nb::ndarray<nb::c_contig, nb::device::cpu> array;
  std::optional<DType> type;
  if (nb::try_cast(object, array, false)) type = type_of(array.dtype());
  if (!type || !is_aligned(array))
    raise({Error::Kind::usage,
           "output.memory",
           {},
           "an output can be written only into a dense array that may be written",
           "numpy.empty(shape, dtype)"});
  keep.emplace_back(array);
  return value_of(AnyValue::borrow(*type, shape_of(array), array.data(), array.nbytes()));
}

nb::object to_python(const AnyValue& value, Access access) {
  switch (value.kind()) {
    case AnyValue::Kind::tensor:
      return tensor_array(value, access);
    case AnyValue::Kind::sequence: {
      nb::list out;
      for (const AnyValue& item : value.items()) out.append(to_python(item, access));
      return out;
    }
    case AnyValue::Kind::optional: {
      const auto items = value.items();
      return items.empty() ? nb::none() : to_python(items[0], access);
    }
    case AnyValue::Kind::map:
      return map_dict(value);
    default:
      return nb::none();
  }
}

}  // namespace anyshape::python
