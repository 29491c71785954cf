#include "format/onnx/commit.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/utf8.h"
#include "format/onnx/external.h"
#include "format/onnx/locations.h"

namespace anyshape::onnx {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".anyshape-";

// The mark and the number must fit the file system's 255 bytes as well.
std::string interim_stem(const std::string& location) {
  const fs::path path(location);
  return path.filename().string().size() <= 200 ? location : (path.parent_path() / "data").string();
}

Result<AtomicFile> write_proto(const fs::path& path, const ModelProto& proto) {
  TRY(AtomicFile file, AtomicFile::create(path));
  const Encoded encoded = serialize(proto);
  TRY_OK(write_pieces(file, encoded.pieces()));
  return file;
}

}  // namespace

Status write_pieces(AtomicFile& file, const std::vector<Bytes>& pieces) {
  for (Bytes piece : pieces) TRY_OK(file.write(piece));
  return file.flush();
}

bool is_interim_name(std::string_view location, std::string_view own) {
  const std::string start = interim_stem(std::string(own)) + std::string(kMark);
  if (!location.starts_with(start) || location.size() == start.size()) return false;
  const std::string_view number = location.substr(start.size());
  return std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<ModelCommit> ModelCommit::prepare(const fs::path& path, const ModelProto& proto, std::vector<DataFile> data,
                                         std::vector<fs::path> unused) {
  ModelCommit out;
  std::error_code error;
  const fs::path folder = folder_of(path);
  const bool replaces = fs::is_regular_file(path, error);
  const auto fresh = std::partition(
      data.begin(), data.end(), [&](const DataFile& d) { return replaces && fs::exists(folder / d.location, error); });
  Renamed interim;
  for (auto d = data.begin(); d != fresh; ++d) {
    TRY(interim[d->location], out.add_interim(folder, *d));
  }
  for (auto d = fresh; d != data.end(); ++d) out.files_.push_back(std::move(d->file));
  if (!interim.empty()) {
    out.interim_model_ = out.files_.size();
    TRY(AtomicFile model, write_proto(path, with_locations(proto, interim)));
    out.files_.push_back(std::move(model));
  }
  for (auto d = data.begin(); d != fresh; ++d) out.files_.push_back(std::move(d->file));
  TRY(AtomicFile model, write_proto(path, proto));
  out.files_.push_back(std::move(model));
  out.unused_ = out.interim_;
  out.unused_.insert(out.unused_.end(), unused.begin(), unused.end());
  return out;
}

Result<std::string> ModelCommit::add_interim(const fs::path& folder, DataFile& data) {
  for (int number = 1; number < 1000; ++number) {
    std::string name = fmt::format("{}{}{}", interim_stem(data.location), kMark, number);
    TRY(const bool made, data.file.also_as(folder / name));
    if (!made) continue;
    interim_.push_back(folder / name);
    return name;
  }
  return usage("file.write", "there are 999 files left by earlier writes beside {:?}", shortened(data.location));
}

ModelCommit::~ModelCommit() {
  if (next_ > interim_model_) return;
  std::error_code ignored;
  for (const fs::path& path : interim_) fs::remove(path, ignored);
}

Status ModelCommit::step() {
  if (next_ < files_.size()) {
    TRY_OK(files_[next_].commit());
  } else {
    std::error_code ignored;
    fs::remove(unused_[next_ - files_.size()], ignored);
  }
  ++next_;
  return {};
}

}  // namespace anyshape::onnx
