#include "arguments.h"

#include <utility>

#include "convert.h"

namespace anyshape::mql5 {
namespace {

using Of = RunArgument::Of;

bool is_input(const Port& port) { return port.side == std::string_view("input"); }

std::string names(const std::vector<Port>& ports) {
  std::string out;
  for (const Port& port : ports) out += (out.empty() ? "" : ", ") + in_quotes(port.name);
  return out;
}

Checked check_count(const OpenModel& model, size_t given) {
  const size_t wanted = model.inputs.size() + model.outputs.size();
  if (given == wanted) return {};
  return refuse(
      ERR_ONNX_INVALID_PARAMETERS_COUNT,
      joined("OnnxRun takes ", wanted, " containers behind the flags, one for each input (", names(model.inputs),
             ") and then one for each output (", names(model.outputs), "), and got ", given));
}

// The axes without a size, `axis 0 (batch), axis 1 (seq)`.
std::string dynamic_axes(const Port& port) {
  if (!port.dims) return "a number of axes that the file does not tell";
  std::string out = "dynamic ";
  for (size_t i = 0; i < port.dims->size(); ++i)
    if ((*port.dims)[i] < 0) out += joined(out.ends_with(' ') ? "axis " : ", axis ", i, " (", port.names[i], ")");
  return out;
}

// A dynamic axis that nobody set is another error for inputs than for outputs.
Checked check_shape(const Port& port) {
  if (port.shape()) return {};
  return refuse(is_input(port) ? ERR_ONNX_WRONG_DIMENSION : ERR_ONNX_INVALID_PARAMETER,
                joined(port.text(), " has ", dynamic_axes(port), ": call ", port.call(),
                       " with a number for each name before OnnxRun"));
}

Checked check_container(const Port& port, const RunArgument& argument) {
  if (argument.of == Of::nothing || argument.of == Of::maps)
    return refuse(ERR_ONNX_INVALID_PARAMETER_TYPE,
                  port.text() + " needs an array, a vector or a matrix of numbers as its container");
  if (!is_input(port) && !argument.writable)
    return refuse(ERR_ONNX_INVALID_PARAMETER_TYPE, port.text() + " needs a container that is not const");
  if (argument.count == 0)
    return refuse(ERR_ONNX_INVALID_PARAMETER,
                  joined(port.text(), ": its container is empty; give it ", sizes_text(*port.shape()),
                         " entries before OnnxRun, which sizes no container"));
  return {};
}

bool has_container(DType type) { return convertible(type, type) && type != DType::c64; }

Checked check_type(const Port& port, const RunArgument& argument, bool conversion) {
  if (port.type == DType::string)
    return refuse(ERR_ONNX_NOT_SUPPORTED, port.text() +
                                              " is a tensor of strings, for which MQL5 has no container: export the "
                                              "model with numbers for labels");
  if (!conversion || argument.type == port.type || convertible(argument.type, port.type)) return {};
  const std::string container = argument.of == Of::bytes ? "structs" : std::string(name(argument.type));
  return refuse(ERR_ONNX_NOT_SUPPORTED,
                joined(port.text(), " is ", std::string(name(port.type)), ", and nothing converts a container of ",
                       container, ": use one of ", has_container(port.type) ? "its type" : "float or double",
                       ", or its bytes with ONNX_NO_CONVERSION"));
}

void warn_of_bytes(Port& port, const RunArgument& argument) {
  if (port.warned || argument.type == port.type || !has_container(port.type)) return;
  port.warned = true;
  log_line(joined("warning: ", port.text(), " is ", std::string(name(port.type)),
                  ", and ONNX_NO_CONVERSION takes the bytes of a container of another type as they are"));
}

Checked check_size(const Port& port, const RunArgument& argument, bool conversion) {
  size_t entries = 1;
  for (int64_t size : *port.shape()) entries *= static_cast<size_t>(size);
  const size_t bytes = (entries * static_cast<size_t>(bits(port.type)) + 7) / 8;
  if (conversion ? argument.count == entries : argument.bytes == bytes) return {};
  return refuse(ERR_ONNX_INVALID_PARAMETER_SIZE,
                joined(port.text(), " of the shape ", sizes_text(*port.shape()), " is ", bytes, " bytes, ", entries,
                       " entries of ", std::string(name(port.type)), "; its container has ", argument.bytes, " bytes, ",
                       argument.count, " entries: resize it, or set the shape that fits"));
}

Checked check_tensor(const OpenModel& model, Port& port, const RunArgument& argument, bool conversion) {
  if (const auto shape = check_shape(port); !shape) return shape;
  if (const auto container = check_container(port, argument); !container) return container;
  if (const auto type = check_type(port, argument, conversion); !type) return type;
  if (const auto size = check_size(port, argument, conversion); !size) return size;
  if (!conversion && model.logs(ONNX_LOGLEVEL_WARNING)) warn_of_bytes(port, argument);
  return {};
}

Checked check_maps(const Port& port, const RunArgument& argument) {
  const OnnxTypeInfo& item = port.info.sequence.value_type;
  const bool maps = item.type == ONNX_TYPE_MAP && item.map.key_type == ONNX_DATA_TYPE_INT64;
  if (is_input(port) || !maps)
    return refuse(ERR_ONNX_NOT_SUPPORTED, port.text() +
                                              " is no tensor: MQL5 feeds tensors, and reads tensors and sequences of "
                                              "maps with int64 keys");
  if (argument.of == Of::maps) return {};
  return refuse(ERR_ONNX_INVALID_PARAMETER_TYPE,
                port.text() +
                    " is a sequence of maps: its container is an array of structs of two arrays, one for the "
                    "keys and one for the values");
}

}  // namespace

tl::unexpected<Failure> refuse(int code, std::string sentence) {
  return tl::unexpected(Failure{code, std::move(sentence)});
}

Checked check_arguments(OpenModel& model, ulong flags, std::span<const RunArgument> arguments) {
  if (const auto count = check_count(model, arguments.size()); !count) return count;
  const bool conversion = !(flags & ONNX_NO_CONVERSION);
  for (auto* side : {&model.inputs, &model.outputs})
    for (Port& port : *side) {
      const RunArgument& argument = arguments[port.index + (side == &model.outputs ? model.inputs.size() : 0)];
      const bool tensor = port.kind == AnyValue::Kind::tensor;
      const auto fits = tensor ? check_tensor(model, port, argument, conversion) : check_maps(port, argument);
      if (!fits) return fits;
    }
  return {};
}

}  // namespace anyshape::mql5
