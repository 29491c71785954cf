#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/os/file.h"
#include "format/onnx/proto.h"

namespace anyshape::onnx {

struct DataFile {
  std::string location;  // relative to the model's folder
  AtomicFile file;       // all written
};

// A model and its data files, put in place one step at a time. After any number of steps the file at the model's path
// is complete: the old model with the old data, or the new model with the new data.
//
// Where a data file replaces one, which the old model may use, the data appears first under an interim name beside it,
// then the model that refers to the interim name, then the data under its own name, then the model that refers to that.
class ModelCommit {
 public:
  // All bytes are on the disk when it returns, and nothing is replaced. `unused`: removed once the model is in place.
  static Result<ModelCommit> prepare(const std::filesystem::path& path, const ModelProto& proto,
                                     std::vector<DataFile> data, std::vector<std::filesystem::path> unused);

  ModelCommit(ModelCommit&&) = default;
  ModelCommit& operator=(ModelCommit&&) = delete;
  // Removes what no model at the path has referred to yet.
  ~ModelCommit();

  bool done() const { return next_ == files_.size() + unused_.size(); }
  // Renames or removes one file. That a file cannot be removed is no error.
  Status step();

 private:
  ModelCommit() = default;
  Result<std::string> add_interim(const std::filesystem::path& folder, DataFile& data);

  std::vector<AtomicFile> files_;
  std::vector<std::filesystem::path> interim_;
  std::vector<std::filesystem::path> unused_;
  size_t interim_model_ = 0;  // its place in files_, where there are interim names
  size_t next_ = 0;
};

// Whether `location` is an interim name of `own`, left by a write that was cut short.
bool is_interim_name(std::string_view location, std::string_view own);

Status write_pieces(AtomicFile& file, const std::vector<Bytes>& pieces);

}  // namespace anyshape::onnx
