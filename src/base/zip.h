#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/os/file.h"

namespace anyshape {

struct ZipMember {
  std::string name;
  uint64_t size = 0;    // of the content
  uint64_t packed = 0;  // of what lies in the archive: equal to size when stored
  uint64_t offset = 0;  // of that in the archive
  uint32_t crc = 0;
  bool stored = true;  // else deflated
};

struct ZipContent {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes alive
};

// Of the contents of all deflated members together; stored ones need no memory. Deflated numbers and texts of real
// archives are at most some 20 times as large as the file; only long runs of one byte are more, up to 1032 times.
struct ZipLimits {
  uint64_t inflated = uint64_t{1} << 34;
  // And in proportion to the file: so many times its size, and this much more.
  uint64_t times = 128;
  uint64_t more = uint64_t{256} << 20;
};

// A ZIP archive (with ZIP64) in a mapped file; any number of threads may read members. The central directory is the
// only source of truth: no two members have the same name or share bytes, and none reaches outside the file.
class ZipReader {
 public:
  // Codes: zip.format (not an archive), zip.malformed, zip.overlap, zip.duplicate, zip.method (encrypted, or packed by
  // anything else than deflate), zip.bomb (beyond what deflate can pack, or anybody needs), zip.ratio (too much for the
  // size of the file); file.open.
  static Result<ZipReader> open(const std::filesystem::path& path, const ZipLimits& limits = {});
  static Result<ZipReader> parse(std::shared_ptr<const MappedFile> file, const ZipLimits& limits = {});

  // In the order of the central directory; folders have names that end in "/".
  const std::vector<ZipMember>& members() const { return members_; }
  // Of the whole file.
  uint64_t file_bytes() const { return file_->bytes().size(); }
  // Null when there is none of this name.
  const ZipMember* find(std::string_view name) const;

  // The bytes of a stored member in the mapping, neither read nor copied, so its checksum is not looked at.
  // REQUIRES: member.stored, a member of this archive.
  ZipContent mapped(const ZipMember& member) const;
  // The content with its checksum verified; a stored member is not copied, a deflated one is aligned to 64 bytes.
  // Codes: zip.crc, zip.malformed, zip.memory, work.*. REQUIRES: a member of this archive.
  Result<ZipContent> read(const ZipMember& member) const;

 private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipMember> members_;
  std::vector<uint32_t> by_name_;  // indices, sorted by name
};

// A file with the archive it is, or why it is none: found once, for all who want to know.
struct ZipFile {
  explicit ZipFile(std::shared_ptr<const MappedFile> mapped) : file(std::move(mapped)), zip(ZipReader::parse(file)) {}

  std::span<const std::byte> bytes() const { return file->bytes(); }

  std::shared_ptr<const MappedFile> file;
  Result<ZipReader> zip;
};

// Writes an archive of stored members, each aligned to 64 bytes, so that a reader can use it in a mapping. The file
// appears when finish() succeeds. Equal contents give equal files: no time is recorded.
class ZipWriter {
 public:
  struct Options {
    // Sizes, offsets and counts from here on are written in ZIP64 form; the format's own bounds unless a test wants
    // to see that form.
    uint64_t zip64_from = 0xFFFFFFFF;
    uint64_t zip64_members = 0xFFFF;
  };

  static Result<ZipWriter> create(const std::filesystem::path& path, const Options& options);
  static Result<ZipWriter> create(const std::filesystem::path& path) { return create(path, Options{}); }

  // The pieces together are the content. Usage error "zip.duplicate" for a name already added, "zip.name" for one that
  // is empty or longer than the format allows.
  Status add(std::string_view name, std::span<const std::span<const std::byte>> pieces);
  Status finish();

 private:
  ZipWriter(AtomicFile file, const Options& options) : file_(std::move(file)), options_(options) {}
  Status write(std::string_view bytes);

  AtomicFile file_;
  Options options_;
  uint64_t written_ = 0;
  std::vector<ZipMember> members_;       // offset: of the local header
  std::vector<std::string> names_seen_;  // sorted
};

}  // namespace anyshape
