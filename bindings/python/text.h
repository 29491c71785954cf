#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

namespace anyshape::python {

// Text of a file need not be UTF-8: other bytes become lone surrogates, as in names of files, and come back as the same
// bytes. So a name that was told can be asked for.
nanobind::object to_text(std::string_view bytes);
// Advice of the library in the words of the package: keyword arguments in place of options, calls in place of commands.
std::string in_python(std::string_view advice);
// Nothing for what is no str.
std::optional<std::string> from_text(nanobind::handle text);

}  // namespace anyshape::python

// In place of nanobind/stl/string.h, which raises UnicodeDecodeError.
namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  template <class Flags>
  bool from_python(handle source, Flags, cleanup_list*) noexcept {
    auto text = anyshape::python::from_text(source);
    if (text) value = *std::move(text);
    return text.has_value();
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return anyshape::python::to_text(text).release();
  }
};

}  // namespace nanobind::detail
