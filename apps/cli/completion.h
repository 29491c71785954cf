#pragma once

#include <CLI/App.hpp>
#include <string>

namespace anyshape::cli {

// What a shell needs to complete the words of a command line; `shell` is bash or zsh.
std::string completion(const CLI::App& app, const std::string& shell);

}  // namespace anyshape::cli
