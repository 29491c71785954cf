#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "anyshape/error.h"

namespace anyshape::cli {

// What .anyshape.toml says of models whose path fits; empty: nothing.
struct CheckRules {
  std::string path;  // relative to the file; `*` fits within one folder, `**` any number of them, `?` one character
  std::vector<std::string> require, ignore, allow;
  std::optional<std::string> policy, target, fail_on, baseline;
};

struct Config {
  std::filesystem::path folder;   // of the file
  std::vector<CheckRules> rules;  // the first, for all models, has no path

  // All that is said of this model, later over earlier; lists are joined.
  CheckRules of(const std::string& model) const;
  // The files that some path fits, in order.
  std::vector<std::string> models() const;
};

// Usage errors: file.open; config.syntax; config.key and config.value with the place FILE:LINE.
Result<Config> read_config(const std::filesystem::path& path);
// .anyshape.toml of the current folder, or of the nearest above it.
std::optional<std::filesystem::path> find_config();

}  // namespace anyshape::cli
