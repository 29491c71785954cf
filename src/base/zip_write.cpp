#include <zlib.h>

#include <algorithm>

#include "base/utf8.h"
#include "base/zip.h"

namespace anyshape {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint16_t kOldVersion = 20, kZip64Version = 45;
constexpr uint16_t kUtf8Name = 1 << 11;
constexpr uint16_t kFirstOfJanuary1980 = 1 << 5 | 1;
constexpr uint16_t kZip64Field = 1;
// The extra field in which archive tools leave room for alignment: the alignment, then zeros.
constexpr uint16_t kAlignmentField = 0xD935;
constexpr uint64_t kSmallestAlignmentField = 6;
constexpr uint32_t kBeyond32 = 0xFFFFFFFF;

class Record {
 public:
  template <class T>
  Record& put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xFFU);
    return *this;
  }
  // The number, or the sign that an extra field has it.
  Record& put_or_escape(uint64_t value, bool escape) { return put(escape ? kBeyond32 : static_cast<uint32_t>(value)); }

  std::string bytes;
};

// What the local and the central record have in common, from the version needed to the length of the name.
void put_common(Record& record, const ZipMember& member, bool large, bool zip64) {
  record.put(zip64 ? kZip64Version : kOldVersion).put(kUtf8Name).put(uint16_t{0});
  record.put(uint16_t{0}).put(kFirstOfJanuary1980).put(member.crc);
  record.put_or_escape(member.size, large).put_or_escape(member.size, large);
  record.put(static_cast<uint16_t>(member.name.size()));
}

std::string local_header(const ZipMember& member, bool large) {
  Record extra;
  if (large) extra.put(kZip64Field).put(uint16_t{16}).put(member.size).put(member.size);
  const uint64_t unpadded = member.offset + 30 + member.name.size() + extra.bytes.size() + kSmallestAlignmentField;
  const auto padding = static_cast<uint16_t>((kAlignment - unpadded % kAlignment) % kAlignment);
  extra.put(kAlignmentField).put(static_cast<uint16_t>(2 + padding)).put(static_cast<uint16_t>(kAlignment));
  extra.bytes.append(padding, '\0');
  Record header;
  header.put(uint32_t{0x04034b50});
  put_common(header, member, large, large);
  header.put(static_cast<uint16_t>(extra.bytes.size()));
  return header.bytes + member.name + extra.bytes;
}

std::string central_record(const ZipMember& member, const ZipWriter::Options& options) {
  const bool large = member.size >= options.zip64_from, far = member.offset >= options.zip64_from;
  Record extra;
  if (large) extra.put(member.size).put(member.size);
  if (far) extra.put(member.offset);
  Record record;
  record.put(uint32_t{0x02014b50}).put(kZip64Version);
  put_common(record, member, large, large || far);
  record.put(static_cast<uint16_t>(extra.bytes.empty() ? 0 : extra.bytes.size() + 4));
  record.put(uint16_t{0}).put(uint16_t{0}).put(uint16_t{0}).put(uint32_t{0}).put_or_escape(member.offset, far);
  record.bytes += member.name;
  if (!extra.bytes.empty()) record.put(kZip64Field).put(static_cast<uint16_t>(extra.bytes.size()));
  return record.bytes + extra.bytes;
}

std::string end_records(uint64_t count, uint64_t offset, uint64_t size, const ZipWriter::Options& options) {
  const bool many = count >= options.zip64_members, far = offset >= options.zip64_from,
             large = size >= options.zip64_from;
  Record end;
  if (many || far || large) {
    end.put(uint32_t{0x06064b50}).put(uint64_t{44}).put(kZip64Version).put(kZip64Version).put(uint64_t{0});
    end.put(count).put(count).put(size).put(offset);
    end.put(uint32_t{0x07064b50}).put(uint32_t{0}).put(offset + size).put(uint32_t{1});
  }
  const auto short_count = static_cast<uint16_t>(many ? 0xFFFF : count);
  end.put(uint32_t{0x06054b50}).put(uint32_t{0}).put(short_count).put(short_count);
  end.put_or_escape(size, large).put_or_escape(offset, far).put(uint16_t{0});
  return end.bytes;
}

}  // namespace

Result<ZipWriter> ZipWriter::create(const std::filesystem::path& path, const Options& options) {
  TRY(AtomicFile file, AtomicFile::create(path));
  return ZipWriter(std::move(file), options);
}

Status ZipWriter::write(std::string_view bytes) {
  TRY_OK(file_.write(std::as_bytes(std::span(bytes))));
  written_ += bytes.size();
  return {};
}

Status ZipWriter::add(std::string_view name, std::span<const std::span<const std::byte>> pieces) {
  if (name.empty() || name.size() > 0xFFFF)
    return usage("zip.name", "a member of a ZIP archive cannot have a name of {} bytes", name.size());
  const auto place = std::lower_bound(names_seen_.begin(), names_seen_.end(), name);
  if (place != names_seen_.end() && *place == name)
    return usage("zip.duplicate", "two members of the ZIP archive would be named {:?}", shortened(name));
  names_seen_.emplace(place, name);
  ZipMember member{.name = std::string(name), .offset = written_};
  uLong crc = 0;
  for (const auto piece : pieces) {
    // A null pointer would ask zlib for its start value.
    if (!piece.empty()) crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
    member.size += piece.size();
  }
  member.crc = static_cast<uint32_t>(crc);
  member.packed = member.size;
  TRY_OK(write(local_header(member, member.size >= options_.zip64_from)));
  for (const auto piece : pieces) TRY_OK(file_.write(piece));
  written_ += member.size;
  members_.push_back(std::move(member));
  return {};
}

Status ZipWriter::finish() {
  const uint64_t offset = written_;
  for (const ZipMember& member : members_) TRY_OK(write(central_record(member, options_)));
  TRY_OK(write(end_records(members_.size(), offset, written_ - offset, options_)));
  return file_.commit();
}

}  // namespace anyshape
