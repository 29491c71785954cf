#include "lower/from_file.h"

#include "base/among.h"
#include "ir/graph_builder.h"
#include "lower/pt2/from_pt2.h"
#include "lower/torchscript/from_torchscript.h"

namespace anyshape::lower {
namespace {

// A kind of file that holds a program.
struct Reader {
  std::string_view extension;
  bool (*reads)(const ZipReader&);
  Result<Lowered> (*lower)(const ZipFile&, const Request&, const OpTable&);
};

// By the lowest opset from the wanted one on that has every operator, if the request lets it grow.
template <class Program>
Result<Lowered> by_lowest_opset(Result<Lowered> (*lower)(const Program&, const Request&, const OpTable&),
                                const Program& program, Request request, const OpTable& ops) {
  std::vector<std::string> reasons;
  Result<Lowered> out = lower(program, request, ops);
  for (; !out && request.opset_grows && out.error().code == kOpsetCode && request.opset < kLastOpset;
       out = lower(program, request, ops)) {
    if (!among(out.error().message, reasons)) reasons.push_back(out.error().message);
    ++request.opset;
  }
  if (!out) return out;
  out->opset = request.opset;
  for (const std::string& reason : reasons) out->notes.push_back(fmt::format("opset {}: {}", request.opset, reason));
  return out;
}

Result<Lowered> lower_script(const ZipFile& file, const Request& request, const OpTable& ops) {
  TRY(const torchscript::Script script, torchscript::read_script(file));
  return by_lowest_opset(from_torchscript, script, request, ops);
}

Result<Lowered> lower_exported(const ZipFile& file, const Request& request, const OpTable& ops) {
  TRY(const pt2::ExportedProgram program, pt2::read_program(file));
  return by_lowest_opset(from_pt2, program, request, ops);
}

// The first that fits is taken; the last says what is wrong with files that are none of them.
constexpr Reader kReaders[] = {
    {".pt", torchscript::is_script, lower_script},
    {".pt2", [](const ZipReader&) { return true; }, lower_exported},
};

}  // namespace

Result<Lowered> from_file(const ZipFile& file, std::string_view extension, const Request& request, const OpTable& ops) {
  const Reader* found = std::end(kReaders) - 1;
  for (const Reader& reader : kReaders)
    if (file.zip ? reader.reads(*file.zip) : reader.extension == extension) {
      found = &reader;
      break;
    }
  return found->lower(file, request, ops);
}

}  // namespace anyshape::lower
