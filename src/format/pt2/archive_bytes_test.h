#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/zip.h"
#include "format/pt2/program.h"

namespace anyshape::pt2 {

using Members = std::vector<std::pair<std::string, std::string>>;

inline const std::filesystem::path kFixtures = "tests/fixtures/pt2_reader";

std::string repeated(std::string_view text, size_t count);

// An archive of stored members, in memory.
std::vector<std::byte> archive_of(const Members& members);
Members members_of(const std::filesystem::path& path);
// The content of the member whose name ends so.
std::string& content(Members& members, std::string_view end);

Result<ExportedProgram> read_bytes(std::vector<std::byte> bytes);
Result<ExportedProgram> read_members(const Members& members);

}  // namespace anyshape::pt2
