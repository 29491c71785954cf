#pragma once

#include <fmt/format.h>

#include <utility>

#include "anyshape/error.h"

namespace anyshape {

template <class... Args>
tl::unexpected<Error> refuse(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(
      Error{Error::Kind::refused, std::string(code), {}, fmt::format(text, std::forward<Args>(args)...), {}});
}

// "No rule can tell": the outputs become opaque and the verdict unknown.
template <class... Args>
tl::unexpected<Error> unknown(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(
      Error{Error::Kind::unknown, std::string(code), {}, fmt::format(text, std::forward<Args>(args)...), {}});
}

template <class... Args>
tl::unexpected<Error> usage(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(
      Error{Error::Kind::usage, std::string(code), {}, fmt::format(text, std::forward<Args>(args)...), {}});
}

template <class... Args>
tl::unexpected<Error> system_error(std::string_view code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected(
      Error{Error::Kind::system, std::string(code), {}, fmt::format(text, std::forward<Args>(args)...), {}});
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
