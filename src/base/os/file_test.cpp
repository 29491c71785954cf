#include "base/os/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "base/os/folder_test.h"
#include "base/work.h"

namespace anyshape {
namespace {

namespace fs = std::filesystem;

using FileTest = FolderTest;

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

Status write_all(const fs::path& path, std::string_view content) {
  TRY(AtomicFile file, AtomicFile::create(path));
  TRY_OK(file.write(bytes(content)));
  return file.commit();
}

TEST_F(FileTest, MapsWhatIsThere) {
  auto file = MappedFile::open(put("a", "hello"));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(text((*file)->bytes()), "hello");
}

TEST_F(FileTest, EmptyFileHasAnAddress) {
  auto file = MappedFile::open(put("a", ""));
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE((*file)->bytes().empty());
  EXPECT_NE((*file)->bytes().data(), nullptr);
  EXPECT_NE(MappedFile::from_bytes({})->bytes().data(), nullptr);
}

TEST_F(FileTest, GivenBackBytesAreStillThere) {
  const std::string content(1 << 20, 'a');
  auto file = MappedFile::open(put("a", content));
  ASSERT_TRUE(file.has_value());
  for (const auto& owner : {*file, MappedFile::from_bytes({bytes(content).begin(), bytes(content).end()})}) {
    give_back(owner->bytes().subspan(5));
    EXPECT_EQ(text(owner->bytes()), content);
  }
  give_back(bytes(content));
  EXPECT_EQ(content, std::string(1 << 20, 'a'));
}

TEST_F(FileTest, InterruptedWritesLeaveNothing) {
  put("old", "old");
  std::atomic<bool> cancel = false;
  const WorkScope scope({&cancel});
  for (const char* name : {"old", "new", "one/two/new"}) {
    cancel = false;
    auto file = AtomicFile::create_with_folders(folder_ / name);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->write(bytes("begun")).has_value());
    cancel = true;
    EXPECT_EQ(file->write(bytes("more")).error().code, "work.cancelled");
  }
  EXPECT_EQ(names(), std::set<std::string>{"old"});
  EXPECT_EQ(get(folder_ / "old"), "old");
  EXPECT_FALSE(fs::exists(folder_ / "one"));
  // What is written is put in its place all the same.
  cancel = false;
  auto file = AtomicFile::create_with_folders(folder_ / "one" / "two" / "new");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->write(bytes("new")).has_value());
  cancel = true;
  EXPECT_TRUE(file->commit().has_value());
  EXPECT_EQ(get(folder_ / "one/two/new"), "new");
}

TEST_F(FileTest, WhatCannotBeOpenedIsWrongUsage) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  for (const auto& [path, word] :
       {std::pair{folder_ / "missing", "No such file"}, std::pair{folder_, "folder"},
        std::pair{folder_ / "pipe", "regular"}, std::pair{folder_ / "missing" / "x", "No such file"},
        std::pair{fs::path(), "No such file"}}) {
    auto file = MappedFile::open(path);
    ASSERT_FALSE(file.has_value()) << path;
    EXPECT_EQ(file.error().kind, Error::Kind::usage);
    EXPECT_EQ(file.error().code, "file.open");
    EXPECT_EQ(file.error().place, path.string());
    EXPECT_NE(file.error().message.find(word), std::string::npos) << file.error().text();
  }
}

TEST_F(FileTest, MappingOutlivesReplacement) {
  const fs::path path = put("a", "old");
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(write_all(path, "replaced").has_value());
  EXPECT_EQ(text((*file)->bytes()), "old");
  EXPECT_EQ(get(path), "replaced");
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(FileTest, NothingAppearsBeforeCommit) {
  const fs::path path = put("a", "old");
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->write(bytes("new")).has_value());
    AtomicFile moved = std::move(*file);
    EXPECT_EQ(get(path), "old");
    EXPECT_EQ(names().size(), 2u);
  }
  EXPECT_EQ(get(path), "old");
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(FileTest, AppearsUnderASecondName) {
  fs::permissions(put("a", "old"), fs::perms(0640));
  put("taken", "x");
  auto file = AtomicFile::create(folder_ / "a");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->write(bytes("new")).has_value());
  EXPECT_FALSE(file->also_as(folder_ / "taken").value());
  EXPECT_TRUE(file->also_as(folder_ / "b").value());
  EXPECT_EQ(file->also_as(folder_ / "missing" / "b").error().code, "file.write");
  EXPECT_EQ(get(folder_ / "a"), "old");
  EXPECT_EQ(get(folder_ / "b"), "new");
  EXPECT_EQ(fs::status(folder_ / "b").permissions(), fs::perms(0640));
  ASSERT_TRUE(file->commit().has_value());
  EXPECT_EQ(get(folder_ / "a"), "new");
  EXPECT_EQ(names(), (std::set<std::string>{"a", "b", "taken"}));
}

// Between file systems there is no hard link.
TEST_F(FileTest, ASecondNameMayBeACopy) {
  const std::string other = fmt::format("/dev/shm/{}", folder_.filename().string());
  struct stat here {};
  struct stat there {};
  if (::stat("/dev/shm", &there) != 0 || ::stat(folder_.c_str(), &here) != 0 || here.st_dev == there.st_dev) {
    GTEST_SKIP() << "no second file system at /dev/shm";
  }
  auto file = AtomicFile::create(folder_ / "a");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->write(bytes("new")).has_value());
  EXPECT_TRUE(file->also_as(other).value());
  EXPECT_EQ(get(other), "new");
  EXPECT_FALSE(file->also_as(other).value());
  ASSERT_TRUE(file->commit().has_value());
  EXPECT_EQ(get(other), "new");
  fs::remove(other);
}

TEST_F(FileTest, KeepsTheModeAndFollowsALink) {
  const fs::path path = put("a", "old");
  fs::permissions(path, fs::perms(0640));
  fs::create_symlink("a", folder_ / "link");
  ASSERT_TRUE(write_all(folder_ / "link", "new").has_value());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(get(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
}

TEST_F(FileTest, DevicesAreWrittenDirectly) { EXPECT_TRUE(write_all("/dev/null", "x").has_value()); }

TEST_F(FileTest, WhatCannotBeWrittenIsWrongUsage) {
  for (const fs::path& path : {folder_, folder_ / "missing" / "x", fs::path()}) {
    auto file = AtomicFile::create(path);
    ASSERT_FALSE(file.has_value()) << path;
    EXPECT_EQ(file.error().kind, Error::Kind::usage);
    EXPECT_EQ(file.error().code, "file.write");
  }
}

TEST_F(FileTest, AFullDiskIsTheSystemsFault) {
  auto file = AtomicFile::create("/dev/full");
  if (!file) GTEST_SKIP() << "no /dev/full";
  Status status = file->write(bytes("x"));
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, Error::Kind::system);
  EXPECT_EQ(status.error().code, "file.write");
  EXPECT_NE(status.error().message.find("disk is full"), std::string::npos);
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFile) {
  const fs::path path = put("a", "old");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = write_all(path, "much longer than four bytes");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, Error::Kind::system);
  EXPECT_EQ(get(path), "old");
  EXPECT_EQ(names().size(), 1u);
}

}  // namespace
}  // namespace anyshape
