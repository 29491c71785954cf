#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>

#include "anyshape/process.h"
#include "anyshape/work.h"
#include "cli.h"
#include "command_line.h"
#include "help.h"
#include "progress.h"

namespace anyshape::cli {
namespace {
// The process may take more than its runs: weights that are packed, what malloc keeps back, stacks of threads.
int64_t process_bytes(int64_t max_bytes) {
  constexpr int64_t kMost = int64_t{1} << 50, kAlways = int64_t{64} << 20;
  max_bytes = std::min(max_bytes, kMost);
  return max_bytes + max_bytes / 4 + kAlways;
}

int run_within(WorkLimits limits, const std::function<int()>& command) {
  limits.cancel = &cancel_on_signals();
  if (limits.max_bytes > 0)
    if (const Status limited = limit_memory(process_bytes(limits.max_bytes)); !limited)
      return report_error(limited.error());
  const WorkScope scope(limits);
  const int code = command(), number = caught_signal();
  // As a shell tells it of a program that a signal has ended.
  return number != 0 && code != kDone ? 128 + number : code;
}

// Where an allocation fails that nobody can answer, too, it is no crash.
[[noreturn]] void end_without_memory() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    std::fputs("error[system.memory] out of memory\n", stderr);
    std::_Exit(kFault);
  } catch (...) {
  }
  std::abort();
}

// `anyshape`, `anyshape help COMMAND` and `anyshape version` as the options they stand for.
std::vector<std::string> spelled_out(std::vector<std::string> words) {
  if (words.empty()) return {"--help"};
  if (words.front() == "version") words.front() = "--version";
  if (words.front() != "help") return words;
  words.erase(words.begin());
  words.push_back("--help");
  return words;
}

int run(int argc, char** argv) {
  std::vector<std::string> words = spelled_out({argv + 1, argv + argc});
  const std::string first = words.front();
  tell_command(words);
  CommandLine line;
  const auto commands = command_names(line.app);
  if (!first.starts_with('-') && std::find(commands.begin(), commands.end(), first) == commands.end())
    return report_error(unknown_command(line.app, first));
  try {
    std::reverse(words.begin(), words.end());
    line.app.parse(words);
  } catch (const CLI::CallForHelp&) {
    return write_output("", help_text(line.app));
  } catch (const CLI::Success& e) {
    return line.app.exit(e);
  } catch (const CLI::ExtrasError&) {
    return report_error(unexpected_arguments(line.app, first));
  } catch (const CLI::RequiredError& e) {
    // What is misspelled is missing, too.
    if (!line.app.remaining(true).empty()) return report_error(unexpected_arguments(line.app, first));
    return report_error(unusable_arguments(line.app, e.what(), first));
  } catch (const CLI::ParseError& e) {
    return report_error(unusable_arguments(line.app, e.what(), first));
  }
  // The command that prints a bar of its own needs no other.
  const bool quiet = first == "test" || line.app.get_subcommand(first)->count("--quiet") > 0;
  const Waiting waiting("anyshape " + first, quiet);
  return run_within(line.limits, line.command);
}

}  // namespace
}  // namespace anyshape::cli

int main(int argc, char** argv) {
  using anyshape::Error;
  std::set_terminate(anyshape::cli::end_without_memory);
  try {
    return anyshape::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return anyshape::cli::report_error({Error::Kind::system, "system.memory", "", "out of memory", ""});
  } catch (const std::exception& e) {
    anyshape::cli::print_line(stderr, "anyshape: internal error: {}. This is a bug in anyshape; please report it.",
                              e.what());
    return anyshape::cli::kFault;
  }
}
