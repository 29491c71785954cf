#include <nanobind/nanobind.h>

#include "anyshape/version.h"
#include "parts.h"
#include "text.h"

namespace nb = nanobind;

NB_MODULE(_anyshape, m) {
  using namespace anyshape::python;
  // Kernels of custom operators and the interpreter's own order of shutdown make leak reports meaningless.
  nb::set_leak_warnings(false);
  m.def("version", [] { return std::string(anyshape::version()); });
  bind_limits(m);
  bind_kernels(m);
  bind_model(m);
  bind_session(m);
  bind_export(m);
  bind_change(m);
  bind_verify(m);
}
