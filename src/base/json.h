#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape {

// Writes one JSON document, indented by two spaces. Text that is not UTF-8 gets U+FFFD for each wrong byte.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(int64_t value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  // The document so far, with a final newline.
  std::string take();

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  void separate();
  void new_line();

  std::string out_;
  std::vector<bool> filled_;  // of each open bracket: has an entry
  bool after_key_ = false;
};

// The text in double quotes, escaped.
std::string json_quote(std::string_view text);

}  // namespace anyshape
