#include "text.h"

namespace nb = nanobind;

namespace anyshape::python {

nb::object to_text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

std::string in_python(std::string_view advice) {
  const nb::object words = nb::module_::import_("anyshape._words").attr("pythonic")(to_text(advice));
  return from_text(words).value_or(std::string(advice));
}

std::optional<std::string> from_text(nb::handle text) {
  if (!PyUnicode_Check(text.ptr())) return std::nullopt;
  // The second is for surrogates that stand for no byte: a text like any other, though no file can hold it.
  for (const char* errors : {"surrogateescape", "surrogatepass"}) {
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", errors));
    if (bytes) return std::string(PyBytes_AsString(bytes.ptr()), static_cast<size_t>(PyBytes_Size(bytes.ptr())));
    PyErr_Clear();
  }
  return std::nullopt;
}

}  // namespace anyshape::python
