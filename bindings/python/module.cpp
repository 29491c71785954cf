#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "anyshape/custom.h"
#include "anyshape/version.h"
#include "errors.h"
#include "parts.h"
#include "values.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

Error python_failure(const CustomNode& node) {
  return {Error::Kind::refused,
          "custom.python",
          "node \"" + std::string(node.name()) + "\"",
          "its Python kernel failed",
          {}};
}

Status fill(nb::handle result, AnyValue& output) {
  Keep keep;
  const AnyValue made = to_value(result, AnyValue::Kind::tensor, output.type(), keep);
  if (made.type() != output.type() || made.shape() != output.shape())
    return tl::unexpected(Error{Error::Kind::refused,
                                "custom.output",
                                {},
                                "the kernel gave " + made.summary() + " where the rule says " + output.summary(),
                                {}});
  if (made.bytes() > 0) std::memcpy(output.mutable_data(), made.data(), made.bytes());
  return {};
}

// Takes the node and arrays, gives an array or a tuple of them.
Status call_kernel(nb::handle function, std::span<const AnyValue> inputs, std::span<AnyValue> outputs,
                   const CustomNode& node) {
  const nb::gil_scoped_acquire acquire;
  try {
    nb::list arguments;
    arguments.append(nb::cast(&node, nb::rv_policy::reference));
    for (const AnyValue& input : inputs) arguments.append(to_python(input));
    const nb::object made = function(*nb::tuple(arguments));
    const bool several = nb::isinstance<nb::tuple>(made) || nb::isinstance<nb::list>(made);
    const size_t count = several ? nb::len(made) : 1;
    if (count != outputs.size()) return tl::unexpected(python_failure(node));
    for (size_t i = 0; i < count; ++i)
      if (auto filled = fill(several ? nb::object(made[i]) : made, outputs[i]); !filled) return filled;
    return {};
  } catch (nb::python_error& error) {
    Error out = python_failure(node);
    out.message += ": " + std::string(error.what());
    return tl::unexpected(std::move(out));
  }
}

void register_operator(const std::string& domain, const std::string& name, const std::string& rule, nb::object kernel) {
  CustomKernelFunction function;
  if (!kernel.is_none()) {
    // Operators stay registered until the process ends, when there is no interpreter to give the function back to.
    const nb::handle held = kernel.release();
    function = [held](std::span<const AnyValue> inputs, std::span<AnyValue> outputs, const CustomNode& node) {
      return call_kernel(held, inputs, outputs, node);
    };
  }
  value_of(register_op(domain, name, rule, std::move(function)));
}

}  // namespace
}  // namespace anyshape::python

NB_MODULE(_anyshape, m) {
  using namespace anyshape::python;
  // Kernels of custom operators and the interpreter's own order of shutdown make leak reports meaningless.
  nb::set_leak_warnings(false);
  nb::class_<anyshape::CustomNode>(m, "CustomNode", "The node a kernel runs for; valid during the call.")
      .def("name", [](const anyshape::CustomNode& node) { return std::string(node.name()); })
      .def("integer", &anyshape::CustomNode::integer, nb::arg("attribute"))
      .def("number", &anyshape::CustomNode::number, nb::arg("attribute"))
      .def("text", &anyshape::CustomNode::text, nb::arg("attribute"))
      .def("integers", &anyshape::CustomNode::integers, nb::arg("attribute"))
      .def("numbers", &anyshape::CustomNode::numbers, nb::arg("attribute"));
  m.def("version", [] { return std::string(anyshape::version()); });
  m.def("register_op", register_operator, nb::arg("domain"), nb::arg("name"), nb::arg("rule"),
        nb::arg("kernel").none() = nb::none());
  m.def(
      "register_shape_rule", [](const std::string& text) { value_of(anyshape::register_shape_rule(text)); },
      nb::arg("text"));
  bind_model(m);
  bind_session(m);
  bind_export(m);
}
