#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/error.h"

namespace anyshape {

// True when standard output is a terminal and NO_COLOR is not set.
ANYSHAPE_API bool colour_wanted();
// True when standard error is a terminal.
ANYSHAPE_API bool progress_wanted();

// Of these words the one that somebody who wrote `word` most likely meant; empty: none is near.
ANYSHAPE_API std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

// Writes a text file, complete or not at all.
ANYSHAPE_API Status write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace anyshape
