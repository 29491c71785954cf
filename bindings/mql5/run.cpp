#include <cstring>

#include "anyshape/any_value.h"
#include "arguments.h"
#include "convert.h"
#include "handle.h"

namespace anyshape::mql5 {
namespace {

Failure failed_run(const Error& error) { return {ERR_ONNX_RUN_FAILED, error.text()}; }

// What the model makes of the shapes that are set must be what is set for its outputs.
Checked check_output(const Port& port, const Sizes& sizes) {
  if (port.kind != AnyValue::Kind::tensor || *port.shape() == sizes) return {};
  return refuse(ERR_ONNX_WRONG_DIMENSION,
                joined(port.text(), " is ", sizes_text(sizes), " for these inputs, and not ", sizes_text(*port.shape()),
                       ": call OnnxSetOutputShape(handle, ", port.index, ", ", sizes_text(sizes), ")"));
}

// Once for each setting of shapes.
Checked check_shapes(OpenModel& model) {
  if (model.shapes_checked) return {};
  Shapes shapes;
  for (const Port& port : model.inputs) shapes[port.name] = *port.shape();
  const auto outputs = model.context.output_shapes(shapes);
  if (!outputs) {
    const bool shape = outputs.error().kind == Error::Kind::refused;
    return refuse(shape ? ERR_ONNX_WRONG_DIMENSION : ERR_ONNX_RUN_FAILED, outputs.error().text());
  }
  for (size_t i = 0; i < outputs->size(); ++i)
    if (const auto& sizes = (*outputs)[i])
      if (const auto fits = check_output(model.outputs[i], *sizes); !fits) return fits;
  model.shapes_checked = true;
  return {};
}

// Over the memory of the program where the types agree, else a copy.
Result<AnyValue> feed(const Port& port, const RunArgument& argument, bool conversion) {
  if (!conversion || argument.type == port.type)
    return AnyValue::borrow(port.type, *port.shape(), const_cast<void*>(argument.data), argument.bytes);
  auto tensor = AnyValue::zeros(port.type, *port.shape());
  if (tensor) convert(argument.type, argument.data, port.type, tensor->mutable_data(), argument.count);
  return tensor;
}

Checked store_tensor(const Port& port, const AnyValue& value, const RunArgument& argument, bool conversion) {
  if (const auto fits = check_output(port, value.shape()); !fits) return fits;
  void* target = const_cast<void*>(argument.data);
  if (!conversion || argument.type == port.type) {
    std::memcpy(target, value.data(), value.bytes());
  } else {
    convert(port.type, value.data(), argument.type, target, argument.count);
  }
  return {};
}

void store_maps(const AnyValue& sequence, const RunArgument& argument) {
  const std::vector<AnyValue> maps = sequence.items();
  argument.resize(maps.size());
  for (size_t at = 0; at < maps.size(); ++at) {
    const std::vector<AnyValue> sides = maps[at].items();
    std::vector<int64_t> keys;
    std::vector<double> values;
    for (int64_t i = 0; i < sides[0].count(); ++i) {
      keys.push_back(static_cast<const int64_t*>(sides[0].data())[i]);
      values.push_back(sides[1].number(i));
    }
    argument.set(at, keys, values);
  }
}

Checked run(OpenModel& model, bool conversion, std::span<const RunArgument> arguments) {
  std::vector<AnyValue> inputs;
  for (const Port& port : model.inputs) {
    auto value = feed(port, arguments[port.index], conversion);
    if (!value) return tl::unexpected(failed_run(value.error()));
    inputs.push_back(*std::move(value));
  }
  const auto outputs = model.context.run(inputs);
  if (!outputs) return tl::unexpected(failed_run(outputs.error()));
  for (const Port& port : model.outputs) {
    const RunArgument& argument = arguments[model.inputs.size() + port.index];
    const AnyValue& value = (*outputs)[port.index];
    if (argument.of == RunArgument::Of::maps) {
      store_maps(value, argument);
    } else if (const auto stored = store_tensor(port, value, argument, conversion); !stored) {
      return stored;
    }
  }
  return {};
}

}  // namespace

bool run_model(long handle, ulong flags, std::span<const RunArgument> arguments) {
  const OpenModelPtr model = find_handle(handle, "OnnxRun");
  if (!model) return false;
  const std::lock_guard lock(model->mutex);
  auto done = check_arguments(*model, flags, arguments);
  if (done) done = check_shapes(*model);
  if (done) done = run(*model, !(flags & ONNX_NO_CONVERSION), arguments);
  return done ? true : fail(done.error());
}

}  // namespace anyshape::mql5
