#include "base/os/file.h"
#include "format/onnx/datum.h"

namespace anyshape::onnx {

TensorProto tensor_proto(const Tensor& tensor, std::string_view name) {
  TensorProto proto;
  proto.name = name;
  proto.dims = tensor.dims();
  proto.data_type = static_cast<int32_t>(tensor.dtype());
  if (tensor.dtype() == DType::string)
    proto.string_data.assign(tensor.strings().begin(), tensor.strings().end());
  else
    proto.raw_data = tensor.bytes();
  return proto;
}

namespace {

// The messages point into the datum, which outlives them.

// Element i of a tensor of rank 1, as a tensor of rank 0.
TensorProto export_element(const Tensor& tensor, int64_t i) {
  TensorProto proto;
  proto.data_type = static_cast<int32_t>(tensor.dtype());
  const auto index = static_cast<size_t>(i);
  if (tensor.dtype() == DType::string) {
    proto.string_data.emplace_back(tensor.strings()[index]);
    return proto;
  }
  const size_t width = static_cast<size_t>(bits(tensor.dtype())) / 8;
  proto.raw_data = tensor.bytes().subspan(index * width, width);
  return proto;
}

Result<MapProto> export_map(const Datum& datum) {
  const Tensor &keys = datum.items()[0].tensor(), &values = datum.items()[1].tensor();
  if (values.dtype() != DType::string && bits(values.dtype()) < 8)
    return refuse("datum.kind", "a map with values of type {} cannot be written", name(values.dtype()));
  MapProto proto;
  proto.key_type = static_cast<int32_t>(keys.dtype());
  if (keys.dtype() == DType::string)
    proto.string_keys.assign(keys.strings().begin(), keys.strings().end());
  else
    for (int64_t i = 0; i < keys.count(); ++i) proto.keys.push_back(keys.int_at(i));
  SequenceProto& sequence = proto.values.emplace();
  sequence.elem_type = static_cast<int32_t>(ElementKind::tensor);
  for (int64_t i = 0; i < values.count(); ++i) sequence.tensor_values.push_back(export_element(values, i));
  return proto;
}

ElementKind kind_of(const Datum& datum) {
  switch (datum.kind()) {
    case Datum::Kind::sequence:
      return ElementKind::sequence;
    case Datum::Kind::map:
      return ElementKind::map;
    case Datum::Kind::optional:
      return ElementKind::optional;
    default:
      return ElementKind::tensor;
  }
}

Result<OptionalProto> export_optional(const Datum& datum);

Result<SequenceProto> export_sequence(const Datum& datum) {
  SequenceProto proto;
  const ElementKind kind = datum.items().empty() ? ElementKind::tensor : kind_of(datum.items()[0]);
  proto.elem_type = static_cast<int32_t>(kind);
  for (const Datum& item : datum.items()) {
    if (!item || kind_of(item) != kind) return refuse("datum.kind", "the items of a sequence are of different kinds");
    if (kind == ElementKind::tensor) {
      proto.tensor_values.push_back(tensor_proto(item.tensor()));
    } else if (kind == ElementKind::sequence) {
      TRY(SequenceProto inner, export_sequence(item));
      proto.sequence_values.push_back(std::move(inner));
    } else if (kind == ElementKind::map) {
      TRY(MapProto inner, export_map(item));
      proto.map_values.push_back(std::move(inner));
    } else {
      TRY(OptionalProto inner, export_optional(item));
      proto.optional_values.push_back(std::move(inner));
    }
  }
  return proto;
}

Result<OptionalProto> export_optional(const Datum& datum) {
  OptionalProto proto;
  if (datum.items().empty()) {
    proto.elem_type = static_cast<int32_t>(ElementKind::undefined);
    return proto;
  }
  const Datum& item = datum.items()[0];
  const ElementKind kind = kind_of(item);
  proto.elem_type = static_cast<int32_t>(kind);
  if (kind == ElementKind::tensor) {
    proto.tensor_value = tensor_proto(item.tensor());
  } else if (kind == ElementKind::sequence) {
    TRY(proto.sequence_value, export_sequence(item));
  } else if (kind == ElementKind::map) {
    TRY(proto.map_value, export_map(item));
  } else {
    TRY(proto.optional_value, export_optional(item));
  }
  return proto;
}

Result<Encoded> encode(const Datum& datum, std::string_view name) {
  const auto named = [&](auto proto) {
    proto.name = name;
    return serialize(proto);
  };
  switch (datum.kind()) {
    case Datum::Kind::tensor:
      return named(tensor_proto(datum.tensor()));
    case Datum::Kind::sequence: {
      TRY(SequenceProto proto, export_sequence(datum));
      return named(std::move(proto));
    }
    case Datum::Kind::optional: {
      TRY(OptionalProto proto, export_optional(datum));
      return named(std::move(proto));
    }
    case Datum::Kind::map: {
      TRY(MapProto proto, export_map(datum));
      return named(std::move(proto));
    }
    case Datum::Kind::none:
      break;
  }
  return refuse("datum.kind", "an absent value cannot be written");
}

}  // namespace

Result<std::vector<std::byte>> serialize_datum(const Datum& datum, std::string_view name) {
  TRY(const Encoded encoded, encode(datum, name));
  return encoded.bytes();
}

Status write_datum(const std::filesystem::path& path, const Datum& datum, std::string_view name) {
  const auto encoded = encode(datum, name);
  if (!encoded) return at(path.string(), encoded.error());
  TRY(AtomicFile file, AtomicFile::create(path));
  for (const Bytes piece : encoded->pieces()) TRY_OK(file.write(piece));
  return file.commit();
}

}  // namespace anyshape::onnx
