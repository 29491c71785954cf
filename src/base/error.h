#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "anyshape/error.h"

namespace anyshape {

// The code of a rule that refuses something. `lenient`: ONNX Runtime runs it all the same, though the operator's text
// does not promise that.
struct RuleCode {
  constexpr RuleCode(const char* of_text) : text(of_text) {}
  constexpr RuleCode(std::string_view of_text) : text(of_text) {}
  RuleCode(const std::string& of_text) : text(of_text) {}
  constexpr RuleCode(std::string_view of_text, bool of_lenient) : text(of_text), lenient(of_lenient) {}

  std::string_view text;
  bool lenient = false;
};
constexpr RuleCode lenient(std::string_view code) { return {code, true}; }

// The error with its formatted message; what the templates below share.
tl::unexpected<Error> make_error(Error::Kind kind, RuleCode code, fmt::string_view text, fmt::format_args args);

template <class... Args>
tl::unexpected<Error> refuse(RuleCode code, fmt::format_string<Args...> text, Args&&... args) {
  return make_error(Error::Kind::refused, code, text, fmt::make_format_args(args...));
}

// "No rule can tell": the outputs become opaque and the verdict unknown.
template <class... Args>
tl::unexpected<Error> unknown(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
  return make_error(Error::Kind::unknown, code, text, fmt::make_format_args(args...));
}

template <class... Args>
tl::unexpected<Error> usage(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
  return make_error(Error::Kind::usage, code, text, fmt::make_format_args(args...));
}

template <class... Args>
tl::unexpected<Error> system_error(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
  return make_error(Error::Kind::system, code, text, fmt::make_format_args(args...));
}

// The same error, seen from one level further out: place is prefixed with `outer`.
tl::unexpected<Error> at(std::string_view outer, Error error);

}  // namespace anyshape

#define ANYSHAPE_JOIN2(a, b) a##b
#define ANYSHAPE_JOIN(a, b) ANYSHAPE_JOIN2(a, b)
#define ANYSHAPE_TRY_IMPL(tmp, decl, expr)                                    \
  auto tmp = (expr);                                                          \
  if (!tmp) return tl::unexpected<::anyshape::Error>(std::move(tmp).error()); \
  decl = *std::move(tmp)

// TRY(auto x, f()): x is the value, or the enclosing function returns the error.
#define TRY(decl, expr) ANYSHAPE_TRY_IMPL(ANYSHAPE_JOIN(try_, __COUNTER__), decl, expr)
// TRY_OK(f()): the same for a Status.
#define TRY_OK(expr)                                                                                        \
  do {                                                                                                      \
    if (auto status = (expr); !status) return tl::unexpected<::anyshape::Error>(std::move(status).error()); \
  } while (false)
