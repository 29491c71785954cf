#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/onnx/import_tensor.h"
#include "tensor/datum.h"

namespace anyshape::onnx {

// A TensorProto, SequenceProto, OptionalProto or MapProto file, as ONNX's test data has them. Which of them it is, only
// the type of the value tells. The files do not tell the element type of what is empty: it is undefined then.
Result<Datum> read_datum(const std::filesystem::path& path, Fact::Kind kind);
Result<Datum> parse_datum(std::span<const std::byte> bytes, Fact::Kind kind, std::shared_ptr<const void> owner);

// The message points into the tensor and the name.
TensorProto tensor_proto(const Tensor& tensor, std::string_view name = {});

// The same files, written; a file appears complete or not at all. "datum.kind" for an absent value and for what the
// format has no place for: maps whose values are under 8 bits.
Status write_datum(const std::filesystem::path& path, const Datum& datum, std::string_view name);
Result<std::vector<std::byte>> serialize_datum(const Datum& datum, std::string_view name);

}  // namespace anyshape::onnx
