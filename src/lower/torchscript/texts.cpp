#include <algorithm>
#include <cctype>

#include "lower/torchscript/library.h"

// Texts of a program: what is printed of values, and the methods of str.
namespace anyshape::lower::script {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\n\r\v\f");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\r\v\f") - begin + 1);
}

std::string mapped(std::string text, int (*f)(int)) {
  for (char& c : text) c = static_cast<char>(f(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

Result<std::string> Library::text_of(const Value& value) {
  if (value.text()) return *value.text();
  if (value.is_none()) return std::string("None");
  if (const bool* truth = value.get<bool>()) return std::string(*truth ? "True" : "False");
  if (const Dim* dim = value.get<Dim>()) return print(*dim);
  if (const double* number = value.get<double>()) return fmt::format("{}", *number);
  if (const auto* device = value.get<Device>()) return device->text;
  if (const List* list = value.list(); list && !list->stacked) {
    std::string inner;
    for (const Value& item : list->items) {
      TRY(const std::string text, text_of(item));
      inner += fmt::format("{}{}", inner.empty() ? "" : ", ", text);
    }
    return fmt::format("{}{}{}", list->tuple ? "(" : "[", inner, list->tuple ? ")" : "]");
  }
  return fmt::format("<{}>", kind_of(value));
}

// "{}" only; that is all TorchScript knows.
Library::Maybe Library::formatted(const Call& call, const std::string& pattern) {
  std::string out;
  size_t next = 1;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const size_t close = pattern[i] == '{' ? pattern.find('}', i) : std::string::npos;
    if (close == std::string::npos || next >= call.args.size()) {
      out += pattern[i];
      continue;
    }
    TRY(const std::string text, text_of(call.args[next++]));
    out += text;
    i = close;
  }
  return Value(std::move(out));
}

Library::Maybe Library::text_primitive(const Call& call, const std::string& text) {
  const std::string& name = call.name;
  const Value* second = call.arg(1);
  const std::string* other = second ? second->text() : nullptr;
  if (name == "format") return formatted(call, text);
  if (name == "len") return Value(Dim(text.size()));
  if (name == "lower") return Value(mapped(text, std::tolower));
  if (name == "upper") return Value(mapped(text, std::toupper));
  if (name == "strip") return Value(trimmed(text));
  if (name == "str") return Value(text);
  if (name == "ord" && text.size() == 1) return Value(Dim(static_cast<unsigned char>(text[0])));
  if (name == "add" && other) return Value(text + *other);
  if (name == "lt" && other) return Value(text < *other);
  if (name == "gt" && other) return Value(text > *other);
  if (name == "startswith" && other) return Value(text.starts_with(*other));
  if (name == "endswith" && other) return Value(text.ends_with(*other));
  if (name == "find" && other) {
    const size_t at = text.find(*other);
    return Value(Dim(at == std::string::npos ? -1 : static_cast<int64_t>(at)));
  }
  if (name == "split") {
    const std::string by = other ? *other : " ";
    Values parts;
    for (size_t from = 0; !by.empty() && from <= text.size();) {
      const size_t to = std::min(text.find(by, from), text.size());
      parts.push_back(text.substr(from, to - from));
      from = to + by.size();
    }
    return list_of(std::move(parts));
  }
  if (name == "join" && second && second->list()) {
    std::string out;
    for (const Value& part : second->list()->items) {
      if (!part.text()) return std::nullopt;
      if (&part != &second->list()->items.front()) out += text;
      out += *part.text();
    }
    return Value(std::move(out));
  }
  if (name == "slice") {
    List letters;
    for (const char c : text) letters.items.push_back(std::string(1, c));
    TRY(const Value part, sliced(letters, call.arg(1), call.arg(2), call.arg(3)));
    std::string out;
    for (const Value& letter : part.list()->items) out += *letter.text();
    return Value(std::move(out));
  }
  return std::nullopt;
}

}  // namespace anyshape::lower::script
