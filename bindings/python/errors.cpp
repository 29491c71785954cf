#include "errors.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

const char* kind_name(Error::Kind kind) {
  switch (kind) {
    case Error::Kind::refused:
      return "refused";
    case Error::Kind::unknown:
      return "unknown";
    case Error::Kind::usage:
      return "usage";
    case Error::Kind::system:
      return "system";
  }
  return "refused";
}

// Text of a file need not be UTF-8.
nb::object text(const std::string& s) {
  return nb::steal(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "replace"));
}

}  // namespace

void raise(const Error& error) {
  const nb::object type = nb::module_::import_("anyshape._errors").attr("Error");
  const nb::object made =
      type(text(error.code), text(error.place), text(error.message), text(error.hint), nb::str(kind_name(error.kind)));
  PyErr_SetObject(type.ptr(), made.ptr());
  throw nb::python_error();
}

}  // namespace anyshape::python
