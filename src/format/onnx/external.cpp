#include "format/onnx/external.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/utf8.h"

namespace anyshape::onnx {
namespace {

namespace fs = std::filesystem;

Result<uint64_t> number(std::string_view key, std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return refuse("external.range", "external data has the {} {:?}, which is not a number of bytes", key,
                  shortened(text, 40));
  }
  return value;
}

}  // namespace

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

bool inside_folder(const fs::path& folder, const fs::path& file) {
  std::error_code error;
  const fs::path outer = fs::weakly_canonical(fs::absolute(folder), error);
  const fs::path inner = error ? fs::path() : fs::weakly_canonical(fs::absolute(file), error);
  return !error && std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

Result<ExternalRange> external_range(const TensorProto& tensor) {
  ExternalRange range;
  for (const StringStringEntryProto& entry : tensor.external_data) {
    if (entry.key == "location") {
      range.location = entry.value;
    } else if (entry.key == "offset") {
      TRY(range.offset, number("offset", entry.value));
    } else if (entry.key == "length") {
      TRY(range.length, number("length", entry.value));
    }
  }
  TRY_OK(check_location(range.location));
  return range;
}

Status check_location(std::string_view location) {
  const fs::path path(location);
  const auto bad = [&](std::string_view why) {
    return refuse("external.path", "external data lies in {:?}: {}", shortened(location), why);
  };
  if (location.empty()) return refuse("external.path", "external data has no location");
  if (location.find('\0') != std::string_view::npos) return bad("the path holds a zero byte");
  if (path.is_absolute()) return bad("the path must be relative to the model's folder");
  if (std::find(path.begin(), path.end(), "..") != path.end()) return bad("the path must not contain ..");
  return {};
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(std::string_view location) {
  TRY_OK(check_location(location));
  const std::lock_guard lock(mutex_);
  if (const auto known = files_.find(location); known != files_.end()) return known->second;
  const fs::path folder = folder_.empty() ? fs::path(".") : folder_;
  const fs::path path = folder_ / fs::path(location);
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) {
    return at(path.string(), usage("file.open", "the external data cannot be opened: {}", error.message()).value());
  }
  if (!inside_folder(folder, file)) {
    return refuse("external.path", "external data {:?} is a link out of the model's folder", shortened(location));
  }
  TRY(auto mapped, MappedFile::open(file));
  files_.emplace(location, mapped);
  return mapped;
}

}  // namespace anyshape::onnx
