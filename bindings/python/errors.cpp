#include "errors.h"

#include "text.h"

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

}  // namespace

void raise(const Error& error, nb::handle cause) {
  const nb::object made = nb::module_::import_("anyshape._errors")
                              .attr("make")(to_text(error.code), to_text(error.place), to_text(error.message),
                                            to_text(error.hint), nb::str(kind_name(error.kind)));
  if (cause.is_valid()) PyException_SetCause(made.ptr(), cause.inc_ref().ptr());
  PyErr_SetObject(made.type().ptr(), made.ptr());
  throw nb::python_error();
}

}  // namespace anyshape::python
