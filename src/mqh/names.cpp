#include "mqh/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/printable.h"

namespace anyshape::mqh {
namespace {

// MQL5 takes 63 characters; a number may follow.
constexpr size_t kLongestName = 48;

// Keywords and types of MQL5, and keywords of C++ for those who compile the class there.
constexpr std::string_view kKeywords[] = {
    "alignas",   "alignof",   "and",       "and_eq",   "asm",      "auto",     "bitand",    "bitor",    "bool",
    "break",     "case",      "catch",     "char",     "class",    "color",    "compl",     "complex",  "concept",
    "const",     "consteval", "constexpr", "continue", "datetime", "decltype", "default",   "delete",   "do",
    "double",    "else",      "enum",      "explicit", "export",   "extern",   "false",     "final",    "float",
    "for",       "friend",    "goto",      "group",    "if",       "import",   "inline",    "input",    "int",
    "interface", "long",      "matrix",    "matrixc",  "matrixf",  "mutable",  "namespace", "new",      "noexcept",
    "not",       "not_eq",    "nullptr",   "operator", "or",       "or_eq",    "override",  "pack",     "private",
    "protected", "public",    "register",  "requires", "return",   "short",    "signed",    "sinput",   "sizeof",
    "static",    "string",    "struct",    "switch",   "template", "this",     "throw",     "true",     "try",
    "typedef",   "typeid",    "typename",  "uchar",    "uint",     "ulong",    "union",     "unsigned", "ushort",
    "using",     "vector",    "vectorc",   "vectorf",  "virtual",  "void",     "volatile",  "while",    "xor",
    "xor_eq",
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string legal_name(std::string_view like) {
  std::string out;
  for (const char c : like.substr(0, kLongestName)) out += is_letter(c) || is_digit(c) ? lower(c) : '_';
  if (out.empty() || !is_letter(out[0]) || out.starts_with("m_")) out = "t_" + out;
  return std::find(std::begin(kKeywords), std::end(kKeywords), out) == std::end(kKeywords) ? out : out + "_";
}

// Printable, and each byte beyond ASCII as an escape.
std::string ascii(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace

std::string Names::unique(std::string_view like) {
  const std::string name = legal_name(like);
  std::string out = name;
  for (int i = 2; !taken_.insert(out).second; ++i) out = fmt::format("{}_{}", name, i);
  return out;
}

std::string camel_case(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c)) {
      begins = true;
      continue;
    }
    out += begins ? upper(c) : c;
    begins = false;
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : ascii(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string commented(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line = ascii(text.substr(0, end));
    // A line that ends so goes on in the next one.
    if (line.ends_with('\\')) line += '.';
    out += line.empty() ? "//\n" : fmt::format("// {}\n", line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace anyshape::mqh
