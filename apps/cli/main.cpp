#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <new>

#include "anyshape/version.h"
#include "cli.h"

namespace anyshape::cli {
namespace {

constexpr std::string_view kLater[] = {"export", "fix", "run", "test", "verify", "bench", "plan", "mql5"};

Error usage_error(std::string code, std::string message, std::string hint) {
  return {Error::Kind::usage, std::move(code), {}, std::move(message), std::move(hint)};
}

// An option that may be given several times, one value each.
template <class T>
CLI::Option* add_repeated(CLI::App* app, const std::string& flag, T& values, const std::string& help) {
  return app->add_option(flag, values, help)->allow_extra_args(false)->type_size(1);
}

struct Program {
  CLI::App app{"Proves which input shapes an ONNX model takes, and why.", "anyshape"};
  CheckArguments check;
  std::string policy = "any", target, custom_shape;
  std::string model, value, output, dims = "names";
  std::function<int()> command;

  Program();
  void add_check();
  void add_others();
  int run_check_command();
};

Program::Program() {
  app.set_version_flag("--version", fmt::format("anyshape {}", version()));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  add_check();
  add_others();
}

void Program::add_check() {
  CLI::App* sub = app.add_subcommand("check", "Which input shapes does a model take, and why?");
  sub->add_option("MODEL", check.models, "ONNX files")->required();
  add_repeated(sub, "--shape", check.shapes, "NAME=1x120x1, NAME=scalar: is this shape accepted?");
  sub->add_option("--shapes-file", check.shapes_file, "one JSON object per line, {\"x\": [1, 120, 1]}");
  add_repeated(sub, "--require", check.require, "'x=[1..64, 1..512, 80]' or 'h % 32 == 0': is the whole set accepted?");
  sub->add_option("--against", check.against, "an older model: is all it accepts still accepted?");
  sub->add_option("--policy", policy, "which axes may be dynamic")->check(CLI::IsMember({"any", "batch-only"}));
  add_repeated(sub, "--allow", check.options.allow, "NAME:AXIS may be dynamic under batch-only");
  sub->add_option("--fail-on", check.fail_on, "exit 3 on findings of this severity")
      ->check(CLI::IsMember({"error", "warning", "never"}));
  add_repeated(sub, "--ignore", check.options.ignore, "RULE or RULE@NODE: leave these findings out");
  sub->add_flag("--ignore-assumed", check.options.ignore_assumed, "conditions recorded by an exporter demand nothing");
  sub->add_option("--format", check.format, "form of the report")->check(CLI::IsMember({"text", "json", "sarif"}));
  sub->add_option("-o", check.output, "write the report to this file");
  sub->add_flag("--quiet", check.quiet, "print errors only");
  sub->add_option("--target", target)->group("");
  sub->add_option("--custom-shape", custom_shape)->group("");
  sub->callback([this] { command = [this] { return run_check_command(); }; });
}

int Program::run_check_command() {
  for (const auto& [flag, text] : {std::pair("--target", target), std::pair("--custom-shape", custom_shape)})
    if (!text.empty())
      return report_error(usage_error("usage.later", fmt::format("this build does not have {} yet", flag), ""));
  check.options.batch_only = policy == "batch-only";
  return run_check(check);
}

void Program::add_others() {
  CLI::App* explain = app.add_subcommand("explain", "Why is this axis what it is, node by node?");
  explain->add_option("MODEL", model, "an ONNX file")->required();
  explain->add_option("VALUE", value, "VALUE or VALUE:AXIS")->required();
  explain->callback([this] { command = [this] { return run_explain(model, value); }; });

  CLI::App* infer = app.add_subcommand("infer", "The same model with the type of every value");
  infer->add_option("MODEL", model, "an ONNX file")->required();
  infer->add_option("-o", output, "the file to write")->required();
  infer->add_option("--dims", dims, "how to write sizes that are expressions")
      ->check(CLI::IsMember({"names", "expressions"}));
  infer->callback([this] { command = [this] { return run_infer(model, output, dims == "expressions"); }; });

  CLI::App* info = app.add_subcommand("info", "What is in a model?");
  info->add_option("MODEL", model, "an ONNX file")->required();
  info->callback([this] { command = [this] { return run_info(model); }; });

  CLI::App* rules = app.add_subcommand("rules", "The rules behind the findings of check");
  rules->callback([this] { command = [] { return run_rules(); }; });
}

int usage_failure(const std::string& message, int argc, char** argv) {
  const bool command_known = argc > 1 && argv[1][0] != '-';
  std::string sentence = message;
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  return report_error(usage_error("usage.arguments", sentence,
                                  command_known ? fmt::format("anyshape {} --help", argv[1]) : "anyshape --help"));
}

int run(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (std::find(std::begin(kLater), std::end(kLater), first) != std::end(kLater))
    return report_error(usage_error("usage.later", fmt::format("this build does not have the command {} yet", first),
                                    "anyshape --help"));
  Program program;
  const auto commands = program.app.get_subcommands([&](CLI::App* sub) { return sub->get_name() == first; });
  if (!first.empty() && first[0] != '-' && commands.empty())
    return report_error(
        usage_error("usage.command", fmt::format("there is no command \"{}\"", first), "anyshape --help"));
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return program.app.exit(e);
  } catch (const CLI::ParseError& e) {
    return usage_failure(e.what(), argc, argv);
  }
  return program.command();
}

}  // namespace
}  // namespace anyshape::cli

int main(int argc, char** argv) {
  using anyshape::Error;
  try {
    return anyshape::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return anyshape::cli::report_error({Error::Kind::system, "system.memory", "", "out of memory", ""});
  } catch (const std::exception& e) {
    fmt::print(stderr, "anyshape: internal error: {}. This is a bug in anyshape; please report it.\n", e.what());
    return anyshape::cli::kFault;
  }
}
