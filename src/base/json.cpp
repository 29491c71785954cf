#include "base/json.h"

#include <fmt/format.h>

#include <utility>

#include "base/utf8.h"

namespace anyshape {
namespace {

void append_character(std::string& out, std::string_view sequence) {
  switch (const char c = sequence[0]) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
      else
        out += sequence;
  }
}

}  // namespace

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) {
      out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    append_character(out, text.substr(0, length));
    text.remove_prefix(length);
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

std::string JsonWriter::take() { return std::move(out_) + '\n'; }

}  // namespace anyshape
