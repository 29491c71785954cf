#include <deque>
#include <set>
#include <system_error>
#include <utility>

#include "format/onnx/file.h"
#include "format/onnx/walk.h"

namespace anyshape::onnx {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kAlignment = 64;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(folder_of(a), folder_of(b), ignored);
}

bool any_external(const ModelProto& model) {
  bool found = false;
  for_each_tensor(model, [&](const TensorProto& tensor, TensorRole) { found = found || is_external(tensor); });
  return found;
}

Status create_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return at(folder.string(), usage("file.write", "the folder cannot be made: {}", error.message()).value());
}

Status write_pieces(AtomicFile& file, const std::vector<Bytes>& pieces) {
  for (Bytes piece : pieces) TRY_OK(file.write(piece));
  return file.flush();
}

// A model whose larger tensors move to one data file.
class Splitter {
 public:
  Splitter(const ModelFile& model, std::string location, const WriteOptions& options)
      : model_(model), proto_(model.proto), location_(std::move(location)), options_(options) {}

  Status split() {
    TRY_OK(move_tensors(TensorRole::initializer));
    if (serialized_size(proto_) > options_.largest_model) TRY_OK(move_tensors(TensorRole::other));
    const uint64_t size = serialized_size(proto_);
    if (size <= options_.largest_model) return {};
    return refuse("onnx.size", "without its tensors the model still takes {} bytes; the format allows {}", size,
                  options_.largest_model);
  }

  const ModelProto& proto() const { return proto_; }

  Status write_data(AtomicFile& file) const {
    constexpr std::byte kZeros[kAlignment] = {};
    uint64_t position = 0;
    for (const Stored& stored : stored_) {
      TRY(const TensorBytes tensor, model_.tensor(stored.tensor));
      TRY_OK(file.write(Bytes(kZeros).first(stored.offset - position)));
      TRY_OK(file.write(tensor.bytes));
      position = stored.offset + tensor.bytes.size();
    }
    return file.flush();
  }

 private:
  struct Stored {
    TensorProto tensor;  // only what holds the elements
    uint64_t offset;
  };

  // External tensors always move, or, below the threshold, into the model.
  Status move_tensors(TensorRole role) {
    Status status;
    for_each_tensor(proto_, [&](TensorProto& tensor, TensorRole its_role) {
      if (status && (its_role == role || is_external(tensor)) && !moved_.contains(&tensor)) status = move(tensor);
    });
    return status;
  }

  Status move(TensorProto& tensor) {
    if (tensor.data_type == static_cast<int32_t>(DataType::string)) return {};
    const bool external = is_external(tensor);
    Result<TensorBytes> bytes = model_.tensor(tensor);
    if (!bytes) return external ? Status(tl::unexpected(std::move(bytes).error())) : Status();
    const uint64_t size = bytes->bytes.size();
    if (size >= options_.external_threshold && size > 0) {
      store(tensor, size);
    } else if (external) {
      embed(tensor, *bytes);
    }
    return {};
  }

  void store(TensorProto& tensor, uint64_t size) {
    const uint64_t offset = (end_ + kAlignment - 1) / kAlignment * kAlignment;
    end_ = offset + size;
    stored_.push_back({elements_of(tensor), offset});
    tensor.data_location = kDataExternal;
    tensor.external_data = {{"location", location_, {}},
                            {"offset", text_.emplace_back(std::to_string(offset)), {}},
                            {"length", text_.emplace_back(std::to_string(size)), {}}};
    moved_.insert(&tensor);
  }

  void embed(TensorProto& tensor, const TensorBytes& bytes) {
    elements_of(tensor);
    tensor.data_location.reset();
    tensor.external_data.clear();
    tensor.raw_data = bytes.bytes;
    if (bytes.bytes.data() == nullptr) tensor.raw_data = {reinterpret_cast<const std::byte*>(""), 0};
    moved_.insert(&tensor);
  }

  // Takes the elements out of a tensor.
  static TensorProto elements_of(TensorProto& tensor) {
    TensorProto out;
    out.dims = tensor.dims;
    out.data_type = tensor.data_type;
    out.name = tensor.name;
    out.data_location = tensor.data_location;
    out.external_data = tensor.external_data;
    out.raw_data = std::exchange(tensor.raw_data, {});
    out.float_data = std::exchange(tensor.float_data, {});
    out.int32_data = std::exchange(tensor.int32_data, {});
    out.int64_data = std::exchange(tensor.int64_data, {});
    out.double_data = std::exchange(tensor.double_data, {});
    out.uint64_data = std::exchange(tensor.uint64_data, {});
    return out;
  }

  const ModelFile& model_;
  ModelProto proto_;
  std::string location_;
  const WriteOptions& options_;
  std::deque<std::string> text_;
  std::vector<Stored> stored_;
  std::set<const TensorProto*> moved_;
  uint64_t end_ = 0;
};

Status write_split(const ModelFile& model, const fs::path& path, const std::string& location,
                   const WriteOptions& options) {
  TRY_OK(check_location(location));
  const fs::path data_path = folder_of(path) / location;
  if (data_path.lexically_normal() == (folder_of(path) / path.filename()).lexically_normal()) {
    return usage("external.path", "the data file and the model cannot have the same name");
  }
  Splitter splitter(model, location, options);
  TRY_OK(splitter.split());
  TRY_OK(create_folder(data_path.parent_path()));
  TRY(AtomicFile data, AtomicFile::create(data_path));
  TRY_OK(splitter.write_data(data));
  TRY(AtomicFile target, AtomicFile::create(path));
  const Encoded encoded = serialize(splitter.proto());
  TRY_OK(write_pieces(target, encoded.pieces()));
  TRY_OK(data.commit());
  return target.commit();
}

Result<std::set<std::string, std::less<>>> locations_of(const ModelProto& model) {
  std::set<std::string, std::less<>> out;
  Status walked;
  for_each_tensor(model, [&](const TensorProto& tensor, TensorRole) {
    if (!walked || !is_external(tensor)) return;
    Result<ExternalRange> range = external_range(tensor);
    if (range) {
      out.emplace(range->location);
    } else {
      walked = at(fmt::format("tensor \"{:.200}\"", tensor.name), std::move(range).error());
    }
  });
  TRY_OK(walked);
  return out;
}

// The data files of the model go along under their own names.
Status copy_data(const ModelFile& model, const fs::path& path, std::vector<AtomicFile>& copies) {
  TRY(const auto locations, locations_of(model.proto));
  if (!model.external) {
    return refuse("external.path", "the data is in another file, and this model was not read from a folder");
  }
  for (const std::string& location : locations) {
    if (fs::path(location).lexically_normal() == path.filename()) {
      return refuse("external.path", "the model would replace its own data file \"{:.200}\"", location);
    }
    if (same_folder(model.path, path)) continue;
    TRY(const auto source, model.external->open(location));
    const fs::path target = folder_of(path) / location;
    TRY_OK(create_folder(target.parent_path()));
    TRY(AtomicFile copy, AtomicFile::create(target));
    TRY_OK(write_pieces(copy, {source->bytes()}));
    copies.push_back(std::move(copy));
  }
  return {};
}

}  // namespace

Status write_model(const ModelFile& model, const fs::path& path, const WriteOptions& options) {
  if (options.external_data) return write_split(model, path, *options.external_data, options);
  if (serialized_size(model.proto) > options.largest_model) {
    return write_split(model, path, path.filename().string() + ".data", options);
  }
  std::vector<AtomicFile> copies;
  if (any_external(model.proto)) TRY_OK(copy_data(model, path, copies));
  TRY(AtomicFile target, AtomicFile::create(path));
  const Encoded encoded = serialize(model.proto);
  TRY_OK(write_pieces(target, encoded.pieces()));
  for (AtomicFile& copy : copies) TRY_OK(copy.commit());
  return target.commit();
}

}  // namespace anyshape::onnx
