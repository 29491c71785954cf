#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/os/file.h"
#include "format/onnx/proto.h"

namespace anyshape::onnx {

inline bool is_external(const TensorProto& tensor) { return tensor.data_location == kDataExternal; }

// What a tensor's external_data entries say. Other keys (checksum) are not used.
struct ExternalRange {
  std::string_view location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;  // absent: as many bytes as the tensor needs
};

// external.path: no location. external.range: an offset or length that is not a number.
Result<ExternalRange> external_range(const TensorProto& tensor);

// external.path unless `location` is relative and has no `..`.
Status check_location(std::string_view location);

// The folder that the locations of a model at `path` are relative to.
std::filesystem::path folder_of(const std::filesystem::path& path);

// Whether `file`, links followed, lies in `folder`; either may be missing.
bool inside_folder(const std::filesystem::path& folder, const std::filesystem::path& file);

// The data files beside a model, opened when first asked for and shared. Safe to use from several threads.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // external.path when the file, links followed, is outside the folder; file.open when it cannot be opened.
  Result<std::shared_ptr<const MappedFile>> open(std::string_view location);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> files_;
};

}  // namespace anyshape::onnx
