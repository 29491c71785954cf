#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/os/file.h"
#include "format/onnx/external.h"
#include "format/onnx/proto.h"
#include "format/onnx/tensor.h"

namespace anyshape::onnx {

// A model and what its views point into.
struct ModelFile {
  std::shared_ptr<const MappedFile> file;
  ModelProto proto;
  std::filesystem::path path;               // empty: read from bytes
  std::shared_ptr<ExternalFiles> external;  // null: read from bytes
  bool strict = false;                      // what Graph::strict says of its graphs

  // As tensor_bytes(); `owner` always keeps the bytes alive.
  Result<TensorBytes> tensor(const TensorProto& tensor) const;
};

Result<ModelFile> read_model(const std::filesystem::path& path);
Result<ModelFile> read_model_bytes(std::vector<std::byte> bytes);

// protobuf refuses messages beyond this size.
inline constexpr uint64_t kLargestModel = (uint64_t{1} << 31) - 1;

struct WriteOptions {
  // All larger initializers go to this file beside the model, which may replace one unless the model that is read,
  // being another file, needs it. Without it, external data stays external under its own names, and a model beyond
  // `largest_model` gets the data file "<file name>.data"; such a name that is taken by a file which is not of the
  // replaced model becomes "stem.1.ext".
  std::optional<std::string> external_data = {};
  uint64_t external_threshold = 1024;
  uint64_t largest_model = kLargestModel;
};

// Complete or not at all, also when it is interrupted; may replace the files the model was read from.
Status write_model(const ModelFile& model, const std::filesystem::path& path, const WriteOptions& options = {});

}  // namespace anyshape::onnx
