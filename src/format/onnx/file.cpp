#include "format/onnx/file.h"

#include <string_view>
#include <utility>

#include "base/known_format.h"

namespace anyshape::onnx {
namespace {

Result<ModelFile> parse_file(std::shared_ptr<const MappedFile> file, std::string_view path) {
  // Parsing steps over the weights; they are not to be read ahead.
  file->expect_jumps();
  Result<ModelProto> proto = parse_model(file->bytes());
  file->expect_streams();
  if (!proto || !proto->graph)
    if (const auto format = known_format(file, path); format && format->holds != KnownFormat::Holds::model)
      return tl::unexpected(foreign_file(*format));
  if (!proto) return tl::unexpected(std::move(proto).error());
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
  Result<ModelFile> model = parse_file(std::move(file), path.string());
  if (!model) return at(path.string(), std::move(model).error());
  model->path = path;
  model->external = std::make_shared<ExternalFiles>(path.parent_path());
  return model;
}

Result<ModelFile> read_model_bytes(std::vector<std::byte> bytes) {
  return parse_file(MappedFile::from_bytes(std::move(bytes)), "FILE");
}

}  // namespace anyshape::onnx
