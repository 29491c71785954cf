// run_ort DATA_DIR [--kind node] [--case NAME] [--lib FILE] [--bytes] [--clamp]: runs every case under
// DATA_DIR/<kind>/<case> in ONNX Runtime and compares the outputs with the expected ones. Prints what was refused and
// what was wrong, then `N passed, N refused, N wrong`. --bytes: models and values go through memory and our own .pb
// writer first. --clamp: and version numbers newer than ONNX Runtime knows are lowered.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "anyshape/test_folder.h"
#include "format/onnx/datum.h"
#include "format/onnx/file.h"
#include "format/onnx/import.h"
#include "ops/all.h"
#include "run/ort/session.h"
#include "verify/compare.h"

namespace fs = std::filesystem;
using namespace anyshape;

namespace {

struct Options {
  fs::path data;
  std::string kind, only;
  OrtOptions ort;
  bool bytes = false, clamp = false;
};

// Written and read again, so that the writer is tested too.
Result<Datum> rewritten(const Datum& datum, Fact::Kind kind) {
  TRY(auto bytes, onnx::serialize_datum(datum, "x"));
  const auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return onnx::parse_datum(*owner, kind, owner);
}

Result<std::vector<Datum>> read_data(const Options& options, const Graph& graph, const std::vector<ValueId>& ids,
                                     const fs::path& folder, const char* stem) {
  std::vector<Datum> out;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto& declared = graph.values[ids[i]].declared;
    const Fact::Kind kind = declared ? declared->kind : Fact::Kind::tensor;
    TRY(Datum datum, onnx::read_datum(value_file(folder, stem, i), kind));
    if (options.bytes) {
      TRY(datum, rewritten(datum, kind));
    }
    out.push_back(std::move(datum));
  }
  return out;
}

// Empty, or the first difference.
Result<std::string> run_set(const Options& options, const Graph& graph, const OrtSession& session,
                            const fs::path& folder, const Tolerance& tolerance) {
  TRY(const std::vector<Datum> inputs, read_data(options, graph, graph.required_inputs(), folder, "input"));
  TRY(const std::vector<Datum> want, read_data(options, graph, graph.outputs, folder, "output"));
  TRY(const std::vector<Datum> got, session.run(inputs));
  for (size_t i = 0; i < want.size(); ++i)
    if (std::string wrong = difference(got[i], want[i], tolerance); !wrong.empty())
      return fmt::format("output {}: {}", i, wrong);
  return std::string();
}

std::vector<std::byte> model_bytes(const Options& options, onnx::ModelProto model) {
  constexpr int64_t kIrVersion = 13, kOpset = 26, kMlOpset = 5;
  if (options.clamp) {
    model.ir_version = std::min(model.ir_version.value_or(kIrVersion), kIrVersion);
    for (auto& opset : model.opset_import)
      opset.version = std::min(opset.version.value_or(1), opset.domain.empty() ? kOpset : kMlOpset);
  }
  return onnx::serialize(model).bytes();
}

Result<std::string> run_case(const Options& options, const TestFolder& folder) {
  TRY(const auto file, onnx::read_model(folder.model()));
  TRY(const auto graph, onnx::import_model(file, all_ops()));
  TRY(const auto session, options.bytes ? OrtSession::load(options.ort, model_bytes(options, file.proto))
                                        : OrtSession::load(options.ort, folder.model()));
  for (const fs::path& set : folder.sets) {
    TRY(std::string wrong, run_set(options, *graph, *session, set, folder.tolerance));
    if (!wrong.empty()) return wrong;
  }
  return std::string();
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (arg == "--kind")
      options.kind = next();
    else if (arg == "--case")
      options.only = next();
    else if (arg == "--lib")
      options.ort.library = next();
    else if (arg == "--bytes")
      options.bytes = true;
    else if (arg == "--clamp")
      options.bytes = options.clamp = true;
    else
      options.data = arg;
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  int passed = 0, refused = 0, wrong = 0;
  const auto folders = listed_test_folders(options.data);
  if (!folders) {
    fmt::print("{}\n", folders.error().text());
    return 1;
  }
  for (const TestFolder& folder : *folders) {
    const std::string kind = folder.path.parent_path().filename().string(), name = folder.path.filename().string();
    if (!options.kind.empty() && options.kind != kind) continue;
    if (!options.only.empty() && options.only != name) continue;
    const auto ran = run_case(options, folder);
    (!ran ? refused : ran->empty() ? passed : wrong)++;
    if (!ran) fmt::print("REFUSED {}/{}: {}\n", kind, name, ran.error().text());
    if (ran && !ran->empty()) fmt::print("WRONG {}/{}: {}\n", kind, name, *ran);
  }
  fmt::print("{} passed, {} refused, {} wrong\n", passed, refused, wrong);
  return passed > 0 ? 0 : 1;
}
