#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "anyshape/session.h"
#include "anyshape/test_folder.h"
#include "anyshape/work.h"
#include "cli.h"
#include "progress.h"

namespace anyshape::cli {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int64_t passed = 0, failed = 0;
};

Result<std::vector<AnyValue>> read_values(const fs::path& set, const std::vector<IoInfo>& infos, std::string_view stem,
                                          bool all) {
  std::vector<AnyValue> values;
  for (size_t i = 0; i < infos.size(); ++i) {
    const fs::path path = value_file(set, stem, i);
    if (!all && i > 0 && !fs::exists(path)) break;
    auto value = AnyValue::read(path, infos[i].kind, infos[i].type);
    if (!value) return fail(value.error());
    values.push_back(*std::move(value));
  }
  return values;
}

// A test may give values for the inputs that have a default: then there is a file for every input.
Result<Model> as_tested(const Model& model, const std::vector<fs::path>& sets) {
  std::vector<std::string> names;
  for (const ValueType& input : model.optional_inputs()) names.push_back(input.name);
  if (names.empty() || sets.empty()) return model;
  const size_t last = model.inputs().size() + names.size() - 1;
  return fs::exists(value_file(sets[0], "input", last)) ? model.overriding(names) : model;
}

Status run_set(const Session& session, Context& context, const fs::path& set, const Tolerance& tolerance) {
  const auto inputs = read_values(set, session.inputs(), "input", true);
  if (!inputs) return fail(inputs.error());
  const auto want = read_values(set, session.outputs(), "output", false);
  if (!want) return fail(want.error());
  const auto got = context.run(*inputs);
  if (!got) return fail(got.error());
  for (size_t i = 0; i < want->size(); ++i) {
    const std::string wrong = difference((*got)[i], (*want)[i], tolerance);
    if (!wrong.empty())
      return fail({Error::Kind::refused, "test.output", set.string(),
                   fmt::format("output {} ({:?}): {}", i, session.outputs()[i].name, wrong), ""});
  }
  return {};
}

class Tester {
 public:
  explicit Tester(const TestArguments& arguments) : arguments_(arguments) {}

  int run();

 private:
  Status run_test(const TestFolder& test, std::vector<std::string>& operators);
  std::string summary() const;

  const TestArguments& arguments_;
  std::map<std::string, Tally> by_operator_;
  Tally all_;
};

Status Tester::run_test(const TestFolder& test, std::vector<std::string>& operators) {
  const auto loaded = load_model(test.model());
  if (!loaded) return fail(loaded.error());
  const auto model = as_tested(*loaded, test.sets);
  if (!model) return fail(model.error());
  for (const auto& [type, count] : model->info().operators) operators.push_back(type);
  const auto session = make_session(*model, arguments_.engine);
  if (!session) return fail(session.error());
  Context context(*session, arguments_.engine.threads);
  for (const fs::path& set : test.sets)
    if (auto ran = run_set(*session, context, set, test.tolerance); !ran) return ran;
  return {};
}

std::string Tester::summary() const {
  size_t width = 0;
  for (const auto& [type, tally] : by_operator_) width = std::max(width, printable_name(type).size());
  std::string out;
  for (const auto& [type, tally] : by_operator_)
    out += line("{:<{}}  {:5} passed  {:5} failed", printable_name(type), width, tally.passed, tally.failed);
  return out;
}

int Tester::run() {
  std::vector<TestFolder> tests;
  for (const std::string& folder : arguments_.folders) {
    auto found = find_test_folders(folder);
    if (!found) return report_error(found.error());
    std::erase_if(*found, [](const TestFolder& test) { return test.sets.empty(); });
    if (found->empty())
      return report_error({Error::Kind::usage, "test.none", folder,
                           "there is no folder with model.onnx and test_data_set_0 in it", ""});
    tests.insert(tests.end(), found->begin(), found->end());
  }
  Progress progress(tests.size(), arguments_.quiet);
  int code = kDone;
  for (size_t i = 0; i < tests.size(); ++i) {
    progress.show(i);
    std::vector<std::string> operators;
    const Status ran = run_test(tests[i], operators);
    if (const auto going = check_work(); !going) {
      progress.clear();
      return report_error(going.error());
    }
    const auto count = [&](Tally& tally) { ++(ran ? tally.passed : tally.failed); };
    count(all_);
    for (const std::string& type : operators) count(by_operator_[type]);
    if (ran) continue;
    progress.clear();
    code = kRefused;
    code = worse(code, write_output("", line("FAIL {}", tests[i].path.string()) + line("     {}", ran.error().text())));
  }
  progress.clear();
  const std::string text = arguments_.quiet ? "" : summary();
  return worse(code, write_output("", text + fmt::format("{} passed, {} failed\n", all_.passed, all_.failed)));
}

}  // namespace

int run_test(const TestArguments& arguments) { return Tester(arguments).run(); }

}  // namespace anyshape::cli
