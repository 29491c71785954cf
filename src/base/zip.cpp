#include "base/zip.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "base/utf8.h"
#include "base/work.h"

namespace anyshape {

static_assert(std::endian::native == std::endian::little, "the numbers of an archive are used as they lie in the file");

namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocatorSignature = 0x07064b50;
constexpr uint64_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr uint32_t k32 = 0xFFFFFFFF;
constexpr uint16_t k16 = 0xFFFF;
constexpr uint16_t kEncrypted = 1;
// No deflate stream grows by more than this factor.
constexpr uint64_t kMostGrowth = 1032;

// REQUIRES: the number lies inside `bytes`.
template <class T>
T number(Bytes bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

bool inside(Bytes bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

tl::unexpected<Error> malformed(std::string_view what) {
  return refuse("zip.malformed", "the ZIP archive is damaged: {}", what);
}

// Where the central directory lies and what it says of itself.
struct Directory {
  uint64_t offset = 0, size = 0, count = 0;
};

std::optional<uint64_t> find_end(Bytes file) {
  if (file.size() < kEndSize) return std::nullopt;
  const uint64_t last = file.size() - kEndSize;
  const uint64_t first = last > k16 ? last - k16 : 0;
  for (uint64_t at = last + 1; at-- > first;) {
    if (number<uint32_t>(file, at) != kEndSignature) continue;
    if (at + kEndSize + number<uint16_t>(file, at + 20) == file.size()) return at;
  }
  return std::nullopt;
}

// The record of ZIP64 that stands before the end record, if there is one.
Result<std::optional<uint64_t>> find_end64(Bytes file, uint64_t end) {
  if (end < kLocatorSize || number<uint32_t>(file, end - kLocatorSize) != kLocatorSignature) return std::nullopt;
  const uint64_t locator = end - kLocatorSize;
  const auto at = number<uint64_t>(file, locator + 8);
  if (number<uint32_t>(file, locator + 4) != 0 || number<uint32_t>(file, locator + 16) > 1)
    return malformed("it is a part of an archive in several files");
  if (at > locator || locator - at < kEnd64Size || number<uint32_t>(file, at) != kEnd64Signature)
    return malformed("its ZIP64 record is not where it should be");
  if (number<uint32_t>(file, at + 16) != 0 || number<uint32_t>(file, at + 20) != 0)
    return malformed("it is a part of an archive in several files");
  return at;
}

// A field of the end record is either the number itself or says that the ZIP64 record has it.
bool merge(uint64_t small, uint64_t escape, std::optional<uint64_t> large, uint64_t& out) {
  if (small == escape && large) {
    out = *large;
    return true;
  }
  out = small;
  return !large || *large == small;
}

Result<Directory> find_directory(Bytes file) {
  const auto end = find_end(file);
  if (!end) return refuse("zip.format", "this is not a ZIP archive, or its end is missing");
  TRY(const auto end64, find_end64(file, *end));
  const auto large = [&](uint64_t offset) {
    return end64 ? std::optional(number<uint64_t>(file, *end64 + offset)) : std::nullopt;
  };
  if (const auto disk = number<uint16_t>(file, *end + 4), start = number<uint16_t>(file, *end + 6);
      (disk != 0 && disk != k16) || (start != 0 && start != k16))
    return malformed("it is a part of an archive in several files");
  Directory found;
  const bool agree = merge(number<uint16_t>(file, *end + 10), k16, large(32), found.count) &&
                     merge(number<uint32_t>(file, *end + 12), k32, large(40), found.size) &&
                     merge(number<uint32_t>(file, *end + 16), k32, large(48), found.offset);
  if (!agree) return malformed("its two end records disagree");
  const uint64_t border = end64.value_or(*end);
  if (found.offset > border || found.size > border - found.offset || found.count > found.size / kCentralSize)
    return malformed("its directory does not fit into the file");
  return found;
}

// Replaces the numbers that the extra field of ZIP64 holds; they stand there in this order, only those that are needed.
bool take_zip64(Bytes extra, std::span<uint64_t* const> escaped) {
  if (escaped.empty()) return true;
  for (uint64_t at = 0; inside(extra, at, 4);) {
    const auto id = number<uint16_t>(extra, at), length = number<uint16_t>(extra, at + 2);
    if (!inside(extra, at + 4, length)) return false;
    if (id == 1) {
      if (length < escaped.size() * 8) return false;
      for (size_t i = 0; i < escaped.size(); ++i) *escaped[i] = number<uint64_t>(extra, at + 4 + i * 8);
      return true;
    }
    at += 4 + uint64_t{length};
  }
  return false;
}

Status check_packing(uint16_t flags, uint16_t method, const ZipMember& member) {
  if ((flags & kEncrypted) != 0) return refuse("zip.method", "the member {:?} is encrypted", shortened(member.name));
  if (method != 0 && method != 8)
    return refuse("zip.method", "the member {:?} is packed by method {}; only stored and deflated ones can be read",
                  shortened(member.name), method);
  if (method == 0 && member.packed != member.size) return malformed("a stored member has two different sizes");
  return {};
}

// One record of the directory; `at` moves behind it. The member's offset is that of its local header.
Result<ZipMember> parse_record(Bytes directory, uint64_t& at) {
  if (!inside(directory, at, kCentralSize) || number<uint32_t>(directory, at) != kCentralSignature)
    return malformed("its directory ends early");
  const uint64_t name = number<uint16_t>(directory, at + 28), extra = number<uint16_t>(directory, at + 30),
                 comment = number<uint16_t>(directory, at + 32), fields = at + kCentralSize;
  if (!inside(directory, fields, name + extra + comment)) return malformed("its directory ends early");
  ZipMember member;
  member.name.assign(reinterpret_cast<const char*>(directory.data()) + fields, name);
  member.crc = number<uint32_t>(directory, at + 16);
  member.packed = number<uint32_t>(directory, at + 20);
  member.size = number<uint32_t>(directory, at + 24);
  member.offset = number<uint32_t>(directory, at + 42);
  std::vector<uint64_t*> escaped;
  for (uint64_t* field : {&member.size, &member.packed, &member.offset})
    if (*field == k32) escaped.push_back(field);
  if (!take_zip64(directory.subspan(fields + name, extra), escaped)) return malformed("a ZIP64 size is missing");
  const auto method = number<uint16_t>(directory, at + 10);
  member.stored = method == 0;
  TRY_OK(check_packing(number<uint16_t>(directory, at + 8), method, member));
  at = fields + name + extra + comment;
  return member;
}

// Steps over the local header, which must be of the same member. `border`: where the directory starts.
Status find_data(Bytes file, uint64_t border, ZipMember& member) {
  const Bytes front = file.first(border);
  const uint64_t at = member.offset;
  if (!inside(front, at, kLocalSize) || number<uint32_t>(front, at) != kLocalSignature)
    return malformed(fmt::format("the member {:?} is not where its directory says", shortened(member.name)));
  const uint64_t name = number<uint16_t>(front, at + 26), extra = number<uint16_t>(front, at + 28);
  const uint64_t data = at + kLocalSize + name + extra;
  if (!inside(front, data, member.packed))
    return malformed(fmt::format("the member {:?} reaches beyond its place", shortened(member.name)));
  const std::string_view local(reinterpret_cast<const char*>(front.data()) + at + kLocalSize, name);
  if (local != member.name || (number<uint16_t>(front, at + 8) == 0) != member.stored)
    return malformed(fmt::format("the member {:?} is another one at its place", shortened(member.name)));
  member.offset = data;
  return {};
}

// `starts[i]`: the local header of members[i].
Status check_apart(const std::vector<ZipMember>& members, const std::vector<uint64_t>& starts) {
  std::vector<uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return starts[a] < starts[b]; });
  for (size_t i = 1; i < order.size(); ++i) {
    const ZipMember &before = members[order[i - 1]], &after = members[order[i]];
    if (before.offset + before.packed > starts[order[i]])
      return refuse("zip.overlap", "the members {:?} and {:?} of the ZIP archive share bytes", shortened(before.name),
                    shortened(after.name));
  }
  return {};
}

Status check_growth(const std::vector<ZipMember>& members, uint64_t file, const ZipLimits& limits) {
  uint64_t total = 0;
  for (const ZipMember& member : members) {
    if (member.stored) continue;
    if (member.size / kMostGrowth > member.packed || __builtin_add_overflow(total, member.size, &total) ||
        total > limits.inflated)
      return refuse("zip.bomb", "the member {:?} says that {} bytes unpack to {}, which cannot be or is too much",
                    shortened(member.name), member.packed, member.size);
  }
  // No overflow: the file is in memory.
  if (total / limits.times > file + limits.more / limits.times)
    return refuse("zip.ratio",
                  "the members of the ZIP archive unpack to {} bytes, more than {} times its {} bytes and {} more",
                  total, limits.times, file, limits.more);
  return {};
}

// Between two questions whether the work goes on.
constexpr size_t kPiece = size_t{16} << 20;

// Raw deflate; true when exactly `out.size()` bytes come of exactly `packed`.
Result<bool> inflate_exactly(Bytes packed, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  // zlib wants a place to write to, also when nothing is to come.
  std::byte spare{};
  size_t in = 0, written = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    TRY_OK(Work::check());
    const size_t give = std::min(packed.size() - in, kPiece), take = std::min(out.size() - written, kPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in));
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = reinterpret_cast<Bytef*>(take > 0 ? out.data() + written : &spare);
    stream.avail_out = static_cast<uInt>(std::max<size_t>(take, 1));
    code = inflate(&stream, Z_NO_FLUSH);
    in += give - stream.avail_in;
    const size_t got = std::max<size_t>(take, 1) - stream.avail_out;
    written += got;
    if (got > take) break;
  }
  return code == Z_STREAM_END && in == packed.size() && written == out.size();
}

Result<uint32_t> checksum(Bytes bytes) {
  uLong crc = 0;
  for (size_t at = 0; at < bytes.size(); at += kPiece) {
    TRY_OK(Work::check());
    const Bytes piece = bytes.subspan(at, std::min(kPiece, bytes.size() - at));
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace

Result<ZipReader> ZipReader::parse(std::shared_ptr<const MappedFile> file, const ZipLimits& limits) {
  const Bytes bytes = file->bytes();
  TRY(const Directory directory, find_directory(bytes));
  const Bytes records = bytes.subspan(directory.offset, directory.size);
  ZipReader reader;
  reader.members_.reserve(directory.count);
  std::vector<uint64_t> starts;
  for (uint64_t i = 0, at = 0; i < directory.count; ++i) {
    TRY(ZipMember member, parse_record(records, at));
    starts.push_back(member.offset);
    TRY_OK(find_data(bytes, directory.offset, member));
    reader.members_.push_back(std::move(member));
    if (i + 1 == directory.count && at != directory.size) return malformed("its directory is longer than its members");
  }
  TRY_OK(check_apart(reader.members_, starts));
  TRY_OK(check_growth(reader.members_, bytes.size(), limits));
  reader.by_name_.resize(reader.members_.size());
  std::iota(reader.by_name_.begin(), reader.by_name_.end(), 0U);
  const auto& members = reader.members_;
  std::sort(reader.by_name_.begin(), reader.by_name_.end(),
            [&](uint32_t a, uint32_t b) { return members[a].name < members[b].name; });
  for (size_t i = 1; i < members.size(); ++i)
    if (const std::string& name = members[reader.by_name_[i]].name; name == members[reader.by_name_[i - 1]].name)
      return refuse("zip.duplicate", "the ZIP archive has two members {:?}", shortened(name));
  reader.file_ = std::move(file);
  return reader;
}

Result<ZipReader> ZipReader::open(const std::filesystem::path& path, const ZipLimits& limits) {
  TRY(auto file, MappedFile::open(path));
  auto reader = parse(std::move(file), limits);
  if (!reader) return at(path.string(), std::move(reader).error());
  return reader;
}

const ZipMember* ZipReader::find(std::string_view name) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                      [&](uint32_t i, std::string_view text) { return members_[i].name < text; });
  return found != by_name_.end() && members_[*found].name == name ? &members_[*found] : nullptr;
}

ZipContent ZipReader::mapped(const ZipMember& member) const {
  return {file_->bytes().subspan(member.offset, member.packed), file_};
}

Result<ZipContent> ZipReader::read(const ZipMember& member) const {
  ZipContent content = mapped(member);
  if (!member.stored) {
    constexpr size_t kAlignment = 64;
    void* memory = std::aligned_alloc(kAlignment, (member.size + kAlignment) / kAlignment * kAlignment);
    if (memory == nullptr) return system_error("zip.memory", "out of memory: {} bytes for one member", member.size);
    std::shared_ptr<void> owner(memory, std::free);
    const std::span<std::byte> out(static_cast<std::byte*>(memory), member.size);
    TRY(const bool whole, inflate_exactly(content.bytes, out));
    if (!whole) return malformed(fmt::format("the member {:?} does not unpack to its size", shortened(member.name)));
    content = {out, std::move(owner)};
  }
  TRY(const uint32_t crc, checksum(content.bytes));
  if (crc != member.crc)
    return refuse("zip.crc", "the member {:?} of the ZIP archive is damaged: its checksum is wrong",
                  shortened(member.name));
  return content;
}

}  // namespace anyshape
