#include "format/onnx/tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/utf8.h"

namespace anyshape::onnx {

static_assert(std::endian::native == std::endian::little, "tensor bytes are used as they lie in the file");

namespace {

using Buffer = std::vector<std::byte>;

template <class T>
uint64_t encoded_size(const Packed<T>& packed) {
  uint64_t size = 0;
  for (Bytes chunk : packed.chunks) size += chunk.size();
  return size;
}

// Calls take(value) for each varint; false when one is broken. The chunks are read one by one: no varint crosses them.
template <class Take>
bool each_varint(const std::vector<Bytes>& chunks, Take take) {
  for (Bytes chunk : chunks) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (std::byte b : chunk) {
      if (shift > 63) return false;
      value |= (static_cast<uint64_t>(b) & 0x7FU) << shift;
      shift += 7;
      if ((b & std::byte{0x80}) != std::byte{}) continue;
      take(value);
      value = 0;
      shift = 0;
    }
    if (shift != 0) return false;
  }
  return true;
}

uint64_t varint_count(const std::vector<Bytes>& chunks) {
  uint64_t count = 0;
  for (Bytes chunk : chunks) {
    for (std::byte b : chunk) count += (b & std::byte{0x80}) == std::byte{} ? 1U : 0U;
  }
  return count;
}

tl::unexpected<Error> broken_varint() { return refuse("onnx.malformed", "a packed list of integers is broken"); }

template <class T>
Result<std::vector<T>> decode_packed(const Packed<T>& packed) {
  std::vector<T> out;
  if constexpr (std::is_floating_point_v<T>) {
    const uint64_t size = encoded_size(packed);
    if (size % sizeof(T) != 0) return refuse("onnx.malformed", "a packed list of numbers ends within a number");
    out.resize(size / sizeof(T));
    auto* next = reinterpret_cast<std::byte*>(out.data());
    for (Bytes chunk : packed.chunks) next = std::copy(chunk.begin(), chunk.end(), next);
  } else {
    out.reserve(varint_count(packed.chunks));
    if (!each_varint(packed.chunks, [&](uint64_t value) { out.push_back(static_cast<T>(value)); })) {
      return broken_varint();
    }
  }
  return out;
}

tl::unexpected<Error> wrong_length(std::string_view field, uint64_t have, std::string_view unit, uint64_t need) {
  return refuse("tensor.length", "{} holds {} {}, but the dims need {}", field, have, unit, need);
}

// The fields that may hold elements.
enum class Field { none, raw, floats, int32s, strings, int64s, doubles, uint64s };

constexpr std::pair<Field, std::string_view> kFieldNames[] = {
    {Field::raw, "raw_data"},        {Field::floats, "float_data"}, {Field::int32s, "int32_data"},
    {Field::strings, "string_data"}, {Field::int64s, "int64_data"}, {Field::doubles, "double_data"},
    {Field::uint64s, "uint64_data"},
};

std::string_view field_name(Field field) {
  for (const auto& [key, name] : kFieldNames) {
    if (key == field) return name;
  }
  return "no field";
}

bool holds(const TensorProto& tensor, Field field) {
  switch (field) {
    case Field::none:
      return false;
    case Field::raw:
      return !tensor.raw_data.empty();
    case Field::floats:
      return !tensor.float_data.empty();
    case Field::int32s:
      return !tensor.int32_data.empty();
    case Field::strings:
      return !tensor.string_data.empty();
    case Field::int64s:
      return !tensor.int64_data.empty();
    case Field::doubles:
      return !tensor.double_data.empty();
    case Field::uint64s:
      return !tensor.uint64_data.empty();
  }
  return false;
}

// The typed field that the schema gives to a dtype.
Field typed_field(DataType type) {
  switch (type) {
    case DataType::undefined:
      return Field::none;
    case DataType::float32:
    case DataType::complex64:
      return Field::floats;
    case DataType::float64:
    case DataType::complex128:
      return Field::doubles;
    case DataType::int64:
      return Field::int64s;
    case DataType::uint32:
    case DataType::uint64:
      return Field::uint64s;
    case DataType::string:
      return Field::strings;
    default:
      return Field::int32s;
  }
}

Result<Field> used_field(const TensorProto& tensor, DataType type) {
  Field used = Field::none;
  for (const auto& [field, name] : kFieldNames) {
    if (!holds(tensor, field)) continue;
    if (used != Field::none) {
      return refuse("tensor.length", "both {} and {} hold elements", field_name(used), name);
    }
    used = field;
  }
  if (used != Field::none && used != typed_field(type) && (used != Field::raw || type == DataType::string)) {
    return refuse("tensor.dtype", "{} cannot hold elements of data type {}", field_name(used), static_cast<int>(type));
  }
  return used;
}

template <class T>
Status take_fixed(const Packed<T>& packed, uint64_t need, TensorBytes& out) {
  const uint64_t have = encoded_size(packed);
  if (have != need) return wrong_length("the typed field", have, "bytes", need);
  if (packed.chunks.size() == 1) {
    out.bytes = packed.chunks[0];
    return {};
  }
  auto buffer = std::make_shared<Buffer>();
  buffer->reserve(need);
  for (Bytes chunk : packed.chunks) buffer->insert(buffer->end(), chunk.begin(), chunk.end());
  out.bytes = *buffer;
  out.owner = std::move(buffer);
  return {};
}

// One entry of the field is one element, or, below 8 bits, one byte of the packed form.
Status take_varints(const std::vector<Bytes>& chunks, uint64_t need, TensorBytes& out) {
  const uint64_t width = std::max<uint64_t>(1, static_cast<uint64_t>(element_bits(out.dtype)) / 8);
  const uint64_t have = varint_count(chunks);
  if (have != need / width) return wrong_length("the typed field", have, "entries", need / width);
  auto buffer = std::make_shared<Buffer>(need);
  std::byte* next = buffer->data();
  const bool boolean = out.dtype == DataType::boolean;
  const bool whole = each_varint(chunks, [&](uint64_t value) {
    if (boolean) value = value != 0 ? 1 : 0;
    std::memcpy(next, &value, width);
    next += width;
  });
  if (!whole) return broken_varint();
  out.bytes = *buffer;
  out.owner = std::move(buffer);
  return {};
}

// Six-bit floats: one entry of the field is one element, raw bytes hold four in three.
Status take_six_bits(const std::vector<Bytes>& chunks, uint64_t need, TensorBytes& out) {
  const uint64_t have = varint_count(chunks);
  const uint64_t count = static_cast<uint64_t>(out.count);
  if (have != count) return wrong_length("the typed field", have, "entries", count);
  auto buffer = std::make_shared<Buffer>(need);
  uint64_t bit = 0;
  const bool whole = each_varint(chunks, [&](uint64_t value) {
    const auto shifted = static_cast<unsigned>(value & 0x3FU) << (bit % 8);
    (*buffer)[bit / 8] |= static_cast<std::byte>(shifted & 0xFFU);
    if (shifted > 0xFFU) (*buffer)[bit / 8 + 1] |= static_cast<std::byte>(shifted >> 8U);
    bit += 6;
  });
  if (!whole) return broken_varint();
  out.bytes = *buffer;
  out.owner = std::move(buffer);
  return {};
}

Status take_field(const TensorProto& tensor, Field field, uint64_t need, TensorBytes& out) {
  switch (field) {
    case Field::raw:
      if (tensor.raw_data.size() != need) return wrong_length("raw_data", tensor.raw_data.size(), "bytes", need);
      out.bytes = tensor.raw_data;
      return {};
    case Field::floats:
      return take_fixed(tensor.float_data, need, out);
    case Field::doubles:
      return take_fixed(tensor.double_data, need, out);
    case Field::int32s:
      if (element_bits(out.dtype) == 6) return take_six_bits(tensor.int32_data.chunks, need, out);
      return take_varints(tensor.int32_data.chunks, need, out);
    case Field::int64s:
      return take_varints(tensor.int64_data.chunks, need, out);
    case Field::uint64s:
      return take_varints(tensor.uint64_data.chunks, need, out);
    case Field::none:
    case Field::strings:
      break;
  }
  return need == 0 ? Status{} : wrong_length("the tensor", 0, "bytes", need);
}

Status take_external(const TensorProto& tensor, ExternalFiles* files, uint64_t need, TensorBytes& out) {
  if (out.dtype == DataType::string) return refuse("tensor.dtype", "strings cannot be external data");
  TRY(const ExternalRange range, external_range(tensor));
  if (range.length && *range.length != need) return wrong_length("external data", *range.length, "bytes", need);
  if (need == 0) return {};
  if (files == nullptr) {
    return refuse("external.path", "the data is in another file, and this model was not read from a folder");
  }
  TRY(const std::shared_ptr<const MappedFile> file, files->open(range.location));
  const Bytes bytes = file->bytes();
  if (range.offset > bytes.size() || need > bytes.size() - range.offset) {
    return refuse("external.range", "bytes {} to {} + {} of {:?} are needed, but it holds {}", range.offset,
                  range.offset, need, shortened(range.location), bytes.size());
  }
  out.bytes = bytes.subspan(range.offset, need);
  out.owner = file;
  return {};
}

Result<TensorBytes> elements_of(const TensorProto& tensor, ExternalFiles* external) {
  TensorBytes out;
  const int32_t code = tensor.data_type.value_or(0);
  out.dtype = static_cast<DataType>(code);
  if (element_bits(out.dtype) == 0 && out.dtype != DataType::string) {
    return refuse("tensor.dtype", "{} is not a data type of ONNX", code);
  }
  if (tensor.segment) return refuse("tensor.length", "tensors stored in segments are not supported");
  TRY(out.count, element_count(tensor.dims));
  out.dims = tensor.dims;
  TRY(const int64_t need, packed_bytes(out.dtype, out.count));
  if (is_external(tensor)) {
    TRY_OK(take_external(tensor, external, static_cast<uint64_t>(need), out));
    return out;
  }
  TRY(const Field field, used_field(tensor, out.dtype));
  if (out.dtype != DataType::string) {
    TRY_OK(take_field(tensor, field, static_cast<uint64_t>(need), out));
    return out;
  }
  if (tensor.string_data.size() != static_cast<uint64_t>(out.count)) {
    return wrong_length("string_data", tensor.string_data.size(), "strings", static_cast<uint64_t>(out.count));
  }
  out.strings = tensor.string_data;
  return out;
}

}  // namespace

int element_bits(DataType type) {
  constexpr int kBits[] = {0,   32, 8, 8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64, 64,
                           128, 16, 8, 8, 8,  8,  4,  4,  4, 8, 2,  2,  6,  6};
  const auto code = static_cast<size_t>(type);
  return code < std::size(kBits) ? kBits[code] : 0;
}

Result<int64_t> element_count(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  bool empty = false;
  bool overflow = false;
  for (int64_t dim : dims) {
    if (dim < 0) return refuse("tensor.dims", "a dim is {}, but sizes cannot be negative", dim);
    empty = empty || dim == 0;
    overflow = overflow || __builtin_mul_overflow(count, dim, &count);
  }
  if (empty) return 0;
  if (overflow) return refuse("tensor.dims", "the dims give more elements than 64 bits can count");
  return count;
}

Result<int64_t> packed_bytes(DataType type, int64_t count) {
  const int64_t bits = element_bits(type);
  int64_t total = 0;
  if (bits >= 8 ? !__builtin_mul_overflow(count, bits / 8, &total) : !__builtin_mul_overflow(count, bits, &total)) {
    return bits >= 8 ? total : total / 8 + (total % 8 != 0 ? 1 : 0);
  }
  return refuse("tensor.dims", "{} elements of {} bits are more bytes than 64 bits can count", count, bits);
}

Result<std::vector<float>> decode(const Packed<float>& packed) { return decode_packed(packed); }
Result<std::vector<double>> decode(const Packed<double>& packed) { return decode_packed(packed); }
Result<std::vector<int32_t>> decode(const Packed<int32_t>& packed) { return decode_packed(packed); }
Result<std::vector<int64_t>> decode(const Packed<int64_t>& packed) { return decode_packed(packed); }
Result<std::vector<uint64_t>> decode(const Packed<uint64_t>& packed) { return decode_packed(packed); }

Result<TensorBytes> tensor_bytes(const TensorProto& tensor, ExternalFiles* external) {
  Result<TensorBytes> result = elements_of(tensor, external);
  if (!result) return at(fmt::format("tensor {:?}", shortened(tensor.name)), std::move(result).error());
  return result;
}

}  // namespace anyshape::onnx
