#include "format/pt2/archive_bytes_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/os/file.h"

namespace anyshape::pt2 {

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

namespace {

uint32_t crc32(std::string_view text) {
  static const auto table = [] {
    std::array<uint32_t, 256> out{};
    for (uint32_t i = 0; i < 256; ++i) {
      out[i] = i;
      for (int bit = 0; bit < 8; ++bit) out[i] = (out[i] >> 1) ^ ((out[i] & 1) != 0 ? 0xEDB88320U : 0U);
    }
    return out;
  }();
  uint32_t crc = ~uint32_t{0};
  for (const char c : text) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return ~crc;
}

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

// What the local and the central header of a member have in common, from the version needed on.
std::string common_header(const std::string& name, const std::string& content) {
  std::string out;
  put(out, 20, 2);
  put(out, 0, 2);
  put(out, 0, 2);
  put(out, 0, 4);
  put(out, crc32(content), 4);
  put(out, content.size(), 4);
  put(out, content.size(), 4);
  put(out, name.size(), 2);
  put(out, 0, 2);
  return out;
}

}  // namespace

std::vector<std::byte> archive_of(const Members& members) {
  std::string out, directory;
  for (const auto& [name, text] : members) {
    const size_t start = out.size();
    out += "PK\3\4";
    out += common_header(name, text);
    out += name;
    out += text;
    directory += "PK\1\2";
    put(directory, 20, 2);
    directory += common_header(name, text);
    put(directory, 0, 8);  // no comment, the first disk, no attributes...
    put(directory, 0, 2);  // ...of either kind
    put(directory, start, 4);
    directory += name;
  }
  const size_t start = out.size();
  out += directory;
  out += "PK\5\6";
  put(out, 0, 4);
  put(out, members.size(), 2);
  put(out, members.size(), 2);
  put(out, directory.size(), 4);
  put(out, start, 4);
  put(out, 0, 2);
  const auto bytes = std::as_bytes(std::span(out));
  return {bytes.begin(), bytes.end()};
}

Members members_of(const std::filesystem::path& path) {
  const auto archive = ZipReader::open(path);
  EXPECT_TRUE(archive) << archive.error().text();
  Members out;
  if (!archive) return out;
  for (const ZipMember& member : archive->members()) {
    const auto bytes = archive->mapped(member).bytes;
    out.emplace_back(member.name, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return out;
}

std::string& content(Members& members, std::string_view end) {
  const auto it = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first.ends_with(end); });
  EXPECT_NE(it, members.end()) << end;
  return it == members.end() ? members.emplace_back().second : it->second;
}

Result<ExportedProgram> read_bytes(std::vector<std::byte> bytes) {
  return read_program(ZipFile(MappedFile::from_bytes(std::move(bytes))));
}

Result<ExportedProgram> read_members(const Members& members) { return read_bytes(archive_of(members)); }

}  // namespace anyshape::pt2
