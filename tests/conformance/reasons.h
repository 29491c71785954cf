#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace anyshape::testing {

// The names in a file of `NAME reason` lines; # begins a comment. A name without a reason does not count.
inline std::set<std::string> names_with_reasons(const std::filesystem::path& path) {
  std::set<std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string name, reason;
    if (line.starts_with('#') || !(fields >> name)) continue;
    if (!(fields >> reason)) fmt::print("no reason is given for {}\n", name);
    if (!reason.empty()) out.insert(name);
  }
  return out;
}

}  // namespace anyshape::testing
