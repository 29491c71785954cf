#include "format/onnx/file.h"

#include <string_view>
#include <utility>

namespace anyshape::onnx {
namespace {

// A likely reason why bytes are not a model, for the hint.
std::string_view likely_mistake(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("version https://git-lfs")) return "git lfs pull (this is a Git LFS pointer, not the model)";
  if (text.starts_with("PK\x03\x04")) return "anyshape export (this is a zip archive, perhaps a PyTorch file)";
  return {};
}

Result<ModelFile> parse_file(std::shared_ptr<const MappedFile> file) {
  if (file->bytes().empty()) return refuse("onnx.truncated", "the file is empty");
  // Parsing steps over the weights; they are not to be read ahead.
  file->expect_jumps();
  Result<ModelProto> proto = parse_model(file->bytes());
  file->expect_streams();
  if (!proto) {
    Error error = std::move(proto).error();
    error.hint = likely_mistake(file->bytes());
    return tl::unexpected(std::move(error));
  }
  ModelFile model;
  model.file = std::move(file);
  model.proto = *std::move(proto);
  return model;
}

}  // namespace

Result<TensorBytes> ModelFile::tensor(const TensorProto& tensor) const {
  TRY(TensorBytes out, tensor_bytes(tensor, external.get()));
  if (!out.owner) out.owner = file;
  return out;
}

Result<ModelFile> read_model(const std::filesystem::path& path) {
  TRY(auto file, MappedFile::open(path));
  Result<ModelFile> model = parse_file(std::move(file));
  if (!model) return at(path.string(), std::move(model).error());
  model->path = path;
  model->external = std::make_shared<ExternalFiles>(path.parent_path());
  return model;
}

Result<ModelFile> read_model_bytes(std::vector<std::byte> bytes) {
  return parse_file(MappedFile::from_bytes(std::move(bytes)));
}

}  // namespace anyshape::onnx
