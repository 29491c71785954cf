// Operators whose kernels are functions in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "anyshape/custom.h"
#include "errors.h"
#include "limits.h"
#include "parts.h"
#include "text.h"
#include "values.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

// The node of a kernel, for as long as the kernel runs.
class KernelNode {
 public:
  explicit KernelNode(const CustomNode& node) : node_(&node) {}

  const CustomNode& get() const {
    if (node_) return *node_;
    raise({Error::Kind::usage, "custom.node", {}, "the call it was for is over: keep what it told, not the node", {}});
  }
  void end() { node_ = nullptr; }

 private:
  const CustomNode* node_;
};

// Gives the node to Python until the call is over.
class LentNode {
 public:
  explicit LentNode(const CustomNode& node)
      : node_(new KernelNode(node)), object_(nb::cast(node_, nb::rv_policy::take_ownership)) {}
  ~LentNode() { node_->end(); }
  LentNode(const LentNode&) = delete;
  LentNode& operator=(const LentNode&) = delete;

  const nb::object& object() const { return object_; }

 private:
  KernelNode* node_;
  nb::object object_;
};

tl::unexpected<Error> refused(const char* code, const CustomNode& node, std::string sentence) {
  return tl::unexpected(
      Error{Error::Kind::refused, code, "node \"" + std::string(node.name()) + "\"", std::move(sentence), {}});
}

std::string type_text(DType type, const std::vector<int64_t>& shape) {
  std::string out(name(type));
  out += "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

// "ValueError: five rows", as one line. The exception itself is the cause of the error, so it may be cut.
std::string first_line(const nb::python_error& error) {
  constexpr Py_ssize_t kMost = 200;
  try {
    const nb::str whole(error.value());
    const auto word = from_text(nb::str(error.type().attr("__name__"))).value_or("");
    const auto text = from_text(nb::steal(PyUnicode_Substring(whole.ptr(), 0, kMost))).value_or("");
    return word + (text.empty() ? "" : ": ") + text.substr(0, text.find('\n'));
  } catch (const std::exception&) {
    return "an exception that has no text";
  }
}

// NumPy takes any byte but 0 for true, kernels only 1.
void copy_bytes(const AnyValue& from, AnyValue& to) {
  if (from.bytes() == 0) return;
  if (to.type() != DType::boolean) {
    std::memcpy(to.mutable_data(), from.data(), from.bytes());
    return;
  }
  const auto* bytes = static_cast<const uint8_t*>(from.data());
  std::transform(bytes, bytes + from.bytes(), static_cast<uint8_t*>(to.mutable_data()),
                 [](uint8_t byte) { return static_cast<uint8_t>(byte != 0); });
}

Status fill(nb::handle result, AnyValue& output, size_t index, const CustomNode& node) {
  const std::string wanted = "output " + std::to_string(index) + " is " + type_text(output.type(), output.shape()) +
                             " by its rule, the kernel gave ";
  Keep keep;
  AnyValue made;
  try {
    made = to_value(result, AnyValue::Kind::tensor, output.type(), keep);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    return refused("custom.output", node, wanted + "what is no such array: " + first_line(error));
  }
  if (made.type() != output.type() || made.shape() != output.shape())
    return refused("custom.output", node, wanted + type_text(made.type(), made.shape()));
  if (output.type() == DType::string) {
    output = made;
  } else {
    copy_bytes(made, output);
  }
  return {};
}

Status fill_all(nb::handle made, std::span<AnyValue> outputs, const CustomNode& node) {
  if (!nb::isinstance<nb::tuple>(made) && !nb::isinstance<nb::list>(made)) {
    if (outputs.size() == 1) return fill(made, outputs[0], 0, node);
    return refused("custom.output", node,
                   "its rule has " + std::to_string(outputs.size()) + " outputs, the kernel gave no tuple of them");
  }
  const nb::tuple results(made);
  if (results.size() != outputs.size())
    return refused("custom.output", node,
                   "its rule has " + std::to_string(outputs.size()) + " outputs, the kernel gave " +
                       std::to_string(results.size()));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (auto filled = fill(results[i], outputs[i], i, node); !filled) return filled;
  return {};
}

Status call_with(nb::handle function, std::span<const AnyValue> inputs, std::span<AnyValue> outputs,
                 const CustomNode& node) {
  try {
    const LentNode lent(node);
    nb::list arguments;
    arguments.append(lent.object());
    for (const AnyValue& input : inputs) arguments.append(to_python(input, Access::read));
    return fill_all(function(*nb::tuple(arguments)), outputs, node);
  } catch (nb::python_error& error) {
    auto failed = refused("custom.python", node, "its Python kernel failed: " + first_line(error));
    Watch::keep(std::move(error));
    return failed;
  } catch (const std::exception& error) {
    return refused("custom.python", node, std::string("its Python kernel failed: ") + error.what());
  }
}

// Takes the node and arrays, gives an array or a tuple of them.
Status call_kernel(nb::handle function, std::span<const AnyValue> inputs, std::span<AnyValue> outputs,
                   const CustomNode& node) {
  // A NumPy array cannot be told that its memory is gone, so what a run uses again is copied.
  std::vector<AnyValue> kept;
  for (const AnyValue& input : inputs) {
    auto own = input ? input.kept() : Result<AnyValue>(input);
    if (!own) return tl::unexpected(std::move(own).error());
    kept.push_back(*std::move(own));
  }
  const WithInterpreter interpreter;
  if (!interpreter) return refused("custom.python", node, "the interpreter is ending");
  return call_with(function, kept, outputs, node);
}

void register_operator(const std::string& domain, const std::string& name, const std::string& rule, nb::object kernel) {
  value_of(register_op(domain, name, rule, kernel.is_none() ? nullptr : kernel_of(std::move(kernel))));
}

}  // namespace

CustomKernelFunction kernel_of(nb::object kernel) {
  if (!PyCallable_Check(kernel.ptr())) raise({Error::Kind::usage, "custom.kernel", {}, "it cannot be called", {}});
  // Kept until the process ends, when there is no interpreter to give the function back to.
  return [held = kernel.release()](std::span<const AnyValue> inputs, std::span<AnyValue> outputs,
                                   const CustomNode& node) { return call_kernel(held, inputs, outputs, node); };
}

void bind_kernels(nb::module_& m) {
  nb::class_<KernelNode>(m, "CustomNode", "The node a kernel runs for; asked after the call, it raises.")
      .def("name", [](const KernelNode& node) { return std::string(node.get().name()); })
      .def(
          "integer", [](const KernelNode& node, const std::string& name) { return node.get().integer(name); },
          nb::arg("attribute"))
      .def(
          "number", [](const KernelNode& node, const std::string& name) { return node.get().number(name); },
          nb::arg("attribute"))
      .def(
          "text", [](const KernelNode& node, const std::string& name) { return node.get().text(name); },
          nb::arg("attribute"))
      .def(
          "integers", [](const KernelNode& node, const std::string& name) { return node.get().integers(name); },
          nb::arg("attribute"))
      .def(
          "numbers", [](const KernelNode& node, const std::string& name) { return node.get().numbers(name); },
          nb::arg("attribute"));
  m.def("register_op", register_operator, nb::arg("domain"), nb::arg("name"), nb::arg("rule"),
        nb::arg("kernel").none() = nb::none());
  m.def(
      "register_shape_rule", [](const std::string& text) { value_of(register_shape_rule(text)); }, nb::arg("text"));
}

}  // namespace anyshape::python
