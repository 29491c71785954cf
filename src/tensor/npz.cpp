#include <algorithm>

#include "base/nearest.h"
#include "base/utf8.h"
#include "tensor/npy.h"

namespace anyshape {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string member_of(std::string_view name) { return std::string(name).append(kSuffix); }

}  // namespace

Result<NpzFile> NpzFile::open(const std::filesystem::path& path) {
  TRY(ZipReader zip, ZipReader::open(path));
  NpzFile file(std::move(zip));
  file.path_ = path.string();
  for (const ZipMember& member : file.zip_.members())
    if (member.name.ends_with(kSuffix))
      file.names_.push_back(member.name.substr(0, member.name.size() - kSuffix.size()));
  return file;
}

bool NpzFile::has(std::string_view name) const { return zip_.find(member_of(name)) != nullptr; }

Result<Tensor> NpzFile::read(std::string_view name, DType wanted) const {
  const ZipMember* member = zip_.find(member_of(name));
  if (member == nullptr) {
    auto error = usage("npz.name", "the file has no array {:?}", shortened(name)).value();
    if (const std::string near = nearest(name, names_); !near.empty())
      error.hint = fmt::format("the name {:?} for the array {:?}", shortened(name), shortened(near));
    return at(path_, std::move(error));
  }
  const auto content = zip_.read(*member);
  if (!content) return at(path_, content.error());
  auto tensor = parse_npy(content->bytes, content->owner, wanted);
  if (!tensor) return at(path_, at(fmt::format("array {:?}", shortened(name)), std::move(tensor).error()).value());
  return tensor;
}

Status write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  TRY(ZipWriter zip, ZipWriter::create(path));
  for (const auto& [name, tensor] : tensors) {
    const auto bytes = encode_npy(tensor);
    if (!bytes) return at(path.string(), at(fmt::format("array {:?}", shortened(name)), bytes.error()).value());
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes->header)), bytes->elements};
    if (auto added = zip.add(member_of(name), pieces); !added) return at(path.string(), std::move(added).error());
  }
  return zip.finish();
}

}  // namespace anyshape
