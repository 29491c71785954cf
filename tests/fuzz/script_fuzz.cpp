// Any text: an Error with its line, or a program whose expressions print to what parses to the same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "format/torchscript/source.h"

namespace anyshape::torchscript {
namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

void expect_stable(const Expr& expr) {
  must(expr.depth <= kMaxNesting);
  const std::string text = print(expr);
  // Brackets that the printer adds may pass the bound on nesting.
  if (expr.depth > kMaxNesting / 4 || expr.kind == Expr::Kind::slice) return;
  const auto again = parse_expression(text);
  must(again.has_value());
  must(print(*again) == text);
}

void visit(const std::vector<Statement>& body) {
  for (const Statement& statement : body) {
    for (const Expr& target : statement.targets) expect_stable(target);
    if (statement.annotation) expect_stable(*statement.annotation);
    if (statement.value) expect_stable(*statement.value);
    visit(statement.body);
    visit(statement.otherwise);
    if (statement.function) visit(statement.function->body);
  }
}

void run(std::string_view text) {
  const auto source = parse_source(text, "f.py");
  if (!source) {
    must(!source.error().code.empty() && source.error().place.starts_with("f.py:"));
    return;
  }
  for (const Class& made : source->classes) {
    for (const auto& [name, method] : made.methods) visit(method.body);
  }
  for (const Function& function : source->functions) visit(function.body);
}

}  // namespace
}  // namespace anyshape::torchscript

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  anyshape::torchscript::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
