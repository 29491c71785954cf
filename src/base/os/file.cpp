#include "base/os/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/work.h"

namespace anyshape {
namespace {

constexpr std::byte kNothing{};

std::string reason(int number) { return std::generic_category().message(number); }

tl::unexpected<Error> open_failed(const std::filesystem::path& path, std::string_view why) {
  return at(path.string(), usage("file.open", "the file cannot be opened: {}", why).value());
}

tl::unexpected<Error> create_failed(const std::filesystem::path& path, std::string_view why) {
  return at(path.string(), usage("file.write", "the file cannot be written: {}", why).value());
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

int open_retry(const char* path, int flags, mode_t mode = 0) {
  int fd;
  do {
    fd = ::open(path, flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR && !Work::stopped());
  return fd;
}

// O_EXCL and the umask decide about the mode; the number makes names of one process differ.
int open_temporary(const std::filesystem::path& path, std::filesystem::path& temporary) {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary = path.parent_path() /
                fmt::format(".{}.{}-{}.tmp", path.filename().string().substr(0, 200), ::getpid(), counter.fetch_add(1));
    const int fd = open_retry(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

void copy_mode(int from, int to) {
  struct stat info {};
  if (::fstat(from, &info) == 0) static_cast<void>(::fchmod(to, info.st_mode & 0777U));
}

// Where files are mapped now: only there may pages be dropped, everywhere else that would lose what is in them.
struct Mappings {
  std::mutex mutex;
  std::map<uintptr_t, uintptr_t> ends;  // by their beginnings
};

Mappings& mappings();
void lock_mappings() { mappings().mutex.lock(); }
void unlock_mappings() { mappings().mutex.unlock(); }

Mappings& mappings() {
  static Mappings& all = *new Mappings;
  // A fork waits until nobody is at the list: its child would find it locked for ever.
  [[maybe_unused]] static const int ignored = ::pthread_atfork(lock_mappings, unlock_mappings, unlock_mappings);
  return all;
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor{open_retry(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY)};
  if (descriptor.fd >= 0) ::fsync(descriptor.fd);
}

// Those that are empty.
void remove_folders(const std::vector<std::filesystem::path>& folders) {
  for (const auto& folder : folders) ::rmdir(folder.c_str());
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  const Descriptor descriptor{open_retry(path.c_str(), O_RDONLY | O_NONBLOCK)};
  if (descriptor.fd < 0) return open_failed(path, reason(errno));
  struct stat info {};
  if (::fstat(descriptor.fd, &info) != 0) return open_failed(path, reason(errno));
  if (S_ISDIR(info.st_mode)) return open_failed(path, "it is a folder");
  if (!S_ISREG(info.st_mode)) return open_failed(path, "it is not a regular file");
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->bytes_ = {&kNothing, 0};
  if (info.st_size == 0) return file;
  const size_t size = static_cast<size_t>(info.st_size);
  void* mapping = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor.fd, 0);
  if (mapping == MAP_FAILED) return open_failed(path, reason(errno));
  file->mapping_ = mapping;
  file->bytes_ = {static_cast<const std::byte*>(mapping), size};
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  all.ends.emplace(reinterpret_cast<uintptr_t>(mapping), reinterpret_cast<uintptr_t>(mapping) + size);
  return file;
}

std::shared_ptr<const MappedFile> MappedFile::from_bytes(std::vector<std::byte> bytes) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->owned_ = std::move(bytes);
  file->bytes_ = file->owned_.empty() ? std::span(&kNothing, 0) : std::span<const std::byte>(file->owned_);
  return file;
}

MappedFile::~MappedFile() {
  if (mapping_ == nullptr) return;
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  all.ends.erase(reinterpret_cast<uintptr_t>(mapping_));
  ::munmap(mapping_, bytes_.size());
}

void MappedFile::expect_jumps() const {
  if (mapping_ != nullptr) ::madvise(mapping_, bytes_.size(), MADV_RANDOM);
}

void MappedFile::expect_streams() const {
  if (mapping_ != nullptr) ::madvise(mapping_, bytes_.size(), MADV_NORMAL);
}

void give_back(std::span<const std::byte> bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes.size()) / page * page;
  if (last <= first) return;
  Mappings& all = mappings();
  const std::lock_guard lock(all.mutex);
  const auto after = all.ends.upper_bound(begin);
  const bool mapped = after != all.ends.begin() && begin + bytes.size() <= std::prev(after)->second;
  if (mapped) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& path) {
  AtomicFile file;
  file.path_ = path;
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored)) {
    std::error_code broken;
    file.path_ = std::filesystem::canonical(path, broken);
    if (broken) return create_failed(path, broken.message());
  }
  struct stat info {};
  const bool exists = ::stat(file.path_.c_str(), &info) == 0;
  if (path.empty() || (exists && S_ISDIR(info.st_mode))) return create_failed(path, "it is a folder");
  if (exists && !S_ISREG(info.st_mode)) {
    file.fd_ = open_retry(file.path_.c_str(), O_WRONLY);
  } else if (exists && ::access(file.path_.c_str(), W_OK) != 0) {
    return create_failed(path, reason(errno));
  } else {
    file.fd_ = open_temporary(file.path_, file.temporary_);
  }
  if (file.fd_ < 0) {
    const int number = errno;
    file.temporary_.clear();
    TRY_OK(Work::check());
    return create_failed(path, reason(number));
  }
  if (exists && !file.temporary_.empty()) static_cast<void>(::fchmod(file.fd_, info.st_mode & 0777U));
  return file;
}

Result<AtomicFile> AtomicFile::create_with_folders(const std::filesystem::path& path) {
  std::error_code error;
  std::vector<std::filesystem::path> missing;
  for (auto at = path.parent_path(); !at.empty() && !std::filesystem::exists(at, error); at = at.parent_path())
    missing.push_back(at);
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return at(path.parent_path().string(),
              usage("file.write", "the folder cannot be made: {}", error.message()).value());
  auto file = create(path);
  if (file)
    file->folders_ = std::move(missing);
  else
    remove_folders(missing);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      folders_(std::exchange(other.folders_, {})) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this == &other) return *this;
  discard();
  fd_ = std::exchange(other.fd_, -1);
  path_ = std::move(other.path_);
  temporary_ = std::exchange(other.temporary_, {});
  folders_ = std::exchange(other.folders_, {});
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!temporary_.empty()) ::unlink(std::exchange(temporary_, {}).c_str());
  remove_folders(std::exchange(folders_, {}));
}

tl::unexpected<Error> AtomicFile::failed(int number) const {
  std::string_view what = number == ENOSPC || number == EDQUOT ? "the disk is full" : "writing failed";
  return at(path_.string(), system_error("file.write", "{}: {}", what, reason(number)).value());
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr size_t kMost = size_t{64} << 20;
  while (!bytes.empty()) {
    TRY_OK(Work::check());
    const ssize_t written = ::write(fd_, bytes.data(), std::min(bytes.size(), kMost));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed(errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return {};
}

Status AtomicFile::flush() {
  if (!temporary_.empty() && ::fsync(fd_) != 0) return failed(errno);
  return {};
}

Result<bool> AtomicFile::also_as(const std::filesystem::path& other) {
  TRY_OK(flush());
  if (::link(temporary_.c_str(), other.c_str()) != 0) {
    if (errno == EEXIST) return false;
    TRY(const auto source, MappedFile::open(temporary_));
    AtomicFile copy;
    copy.path_ = other;
    copy.fd_ = open_retry(other.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (copy.fd_ < 0 && errno == EEXIST) return false;
    if (copy.fd_ < 0) return create_failed(other, reason(errno));
    copy.temporary_ = other;
    copy_mode(fd_, copy.fd_);
    TRY_OK(copy.write(source->bytes()));
    TRY_OK(copy.flush());
    copy.temporary_.clear();
  }
  sync_folder(other.parent_path());
  return true;
}

Status AtomicFile::commit() {
  TRY_OK(flush());
  if (::close(std::exchange(fd_, -1)) != 0) return failed(errno);
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return failed(errno);
  temporary_.clear();
  folders_.clear();
  sync_folder(path_.parent_path());
  return {};
}

}  // namespace anyshape
