#include "kernels/regex_parse.h"

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "kernels/regex_sets.h"
#include "kernels/text.h"

namespace anyshape::kernels {
namespace {

constexpr int kMaxDepth = 250, kMaxRepeat = 1000;

using Node = RegexTree::Node;
using Set = Regex::Set;
using Range = Regex::Range;

int hex_digit(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A' + 10);
  return -1;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : text_(code_points(pattern)) {}

  Result<RegexTree> parse() {
    TRY(tree_.root, either(0));
    if (!end()) return wrong("a ) without its (");
    return std::move(tree_);
  }

 private:
  struct Flags {
    bool any_case = false, lines = false, dot_all = false;
  };

  static tl::unexpected<Error> wrong(std::string_view what) {
    return refuse("regex.syntax", "the pattern is no regular expression: {}", what);
  }

  bool end() const { return at_ >= text_.size(); }
  char32_t peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }
  bool take(char32_t c) {
    if (end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool looking_at(std::string_view what) const {
    for (size_t i = 0; i < what.size(); ++i)
      if (at_ + i >= text_.size() || text_[at_ + i] != static_cast<unsigned char>(what[i])) return false;
    return true;
  }

  uint32_t add(Node node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }
  uint32_t add_set(Set set) {
    Node node{.kind = Node::Kind::set, .set = static_cast<uint32_t>(tree_.sets.size())};
    tree_.sets.push_back(normalized(flags_.any_case ? any_case(std::move(set)) : std::move(set)));
    return add(std::move(node));
  }
  uint32_t add_place(Regex::Place place) { return add({.kind = Node::Kind::place, .place = place}); }
  uint32_t add_literal(char32_t c) { return add_set({{c, c}}); }

  // Flags set inside end with the group.
  Result<uint32_t> either(int depth) {
    if (depth > kMaxDepth) return refuse("regex.size", "the pattern is nested too deeply");
    const Flags outer = flags_;
    Node node{.kind = Node::Kind::either};
    do {
      TRY(const uint32_t one, sequence(depth));
      node.children.push_back(one);
    } while (take('|'));
    flags_ = outer;
    return node.children.size() == 1 ? node.children[0] : add(std::move(node));
  }

  Result<uint32_t> sequence(int depth) {
    Node node{.kind = Node::Kind::sequence};
    while (!end() && peek() != '|' && peek() != ')') {
      if (looking_at("\\Q")) {
        quoted(node.children);
      } else {
        TRY(const auto one, atom(depth));
        if (one) node.children.push_back(*one);
        if (!one) continue;
      }
      TRY_OK(repeats(node.children));
    }
    return add(std::move(node));
  }

  void quoted(std::vector<uint32_t>& children) {
    at_ += 2;
    while (!end() && !looking_at("\\E")) children.push_back(add_literal(text_[at_++]));
    if (!end()) at_ += 2;
  }

  struct Count {
    int least, most;
  };

  // "*", "+", "?", "{n}", "{n,}", "{n,m}"; anything else in braces is text.
  Result<std::optional<Count>> count() {
    if (take('*')) return std::optional(Count{0, -1});
    if (take('+')) return std::optional(Count{1, -1});
    if (take('?')) return std::optional(Count{0, 1});
    if (peek() != '{' || end()) return std::optional<Count>();
    const size_t start = at_++;
    const auto least = number();
    auto most = least;
    if (least && take(',')) most = peek() == '}' ? std::optional(-1) : number();
    if (!least || !most || !take('}')) {
      at_ = start;
      return std::optional<Count>();
    }
    if (*least > kMaxRepeat || *most > kMaxRepeat || (*most >= 0 && *most < *least))
      return wrong("a count is too large or out of order");
    return std::optional(Count{*least, *most});
  }

  std::optional<int> number() {
    if (peek() < '0' || peek() > '9') return std::nullopt;
    int value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_)
      value = std::min(value * 10 + static_cast<int>(peek() - '0'), kMaxRepeat + 1);
    return value;
  }

  Status repeats(std::vector<uint32_t>& children) {
    bool repeated = false;
    while (true) {
      TRY(const auto times, count());
      if (!times) return {};
      if (repeated) return wrong("one repetition after another");
      if (children.empty()) return wrong("nothing to repeat");
      repeated = true;
      take('?');
      Node node{.kind = Node::Kind::repeat, .least = times->least, .most = times->most};
      node.children.push_back(children.back());
      children.back() = add(std::move(node));
    }
  }

  // nullopt: something that stands for no text, as (?i).
  Result<std::optional<uint32_t>> atom(int depth) {
    const char32_t c = text_[at_++];
    switch (c) {
      case '(':
        return group(depth);
      case '[': {
        TRY(Set set, bracket());
        return std::optional(add_set(std::move(set)));
      }
      case '.':
        return std::optional(add_set(flags_.dot_all ? Set{{0, kLastCode}} : complement({{'\n', '\n'}})));
      case '^':
        return std::optional(add_place(flags_.lines ? Regex::Place::line_start : Regex::Place::text_start));
      case '$':
        return std::optional(add_place(flags_.lines ? Regex::Place::line_end : Regex::Place::text_end));
      case '*':
      case '+':
      case '?':
        return wrong("nothing to repeat");
      case '\\': {
        TRY(const uint32_t node, escape());
        return std::optional(node);
      }
      default:
        return std::optional(add_literal(c));
    }
  }

  Result<std::optional<uint32_t>> group(int depth) {
    const Flags outer = flags_;
    if (take('?')) {
      if (take('P') || (peek() == '<' && peek(1) != '=' && peek(1) != '!')) {
        TRY_OK(skip_name());
      } else {
        TRY(const bool opens, read_flags());
        if (!opens) return std::optional<uint32_t>();
      }
    }
    TRY(const uint32_t inner, either(depth + 1));
    if (!take(')')) return wrong("a ( without its )");
    flags_ = outer;
    return std::optional(inner);
  }

  Status skip_name() {
    if (!take('<')) return wrong("a group without a name");
    const size_t start = at_;
    while (!end() && peek() != '>') ++at_;
    if (at_ == start || !take('>')) return wrong("a group without a name");
    return {};
  }

  // After "(?": letters, then ":" (true: a group follows) or ")".
  Result<bool> read_flags() {
    bool on = true, some = false;
    for (; !end(); ++at_) {
      const char32_t c = peek();
      if (c == ':' || c == ')') {
        ++at_;
        if (c == ')' && !some) return wrong("a group without flags");
        return c == ':';
      }
      some = true;
      if (c == '-' && on)
        on = false;
      else if (c == 'i')
        flags_.any_case = on;
      else if (c == 'm')
        flags_.lines = on;
      else if (c == 's')
        flags_.dot_all = on;
      else if (c != 'U')
        return wrong("an unknown kind of group");
    }
    return wrong("a ( without its )");
  }

  Result<uint32_t> escape() {
    if (end()) return wrong("a \\ at the end");
    const char32_t c = peek();
    if (c == 'p' || c == 'P' || c == 'C')
      return unknown("regex.class", "Unicode classes and single bytes in patterns are not known");
    if (auto set = perl_class(c)) {
      ++at_;
      return add_set(*std::move(set));
    }
    const auto place = [&]() -> std::optional<Regex::Place> {
      if (c == 'A') return Regex::Place::text_start;
      if (c == 'z') return Regex::Place::text_end;
      if (c == 'b') return Regex::Place::word_border;
      if (c == 'B') return Regex::Place::no_word_border;
      return std::nullopt;
    }();
    if (place) {
      ++at_;
      return add_place(*place);
    }
    TRY(const char32_t code, escaped_code());
    return add_literal(code);
  }

  // The character that stands after a backslash.
  Result<char32_t> escaped_code() {
    const char32_t c = text_[at_++];
    if (c == 'x') return hex_code();
    const bool octal_next = peek() >= '0' && peek() <= '7';
    if (c == '0' || (c >= '1' && c <= '7' && octal_next)) {
      char32_t code = c - '0';
      for (int i = 0; i < 2 && peek() >= '0' && peek() <= '7'; ++i) code = code * 8 + (text_[at_++] - '0');
      return code;
    }
    constexpr std::string_view kLetters = "aftnrv", kMeaning = "\a\f\t\n\r\v";
    if (const size_t i = c < 128 ? kLetters.find(static_cast<char>(c)) : kLetters.npos; i != kLetters.npos)
      return static_cast<char32_t>(kMeaning[i]);
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (alphanumeric) return wrong("an unknown escape");
    return c;
  }

  Result<char32_t> hex_code() {
    char32_t code = 0;
    const bool braces = take('{');
    const size_t start = at_;
    while (!end() && hex_digit(peek()) >= 0 && (braces || at_ - start < 2)) {
      code = code * 16 + static_cast<char32_t>(hex_digit(text_[at_++]));
      if (code > kLastCode) return wrong("a code beyond Unicode");
    }
    const size_t digits = at_ - start;
    if (digits == 0 || (!braces && digits != 2) || (braces && !take('}'))) return wrong("a broken \\x");
    return code;
  }

  // After "[".
  Result<Set> bracket() {
    const bool negated = take('^');
    Set set;
    for (bool first = true; first || peek() != ']'; first = false) {
      if (end()) return wrong("a [ without its ]");
      TRY_OK(bracket_item(set));
    }
    ++at_;
    if (flags_.any_case) set = any_case(std::move(set));
    return negated ? complement(set) : set;
  }

  Status bracket_item(Set& set) {
    if (looking_at("[:")) {
      const auto close = find_posix_end();
      if (close) return posix_item(set, *close);
    }
    if (peek() == '\\') {
      if (const auto perl = perl_class(peek(1))) {
        at_ += 2;
        set.insert(set.end(), perl->begin(), perl->end());
        return {};
      }
      if (peek(1) == 'p' || peek(1) == 'P') return unknown("regex.class", "Unicode classes in patterns are not known");
    }
    TRY(const char32_t low, bracket_code());
    char32_t high = low;
    if (peek() == '-' && peek(1) != ']' && at_ + 1 < text_.size()) {
      ++at_;
      TRY(high, bracket_code());
      if (high < low) return wrong("a range out of order");
    }
    set.push_back({low, high});
    return {};
  }

  Result<char32_t> bracket_code() {
    if (end()) return wrong("a [ without its ]");
    if (!take('\\')) return text_[at_++];
    if (end()) return wrong("a \\ at the end");
    return escaped_code();
  }

  // The place of the ":" in ":]".
  std::optional<size_t> find_posix_end() const {
    for (size_t i = at_ + 2; i + 1 < text_.size(); ++i) {
      if (text_[i] == ':' && text_[i + 1] == ']') return i;
      const bool part = text_[i] == '^' || (text_[i] >= 'a' && text_[i] <= 'z');
      if (!part) return std::nullopt;
    }
    return std::nullopt;
  }

  Status posix_item(Set& set, size_t close) {
    at_ += 2;
    const bool negated = take('^');
    std::string name;
    while (at_ < close) utf8_append(name, text_[at_++]);
    at_ += 2;
    const auto known = posix_class(name);
    if (!known) return wrong("an unknown class of characters");
    const Set add = negated ? complement(*known) : *known;
    set.insert(set.end(), add.begin(), add.end());
    return {};
  }

  std::vector<char32_t> text_;
  size_t at_ = 0;
  Flags flags_;
  RegexTree tree_;
};

}  // namespace

Result<RegexTree> parse_regex(std::string_view pattern) { return Parser(pattern).parse(); }

}  // namespace anyshape::kernels
