#include "format/onnx/datum.h"

#include "base/os/file.h"
#include "format/onnx/file.h"

namespace anyshape::onnx {
namespace {

Result<Datum> import_sequence(const SequenceProto& proto, const Source& source);

Result<Datum> import_datum(const TensorProto& proto, const Source& source) {
  TRY(const Tensor tensor, import_tensor(proto, source));
  TRY(Tensor aligned, tensor.aligned());
  return Datum(std::move(aligned));
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
  if (!proto.map_values.empty() || !proto.optional_values.empty() || !proto.sparse_tensor_values.empty())
    return refuse("datum.kind", "a sequence of maps, optionals or sparse tensors cannot be an input");
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
