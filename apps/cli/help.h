#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "anyshape/error.h"

namespace anyshape::cli {

// Adds what the help of every command ends with: its exit codes and examples.
void add_footers(CLI::App& app);

// The error of a first word that is no command.
Error unknown_command(const CLI::App& app, const std::string& word);
// The error of arguments of `command` that are wrong; `message` says why.
Error unusable_arguments(const CLI::App& app, const std::string& message, const std::string& command);
// The error of arguments that nothing in `app` has taken; `command` is the first word.
Error unexpected_arguments(const CLI::App& app, const std::string& command);

// The help of the command that is asked about.
std::string help_text(const CLI::App& app);

// The names of all commands, in their order.
std::vector<std::string> command_names(const CLI::App& app);

}  // namespace anyshape::cli
