#include "text.h"

namespace nb = nanobind;

namespace anyshape::python {

nb::object to_text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

std::optional<std::string> from_text(nb::handle text) {
  if (!PyUnicode_Check(text.ptr())) return std::nullopt;
  // The second is for surrogates that stand for no byte: a text like any other, though no file can hold it.
  for (const char* errors : {"surrogateescape", "surrogatepass"}) {
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", errors));
    if (bytes) return std::string(PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
    PyErr_Clear();
  }
  return std::nullopt;
}

}  // namespace anyshape::python
