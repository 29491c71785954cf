#include "help.h"

#include <fmt/format.h>

#include <algorithm>

#include "anyshape/printable.h"
#include "anyshape/process.h"
#include "anyshape/terminal.h"
#include "inputs.h"

namespace anyshape::cli {
namespace {

struct CommandHelp {
  std::string_view name;
  std::string_view refused;   // when it exits 3
  std::string_view examples;  // one per line
};

constexpr CommandHelp kHelp[] = {
    {"export", "the program, an option or a shape of --verify is refused",
     "anyshape export model.pt2 -o model.onnx --dynamic x:0=batch,1=seq --verify\n"
     "anyshape export scripted.pt -o model.onnx --input 'x=f32[batch,120,?]'"},
    {"check",
     "a shape, a line of --shapes-file, --require or --against is refused, or there are findings as --fail-on says",
     "anyshape check model.onnx\n"
     "anyshape check model.onnx --shape x=1x3x224x224\n"
     "anyshape check model.onnx --require 'x=[1..64, 3, 224, 224]'\n"
     "anyshape check models/*.onnx --format sarif -o report.sarif"},
    {"explain", "the model is refused",
     "anyshape explain model.onnx y:1\n"
     "anyshape explain model.onnx /encoder/Reshape_output_0"},
    {"infer", "the model is refused", "anyshape infer model.onnx -o typed.onnx"},
    {"info", "the file is refused", "anyshape info model.onnx"},
    {"rules", "only by --timeout", "anyshape rules"},
    {"fix", "the model cannot be changed so",
     "anyshape fix model.onnx -o fixed.onnx --dynamic x:1=seq\n"
     "anyshape fix model.onnx -o static.onnx --freeze batch=1 --simplify"},
    {"mql5", "the model is refused, or MetaTrader 5 does not take it",
     "anyshape mql5 model.onnx -o Model.mqh --freeze seq=120"},
    {"run", "the model or a shape is refused",
     "anyshape run model.onnx --input x=x.npy -o outputs\n"
     "anyshape run model.onnx --random x=1x3x224x224 --repeat 20"},
    {"plan", "the model or the shape is refused", "anyshape plan model.onnx --shape x=1x3x224x224"},
    {"test", "a test fails", "anyshape test onnx/backend/test/data/node"},
    {"verify", "an answer differs, or a model is refused",
     "anyshape verify model.onnx simplified.onnx\n"
     "anyshape verify model.onnx fixed.onnx --shapes-file shapes.jsonl"},
    {"bench", "the model or a shape is refused",
     "anyshape bench model.onnx --shape x=1x3x224x224 --peer onnxruntime --threads 2"},
    {"completion", "only by --timeout",
     "anyshape completion bash > ~/.local/share/bash-completion/completions/anyshape"},
};

std::string footer(std::string_view refused, std::string_view examples) {
  std::string out = fmt::format(
      "Exit codes:\n  0  done\n  1  a fault of anyshape or of the machine\n  2  wrong usage\n  3  {}\n\n", refused);
  out += examples.find('\n') == std::string_view::npos ? "Example:\n" : "Examples:\n";
  while (!examples.empty()) {
    const size_t end = examples.find('\n');
    out += fmt::format("  {}\n", examples.substr(0, end));
    examples.remove_prefix(end == std::string_view::npos ? examples.size() : end + 1);
  }
  return out;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    for (const std::string& name : option->get_snames()) out.push_back("-" + name);
  }
  return out;
}

// The commands that have it.
std::vector<std::string> with_option(const CLI::App& app, const std::string& option) {
  std::vector<std::string> out;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (sub->get_option_no_throw(option)) out.push_back(sub->get_name());
  return out;
}

}  // namespace

void add_footers(CLI::App& app) {
  app.footer(
      "Exit codes:\n  0  done, accepted\n  1  a fault of anyshape or of the machine\n  2  wrong usage\n"
      "  3  the model, the shape or the request is refused: the reason is on standard error\n\n"
      "Examples:\n  anyshape check model.onnx\n  anyshape check --help\n");
  for (const CommandHelp& help : kHelp)
    app.get_subcommand(std::string(help.name))->footer(footer(help.refused, help.examples));
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) out.push_back(sub->get_name());
  return out;
}

Error unknown_command(const CLI::App& app, const std::string& word) {
  const auto with_hint = [&](std::string hint) {
    return usage_error("usage.command", fmt::format("there is no command {:?}", word), std::move(hint));
  };
  if (word.ends_with(".onnx")) return with_hint("anyshape check " + shell_word(word));
  if (word.ends_with(".pt2") || word.ends_with(".pt"))
    return with_hint("anyshape export -o model.onnx " + shell_word(word));
  std::vector<std::string> known = command_names(app);
  known.insert(known.end(), {"help", "version"});
  const std::string near = nearest_word(word, known);
  return with_hint(near.empty() ? "anyshape --help" : told_command_with("", word, near));
}

Error unusable_arguments(const CLI::App&, const std::string& message, const std::string& command) {
  std::string sentence = message;
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  const std::string prefix = command.starts_with('-') ? "anyshape" : "anyshape " + command;
  return usage_error("usage.arguments", sentence, prefix + " --help");
}

Error unexpected_arguments(const CLI::App& app, const std::string& command) {
  const auto commands = command_names(app);
  const bool known = std::find(commands.begin(), commands.end(), command) != commands.end();
  const CLI::App& asked = known ? *app.get_subcommand(command) : app;
  const std::string prefix = known ? fmt::format("anyshape {} ", command) : "anyshape ";
  const std::vector<std::string> extras = app.remaining(true);
  const std::string sentence = fmt::format(
      "{} not expected: {}", extras.size() == 1 ? "The following argument was" : "The following arguments were",
      fmt::join(extras, " "));
  for (const std::string& extra : extras) {
    const std::string option = extra.starts_with('-') ? extra.substr(0, extra.find('=')) : "";
    if (option.empty()) continue;
    const std::string near = nearest_word(option, option_names(asked));
    if (!near.empty()) return usage_error("usage.arguments", sentence, told_command_with("", option, near));
    const std::vector<std::string> others = with_option(app, option);
    if (!known && !others.empty())
      return usage_error("usage.arguments", sentence, fmt::format("the command first, {} behind it", option));
    if (!others.empty())
      return usage_error("usage.arguments",
                         fmt::format("{}, which is an option of {}", sentence, fmt::join(others, ", ")),
                         prefix + "--help");
  }
  return usage_error("usage.arguments", sentence, prefix + "--help");
}

std::string help_text(const CLI::App& app) {
  std::string text = app.help();
  // An empty line for a group that is hidden.
  for (size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace anyshape::cli
