// Any text: an Error, or an expression that prints as text which is read as the same expression, and whose Dim or
// condition has the same value as the one of that text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "format/pt2/expression.h"

namespace anyshape::pt2 {
namespace {

void must(bool condition, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", text.c_str());
  std::abort();
}

std::string converted(const Expression& e) {
  Symbols symbols;
  const Leaf leaf = [&](const Expression& symbol) -> std::optional<Dim> {
    return symbols.symbol(symbol.name + "." +
                          std::to_string(symbol.kind == Expression::Kind::size ? symbol.integer : -1));
  };
  std::string out;
  if (const auto dim = to_dim(e, leaf)) out += print(*dim);
  if (const auto condition = to_condition(e, leaf)) out += print(*condition);
  return out;
}

bool declares_sign(const Expression& e) {
  if (e.kind == Expression::Kind::symbol) return e.integer != 0;
  for (const Expression& arg : e.args) {
    if (declares_sign(arg)) return true;
  }
  return false;
}

void run(std::string_view text) {
  const auto e = parse_srepr(text);
  if (!e) return must(e.error().code.starts_with("pt2.expression") && !e.error().message.empty(), e.error().text());
  const std::string printed = print(*e);
  const std::string first = converted(*e);
  const auto again = parse_python(printed);
  // Symbol('...') takes any text for a name, and printing may need more brackets than the bounds allow.
  if (!again || text.find("Symbol") != std::string_view::npos || text.find("Dummy") != std::string_view::npos) return;
  must(print(*again) == printed, printed + " is read as " + print(*again));
  if (!declares_sign(*e)) must(converted(*again) == first, printed + " was " + first + ", is " + converted(*again));
}

}  // namespace
}  // namespace anyshape::pt2

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size <= 4096) anyshape::pt2::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
