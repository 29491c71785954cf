#include "tensor/npy_header.h"

#include <charconv>
#include <cstring>
#include <optional>

#include "base/utf8.h"

namespace anyshape {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr uint64_t kLargestRank = 64;
constexpr uint64_t kNpyHeaderAlignment = 64;

tl::unexpected<Error> wrong_header(std::string_view what) {
  return refuse("npy.header", "the header of the .npy file is wrong: {}", what);
}

// Reads the Python literal of the header: a dictionary of a text, a bool and a tuple of integers. Nothing else of the
// language is understood.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  bool take(char c) {
    skip_spaces();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool next_is(char c) {
    skip_spaces();
    return !rest_.empty() && rest_[0] == c;
  }
  bool at_end() {
    skip_spaces();
    return rest_.empty();
  }
  std::optional<std::string_view> text() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t close = rest_.find(rest_[0], 1);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view content = rest_.substr(1, close - 1);
    rest_.remove_prefix(close + 1);
    if (content.find('\\') != std::string_view::npos) return std::nullopt;
    return content;
  }
  std::optional<bool> boolean() {
    skip_spaces();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    return std::nullopt;
  }
  // A size: digits, and the L that Python 2 put behind them.
  std::optional<int64_t> size() {
    skip_spaces();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);
    return value;
  }
  std::optional<std::vector<int64_t>> sizes() {
    if (!take('(')) return std::nullopt;
    std::vector<int64_t> out;
    while (!take(')')) {
      const auto value = size();
      if (!value || out.size() == kLargestRank) return std::nullopt;
      out.push_back(*value);
      if (!take(',') && !next_is(')')) return std::nullopt;
    }
    return out;
  }

 private:
  void skip_spaces() {
    const size_t first = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string_view rest_;
};

tl::unexpected<Error> no_such_dtype(std::string_view descr, std::string_view why) {
  return refuse("npy.dtype", "the array has the NumPy type {:?}, {}", shortened(descr, 60), why);
}

bool is_known_width(char kind, uint64_t width) {
  switch (kind) {
    case 'b':
      return width == 1;
    case 'i':
    case 'u':
      return width == 1 || width == 2 || width == 4 || width == 8;
    case 'f':
      return width == 1 || width == 2 || width == 4 || width == 8;
    case 'c':
      return width == 8 || width == 16;
    case 'V':
      return width == 1 || width == 2;
    default:
      return kind == 'U' || kind == 'S';
  }
}

Status take_descr(std::string_view descr, NpyHeader& header) {
  std::string_view rest = descr;
  if (!rest.empty() && (rest[0] == '<' || rest[0] == '>' || rest[0] == '|' || rest[0] == '=')) {
    header.big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest == "?") rest = "b1";
  if (rest == "O") return no_such_dtype(descr, "Python objects; only numbers, bools and texts can be read");
  if (rest.empty()) return wrong_header("its type is empty");
  header.kind = rest[0] == 'a' ? 'S' : rest[0];
  rest.remove_prefix(1);
  constexpr uint64_t kWidest = uint64_t{1} << 32;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), header.item_bytes);
  const bool number = error == std::errc() && end == rest.data() + rest.size() && header.item_bytes <= kWidest;
  if (!number || !is_known_width(header.kind, header.item_bytes))
    return no_such_dtype(descr, "which no tensor of ONNX can hold");
  if (header.kind == 'U') header.item_bytes *= 4;
  return {};
}

Status take_entry(std::string_view key, Literal& literal, NpyHeader& header) {
  if (key == "descr") {
    if (literal.next_is('[')) return refuse("npy.dtype", "the array holds records; only plain arrays can be read");
    const auto descr = literal.text();
    if (!descr) return wrong_header("its type is no text");
    return take_descr(*descr, header);
  }
  if (key == "fortran_order") {
    const auto order = literal.boolean();
    if (!order) return wrong_header("its order is neither True nor False");
    header.fortran_order = *order;
    return {};
  }
  if (key != "shape") return wrong_header(fmt::format("it has an entry {:?}", shortened(key, 60)));
  auto dims = literal.sizes();
  if (!dims) return wrong_header("its shape is no tuple of sizes");
  header.dims = *std::move(dims);
  return {};
}

Status parse_dictionary(std::string_view text, NpyHeader& header) {
  Literal literal(text);
  if (!literal.take('{')) return wrong_header("it is no dictionary");
  std::vector<std::string_view> seen;
  while (!literal.take('}')) {
    const auto key = literal.text();
    if (!key || !literal.take(':')) return wrong_header("it is no dictionary of three entries");
    for (std::string_view other : seen)
      if (other == *key) return wrong_header("an entry stands twice");
    seen.push_back(*key);
    TRY_OK(take_entry(*key, literal, header));
    if (!literal.take(',') && !literal.next_is('}')) return wrong_header("it is no dictionary of three entries");
  }
  if (seen.size() != 3) return wrong_header("it needs descr, fortran_order and shape");
  return literal.at_end() ? Status{} : wrong_header("something stands behind it");
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) return refuse("npy.format", "this is not a .npy file");
  if (text.size() < 12) return wrong_header("the file ends within it");
  const auto major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3) return wrong_header(fmt::format("it is of version {}; known are 1 to 3", major));
  const uint64_t start = major == 1 ? 10 : 12;
  uint64_t length = 0;
  std::memcpy(&length, text.data() + 8, start - 8);
  if (length > text.size() - start) return wrong_header("the file ends within it");
  NpyHeader header;
  header.length = start + length;
  TRY_OK(parse_dictionary(text.substr(start, length), header));
  return header;
}

std::string make_npy_header(std::string_view descr, std::span<const int64_t> dims) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  const auto padded = [&](uint64_t start) {
    return (start + text.size() + kNpyHeaderAlignment) / kNpyHeaderAlignment * kNpyHeaderAlignment;
  };
  const bool small = padded(10) - 10 <= 0xFFFF;
  const uint64_t start = small ? 10 : 12, length = padded(start) - start;
  text.resize(length - 1, ' ');
  text += '\n';
  std::string out(kMagic);
  out += small ? '\1' : '\2';
  out += '\0';
  out.append(reinterpret_cast<const char*>(&length), start - 8);
  return out + text;
}

}  // namespace anyshape
