#include "lower/from_file.h"

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

Result<Lowered> lower_script(const ZipFile& file, const Request& request, const OpTable& ops) {
  TRY(const torchscript::Script script, torchscript::read_script(file));
  return from_torchscript(script, request, ops);
}

Result<Lowered> lower_exported(const ZipFile& file, const Request& request, const OpTable& ops) {
  TRY(const pt2::ExportedProgram program, pt2::read_program(file));
  return from_pt2(program, request, ops);
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
