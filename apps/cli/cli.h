#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "anyshape/check.h"
#include "anyshape/error.h"
#include "anyshape/export.h"
#include "anyshape/fix.h"
#include "anyshape/model.h"
#include "anyshape/mqh.h"
#include "anyshape/printable.h"
#include "anyshape/tolerance.h"
#include "inputs.h"

namespace anyshape::cli {

// Exit codes of the contract.
inline constexpr int kDone = 0, kFault = 1, kUsage = 2, kRefused = 3;

// The error as a Result of any type.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected(std::move(error)); }

// The graver of two exit codes: our fault, then usage, then a refusal.
int worse(int a, int b);
// How this command reads models (--strict).
ReadOptions& reading();
inline Result<Model> load_model(const std::string& path) { return Model::load(path, reading()); }
// Prints `error[CODE] place: sentence` on standard error and gives the exit code of the error.
int report_error(const Error& error);
// A line of text with its end: what a file controls cannot break it.
template <class... Args>
std::string line(fmt::format_string<Args...> text, Args&&... args) {
  return printable(fmt::vformat(fmt::string_view(text), fmt::make_format_args(args...))) + '\n';
}
template <class... Args>
void print_line(std::FILE* to, fmt::format_string<Args...> text, Args&&... args) {
  fmt::print(to, "{}", line(text, std::forward<Args>(args)...));
}
// Writes to the file, or to standard output when none is given.
int write_output(const std::string& file, const std::string& text);

// What `parse` makes of each text, appended.
template <class Parse, class T>
Status parse_each(const std::vector<std::string>& texts, Parse parse, std::vector<T>& into) {
  for (const std::string& text : texts) {
    auto parsed = parse(text);
    if (!parsed) return fail(parsed.error());
    into.push_back(*std::move(parsed));
  }
  return {};
}

// The values of --shape, one for each input at most. Usage error "shape.syntax".
Result<Shapes> parse_shapes(const std::vector<std::string>& texts);

struct CheckArguments {
  std::vector<std::string> models, shapes, require;
  std::string shapes_file, against, fail_on, format = "text", output, baseline, config, policy;
  bool no_config = false;
  CheckOptions options;
  bool quiet = false, all = false;
};

int run_check(CheckArguments arguments);
int run_explain(const std::string& model, const std::string& value);
int run_infer(const std::string& model, const std::string& output, bool expressions);
int run_info(const std::string& model);
int run_rules();

struct EngineArguments {
  std::string engine = "anyshape", library;
  int threads = 0;
  bool reference = false;                 // no passes, reference kernels only
  bool exact = false;                     // no convolution by other sums than the plain ones
  std::vector<std::string> without = {};  // passes to leave out
};

SessionOptions session_options(const EngineArguments& arguments);
// The model in the engine asked for.
Result<Session> make_session(const Model& model, const EngineArguments& arguments);

struct RunArguments {
  std::string model, output, format = "npy", profile;
  InputArguments inputs;
  EngineArguments engine;
  int64_t repeat = 0;  // timed runs; 0: run once, time nothing
};

struct PlanArguments {
  std::string model;
  std::vector<std::string> shapes;
  std::vector<std::string> without, dump;  // passes; the second also "source" and "all"
  std::string format = "text", output, profile;
  std::optional<int64_t> lanes = {};  // of blocked layouts
  bool exact = false;
};

struct TestArguments {
  std::vector<std::string> folders;
  EngineArguments engine;
  bool quiet = false;
};

struct BenchArguments {
  std::string model, peer, library;
  std::vector<std::string> shapes;
  int threads = 0;  // 0: the better of 1 and 2
};

struct ExportArguments {
  std::string program, output, dynamic_axes, policy = "any", guards = "record", training, external_data;
  std::vector<std::string> dynamic, inputs, freeze, custom, custom_shapes, golden;
  ExportOptions options;
  bool verify = false, quiet = false;
};

struct VerifyArguments {
  std::string model, other, shapes_file;
  Tolerance tolerance;
  int64_t seed = 0;
  EngineArguments engine;
  bool quiet = false, all = false;
};

struct FixArguments {
  std::string model, output, policy = "any", external_data;
  std::vector<std::string> dynamic, freeze, rename;
  FixOptions options;
  bool quiet = false;
};

struct Mql5Arguments {
  std::string model, output, scaler;
  std::vector<std::string> freeze;
  MqhOptions options;
  bool quiet = false;
};

// A target takes one file. Usage error "target.external-data".
Status check_one_file(const std::string& target, const std::string& external_data);

int run_export(ExportArguments arguments);
int run_fix(FixArguments arguments);
int run_mql5(Mql5Arguments arguments);
int run_verify(const VerifyArguments& arguments);
int run_run(const RunArguments& arguments);
int run_test(const TestArguments& arguments);
int run_bench(const BenchArguments& arguments);
int run_plan(const PlanArguments& arguments);

}  // namespace anyshape::cli
