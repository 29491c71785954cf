#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "anyshape/error.h"

// The part of TOML that settings need: tables, arrays of tables, texts in one line, whole numbers, true and false,
// arrays of texts. Everything else is an error, as is a key given twice.
namespace anyshape::cli {

struct TomlEntry {
  std::string key;
  std::variant<std::string, int64_t, bool, std::vector<std::string>> value;
  size_t line = 0;
};

// What follows a header, or stands before the first: then without a name.
struct TomlTable {
  std::string name;
  bool of_array = false;  // [[name]]
  size_t line = 0;
  std::vector<TomlEntry> entries;
};

// The tables in their order, the nameless one first. Usage error "config.syntax" with the place FILE:LINE.
Result<std::vector<TomlTable>> parse_toml(std::string_view file, std::string_view text);

}  // namespace anyshape::cli
