#include "fix/relabel.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/running_command.h"
#include "format/onnx/walk.h"
#include "solve/baked.h"

namespace anyshape::fixes {
namespace {

using Dimension = onnx::TensorShapeProto::Dimension;

const AxisSymbol* find_symbol(const Typed& typed, std::string_view name) {
  for (const AxisSymbol& axis : typed.axes())
    if (axis.name == name) return &axis;
  return nullptr;
}

tl::unexpected<Error> unknown_name(std::string_view code, std::string_view option, std::string_view what,
                                   std::string_view name, const std::vector<std::string>& names) {
  Error error = usage(code, "the model has no {} {:?}, it has {}", what, name,
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")))
                    .value();
  if (const std::string near = nearest(name, names); !near.empty())
    error.hint = corrected_command({option, name, near}, near);
  return tl::unexpected(std::move(error));
}

std::vector<std::string> symbol_names(const Typed& typed) {
  std::vector<std::string> out;
  for (const AxisSymbol& axis : typed.axes()) out.push_back(axis.name);
  return out;
}

bool always_equal(const Typed& typed, const AcceptedSet& accepted, const AxisSymbol& one, const AxisSymbol& other) {
  return accepted_world(typed, accepted)->proves(Condition::eq(one.symbol, other.symbol));
}

void rename_dims(onnx::TypeProto& type, std::string_view from, std::string_view to) {
  if (type.sequence_type && type.sequence_type->elem_type) rename_dims(*type.sequence_type->elem_type, from, to);
  if (type.optional_type && type.optional_type->elem_type) rename_dims(*type.optional_type->elem_type, from, to);
  if (!type.tensor_type || !type.tensor_type->shape) return;
  for (Dimension& dim : type.tensor_type->shape->dim)
    if (dim.dim_param == from) dim.dim_param = to;
}

void rename_value(onnx::GraphProto& graph, std::string_view from, std::string_view to) {
  const auto change = [&](std::string_view& name) { name = name == from ? to : name; };
  for (auto* list : {&graph.input, &graph.output, &graph.value_info})
    for (onnx::ValueInfoProto& info : *list) change(info.name);
  for (onnx::TensorProto& tensor : graph.initializer) change(tensor.name);
  for (onnx::SparseTensorProto& tensor : graph.sparse_initializer)
    if (tensor.values) change(tensor.values->name);
  for (onnx::TensorAnnotation& annotation : graph.quantization_annotation) {
    change(annotation.tensor_name);
    for (auto& entry : annotation.quant_parameter_tensor_names) change(entry.value);
  }
  for (onnx::NodeProto& node : graph.node) {
    std::for_each(node.input.begin(), node.input.end(), change);
    std::for_each(node.output.begin(), node.output.end(), change);
  }
}

void rename_dims(onnx::GraphProto& graph, std::string_view from, std::string_view to) {
  for (auto* list : {&graph.input, &graph.output, &graph.value_info})
    for (onnx::ValueInfoProto& info : *list)
      if (info.type) rename_dims(*info.type, from, to);
}

// The one size the axis of an input can have, by its declaration or by what the model takes.
std::optional<int64_t> only_size(const Typed& typed, const AcceptedSet& accepted, const InputAxis& axis) {
  const auto required = typed.graph().required_inputs();
  for (size_t i = 0; i < required.size(); ++i) {
    if (typed.graph().values[required[i]].name != axis.input) continue;
    const Dim size = (*typed.input_facts()[i].dims)[axis.axis];
    if (const auto number = size.constant()) return number;
    for (const AcceptedCondition& condition : accepted.conditions) {
      if (condition.condition == Condition::eq(size, 1)) return 1;
      if (const auto baked = baked_size(condition.condition, size)) return baked;
    }
  }
  return std::nullopt;
}

}  // namespace

Status freeze(const Typed& typed, const std::string& symbol, int64_t size, Edit& edit) {
  if (size < 1) return usage("freeze.size", "{:?} cannot have the size {}", symbol, size);
  const AxisSymbol* axis = find_symbol(typed, symbol);
  if (!axis) return unknown_name("freeze.symbol", "freeze", "dynamic axis called", symbol, symbol_names(typed));
  Dimension dim;
  dim.dim_value = size;
  for (const InputAxis& place : axis->axes) edit.declare(place, dim);
  return {};
}

Result<Freed> declare_dynamic(const Typed& typed, const AcceptedSet& accepted, const DynamicAxis& wanted, Edit& edit) {
  std::vector<std::string> names;
  for (ValueId id : typed.graph().required_inputs()) names.push_back(typed.graph().values[id].name);
  if (std::find(names.begin(), names.end(), wanted.value) == names.end())
    return unknown_name("dynamic.input", "dynamic", "input called", wanted.value, names);
  const onnx::TensorShapeProto* shape = edit.input_shape(wanted.value);
  if (!shape) return usage("dynamic.input", "the file does not say how many axes {:?} has", wanted.value);
  const int64_t rank = static_cast<int64_t>(shape->dim.size());
  const int64_t axis = wanted.axis < 0 ? wanted.axis + rank : wanted.axis;
  if (axis < 0 || axis >= rank)
    return usage("dynamic.axis", "{:?} has {} axes, there is no axis {}", wanted.value, rank, wanted.axis);
  Freed freed{{wanted.value, static_cast<size_t>(axis)}, wanted.name, std::nullopt};
  if (freed.name.empty()) freed.name = fmt::format("{}.{}", wanted.value, axis);
  freed.old_size = only_size(typed, accepted, freed.axis);
  Dimension dim;
  dim.dim_param = edit.keep(freed.name);
  edit.declare(freed.axis, dim);
  return freed;
}

void rename_value(std::string_view from, std::string_view to, Edit& edit) {
  const std::string_view kept = edit.keep(std::string(to));
  onnx::for_each_graph(edit.graph(), [&](onnx::GraphProto& graph) { rename_value(graph, from, kept); });
}

Status rename(const Typed& typed, const AcceptedSet& accepted, const std::string& old_name, const std::string& new_name,
              Edit& edit) {
  const std::string_view kept = edit.keep(new_name);
  const AxisSymbol* axis = find_symbol(typed, old_name);
  if (axis) {
    if (const AxisSymbol* other = find_symbol(typed, new_name); other && !always_equal(typed, accepted, *axis, *other))
      return usage("rename.taken", "another axis is called {:?} already: the two would become one size", new_name);
    if (!axis->anonymous)
      onnx::for_each_graph(edit.graph(), [&](onnx::GraphProto& graph) { rename_dims(graph, old_name, kept); });
    Dimension dim;
    dim.dim_param = kept;
    for (const InputAxis& place : axis->axes) edit.declare(place, dim);
    return {};
  }
  std::vector<std::string> names = symbol_names(typed);
  for (const auto* list : {&edit.graph().input, &edit.graph().output})
    for (const onnx::ValueInfoProto& info : *list) names.emplace_back(info.name);
  if (std::find(names.begin(), names.end(), old_name) == names.end())
    return unknown_name("rename.unknown", "rename", "axis, input or output called", old_name, names);
  if (value_names(edit.graph()).contains(new_name))
    return usage("rename.taken", "another value is called {:?} already", new_name);
  rename_value(old_name, kept, edit);
  return {};
}

}  // namespace anyshape::fixes
