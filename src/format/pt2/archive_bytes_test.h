#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/zip.h"
#include "format/pt2/program.h"

namespace anyshape::pt2 {

using Members = std::vector<std::pair<std::string, std::string>>;

// An archive of stored members, in memory.
std::vector<std::byte> archive_of(const Members& members);
Members members_of(const std::filesystem::path& path);
// The content of the member whose name ends so.
std::string& content(Members& members, std::string_view end);

Result<ExportedProgram> read_bytes(std::vector<std::byte> bytes);
Result<ExportedProgram> read_members(const Members& members);

}  // namespace anyshape::pt2
