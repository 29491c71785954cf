#include "base/json.h"

#include <fmt/format.h>

#include <utility>

#include "base/printable.h"
#include "base/utf8.h"

namespace anyshape {
namespace {

// Beyond the 16 bits of an escape: two of them, a surrogate pair.
std::string escape_json(char32_t point) {
  const auto number = static_cast<uint32_t>(point);
  if (number < 0x10000) return fmt::format("\\u{:04x}", number);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (number >> 10U), 0xdc00 + (number & 0x3ffU));
}

void append_character(std::string& out, char32_t point, std::string_view bytes) {
  if (point == '"' || point == '\\')
    out += '\\' + std::string(bytes);
  else if (point == '\n' || point == '\t')
    out += point == '\n' ? "\\n" : "\\t";
  else if (is_hidden(point))
    out += escape_json(point);
  else
    out += bytes;
}

}  // namespace

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const Utf8Character first = utf8_first(text);
    if (first.point)
      append_character(out, *first.point, first.bytes);
    else
      out += "\\ufffd";
    text.remove_prefix(first.bytes.size());
  }
  return out + '"';
}

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(2 * filled_.size(), ' ');
}

void JsonWriter::separate() {
  if (std::exchange(after_key_, false) || filled_.empty()) return;
  if (filled_.back()) out_ += ',';
  filled_.back() = true;
  new_line();
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_ += bracket;
  filled_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  const bool filled = filled_.back();
  filled_.pop_back();
  if (filled) new_line();
  out_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out_ += json_quote(name) + ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  out_ += json_quote(value);
  return *this;
}

JsonWriter& JsonWriter::number(int64_t value) {
  separate();
  out_ += fmt::format("{}", value);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

std::string JsonWriter::take() { return std::move(out_) + '\n'; }

}  // namespace anyshape
