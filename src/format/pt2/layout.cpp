#include "format/pt2/layout.h"

#include <algorithm>
#include <optional>

namespace anyshape::pt2 {
namespace {

constexpr std::string_view kResave =
    "python -c \"import torch; torch.export.save(torch.export.load('old.pt2'), 'new.pt2')\" with PyTorch 2.9 or later";
constexpr std::string_view kExport = "torch.export.save(torch.export.export(model.eval(), args), 'model.pt2')";

tl::unexpected<Error> with_hint(tl::unexpected<Error> error, std::string_view hint) {
  error.value().hint = hint;
  return error;
}

// The name without its first folder.
std::string_view below_root(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

// Whether a member ends in `name`, at the top or in the first folder.
bool has(const ZipReader& archive, std::string_view name) {
  return std::any_of(archive.members().begin(), archive.members().end(),
                     [&](const ZipMember& m) { return m.name == name || below_root(m.name) == name; });
}

bool has_folder(const ZipReader& archive, std::string_view folder) {
  return std::any_of(archive.members().begin(), archive.members().end(), [&](const ZipMember& m) {
    return m.name.starts_with(folder) || below_root(m.name).starts_with(folder);
  });
}

// [ROOT/]models/MODEL.json
std::optional<Layout> as_program(const ZipMember& member) {
  constexpr std::string_view kFolder = "models/", kEnd = ".json";
  const std::string_view name = member.name;
  std::string_view rest = name;
  if (!rest.starts_with(kFolder)) rest = below_root(name);
  if (!rest.starts_with(kFolder) || !rest.ends_with(kEnd)) return std::nullopt;
  const std::string_view model = rest.substr(kFolder.size(), rest.size() - kFolder.size() - kEnd.size());
  if (model.empty() || model.find('/') != std::string_view::npos) return std::nullopt;
  return Layout{std::string(name.substr(0, name.size() - rest.size())), std::string(model), &member};
}

tl::unexpected<Error> foreign(const ZipReader& archive) {
  if (has(archive, "serialized_exported_program.json")) {
    return with_hint(
        refuse("pt2.layout", "the program was saved by PyTorch 2.7 or older, in a layout that is not read"), kResave);
  }
  if (has_folder(archive, "data/aotinductor/")) {
    return with_hint(refuse("pt2.layout", "it is a package compiled by AOTInductor, without the program itself"),
                     kExport);
  }
  if (has_folder(archive, "code/") && has(archive, "constants.pkl")) {
    return with_hint(refuse("pt2.layout", "it is a TorchScript file (.pt), not an exported program (.pt2)"), kExport);
  }
  if (has(archive, "data.pkl")) {
    return with_hint(refuse("pt2.layout", "it was written by torch.save: weights or a pickled module, no program"),
                     kExport);
  }
  return with_hint(refuse("pt2.layout", "the archive holds no models/*.json: it is no exported program"), kExport);
}

// A small member such as archive_version; empty where there is none.
Result<std::string> small_text(const ZipReader& archive, const std::string& name) {
  constexpr uint64_t kLongest = 64;
  const ZipMember* member = archive.find(name);
  if (member == nullptr || member->size > kLongest) return std::string();
  TRY(const ZipContent content, archive.read(*member));
  std::string out(reinterpret_cast<const char*>(content.bytes.data()), content.bytes.size());
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  return out;
}

Status check_archive(const ZipReader& archive, const Layout& layout) {
  TRY(const std::string order, small_text(archive, layout.root + "byteorder"));
  if (!order.empty() && order != "little")
    return refuse("pt2.layout", "the weights are stored in {} endian order", order);
  TRY(const std::string version, small_text(archive, layout.root + "archive_version"));
  if (!version.empty() && version != "0") {
    return refuse("pt2.layout", "the archive has version {}, anyshape reads version 0", version);
  }
  const std::string weights = layout.root + "data/weights/" + layout.model;
  if (archive.find(weights + ".pt") != nullptr) {
    return with_hint(refuse("pt2.layout", "the program was saved by PyTorch 2.8, with its weights in one pickle"),
                     kResave);
  }
  return {};
}

}  // namespace

Status check_is_archive(std::span<const std::byte> bytes) {
  const auto byte = [&](size_t i) { return i < bytes.size() ? std::to_integer<int>(bytes[i]) : -1; };
  if (byte(0) == 'P' && byte(1) == 'K') return {};
  // Field 1 of an ONNX model is its IR version, a small number.
  if (byte(0) == 0x08 && byte(1) > 0 && byte(1) < 0x20) {
    return refuse("pt2.layout", "it looks like an ONNX model, not like an exported program (.pt2)");
  }
  if (byte(0) == 0x80 && byte(1) >= 2 && byte(1) <= 5) {
    return with_hint(refuse("pt2.layout", "it is a pickle, as torch.save of PyTorch before 1.6 wrote it"), kExport);
  }
  return {};
}

Result<Layout> find_layout(const ZipReader& archive) {
  std::optional<Layout> found;
  for (const ZipMember& member : archive.members()) {
    auto candidate = as_program(member);
    if (candidate && (!found || (candidate->model == "model" && found->model != "model"))) found = std::move(candidate);
  }
  if (!found) return foreign(archive);
  TRY_OK(check_archive(archive, *found));
  return *found;
}

}  // namespace anyshape::pt2
