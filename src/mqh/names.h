#pragma once

#include <set>
#include <string>
#include <string_view>

// What a file controls, as text of an MQL5 source: it becomes a name, a string or a comment, never code.
namespace anyshape::mqh {

// Names of parameters and members, each given once. All are in lower case, so that none is a function, a constant or a
// class of MQL5, or one of the generated names, which have a capital letter.
class Names {
 public:
  // A legal name like this one: letters, digits and `_`, no keyword, not like a member (`m_...`).
  std::string unique(std::string_view like);

 private:
  std::set<std::string> taken_;
};

// "lstm-eurusd" is "LstmEurusd": letters and digits, each word with a capital letter.
std::string camel_case(std::string_view text);
// A string literal of ASCII characters.
std::string quoted(std::string_view text);
// Each line of the text as a comment of ASCII characters.
std::string commented(std::string_view text);

}  // namespace anyshape::mqh
