#include "format/onnx/datum.h"

#include <cstring>

#include "base/os/file.h"
#include "format/onnx/file.h"

namespace anyshape::onnx {
namespace {

Result<Datum> import_datum(const TensorProto& proto, const Source& source) {
  TRY(const Tensor tensor, import_tensor(proto, source));
  TRY(Tensor aligned, tensor.aligned());
  return Datum(std::move(aligned));
}

// The one-element tensors of a map's values as one tensor of rank 1.
Result<Tensor> join_values(const SequenceProto& proto, const Source& source) {
  const auto count = static_cast<int64_t>(proto.tensor_values.size());
  Tensor joined;
  for (int64_t i = 0; i < count; ++i) {
    TRY(const Tensor value, import_tensor(proto.tensor_values[static_cast<size_t>(i)], source));
    if (!joined) {
      TRY(joined, Tensor::allocate(value.dtype(), {count}));
    }
    const bool text = value.dtype() == DType::string;
    if (value.count() != 1 || value.dtype() != joined.dtype() || (!text && bits(value.dtype()) < 8))
      return refuse("datum.map", "value {} of a map is not one element of the type of the others", i);
    if (text)
      joined.strings_mutable()[static_cast<size_t>(i)] = value.strings()[0];
    else
      std::memcpy(joined.data() + static_cast<size_t>(i) * value.bytes().size(), value.bytes().data(),
                  value.bytes().size());
  }
  if (!joined) return Tensor::allocate(DType::f32, {0});
  return joined;
}

Result<Datum> import_map(const MapProto& proto, const Source& source) {
  const bool text = proto.key_type == static_cast<int32_t>(DataType::string);
  const size_t count = text ? proto.string_keys.size() : proto.keys.size();
  const auto dims = std::vector<int64_t>{static_cast<int64_t>(count)};
  Tensor keys = text ? Tensor::of_strings(dims, {proto.string_keys.begin(), proto.string_keys.end()})
                     : Tensor::of_ints(dims, proto.keys);
  TRY(Tensor values, proto.values ? join_values(*proto.values, source) : Tensor::allocate(DType::f32, {0}));
  if (values.count() != keys.count())
    return refuse("datum.map", "a map has {} keys and {} values", keys.count(), values.count());
  return Datum::map(std::move(keys), std::move(values));
}

Result<Datum> import_sequence(const SequenceProto& proto, const Source& source) {
  std::vector<Datum> items;
  for (const TensorProto& tensor : proto.tensor_values) {
    TRY(Datum item, import_datum(tensor, source));
    items.push_back(std::move(item));
  }
  for (const SequenceProto& sequence : proto.sequence_values) {
    TRY(Datum item, import_sequence(sequence, source));
    items.push_back(std::move(item));
  }
  for (const MapProto& map : proto.map_values) {
    TRY(Datum item, import_map(map, source));
    items.push_back(std::move(item));
  }
  if (!proto.optional_values.empty() || !proto.sparse_tensor_values.empty())
    return refuse("datum.kind", "a sequence of optionals or sparse tensors cannot be an input");
  const DType dtype = items.empty() ? DType::undefined : items[0].dtype();
  return Datum::sequence(dtype, std::move(items));
}

Result<Datum> import_optional(const OptionalProto& proto, const Source& source) {
  if (proto.tensor_value) {
    TRY(Datum item, import_datum(*proto.tensor_value, source));
    return Datum::optional(std::move(item));
  }
  if (proto.sequence_value) {
    TRY(Datum item, import_sequence(*proto.sequence_value, source));
    return Datum::optional(std::move(item));
  }
  if (proto.map_value) {
    TRY(Datum item, import_map(*proto.map_value, source));
    return Datum::optional(std::move(item));
  }
  return Datum::empty_optional(DType::undefined);
}

}  // namespace

Result<Datum> parse_datum(std::span<const std::byte> bytes, Fact::Kind kind, std::shared_ptr<const void> owner) {
  const Source source{std::move(owner), nullptr};
  if (kind == Fact::Kind::sequence) {
    TRY(const SequenceProto proto, parse_sequence(bytes));
    return import_sequence(proto, source);
  }
  if (kind == Fact::Kind::optional) {
    TRY(const OptionalProto proto, parse_optional(bytes));
    return import_optional(proto, source);
  }
  if (kind == Fact::Kind::map) {
    TRY(const MapProto proto, parse_map(bytes));
    return import_map(proto, source);
  }
  TRY(const TensorProto proto, parse_tensor(bytes));
  return import_datum(proto, source);
}

Result<Datum> read_datum(const std::filesystem::path& path, Fact::Kind kind) {
  TRY(const auto file, MappedFile::open(path));
  auto datum = parse_datum(file->bytes(), kind, file);
  if (!datum) return at(path.string(), std::move(datum).error());
  return datum;
}

}  // namespace anyshape::onnx
