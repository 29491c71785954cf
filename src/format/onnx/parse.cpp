#include <algorithm>
#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>
#include <string>

#include "base/work.h"
#include "format/onnx/fields.h"

namespace anyshape::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// What a parse may allocate: real files need far less, a file of two-byte empty messages would need more.
constexpr uint64_t kMemoryPerByte = 64;
constexpr uint64_t kMemoryBase = uint64_t{64} << 20;

Bytes bytes_between(const char* first, const char* last) {
  return {reinterpret_cast<const std::byte*>(first), static_cast<size_t>(last - first)};
}

class Reader {
 public:
  explicit Reader(Bytes bytes)
      : first_(reinterpret_cast<const char*>(bytes.data())),
        size_(bytes.size()),
        memory_(kMemoryBase + kMemoryPerByte * bytes.size()) {}

  template <class M>
  Result<M> parse() {
    M message;
    try {
      read_message(pbf_reader(first_, size_), message);
    } catch (const protozero::end_of_buffer_exception&) {
      fail_at_end();
    } catch (const protozero::exception& e) {
      fail("onnx.malformed", std::string("these are not the bytes of an ONNX message (") + e.what() + ")");
    }
    if (error_) return tl::unexpected(*std::move(error_));
    return message;
  }

 private:
  struct Step {
    const char* name;
    size_t index;  // kNoIndex for a field that is not repeated
  };
  static constexpr size_t kNoIndex = static_cast<size_t>(-1);

  // Tries every field of a message against the tag that was just read.
  struct Dispatch {
    Reader& reader;
    pbf_reader& in;
    bool taken = false;

    template <class T, class... Others>
    void operator()(uint32_t number, const char* name, T& member, Others&... others) {
      if (taken || in.tag() != number) return;
      taken = reader.read(in, name, member);
      if (taken) (clear(others), ...);
    }
  };

  template <class T>
  static void clear(std::optional<T>& member) {
    member.reset();
  }
  template <class T>
  static void clear(Box<T>& member) {
    member.reset();
  }
  static void clear(std::string_view& member) { member = {}; }

  template <class M>
  void read_message(pbf_reader in, M& message) {
    if (path_.size() > kMaxDepth) {
      return fail("onnx.depth", fmt::format("messages are nested more than {} levels deep", kMaxDepth));
    }
    while (!error_) {
      const char* start = in.data().data();
      last_ = start;
      if (!in.next()) break;
      check_range(start, in);
      if (error_) break;
      Dispatch dispatch{*this, in};
      visit_fields(dispatch, message);
      if (dispatch.taken) continue;
      in.skip();
      keep_unknown(message.unknown, bytes_between(start, in.data().data()));
    }
  }

  // protozero keeps only the low 32 bits of a tag or a length; a larger one must not be read as another.
  void check_range(const char* start, const pbf_reader& in) {
    const char* value = in.data().data();
    if (value - start <= 4 && in.wire_type() != pbf_wire_type::length_delimited) return;
    const char* end = value + in.data().size();
    if (value - start > 4 && protozero::decode_varint(&start, end) > UINT32_MAX) {
      fail("onnx.malformed", "a field number is too large");
    }
    if (in.wire_type() != pbf_wire_type::length_delimited) return;
    const uint64_t length = protozero::decode_varint(&value, end);
    if (length > static_cast<uint64_t>(end - value)) fail_at_end();
  }

  void keep_unknown(UnknownFields& unknown, Bytes field) {
    if (!unknown.empty() && unknown.back().data() + unknown.back().size() == field.data()) {
      unknown.back() = {unknown.back().data(), unknown.back().size() + field.size()};
    } else if (charge(sizeof(Bytes))) {
      unknown.push_back(field);
    }
  }

  template <class M>
  void read_nested(pbf_reader& in, const char* name, size_t index, M& message) {
    if (const Status going = Work::check(); !going) error_ = going.error();
    const protozero::data_view view = in.get_view();
    path_.push_back({name, index});
    read_message(pbf_reader(view), message);
    if (!error_) path_.pop_back();
  }

  // The overloads of read() give false when the wire type is another one than the schema's: as in protobuf, the field
  // is then an unknown one.

  template <class T>
  requires std::integral<T>
  bool read(pbf_reader& in, const char*, std::optional<T>& member) {
    if (in.wire_type() != pbf_wire_type::varint) return false;
    member = static_cast<T>(in.get_int64());
    return true;
  }

  bool read(pbf_reader& in, const char*, std::optional<float>& member) {
    if (in.wire_type() != pbf_wire_type::fixed32) return false;
    member = in.get_float();
    return true;
  }

  bool read(pbf_reader& in, const char*, std::string_view& member) {
    if (in.wire_type() != pbf_wire_type::length_delimited) return false;
    const protozero::data_view view = in.get_view();
    member = {view.data(), view.size()};
    return true;
  }

  bool read(pbf_reader& in, const char*, Bytes& member) {
    if (in.wire_type() != pbf_wire_type::length_delimited) return false;
    const protozero::data_view view = in.get_view();
    member = bytes_between(view.data(), view.data() + view.size());
    return true;
  }

  // True: the same field follows, and was begun. Lists that are not packed are read so, without a look at other fields.
  bool goes_on(pbf_reader& in) {
    const protozero::data_view rest = in.data();
    const uint32_t tag = in.tag() << 3 | static_cast<uint32_t>(in.wire_type());
    if (rest.empty() || tag >= 0x80 || static_cast<uint8_t>(rest.data()[0]) != tag) return false;
    last_ = rest.data();
    in.next();
    check_range(last_, in);
    return !error_;
  }

  bool read(pbf_reader& in, const char* name, std::vector<std::string_view>& member) {
    std::string_view text;
    do {
      if (!read(in, name, text)) return false;
      if (charge(sizeof(text))) member.push_back(text);
    } while (!error_ && goes_on(in));
    return true;
  }

  bool read(pbf_reader& in, const char*, std::vector<int64_t>& member) {
    if (in.wire_type() == pbf_wire_type::varint) {
      if (charge(sizeof(int64_t))) member.push_back(in.get_int64());
      if (!error_)
        read_run(in, member, &varint_end, [](const char* at, const char* end) {
          return static_cast<int64_t>(protozero::decode_varint(&at, end));
        });
      return true;
    }
    if (in.wire_type() != pbf_wire_type::length_delimited) return false;
    for (int64_t value : in.get_packed_int64()) {
      if (!charge(sizeof(int64_t))) break;
      member.push_back(value);
    }
    return true;
  }

  bool read(pbf_reader& in, const char*, std::vector<float>& member) {
    if (in.wire_type() == pbf_wire_type::fixed32) {
      if (charge(sizeof(float))) member.push_back(in.get_float());
      if (!error_)
        read_run(in, member, &float_end, [](const char* at, const char*) {
          float value;
          std::memcpy(&value, at, sizeof(value));
          return value;
        });
      return true;
    }
    if (in.wire_type() != pbf_wire_type::length_delimited) return false;
    for (float value : in.get_packed_float()) {
      if (!charge(sizeof(float))) break;
      member.push_back(value);
    }
    return true;
  }

  // The byte behind a value; null: it does not end before `end`.
  static const char* varint_end(const char* at, const char* end) {
    constexpr ptrdiff_t kLongest = 10;
    end = at + std::min(end - at, kLongest);
    while (at < end && static_cast<uint8_t>(*at) >= 0x80) ++at;
    return at < end ? at + 1 : nullptr;
  }
  static const char* float_end(const char* at, const char* end) {
    return end - at < static_cast<ptrdiff_t>(sizeof(float)) ? nullptr : at + sizeof(float);
  }

  // The values of the same field that follow it at once, as lists that are not packed have them: they are counted, and
  // read without a look at other fields. One that is no whole value is left to whoever reads on.
  template <class T, class Decode>
  void read_run(pbf_reader& in, std::vector<T>& member, const char* (*value_end)(const char*, const char*),
                Decode decode) {
    const uint32_t tag = in.tag() << 3 | static_cast<uint32_t>(in.wire_type());
    if (tag >= 0x80) return;
    const char* const first = in.data().data();
    const char* const end = first + in.data().size();
    const auto next = [&](const char* at) {
      return at < end && static_cast<uint8_t>(*at) == tag ? value_end(at + 1, end) : nullptr;
    };
    size_t count = 0;
    const char* last = first;
    for (const char* at = next(first); at; at = next(at)) ++count, last = at;
    if (count == 0 || !charge(count * sizeof(T))) return;
    const size_t all = member.size() + count;
    if (all > member.capacity()) member.reserve(std::max(all, 2 * member.size()));
    for (const char* at = first; at < last; at = next(at)) member.push_back(decode(at + 1, end));
    in = pbf_reader(last, static_cast<size_t>(end - last));
  }

  template <class T>
  bool read(pbf_reader& in, const char* name, Packed<T>& member) {
    constexpr bool kFixed = std::is_floating_point_v<T>;
    constexpr pbf_wire_type kSingle = !kFixed          ? pbf_wire_type::varint
                                      : sizeof(T) == 4 ? pbf_wire_type::fixed32
                                                       : pbf_wire_type::fixed64;
    Bytes chunk;
    if (in.wire_type() == kSingle) {
      const char* start = in.data().data();
      in.skip();
      chunk = bytes_between(start, in.data().data());
    } else if (!read(in, name, chunk)) {
      return false;
    }
    if (kFixed && chunk.size() % sizeof(T) != 0) {
      fail("onnx.malformed", fmt::format("{} holds {} bytes, not a multiple of {}", name, chunk.size(), sizeof(T)));
    } else if (!chunk.empty()) {
      keep_chunk(member.chunks, chunk);
    }
    return true;
  }

  void keep_chunk(Few<Bytes>& chunks, Bytes chunk) {
    if (charge(sizeof(Bytes))) chunks.push_back(chunk);
  }

  template <class M>
  bool read(pbf_reader& in, const char* name, Box<M>& member) {
    if (in.wire_type() != pbf_wire_type::length_delimited) return false;
    if (!charge(sizeof(M))) return true;
    if (!member) member.emplace();
    read_nested(in, name, kNoIndex, *member);
    return true;
  }

  template <class M>
  bool read(pbf_reader& in, const char* name, std::vector<M>& member) {
    if (in.wire_type() != pbf_wire_type::length_delimited) return false;
    if (!charge(sizeof(M))) return true;
    member.emplace_back();
    read_nested(in, name, member.size() - 1, member.back());
    return true;
  }

  template <class T>
  bool read(pbf_reader& in, const char* name, Few<T>& member) {
    return read(in, name, member.edit());
  }

  bool charge(uint64_t bytes) {
    if (bytes <= memory_) [[likely]] {
      memory_ -= bytes;
      return true;
    }
    fail("onnx.memory", "the file holds so many empty messages that reading it would take more memory than allowed");
    return false;
  }

  void fail_at_end() {
    if (path_.empty()) return fail("onnx.truncated", "the file ends in the middle of a field");
    fail("onnx.malformed", "a field is longer than the message that holds it");
  }

  void fail(std::string_view code, std::string message) {
    if (error_) return;
    error_ = Error{Error::Kind::refused,
                   std::string(code),
                   place(),
                   fmt::format("{}, at byte {} of {}", message, last_ - first_, size_),
                   {}};
  }

  std::string place() const {
    constexpr size_t kShown = 12;
    std::string out;
    for (size_t i = 0; i < path_.size() && i < kShown; ++i) {
      if (i > 0) out += '.';
      out += path_[i].name;
      if (path_[i].index != kNoIndex) out += fmt::format("[{}]", path_[i].index);
    }
    if (path_.size() > kShown) out += "...";
    return out;
  }

  const char* first_;
  size_t size_;
  uint64_t memory_;
  const char* last_ = first_;
  std::vector<Step> path_;
  std::optional<Error> error_;
};

template <class M>
Result<M> parse(Bytes bytes) {
  static constexpr std::byte kNothing{};
  if (bytes.data() == nullptr) bytes = {&kNothing, 0};
  return Reader(bytes).parse<M>();
}

}  // namespace

Result<ModelProto> parse_model(Bytes bytes) { return parse<ModelProto>(bytes); }
Result<TensorProto> parse_tensor(Bytes bytes) { return parse<TensorProto>(bytes); }
Result<SequenceProto> parse_sequence(Bytes bytes) { return parse<SequenceProto>(bytes); }
Result<OptionalProto> parse_optional(Bytes bytes) { return parse<OptionalProto>(bytes); }
Result<MapProto> parse_map(Bytes bytes) { return parse<MapProto>(bytes); }

}  // namespace anyshape::onnx
