#include "format/onnx/write.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "base/utf8.h"
#include "format/onnx/locations.h"
#include "format/onnx/split.h"

namespace anyshape::onnx {
namespace {

namespace fs = std::filesystem;

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

bool taken(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// Where a model goes, and which files there may be replaced.
class Target {
 public:
  Target(const ModelFile& model, const fs::path& path) : path_(path), folder_(folder_of(path)) {
    std::error_code ignored;
    if (const Result<ModelFile> old = read_model(path)) {
      old_files_ = data_files(old->proto, folder_);
      old_locations_ = locations_of(old->proto).value_or(Locations());
    }
    if (model.path.empty() || same_file(model.path, path)) return;
    source_files_ = data_files(model.proto, folder_of(model.path));
    source_files_.insert(fs::canonical(model.path, ignored));
  }

  // A data file that the user named replaces what is there, unless the model that is read needs it.
  Status check_named(const std::string& location) const {
    TRY_OK(check_location(location));
    if (is_model(location)) return usage("external.path", "the data file and the model cannot have the same name");
    if (!of_source(folder_ / location)) return {};
    return usage("external.path", "the data file {:?} belongs to the model that is read", shortened(location));
  }

  // A data file that nobody named replaces at most one of the model that is replaced: `location`, else "stem.N.ext".
  std::string available(const std::string& location, const Locations& reserved) const {
    const fs::path own(location);
    std::string name = location;
    for (int number = 1; !may_replace(name) || (name != location && reserved.contains(name)); ++number) {
      name =
          (own.parent_path() / fmt::format("{}.{}{}", own.stem().string(), number, own.extension().string())).string();
    }
    return name;
  }

  bool is_model(const std::string& location) const {
    const fs::path data = folder_ / location;
    return data.lexically_normal() == (folder_ / path_.filename()).lexically_normal() || same_file(data, path_);
  }

  Status check_inside(const std::string& location) const {
    if (inside_folder(folder_, folder_ / location)) return {};
    return refuse("external.path", "the data file {:?} would lie outside the model's folder", shortened(location));
  }

  Result<AtomicFile> create(const std::string& location) const {
    TRY_OK(check_inside(location));
    const fs::path data = folder_ / location;
    std::error_code ignored;
    if (taken(data) && fs::is_other(data, ignored)) {
      return at(data.string(),
                usage("file.write", "the data file cannot be written: it is not a regular file").value());
    }
    return AtomicFile::create_with_folders(data);
  }

  Result<ModelCommit> commit(const ModelProto& proto, std::vector<DataFile> data) const {
    TRY(const Locations used, locations_of(proto));
    std::vector<fs::path> unused;
    for (const std::string& old : old_locations_) {
      const auto replaced = [&](const DataFile& d) { return is_interim_name(old, d.location); };
      if (!used.contains(old) && std::any_of(data.begin(), data.end(), replaced) && !of_source(folder_ / old)) {
        unused.push_back(folder_ / old);
      }
    }
    return ModelCommit::prepare(path_, proto, std::move(data), std::move(unused));
  }

  const fs::path& folder() const { return folder_; }

 private:
  bool of_source(const fs::path& data) const {
    std::error_code missing;
    const fs::path file = fs::canonical(data, missing);
    return !missing && source_files_.contains(file);
  }

  bool may_replace(const std::string& location) const {
    const fs::path data = folder_ / location;
    if (!taken(data)) return !is_model(location);
    std::error_code missing;
    const fs::path file = fs::canonical(data, missing);
    return !missing && old_files_.contains(file) && !source_files_.contains(file) && !is_model(location);
  }

  fs::path path_;
  fs::path folder_;
  Locations old_locations_;
  std::set<fs::path> old_files_;
  std::set<fs::path> source_files_;
};

Result<ModelCommit> prepare_split(const ModelFile& model, const Target& target, const std::string& location,
                                  const WriteOptions& options) {
  Splitter splitter(model, location, options);
  TRY_OK(splitter.split());
  TRY(AtomicFile file, target.create(location));
  TRY_OK(splitter.write_data(file));
  std::vector<DataFile> data;
  data.push_back({location, std::move(file)});
  return target.commit(splitter.proto(), std::move(data));
}

bool holds(const fs::path& path, Bytes bytes) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) != bytes.size()) return false;
  const auto file = MappedFile::open(path);
  return file && std::equal(bytes.begin(), bytes.end(), (*file)->bytes().begin(), (*file)->bytes().end());
}

// The data files of a model go along under their own names where these can be had.
Result<ModelCommit> prepare_copy(const ModelFile& model, const Target& target) {
  TRY(const Locations locations, locations_of(model.proto));
  Renamed renamed;
  std::vector<DataFile> data;
  for (const std::string& location : locations) {
    TRY(const auto source, model.external->open(location));
    TRY_OK(target.check_inside(location));
    if (holds(target.folder() / location, source->bytes())) continue;
    const std::string name = target.available(location, locations);
    if (name != location) renamed[location] = name;
    TRY(AtomicFile copy, target.create(name));
    TRY_OK(write_pieces(copy, {source->bytes()}));
    data.push_back({name, std::move(copy)});
  }
  return target.commit(with_locations(model.proto, renamed), std::move(data));
}

bool any_external(const ModelProto& model) {
  bool found = false;
  for_each_tensor(model, [&](const TensorProto& tensor, TensorRole) { found = found || is_external(tensor); });
  return found;
}

}  // namespace

Result<ModelCommit> prepare_write(const ModelFile& model, const fs::path& path, const WriteOptions& options) {
  if (options.external_data) {
    const Target target(model, path);
    TRY_OK(target.check_named(*options.external_data));
    return prepare_split(model, target, *options.external_data, options);
  }
  if (serialized_size(model.proto) > options.largest_model) {
    const Target target(model, path);
    return prepare_split(model, target, target.available(path.filename().string() + ".data", {}), options);
  }
  if (!any_external(model.proto)) return ModelCommit::prepare(path, model.proto, {}, {});
  if (!model.external) {
    return refuse("external.path", "the data is in another file, and this model was not read from a folder");
  }
  const Target target(model, path);
  TRY(const Locations locations, locations_of(model.proto));
  for (const std::string& location : locations) {
    if (!target.is_model(location)) continue;
    return refuse("external.path", "the model would replace its own data file {:?}", shortened(location));
  }
  if (same_file(folder_of(model.path), folder_of(path))) return ModelCommit::prepare(path, model.proto, {}, {});
  return prepare_copy(model, target);
}

Status write_model(const ModelFile& model, const fs::path& path, const WriteOptions& options) {
  TRY(ModelCommit commit, prepare_write(model, path, options));
  while (!commit.done()) TRY_OK(commit.step());
  return {};
}

}  // namespace anyshape::onnx
