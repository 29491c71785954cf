#include <bit>
#include <cstring>
#include <protozero/varint.hpp>

#include "format/onnx/fields.h"

namespace anyshape::onnx {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

namespace {

// A string or bytes field of at least this size is referred to, a shorter one is copied.
constexpr size_t kReferred = 4096;

constexpr uint32_t kVarint = 0;
constexpr uint32_t kLength = 2;
constexpr uint32_t kFixed32 = 5;

uint64_t varint_size(uint64_t value) { return static_cast<uint64_t>(protozero::length_of_varint(value)); }
uint64_t tag_size(uint32_t number) { return varint_size(uint64_t{number} << 3U); }
uint64_t block_size(uint64_t length) { return varint_size(length) + length; }

template <class T>
uint64_t packed_size(const Packed<T>& packed) {
  uint64_t size = 0;
  for (Bytes chunk : packed.chunks) size += chunk.size();
  return size;
}

Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }

// The sizes of all messages, a message before those inside it: what Encoder needs for the length prefixes.
struct Sizer {
  std::vector<uint64_t> sizes;
  uint64_t size = 0;

  template <class M>
  uint64_t measure(const M& message) {
    const size_t slot = sizes.size();
    sizes.push_back(0);
    const uint64_t outer = std::exchange(size, 0);
    visit_fields(*this, message);
    for (Bytes field : message.unknown) size += field.size();
    sizes[slot] = size;
    return std::exchange(size, outer);
  }

  template <class T, class... Others>
  void operator()(uint32_t number, const char*, const T& member, const Others&...) {
    add(number, member);
  }

  template <class T>
  requires std::integral<T>
  void add(uint32_t number, const std::optional<T>& member) {
    if (member) size += tag_size(number) + varint_size(static_cast<uint64_t>(int64_t{*member}));
  }
  void add(uint32_t number, const std::optional<float>& member) {
    if (member) size += tag_size(number) + sizeof(float);
  }
  void add(uint32_t number, std::string_view member) { add(number, as_bytes(member)); }
  void add(uint32_t number, Bytes member) {
    if (member.data() != nullptr) size += tag_size(number) + block_size(member.size());
  }
  template <class T>
  void add(uint32_t number, const Few<T>& member) {
    add(number, member.get());
  }
  void add(uint32_t number, const std::vector<std::string_view>& member) {
    for (std::string_view text : member) size += tag_size(number) + block_size(text.size());
  }
  void add(uint32_t number, const std::vector<int64_t>& member) {
    for (int64_t value : member) size += tag_size(number) + varint_size(static_cast<uint64_t>(value));
  }
  void add(uint32_t number, const std::vector<float>& member) {
    size += member.size() * (tag_size(number) + sizeof(float));
  }
  template <class T>
  void add(uint32_t number, const Packed<T>& member) {
    if (const uint64_t length = packed_size(member); length > 0) size += tag_size(number) + block_size(length);
  }
  template <class M>
  void add(uint32_t number, const Box<M>& member) {
    if (member) add_message(number, *member);
  }
  template <class M>
  void add(uint32_t number, const std::vector<M>& member) {
    for (const M& message : member) add_message(number, message);
  }
  template <class M>
  void add_message(uint32_t number, const M& message) {
    const uint64_t length = measure(message);
    size += tag_size(number) + block_size(length);
  }
};

}  // namespace

struct Encoder {
  // Either bytes elsewhere, or the next `owned` bytes of the buffer, which still moves while it grows.
  struct Piece {
    Bytes bytes;
    size_t owned = 0;
  };

  std::vector<uint64_t> sizes;
  size_t next_size = 0;
  std::vector<std::byte> buffer;
  size_t closed = 0;
  std::vector<Piece> pieces;

  template <class M>
  static Encoded encode(const M& message) {
    Encoder encoder;
    Sizer sizer;
    const uint64_t size = sizer.measure(message);
    encoder.sizes = std::move(sizer.sizes);
    encoder.put_message(message);
    return std::move(encoder).finish(size);
  }

  Encoded finish(uint64_t size) && {
    close_owned();
    Encoded out;
    out.size_ = size;
    out.owned_ = std::move(buffer);
    const std::byte* next = out.owned_.data();
    for (const Piece& piece : pieces) {
      out.pieces_.push_back(piece.owned > 0 ? Bytes(next, piece.owned) : piece.bytes);
      next += piece.owned;
    }
    return out;
  }

  void close_owned() {
    if (buffer.size() > closed) pieces.push_back({{}, buffer.size() - closed});
    closed = buffer.size();
  }

  template <class M>
  void put_message(const M& message) {
    ++next_size;
    visit_fields(*this, message);
    for (Bytes field : message.unknown) put(field);
  }

  template <class T, class... Others>
  void operator()(uint32_t number, const char*, const T& member, const Others&...) {
    add(number, member);
  }

  template <class T>
  requires std::integral<T>
  void add(uint32_t number, const std::optional<T>& member) {
    if (!member) return;
    put_tag(number, kVarint);
    put_varint(static_cast<uint64_t>(int64_t{*member}));
  }
  void add(uint32_t number, const std::optional<float>& member) {
    if (member) put_float(number, *member);
  }
  void add(uint32_t number, std::string_view member) {
    if (member.data() != nullptr) put_block(number, as_bytes(member));
  }
  void add(uint32_t number, Bytes member) {
    if (member.data() != nullptr) put_block(number, member);
  }
  template <class T>
  void add(uint32_t number, const Few<T>& member) {
    add(number, member.get());
  }
  void add(uint32_t number, const std::vector<std::string_view>& member) {
    for (std::string_view text : member) put_block(number, as_bytes(text));
  }
  void add(uint32_t number, const std::vector<int64_t>& member) {
    for (int64_t value : member) {
      put_tag(number, kVarint);
      put_varint(static_cast<uint64_t>(value));
    }
  }
  void add(uint32_t number, const std::vector<float>& member) {
    for (float value : member) put_float(number, value);
  }
  template <class T>
  void add(uint32_t number, const Packed<T>& member) {
    const uint64_t length = packed_size(member);
    if (length == 0) return;
    put_tag(number, kLength);
    put_varint(length);
    for (Bytes chunk : member.chunks) put(chunk);
  }
  template <class M>
  void add(uint32_t number, const Box<M>& member) {
    if (member) add_message(number, *member);
  }
  template <class M>
  void add(uint32_t number, const std::vector<M>& member) {
    for (const M& message : member) add_message(number, message);
  }
  template <class M>
  void add_message(uint32_t number, const M& message) {
    put_tag(number, kLength);
    put_varint(sizes[next_size]);
    put_message(message);
  }

  void put_tag(uint32_t number, uint32_t wire_type) { put_varint(uint64_t{number} << 3U | wire_type); }

  void put_varint(uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) buffer.push_back(static_cast<std::byte>((value & 0x7FU) | 0x80U));
    buffer.push_back(static_cast<std::byte>(value));
  }

  void put_float(uint32_t number, float value) {
    put_tag(number, kFixed32);
    std::byte raw[sizeof(float)];
    std::memcpy(raw, &value, sizeof(float));
    put(raw);
  }

  void put_block(uint32_t number, Bytes bytes) {
    put_tag(number, kLength);
    put_varint(bytes.size());
    put(bytes);
  }

  void put(Bytes bytes) {
    if (bytes.size() < kReferred) {
      buffer.insert(buffer.end(), bytes.begin(), bytes.end());
      return;
    }
    close_owned();
    pieces.push_back({bytes, 0});
  }
};

std::vector<std::byte> Encoded::bytes() const {
  std::vector<std::byte> out;
  out.reserve(size_);
  for (Bytes piece : pieces_) out.insert(out.end(), piece.begin(), piece.end());
  return out;
}

Encoded serialize(const ModelProto& model) { return Encoder::encode(model); }
Encoded serialize(const TensorProto& tensor) { return Encoder::encode(tensor); }
Encoded serialize(const SequenceProto& sequence) { return Encoder::encode(sequence); }
Encoded serialize(const OptionalProto& optional) { return Encoder::encode(optional); }
Encoded serialize(const MapProto& map) { return Encoder::encode(map); }
uint64_t serialized_size(const ModelProto& model) { return Sizer().measure(model); }

}  // namespace anyshape::onnx
