#include <algorithm>
#include <array>
#include <set>

#include "base/zip.h"
#include "format/pt2/decode.h"
#include "format/pt2/layout.h"
#include "format/pt2/weights.h"

namespace anyshape::pt2 {
namespace {

// What tensors that are not row-major may take in all, beside the size of the archive.
constexpr uint64_t kWrittenOut = uint64_t{1} << 28;

Result<ExportedProgram> read_json(const ZipReader& archive, const ZipMember& member) {
  ExportedProgram out;
  auto status = with_json(archive, member, json_into(out, read_exported_program));
  if (!status) return at(member.name, std::move(status).error());
  return out;
}

Status read_all_weights(const ZipReader& archive, const Layout& layout, uint64_t budget, ExportedProgram& out) {
  for (const auto& [kind, other] : {std::pair{"weights", "model_param"}, std::pair{"constants", "model_constants"}}) {
    const std::string folder = fmt::format("{}data/{}/", layout.root, kind);
    const ZipMember* config = archive.find(fmt::format("{}{}_{}_config.json", folder, layout.model, kind));
    if (config == nullptr) config = archive.find(fmt::format("{}{}_{}_config.json", folder, layout.model, other));
    if (config != nullptr) TRY_OK(read_weights(archive, *config, folder, budget, out.weights));
  }
  return {};
}

Status check_weights(const ExportedProgram& program) {
  for (const InputSpec& spec : program.inputs) {
    using Kind = InputSpec::Kind;
    const bool lifted = spec.kind == Kind::parameter || spec.kind == Kind::buffer || spec.kind == Kind::constant_tensor;
    if (lifted && !program.weights.contains(spec.target)) {
      return refuse("pt2.weight", "the archive holds no tensor for {:?}", spec.target);
    }
  }
  return {};
}

}  // namespace

Result<ExportedProgram> read_program(const ZipFile& file) {
  TRY_OK(check_is_archive(file.bytes()));
  if (!file.zip) return tl::unexpected(file.zip.error());
  const ZipReader& archive = *file.zip;
  TRY(const Layout layout, find_layout(archive));
  TRY(ExportedProgram out, read_json(archive, *layout.program));
  TRY_OK(read_all_weights(archive, layout, kWrittenOut + archive.file_bytes(), out));
  TRY_OK(check_weights(out));
  return out;
}

}  // namespace anyshape::pt2
