#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>

#include "anyshape/session.h"
#include "anyshape/work.h"
#include "cli.h"
#include "progress.h"

namespace anyshape::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModel = "model.onnx", kSet = "test_data_set_";

// Those of ONNX's own test runner.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

struct Tally {
  int64_t passed = 0, failed = 0;
};

// The tolerances in DIR/manifest.tsv of a test in DIR/KIND/NAME: lines of kind, name, relative, absolute, sets.
class Manifests {
 public:
  Tolerance of(const fs::path& test) {
    const fs::path root = test.parent_path().parent_path();
    const auto [entry, fresh] = files_.try_emplace(root);
    if (fresh) entry->second = read(root / "manifest.tsv");
    const auto& rows = entry->second;
    const auto it = rows.find({test.parent_path().filename().string(), test.filename().string()});
    return it == rows.end() ? Tolerance() : it->second;
  }

 private:
  using Rows = std::map<std::pair<std::string, std::string>, Tolerance>;

  static Rows read(const fs::path& path) {
    Rows rows;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::vector<std::string> fields;
      for (size_t begin = 0; begin <= line.size();) {
        const size_t end = std::min(line.find('\t', begin), line.size());
        fields.push_back(line.substr(begin, end - begin));
        begin = end + 1;
      }
      Tolerance tolerance;
      if (fields.size() >= 4 && number(fields[2], tolerance.relative) && number(fields[3], tolerance.absolute))
        rows[{fields[0], fields[1]}] = tolerance;
    }
    return rows;
  }

  static bool number(const std::string& text, double& to) {
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), to);
    return wrong == std::errc() && end == text.data() + text.size();
  }

  std::map<fs::path, Rows> files_;
};

// The data sets of a test in the order of their numbers.
std::vector<fs::path> sets_of(const fs::path& test) {
  std::vector<fs::path> sets;
  std::error_code wrong;
  for (const auto& entry : fs::directory_iterator(test, wrong))
    if (entry.path().filename().string().starts_with(kSet) && entry.is_directory(wrong)) sets.push_back(entry.path());
  std::sort(sets.begin(), sets.end(), [](const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string(), y = b.filename().string();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return sets;
}

bool is_test(const fs::path& folder) {
  std::error_code wrong;
  return fs::is_regular_file(folder / kModel, wrong) && !sets_of(folder).empty();
}

Result<std::vector<fs::path>> find_tests(const std::string& root) {
  std::error_code wrong;
  if (!fs::is_directory(root, wrong))
    return fail({Error::Kind::usage, "file.open", root,
                 wrong ? "the folder cannot be opened: " + wrong.message() : "it is no folder", ""});
  std::vector<fs::path> tests;
  if (is_test(root)) tests.push_back(fs::path(root));
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(root, options, wrong), end; !wrong && it != end; it.increment(wrong)) {
    if (!it->is_directory() || !is_test(it->path())) continue;
    tests.push_back(it->path());
    it.disable_recursion_pending();
  }
  if (wrong) return fail({Error::Kind::usage, "file.open", root, "the folder cannot be read: " + wrong.message(), ""});
  std::sort(tests.begin(), tests.end());
  return tests;
}

Result<std::vector<AnyValue>> read_values(const fs::path& set, const std::vector<IoInfo>& infos, std::string_view stem,
                                          bool all) {
  std::vector<AnyValue> values;
  for (size_t i = 0; i < infos.size(); ++i) {
    const fs::path path = set / fmt::format("{}_{}.pb", stem, i);
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
  return fs::exists(sets[0] / fmt::format("input_{}.pb", last)) ? model.overriding(names) : model;
}

Status run_set(const Session& session, Context& context, const fs::path& set, const Tolerance& tolerance) {
  const auto inputs = read_values(set, session.inputs(), "input", true);
  if (!inputs) return fail(inputs.error());
  const auto want = read_values(set, session.outputs(), "output", false);
  if (!want) return fail(want.error());
  const auto got = context.run(*inputs);
  if (!got) return fail(got.error());
  for (size_t i = 0; i < want->size(); ++i) {
    const std::string wrong = difference((*got)[i], (*want)[i], tolerance.relative, tolerance.absolute);
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
  Status run_test(const fs::path& test, std::vector<std::string>& operators);
  std::string summary() const;

  const TestArguments& arguments_;
  Manifests manifests_;
  std::map<std::string, Tally> by_operator_;
  Tally all_;
};

Status Tester::run_test(const fs::path& test, std::vector<std::string>& operators) {
  const auto loaded = Model::load(test / kModel);
  if (!loaded) return fail(loaded.error());
  const auto model = as_tested(*loaded, sets_of(test));
  if (!model) return fail(model.error());
  for (const auto& [type, count] : model->info().operators) operators.push_back(type);
  const auto session = make_session(*model, arguments_.engine);
  if (!session) return fail(session.error());
  Context context(*session, arguments_.engine.threads);
  for (const fs::path& set : sets_of(test))
    if (auto ran = run_set(*session, context, set, manifests_.of(test)); !ran) return ran;
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
  std::vector<fs::path> tests;
  for (const std::string& folder : arguments_.folders) {
    const auto found = find_tests(folder);
    if (!found) return report_error(found.error());
    if (found->empty())
      return report_error({Error::Kind::usage, "test.none", folder,
                           fmt::format("there is no folder with {} and {}0 in it", kModel, kSet), ""});
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
    code = worse(code, write_output("", line("FAIL {}", tests[i].string()) + line("     {}", ran.error().text())));
  }
  progress.clear();
  const std::string text = arguments_.quiet ? "" : summary();
  return worse(code, write_output("", text + fmt::format("{} passed, {} failed\n", all_.passed, all_.failed)));
}

}  // namespace

int run_test(const TestArguments& arguments) { return Tester(arguments).run(); }

}  // namespace anyshape::cli
