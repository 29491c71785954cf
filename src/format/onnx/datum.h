#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/onnx/import_tensor.h"
#include "tensor/datum.h"

namespace anyshape::onnx {

// A TensorProto, SequenceProto or OptionalProto file, as ONNX's test data has them. Which of them it is, only the type
// of the value tells.
Result<Datum> read_datum(const std::filesystem::path& path, Fact::Kind kind);
Result<Datum> parse_datum(std::span<const std::byte> bytes, Fact::Kind kind, std::shared_ptr<const void> owner);

}  // namespace anyshape::onnx
