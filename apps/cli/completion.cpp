#include "completion.h"

#include <fmt/format.h>

#include "help.h"

namespace anyshape::cli {
namespace {

// "text json" of an option that takes one of {text,json}; empty for any other.
std::string choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::string out = type.substr(begin + 1, end - begin - 1);
  for (char& c : out) c = c == ',' ? ' ' : c;
  return out;
}

std::vector<std::string> flags(const CLI::Option& option) {
  std::vector<std::string> out;
  for (const std::string& name : option.get_snames()) out.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.push_back("--" + name);
  return out;
}

template <class Visit>
void for_each_command(const CLI::App& app, Visit visit) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) visit(*sub);
}

template <class Visit>
void for_each_option(const CLI::App& command, Visit visit) {
  for (const CLI::Option* option : command.get_options())
    if (!option->get_positional() && !option->get_group().empty()) visit(*option);
}

constexpr std::string_view kBash = R"(# bash completion of anyshape
_anyshape() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  COMPREPLY=()
  if [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=($(compgen -W "{0} help version --help --version" -- "$cur"))
    return
  fi
  if [[ $cur == -* ]]; then
    case $command in
{2}    esac
    return
  fi
  case "$command $prev" in
{1}    "help "*) COMPREPLY=($(compgen -W "{0}" -- "$cur")); return ;;
  esac
  COMPREPLY=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _anyshape anyshape
)";

// What may stand after the word `before`.
std::string bash_choices(const CLI::App& command, const std::string& before, const std::string& words) {
  return fmt::format("    \"{} {}\") COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", command.get_name(),
                     before, words);
}

std::string bash(const CLI::App& app) {
  std::string values, options;
  for_each_command(app, [&](const CLI::App& command) {
    std::vector<std::string> all;
    // The first argument stands after the command.
    for (const CLI::Option* option : command.get_options())
      if (const std::string words = choices(*option); option->get_positional() && !words.empty())
        values += bash_choices(command, command.get_name(), words);
    for_each_option(command, [&](const CLI::Option& option) {
      for (const std::string& flag : flags(option)) {
        all.push_back(flag);
        if (const std::string words = choices(option); !words.empty()) values += bash_choices(command, flag, words);
      }
    });
    options += fmt::format("      {}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;\n", command.get_name(),
                           fmt::join(all, " "));
  });
  return fmt::format(fmt::runtime(kBash), fmt::join(command_names(app), " "), values, options);
}

// The text within a '...' word of zsh, with `special` characters as themselves.
std::string quoted(const std::string& text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += special.find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("\\{}", c);
  }
  return out;
}

std::string zsh_option(const CLI::Option& option) {
  const std::string words = choices(option);
  const std::string value = option.get_expected_min() == 0 ? ""
                            : words.empty()                ? ":value:_files"
                                                           : fmt::format(":value:({})", words);
  std::string out;
  for (const std::string& flag : flags(option))
    out += fmt::format(" \\\n        '*{}[{}]{}'", flag, quoted(option.get_description(), "[]:\\"), value);
  return out;
}

constexpr std::string_view kZsh = R"(#compdef anyshape
_anyshape() {{
  local -a commands=(
{0}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{1}    help) _describe command commands ;;
  esac
}}
_anyshape "$@"
)";

std::string zsh(const CLI::App& app) {
  std::string commands, cases;
  for_each_command(app, [&](const CLI::App& command) {
    commands += fmt::format("    '{}:{}'\n", command.get_name(), quoted(command.get_description(), ":\\"));
    cases += fmt::format("    {})\n      _arguments", command.get_name());
    for_each_option(command, [&](const CLI::Option& option) { cases += zsh_option(option); });
    cases += " \\\n        '*:file:_files' ;;\n";
  });
  return fmt::format(fmt::runtime(kZsh), commands, cases);
}

}  // namespace

std::string completion(const CLI::App& app, const std::string& shell) { return shell == "zsh" ? zsh(app) : bash(app); }

}  // namespace anyshape::cli
