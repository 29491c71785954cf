#include "base/zip.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <functional>
#include <random>

#include "base/work.h"

namespace anyshape {
namespace {

namespace fs = std::filesystem;

std::string_view text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

std::string deflated(std::string_view content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

uint32_t crc_of(std::string_view content) {
  return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(content.data()), uInt(content.size())));
}

// One member with every number its headers hold, so that a test can tell lies.
struct Entry {
  std::string name, data;
  std::string local_name = {};
  uint16_t method = 0, flags = 0;
  uint32_t crc = 0, packed = 0, size = 0;
  std::string local_extra = {}, extra = {}, after = {};
  std::optional<uint32_t> offset = {};
};

Entry stored(const std::string& name, const std::string& content) {
  return {.name = name,
          .data = content,
          .local_name = name,
          .crc = crc_of(content),
          .packed = uint32_t(content.size()),
          .size = uint32_t(content.size())};
}

Entry packed(const std::string& name, const std::string& content) {
  Entry entry = stored(name, content);
  entry.data = deflated(content);
  entry.method = 8;
  entry.packed = static_cast<uint32_t>(entry.data.size());
  return entry;
}

struct Archive {
  std::vector<Entry> entries;
  std::string comment = {};
  std::optional<uint16_t> count = {};
  std::optional<uint32_t> directory = {}, directory_size = {};

  std::string bytes() const {
    std::string out, records;
    for (const Entry& e : entries) {
      const auto start = e.offset.value_or(static_cast<uint32_t>(out.size()));
      const std::string common = raw(uint16_t{20}) + raw(e.flags) + raw(e.method) + raw(uint32_t{0}) + raw(e.crc) +
                                 raw(e.packed) + raw(e.size);
      if (!e.offset)
        out += raw(uint32_t{0x04034b50}) + common + raw(uint16_t(e.local_name.size())) +
               raw(uint16_t(e.local_extra.size())) + e.local_name + e.local_extra + e.data + e.after;
      records += raw(uint32_t{0x02014b50}) + raw(uint16_t{20}) + common + raw(uint16_t(e.name.size())) +
                 raw(uint16_t(e.extra.size())) + std::string(10, '\0') + raw(start) + e.name + e.extra;
    }
    const auto place = directory.value_or(static_cast<uint32_t>(out.size()));
    const auto n = count.value_or(static_cast<uint16_t>(entries.size()));
    return out + records + raw(uint32_t{0x06054b50}) + raw(uint32_t{0}) + raw(n) + raw(n) +
           raw(directory_size.value_or(static_cast<uint32_t>(records.size()))) + raw(place) +
           raw(uint16_t(comment.size())) + comment;
  }
};

std::shared_ptr<const MappedFile> zip_file_of(std::string_view content) {
  const auto* first = reinterpret_cast<const std::byte*>(content.data());
  return MappedFile::from_bytes({first, first + content.size()});
}

// "name=content name=content", or the code of the error.
std::string told(std::string_view archive, const ZipLimits& limits = {}) {
  const auto zip = ZipReader::parse(zip_file_of(archive), limits);
  if (!zip) return zip.error().code;
  std::string out;
  for (const ZipMember& member : zip->members()) {
    const auto content = zip->read(member);
    if (!content) return content.error().code;
    if (!out.empty()) out += ' ';
    out += member.name + '=' + std::string(text(content->bytes));
  }
  return out;
}

class ZipFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "anyshape-zip-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Status write(const std::vector<std::pair<std::string, std::string>>& members, const ZipWriter::Options& options) {
    TRY(ZipWriter writer, ZipWriter::create(folder_ / "a.zip", options));
    for (const auto& [name, content] : members) {
      const auto whole = std::as_bytes(std::span(content));
      const std::span<const std::byte> pieces[] = {whole.first(whole.size() / 2), whole.subspan(whole.size() / 2)};
      TRY_OK(writer.add(name, pieces));
    }
    return writer.finish();
  }
  std::string told_file() {
    const auto file = MappedFile::open(folder_ / "a.zip");
    return file ? told(text((*file)->bytes())) : file.error().code;
  }

  fs::path folder_;
};

TEST(Zip, ReadsStoredAndDeflated) {
  EXPECT_EQ(told(Archive{{stored("a", "hello"), packed("b/c", "aaaaaaaaaaaaaaaaaaaaaaaaaa")}}.bytes()),
            "a=hello b/c=aaaaaaaaaaaaaaaaaaaaaaaaaa");
  EXPECT_EQ(told(Archive{}.bytes()), "");
  EXPECT_EQ(told(Archive{{stored("a", ""), packed("b", ""), stored("d/", "")}}.bytes()), "a= b= d/=");
  EXPECT_EQ(told(Archive{.entries = {stored("a", "x")}, .comment = "PK\5\6 a comment"}.bytes()), "a=x");
}

TEST(Zip, SizesBehindTheDataAreSkipped) {
  Entry entry = packed("a", "abcabcabcabc");
  entry.flags = 8;
  entry.after = std::string(16, '?');
  EXPECT_EQ(told(Archive{{entry, stored("b", "y")}}.bytes()), "a=abcabcabcabc b=y");
}

TEST(Zip, FindsByName) {
  const auto zip =
      ZipReader::parse(zip_file_of(Archive{{stored("b", "1"), stored("a", "2"), stored("c", "3")}}.bytes()));
  ASSERT_TRUE(zip.has_value());
  ASSERT_NE(zip->find("a"), nullptr);
  EXPECT_EQ(text(zip->mapped(*zip->find("a")).bytes), "2");
  EXPECT_EQ(zip->find("aa"), nullptr);
  EXPECT_EQ(zip->find("d"), nullptr);
}

TEST(Zip, StoredMembersAreNotCopiedAndOutliveTheReader) {
  const auto file = zip_file_of(Archive{{stored("a", "hello")}}.bytes());
  ZipContent content;
  {
    const auto zip = ZipReader::parse(file);
    ASSERT_TRUE(zip.has_value());
    content = *zip->read(zip->members()[0]);
  }
  EXPECT_GE(content.bytes.data(), file->bytes().data());
  EXPECT_LT(content.bytes.data(), file->bytes().data() + file->bytes().size());
  EXPECT_EQ(text(content.bytes), "hello");
}

TEST(Zip, InflatedMembersAreAligned) {
  const auto zip = ZipReader::parse(zip_file_of(Archive{{packed("a", std::string(1000, 'x'))}}.bytes()));
  ASSERT_TRUE(zip.has_value());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(zip->read(zip->members()[0])->bytes.data()) % 64, 0U);
}

TEST(Zip, ZeroesOfAMegabyteAreNoBomb) {
  const std::string zeroes(1 << 20, '\0');
  EXPECT_EQ(told(Archive{{packed("z", zeroes)}}.bytes()), "z=" + zeroes);
}

// What is wrong, what is done to two good members, and the code it must give.
struct Lie {
  const char* what;
  std::function<void(Archive&)> tell;
  const char* code;
};

TEST(Zip, LiesAreRefused) {
  const Lie rows[] = {
      {"crc of stored", [](Archive& a) { a.entries[0].crc ^= 1; }, "zip.crc"},
      {"crc of deflated", [](Archive& a) { a.entries[1].crc ^= 1; }, "zip.crc"},
      {"longer than it unpacks to", [](Archive& a) { ++a.entries[1].size; }, "zip.malformed"},
      {"shorter than it unpacks to", [](Archive& a) { --a.entries[1].size; }, "zip.malformed"},
      {"nothing unpacks to something", [](Archive& a) { a.entries[1].size = 0; }, "zip.malformed"},
      {"bytes behind the stream", [](Archive& a) { a.entries[1].data += "x", ++a.entries[1].packed; }, "zip.malformed"},
      {"stream cut", [](Archive& a) { --a.entries[1].packed; }, "zip.malformed"},
      {"stored with two sizes", [](Archive& a) { ++a.entries[0].size; }, "zip.malformed"},
      {"grows too much", [](Archive& a) { a.entries[1].size = 1U << 30; }, "zip.bomb"},
      {"same name", [](Archive& a) { a.entries[1].name = a.entries[1].local_name = "a"; }, "zip.duplicate"},
      {"same bytes", [](Archive& a) { a.entries[1] = a.entries[0], a.entries[1].offset = 0; }, "zip.overlap"},
      {"reaches into the next",
       [](Archive& a) { a.entries[0].size = a.entries[0].packed += 10, a.entries[1].size = 26; }, "zip.overlap"},
      {"reaches into the directory", [](Archive& a) { a.entries[1].packed += 20; }, "zip.malformed"},
      {"offset beyond", [](Archive& a) { a.entries[1].offset = 0x7FFFFFFF; }, "zip.malformed"},
      {"offset astray", [](Archive& a) { a.entries[1].offset = 3; }, "zip.malformed"},
      {"other name at its place", [](Archive& a) { a.entries[1].local_name = "x"; }, "zip.malformed"},
      {"encrypted", [](Archive& a) { a.entries[1].flags = 1; }, "zip.method"},
      {"other method", [](Archive& a) { a.entries[1].method = 14; }, "zip.method"},
      {"ZIP64 without its field", [](Archive& a) { a.entries[1].size = 0xFFFFFFFF; }, "zip.malformed"},
      {"ZIP64 field cut",
       [](Archive& a) {
         a.entries[1].size = 0xFFFFFFFF;
         a.entries[1].extra = raw(uint16_t{1}) + raw(uint16_t{8}) + "1234";
       },
       "zip.malformed"},
      {"more members than it has", [](Archive& a) { a.count = 3; }, "zip.malformed"},
      {"fewer members than it has", [](Archive& a) { a.count = 1; }, "zip.malformed"},
      {"directory beyond the end", [](Archive& a) { a.directory = 0x7FFFFFFF; }, "zip.malformed"},
      {"directory too long", [](Archive& a) { a.directory_size = 0x7FFFFFFF; }, "zip.malformed"},
      {"directory astray", [](Archive& a) { a.directory = 1; }, "zip.malformed"},
  };
  for (const Lie& row : rows) {
    Archive archive{{stored("a", "hello"), packed("b", "aaaaaaaaaaaaaaaaaaaaaaaaaa")}};
    row.tell(archive);
    EXPECT_EQ(told(archive.bytes()), row.code) << row.what;
  }
  EXPECT_EQ(told(""), "zip.format");
  EXPECT_EQ(told("PK\3\4 and nothing that follows, long enough"), "zip.format");
  EXPECT_EQ(told(Archive{{stored("a", "x")}}.bytes() + "x"), "zip.format");
}

TEST(Zip, LimitHoldsForAllMembersTogether) {
  const Archive archive{{packed("a", std::string(600, 'x')), packed("b", std::string(600, 'y'))}};
  EXPECT_EQ(told(archive.bytes(), {.inflated = 1000}), "zip.bomb");
  EXPECT_NE(told(archive.bytes(), {.inflated = 1200}), "zip.bomb");
}

TEST(Zip, GrowsInProportionToTheFile) {
  const std::string million(1'000'000, '\0');
  const Archive zeros{{packed("a", million)}};
  EXPECT_EQ(told(zeros.bytes(), {.times = 100, .more = 0}), "zip.ratio");
  EXPECT_EQ(told(zeros.bytes(), {.times = 100, .more = 500'000}), "zip.ratio");
  EXPECT_NE(told(zeros.bytes(), {.times = 100, .more = 1'000'000}), "zip.ratio");
  EXPECT_NE(told(zeros.bytes(), {.times = 1000, .more = 0}), "zip.ratio");
  // What is stored beside it makes the file worth more.
  EXPECT_NE(
      told(Archive{{packed("a", million), stored("b", std::string(10'000, 'x'))}}.bytes(), {.times = 100, .more = 0}),
      "zip.ratio");
  // Refused by what the directory says, before there is memory for it.
  Archive lie{{packed("a", million)}};
  lie.entries[0].data.assign(600'000, 'x');
  lie.entries[0].packed = 600'000;
  lie.entries[0].size = 600'000'000;
  EXPECT_EQ(told(lie.bytes()), "zip.ratio");
}

TEST(Zip, ReadingCanBeStopped) {
  const Archive archive{{stored("a", "hello"), packed("b", std::string(600, 'y'))}};
  const std::atomic<bool> cancel = true;
  const WorkScope scope({&cancel});
  EXPECT_EQ(told(archive.bytes()), "work.cancelled");
}

// Neither crashes nor reads outside (sanitizers look on), whatever the bytes.
TEST(Zip, SurvivesDamage) {
  constexpr unsigned kSeed = 20240611;
  std::mt19937 random(kSeed);
  const std::string good =
      Archive{{stored("a", "hello"), packed("b", "aaaaaaaaaaaaaaaaaaaaaaaaaa"), stored("c", "x")}}.bytes();
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (unsigned change = 0; change <= random() % 3; ++change)
      bad[random() % bad.size()] = static_cast<char>(random() % 4 ? random() : 0xFF);
    if (random() % 8 == 0) bad.resize(random() % bad.size());
    refused += told(bad).rfind("zip.", 0) == 0 ? 1 : 0;
  }
  EXPECT_GT(refused, 10000) << "seed " << kSeed;
}

TEST_F(ZipFileTest, WritesWhatItReads) {
  ASSERT_TRUE(write({{"a", "hello"}, {"empty", ""}, {"b/ü", "x"}}, {}).has_value());
  EXPECT_EQ(told_file(), "a=hello empty= b/ü=x");
}

TEST_F(ZipFileTest, MembersAreAligned) {
  ASSERT_TRUE(write({{"a", "hello"}, {"bb", "x"}, {"a longer name", "yy"}}, {}).has_value());
  const auto zip = ZipReader::open(folder_ / "a.zip");
  ASSERT_TRUE(zip.has_value());
  for (const ZipMember& member : zip->members()) EXPECT_EQ(member.offset % 64, 0U) << member.name;
}

TEST_F(ZipFileTest, Zip64FormsAreReadBack) {
  for (uint64_t from : {0, 3, 100, 200, 100000})
    for (uint64_t members : {0, 3, 0xFFFF}) {
      ASSERT_TRUE(write({{"a", "hello"}, {"b", ""}, {"c", "xyz"}}, {from, members}).has_value());
      EXPECT_EQ(told_file(), "a=hello b= c=xyz") << from << " " << members;
    }
}

TEST_F(ZipFileTest, DamagedZip64IsRefused) {
  ASSERT_TRUE(write({{"a", "hello"}}, {0, 0}).has_value());
  const auto file = MappedFile::open(folder_ / "a.zip");
  const std::string good(text((*file)->bytes()));
  const size_t end = good.size() - 22, locator = end - 20, end64 = locator - 56;
  for (size_t at : {locator, locator + 8, end64, end64 + 32, end64 + 40, end64 + 48, locator + 4, end64 + 16}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] + 1);
    EXPECT_EQ(told(bad), "zip.malformed") << at;
  }
}

TEST_F(ZipFileTest, AnswersForNames) {
  auto writer = ZipWriter::create(folder_ / "a.zip");
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(writer->add("a", {}).has_value());
  EXPECT_EQ(writer->add("a", {}).error().code, "zip.duplicate");
  EXPECT_EQ(writer->add("", {}).error().code, "zip.name");
  EXPECT_EQ(writer->add(std::string(0x10000, 'x'), {}).error().code, "zip.name");
  EXPECT_FALSE(fs::exists(folder_ / "a.zip"));
}

TEST_F(ZipFileTest, ManyMembersNeedZip64) {
  auto writer = ZipWriter::create(folder_ / "a.zip");
  ASSERT_TRUE(writer.has_value());
  for (int i = 0; i < 70000; ++i) ASSERT_TRUE(writer->add(fmt::format("{:05}", i), {}).has_value());
  ASSERT_TRUE(writer->finish().has_value());
  const auto zip = ZipReader::open(folder_ / "a.zip");
  ASSERT_TRUE(zip.has_value()) << zip.error().text();
  EXPECT_EQ(zip->members().size(), 70000U);
  EXPECT_NE(zip->find("69999"), nullptr);
}

TEST_F(ZipFileTest, ErrorsNameTheFile) {
  EXPECT_EQ(ZipReader::open(folder_ / "none.zip").error().code, "file.open");
  fs::copy_file("README.md", folder_ / "a.zip");
  const auto zip = ZipReader::open(folder_ / "a.zip");
  ASSERT_FALSE(zip.has_value());
  EXPECT_NE(zip.error().place.find("a.zip"), std::string::npos);
}

}  // namespace
}  // namespace anyshape
