#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "anyshape/session.h"
#include "anyshape/terminal.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The files and folders of a command. What it has made goes again unless all of it is done.
class Made {
 public:
  ~Made() {
    std::error_code ignored;
    for (auto it = paths_.rbegin(); it != paths_.rend(); ++it) fs::remove(*it, ignored);
  }
  void add(fs::path path) { paths_.push_back(std::move(path)); }
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

Status prepare_folder(const fs::path& folder, Made& made) {
  std::error_code wrong;
  std::vector<fs::path> missing;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, wrong); at = at.parent_path()) missing.push_back(at);
  fs::create_directories(folder, wrong);
  if (wrong || !fs::is_directory(folder)) {
    const std::string why = wrong ? wrong.message() : "it is no folder";
    return fail(
        {Error::Kind::usage, "file.write", folder.string(), fmt::format("the folder cannot be made: {}", why), ""});
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) made.add(*it);
  return {};
}

Status write_outputs(const Session& session, const std::vector<AnyValue>& values, const RunArguments& arguments,
                     Made& made) {
  const fs::path folder = arguments.output;
  if (arguments.format == "npz") {
    std::vector<std::pair<std::string, AnyValue>> named;
    for (size_t i = 0; i < values.size(); ++i) {
      auto columns = values[i].columns(session.outputs()[i].name);
      if (!columns) return fail(columns.error());
      named.insert(named.end(), columns->begin(), columns->end());
    }
    return write_npz(folder / "outputs.npz", named);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const bool as_text = arguments.format == "npy" && values[i].kind() != AnyValue::Kind::tensor;
    const fs::path file = folder / fmt::format("output_{}.{}", i, as_text ? "json" : arguments.format);
    const Status written =
        as_text ? write_text(file.string(), values[i].json()) : values[i].write(file, session.outputs()[i].name);
    if (!written) return fail(written.error());
    made.add(file);
  }
  return {};
}

struct Ran {
  std::vector<AnyValue> outputs;
  std::vector<ProfiledStep> steps;  // of the last run
  std::vector<double> seconds;      // of each timed run
};

// Once, and then `repeat` times with a clock.
Result<Ran> run_all(Context& context, const std::vector<AnyValue>& inputs, const RunArguments& arguments) {
  Ran ran;
  if (!arguments.profile.empty()) context.observe([&](const ProfiledStep& step) { ran.steps.push_back(step); });
  RunOptions options;
  options.seed = static_cast<uint64_t>(arguments.inputs.seed);
  for (int64_t i = 0; i <= arguments.repeat; ++i) {
    ran.steps.clear();
    ran.outputs.clear();
    const auto start = Clock::now();
    auto outputs = context.run(inputs, options);
    const std::chrono::duration<double> time = Clock::now() - start;
    if (!outputs) return fail(outputs.error());
    ran.outputs = *std::move(outputs);
    if (i > 0) ran.seconds.push_back(time.count());
  }
  context.observe({});
  return ran;
}

std::string text_of(const Session& session, Ran& ran, const RunArguments& arguments) {
  std::string out;
  if (!arguments.inputs.random.empty()) out += fmt::format("seed {}\n", arguments.inputs.seed);
  for (size_t i = 0; i < ran.outputs.size(); ++i)
    out += fmt::format("{}  {}\n", printable_name(session.outputs()[i].name), ran.outputs[i].summary());
  if (ran.seconds.empty()) return out;
  std::sort(ran.seconds.begin(), ran.seconds.end());
  return out + fmt::format("time  best {:.3f} ms  median {:.3f} ms  of {} runs\n", ran.seconds.front() * 1e3,
                           ran.seconds[ran.seconds.size() / 2] * 1e3, ran.seconds.size());
}

// A trace is written after the run: what is against it is known before.
Status check_profile(const RunArguments& arguments) {
  const fs::path file = arguments.profile;
  if (file.empty()) return {};
  if (arguments.engine.engine != "anyshape")
    return fail(usage_error("usage.profile", "only --engine anyshape tells its steps to --profile"));
  std::error_code ignored;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (fs::is_directory(folder, ignored) && !fs::is_directory(file, ignored)) return {};
  const auto why = fs::is_directory(file, ignored) ? std::errc::is_a_directory : std::errc::no_such_file_or_directory;
  return fail({Error::Kind::usage,
               "file.write",
               file.string(),
               fmt::format("the file cannot be written: {}", std::make_error_code(why).message()),
               {}});
}

Status run_model(const RunArguments& arguments, std::string& text) {
  if (auto fits = check_profile(arguments); !fits) return fits;
  const auto loaded = load_model(arguments.model);
  if (!loaded) return fail(loaded.error());
  const auto model = fed_with(*loaded, arguments.inputs);
  if (!model) return fail(model.error());
  const auto session = make_session(*model, arguments.engine);
  if (!session) return fail(session.error());
  const auto inputs = read_inputs(*model, *session, arguments.inputs);
  if (!inputs) return fail(inputs.error());
  Made made;
  if (!arguments.output.empty())
    if (auto prepared = prepare_folder(arguments.output, made); !prepared) return prepared;
  Context context(*session, arguments.engine.threads);
  auto ran = run_all(context, *inputs, arguments);
  if (!ran) return fail(ran.error());
  text = text_of(*session, *ran, arguments);
  if (!arguments.output.empty())
    if (auto written = write_outputs(*session, ran->outputs, arguments, made); !written) return written;
  made.keep();
  return arguments.profile.empty() ? Status() : write_text(arguments.profile, chrome_trace(ran->steps));
}

}  // namespace

SessionOptions session_options(const EngineArguments& arguments) {
  SessionOptions options;
  options.engine = arguments.engine;
  options.optimize = !arguments.reference;
  options.without = arguments.without;
  options.exact = arguments.exact;
  options.ort_library = arguments.library;
  options.ort_threads = arguments.threads;
  return options;
}

Result<Session> make_session(const Model& model, const EngineArguments& arguments) {
  return Session::from_model(model, session_options(arguments));
}

int run_run(const RunArguments& arguments) {
  std::string text;
  const Status done = run_model(arguments, text);
  const int code = text.empty() ? kDone : write_output("", text);
  return done ? code : worse(code, report_error(done.error()));
}

}  // namespace anyshape::cli
