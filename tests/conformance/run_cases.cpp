// run_cases DATA_DIR [--mode reference|plan|symbolic|simplified] [--engine anyshape|device] [--op NAME] [--kind node]
// [--case NAME] [--list]: runs
// every case under DATA_DIR/<kind>/<case> and compares the outputs with the expected ones. Modes: node by node with
// reference kernels; by an optimised plan (the default); by a plan of the same model with every input axis a symbol and
// output shapes dropped; by a plan of what fix --simplify makes of the latter, written and read. Prints failures, with
// --list a row per operator, and `N passed, N failed`. run_cases --folders DIR: the same for every folder below DIR
// that has a model.onnx and test_data_set_N beside it; floats may differ by 1e-4 of their value, or by what --rtol and
// --atol say.
// --expected FILE: names of cases that are known to fail, each with its reason; they count apart.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "../engine/device.h"
#include "anyshape/test_folder.h"
#include "engine/executable/reference.h"
#include "fix/simplify.h"
#include "format/onnx/datum.h"
#include "format/onnx/file.h"
#include "format/onnx/import.h"
#include "ops/all.h"
#include "passes/body.h"
#include "run/cpu/engine.h"
#include "run/engines.h"
#include "verify/compare.h"

namespace fs = std::filesystem;
using namespace anyshape;

namespace {

constexpr EngineRow kEngines[] = {
    {"anyshape", cpu::load},
    {"device", anyshape::testing::load_device},
};

struct Options {
  fs::path data;
  std::string mode = "plan", engine = "anyshape", op, kind, only;
  bool list = false, folders = false;
  Tolerance tolerance{1e-4, 1e-5};  // of folders without a list
  std::set<std::string> expected;
};

struct Tally {
  int passed = 0, failed = 0, expected = 0;
};

struct Case {
  TestFolder folder;
  std::string kind, name;  // a path from the data where there is no list
};

Result<std::vector<Case>> find_cases(const Options& options) {
  TRY(auto folders, options.folders ? find_test_folders(options.data) : listed_test_folders(options.data));
  std::vector<Case> out;
  for (TestFolder& folder : folders) {
    if (options.folders) folder.tolerance = options.tolerance;
    const fs::path path = fs::relative(folder.path, options.data);
    out.push_back({std::move(folder), options.folders ? "" : path.parent_path().string(),
                   options.folders ? path.string() : path.filename().string()});
  }
  return out;
}

Result<std::vector<Datum>> read_data(const Graph& graph, const std::vector<ValueId>& ids, const fs::path& folder,
                                     const char* stem) {
  std::vector<Datum> out;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto& declared = graph.values[ids[i]].declared;
    TRY(Datum datum, onnx::read_datum(value_file(folder, stem, i), declared ? declared->kind : Fact::Kind::tensor));
    out.push_back(std::move(datum));
  }
  return out;
}

// The same graph with nothing said about sizes.
std::shared_ptr<const Graph> without_sizes(const Graph& graph) {
  auto out = std::make_shared<Graph>(graph);
  for (Value& value : out->values)
    if (value.declared && value.declared->dims)
      for (DeclaredDim& dim : *value.declared->dims) dim = {};
  for (ValueId id : out->outputs)
    if (out->values[id].declared) out->values[id].declared->dims.reset();
  return out;
}

Result<std::vector<Datum>> run_plan(const std::string& engine, std::shared_ptr<const Graph> graph,
                                    const std::vector<Datum>& inputs) {
  TRY(const EngineRow* row, find_engine(kEngines, engine));
  EngineModel model;
  model.graph = graph;
  model.typed = std::make_shared<const Typed>(solve(inline_functions(graph)));
  EngineOptions options;
  options.verify = true;
  TRY(const auto executable, row->load(model, options));
  const auto context = executable->make_context(1);
  std::vector<Datum> outputs(graph->outputs.size());
  Run run;
  run.inputs = inputs;
  run.outputs = outputs;
  TRY_OK(context->run(run));
  return outputs;
}

Result<std::vector<Datum>> run_as(const Options& options, const std::shared_ptr<const Graph>& graph,
                                  const std::vector<Datum>& inputs) {
  if (options.mode == "reference") return run_reference(*graph, inputs);
  return run_plan(options.engine, options.mode == "symbolic" ? without_sizes(*graph) : graph, inputs);
}

Status run_set(const Options& options, const std::shared_ptr<const Graph>& shared, const fs::path& folder,
               const Tolerance& tolerance) {
  const Graph& graph = *shared;
  TRY(const std::vector<Datum> inputs, read_data(graph, graph.required_inputs(), folder, "input"));
  TRY(const std::vector<Datum> want, read_data(graph, graph.outputs, folder, "output"));
  TRY(const std::vector<Datum> got, run_as(options, shared, inputs));
  for (size_t i = 0; i < want.size(); ++i)
    if (const std::string wrong = difference(got[i], want[i], tolerance); !wrong.empty())
      return refuse("case.output", "output {} ({:?}): {}", i, graph.values[graph.outputs[i]].name, wrong);
  return {};
}

// The file as simplified for any size of its inputs, written and read again.
Result<onnx::ModelFile> simplified(const onnx::ModelFile& file, const Graph& graph) {
  const auto open = without_sizes(graph);
  if (solve(open).refusal()) return file;
  fixes::Edit edit(file.proto);
  TRY_OK(fixes::simplify(open, edit));
  return onnx::read_model_bytes(onnx::serialize(edit.proto).bytes());
}

Status run_case(const Options& options, const TestFolder& folder, std::string& op) {
  TRY(auto file, onnx::read_model(folder.model()));
  TRY(auto graph, onnx::import_model(file, all_ops()));
  op = graph->nodes.empty() ? "" : graph->nodes[0].type;
  if (!options.op.empty() && options.op != op) return {};
  if (options.mode == "simplified") {
    TRY(file, simplified(file, *graph));
    TRY(graph, onnx::import_model(file, all_ops()));
  }
  for (const fs::path& set : folder.sets) TRY_OK(run_set(options, graph, set, folder.tolerance));
  if (folder.sets.empty()) return refuse("case.data", "there is no test_data_set_0");
  return {};
}

// The names in a file of `NAME reason` lines; # begins a comment. A name without a reason does not count.
std::set<std::string> names_with_reasons(const fs::path& path) {
  std::set<std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, reason;
    if (line.starts_with('#') || !(fields >> name)) continue;
    if (!(fields >> reason)) fmt::print("no reason is given for {}\n", name);
    if (!reason.empty()) out.insert(name);
  }
  return out;
}

constexpr size_t kMostExpected = 30;

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const auto next = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string(); };
    if (arg == "--mode")
      options.mode = next();
    else if (arg == "--engine")
      options.engine = next();
    else if (arg == "--op")
      options.op = next();
    else if (arg == "--kind")
      options.kind = next();
    else if (arg == "--case")
      options.only = next();
    else if (arg == "--list")
      options.list = true;
    else if (arg == "--rtol")
      options.tolerance.relative = std::stod(next());
    else if (arg == "--atol")
      options.tolerance.absolute = std::stod(next());
    else if (arg == "--expected")
      options.expected = names_with_reasons(next());
    else if (arg == "--folders")
      options.folders = true;
    else
      options.data = arg;
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::map<std::string, Tally> by_op;
  Tally all;
  const auto cases = find_cases(options);
  if (!cases) {
    fmt::print("{}\n", cases.error().text());
    return 1;
  }
  for (const Case& listed : *cases) {
    if (!options.kind.empty() && options.kind != listed.kind) continue;
    if (!options.only.empty() && options.only != listed.name) continue;
    std::string op;
    const Status ran = run_case(options, listed.folder, op);
    if (!options.op.empty() && options.op != op) continue;
    if (!ran && options.expected.contains(fs::path(listed.name).filename().string())) {
      all.expected++;
      continue;
    }
    (ran ? all.passed : all.failed)++;
    (ran ? by_op[op].passed : by_op[op].failed)++;
    if (!ran) fmt::print("FAIL {}/{}: {}\n", listed.kind, listed.name, ran.error().text());
  }
  if (options.list)
    for (const auto& [op, tally] : by_op) fmt::print("{:30} {:5} passed {:5} failed\n", op, tally.passed, tally.failed);
  fmt::print("{} passed, {} failed, {} expected to fail\n", all.passed, all.failed, all.expected);
  return all.failed == 0 && all.passed > 0 && options.expected.size() <= kMostExpected ? 0 : 1;
}
