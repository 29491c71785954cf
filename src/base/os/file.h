#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace anyshape {

// The bytes of a file, mapped read-only, or of a buffer; shared by all that point into them.
class MappedFile {
 public:
  // Usage error "file.open" when the path is missing, unreadable, a folder, or anything else than a regular file.
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  static std::shared_ptr<const MappedFile> from_bytes(std::vector<std::byte> bytes);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // data() is never null, also when the file is empty.
  std::span<const std::byte> bytes() const { return bytes_; }

  // Jumping about in the file: only the pages touched are read from the disk, nothing ahead of them.
  void expect_jumps() const;
  // The default: reading ahead pays.
  void expect_streams() const;

 private:
  MappedFile() = default;

  std::span<const std::byte> bytes_;
  std::vector<std::byte> owned_;
  void* mapping_ = nullptr;
};

// The whole pages among these bytes leave memory where they are a file's; they are read again when they are touched.
// Right for any bytes.
void give_back(std::span<const std::byte> bytes);

// A file that appears under its name complete or not at all: written beside it, then renamed over it. A target that is
// a link is written where it points to; one that is not a regular file (/dev/stdout) is written directly.
class AtomicFile {
 public:
  // Usage error "file.write" when the path cannot be written.
  static Result<AtomicFile> create(const std::filesystem::path& path);
  // The same; folders that are missing are made, and stay if the file does.
  static Result<AtomicFile> create_with_folders(const std::filesystem::path& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  // Removes what was written unless commit() succeeded.
  ~AtomicFile();

  // System error "file.write" from here on: disk full, I/O error. write() also looks at the limits of this thread's
  // work.
  Status write(std::span<const std::byte> bytes);
  // All bytes are on the disk when it returns. Only the rename is left to commit().
  Status flush();
  // The bytes also under `other`, by a hard link, or a copy where there can be none. False when that name is taken.
  Result<bool> also_as(const std::filesystem::path& other);
  Status commit();

 private:
  AtomicFile() = default;
  void discard();
  tl::unexpected<Error> failed(int number) const;

  int fd_ = -1;
  std::filesystem::path path_;
  std::filesystem::path temporary_;             // empty: written directly
  std::vector<std::filesystem::path> folders_;  // made for it, the innermost first
};

}  // namespace anyshape
