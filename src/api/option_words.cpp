#include "api/option_words.h"

namespace anyshape {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The end of a quoted part that begins at `i`, which is appended to `word`; npos: it has none.
size_t read_quoted(std::string_view text, size_t i, std::string& word) {
  const char quote = text[i];
  for (++i; i < text.size(); ++i) {
    if (text[i] == quote) return i;
    const bool escape = quote == '"' && text[i] == '\\' && i + 1 < text.size() &&
                        (text[i + 1] == '"' || text[i + 1] == '\\' || text[i + 1] == '$' || text[i + 1] == '`');
    if (escape) ++i;
    word += text[i];
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // an empty pair of quotes is a word
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_blank(text[i])) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (text[i] == '\'' || text[i] == '"') {
      const size_t end = read_quoted(text, i, words.back());
      if (end == std::string_view::npos) return usage("options.quote", "the quote at {:?} has no end", text.substr(i));
      i = end;
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      words.back() += text[i];
    }
  }
  return words;
}

tl::unexpected<Error> bad_option_value(std::string_view option, std::string_view value, std::string_view wanted) {
  return usage("options.value", "{} is {:?}, it takes {}", option, value, wanted);
}

tl::unexpected<Error> unknown_option(const std::string& word, const std::vector<std::string>& known) {
  Error error = usage("options.unknown", "{:?} is none of the options here: {}", word, fmt::join(known, ", ")).value();
  error.hint = nearest(word, known);
  return tl::unexpected(std::move(error));
}

}  // namespace anyshape
