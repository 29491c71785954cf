#include "mqh/scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fix/relabel.h"
#include "mqh/sample.h"

namespace anyshape::mqh {
namespace {

template <class... Args>
tl::unexpected<Error> wrong_scaler(fmt::format_string<Args...> text, Args&&... args) {
  return make_error(Error::Kind::refused, "mql5.scaler", text, fmt::make_format_args(args...));
}

std::vector<ValueId> values_of(const Typed& typed, bool output) {
  return output ? typed.graph().outputs : typed.graph().required_inputs();
}

std::string_view kind_of(const Scaling& scaling) { return scaling.output ? "output" : "input"; }

// The value that is meant, and its name where none was given.
Result<ValueId> find_value(const Typed& typed, Scaling& scaling) {
  const auto all = values_of(typed, scaling.output);
  const auto& values = typed.graph().values;
  if (scaling.name.empty() && all.size() == 1) scaling.name = values[all[0]].name;
  std::vector<std::string> names;
  for (const ValueId id : all) {
    if (values[id].name == scaling.name) return id;
    names.push_back(fmt::format("{:?}", values[id].name));
  }
  if (scaling.name.empty())
    return wrong_scaler("the model has {} inputs, say which is meant: {}", all.size(), fmt::join(names, ", "));
  return wrong_scaler("the model has no {} {:?}, it has {}", kind_of(scaling), scaling.name, fmt::join(names, ", "));
}

// The fact about it: that of an input is what the file declares.
const Fact& fact_of(const Typed& typed, const Scaling& scaling, ValueId id) {
  if (scaling.output) return typed.facts()[id];
  const auto all = typed.graph().required_inputs();
  return typed.input_facts()[static_cast<size_t>(std::find(all.begin(), all.end(), id) - all.begin())];
}

Status check_numbers(const Scaling& s, DType type) {
  if (s.mean.size() != s.std.size())
    return wrong_scaler("{:?} has {} numbers in \"mean\" and {} in \"std\"", s.name, s.mean.size(), s.std.size());
  for (size_t i = 0; i < s.mean.size(); ++i) {
    const double std = type == DType::f32 ? static_cast<float>(s.std[i]) : s.std[i];
    const double mean = type == DType::f32 ? static_cast<float>(s.mean[i]) : s.mean[i];
    if (!std::isfinite(mean) || !std::isfinite(std))
      return wrong_scaler("{:?}: number {} of \"mean\" or \"std\" is not finite in {}", s.name, i, name(type));
    if (std <= 0) return wrong_scaler("{:?}: number {} of \"std\" is {}, it must be above 0", s.name, i, s.std[i]);
  }
  return {};
}

// Fills the axis in, counted from the front.
Status check_axis(Scaling& s, const Dims& dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = s.axis < 0 ? s.axis + rank : s.axis;
  if (axis < 0 || axis >= rank) return wrong_scaler("{:?} has {} axes, there is no axis {}", s.name, rank, s.axis);
  const Dim size = dims[static_cast<size_t>(axis)];
  if (s.mean.size() != 1 && size != Dim(s.mean.size()))
    return wrong_scaler("{:?} has {} entries along axis {}, the file has {} numbers", s.name, print(size), axis,
                        s.mean.size());
  s.axis = axis;
  return {};
}

// A constant whose list lies along the axis.
Result<std::string_view> add_list(fixes::Edit& edit, const Scaling& s, std::string_view what, DType type, size_t rank,
                                  const std::vector<double>& numbers) {
  std::vector<int64_t> dims(rank - static_cast<size_t>(s.axis), 1);
  dims[0] = static_cast<int64_t>(numbers.size());
  TRY(Tensor tensor, tensor_of(type, dims, numbers));
  const std::string_view name = edit.unused_name(fmt::format("{}/{}", s.name, what));
  edit.add_constant(name, std::move(tensor));
  return name;
}

onnx::NodeProto node_of(fixes::Edit& edit, std::string_view op, std::string_view a, std::string_view b,
                        std::string_view to) {
  onnx::NodeProto node;
  node.op_type = op;
  node.name = edit.keep(fmt::format("{}/{}", to, op));
  node.input = {a, b};
  node.output = {to};
  return node;
}

// The same value under another name everywhere, but for the list of inputs or outputs.
Result<std::string_view> set_aside(const Scaling& s, fixes::Edit& edit) {
  const auto has_it = [&](const onnx::ValueInfoProto& info) { return info.name == s.name; };
  auto& list = s.output ? edit.graph().output : edit.graph().input;
  const auto& other = s.output ? edit.graph().input : edit.graph().output;
  if (std::any_of(other.begin(), other.end(), has_it))
    return wrong_scaler("{:?} is an input and an output at once", s.name);
  const auto listed = static_cast<size_t>(std::find_if(list.begin(), list.end(), has_it) - list.begin());
  const std::string_view inner = edit.unused_name(s.name + "/normalised");
  fixes::rename_value(s.name, inner, edit);
  list[listed].name = edit.keep(s.name);
  return inner;
}

Status fold_one(const Typed& typed, Scaling& s, fixes::Edit& edit) {
  TRY(const ValueId id, find_value(typed, s));
  const Fact& fact = fact_of(typed, s, id);
  if (!fact.is_tensor() || !fact.dims || (fact.dtype != DType::f32 && fact.dtype != DType::f64))
    return wrong_scaler("the {} {:?} is {}, only tensors of f32 and f64 are normalised", kind_of(s), s.name,
                        print(fact));
  TRY_OK(check_numbers(s, fact.dtype));
  TRY_OK(check_axis(s, *fact.dims));
  TRY(const std::string_view inner, set_aside(s, edit));
  TRY(const std::string_view mean, add_list(edit, s, "mean", fact.dtype, fact.dims->size(), s.mean));
  TRY(const std::string_view std, add_list(edit, s, "std", fact.dtype, fact.dims->size(), s.std));
  const std::string_view between = edit.unused_name(s.name + (s.output ? "/scaled" : "/centred"));
  const std::string_view outer = edit.keep(s.name);
  auto& nodes = edit.graph().node;
  if (s.output) {
    nodes.push_back(node_of(edit, "Mul", inner, std, between));
    nodes.push_back(node_of(edit, "Add", between, mean, outer));
  } else {
    nodes.insert(nodes.begin(), node_of(edit, "Div", between, std, inner));
    nodes.insert(nodes.begin(), node_of(edit, "Sub", outer, mean, between));
  }
  return {};
}

}  // namespace

Result<std::vector<Scaling>> fold(const Typed& typed, std::vector<Scaling> scalings, fixes::Edit& edit) {
  for (Scaling& one : scalings) TRY_OK(fold_one(typed, one, edit));
  for (size_t i = 0; i < scalings.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (scalings[i].name == scalings[j].name && scalings[i].output == scalings[j].output)
        return wrong_scaler("the {} {:?} is there twice", kind_of(scalings[i]), scalings[i].name);
  return scalings;
}

}  // namespace anyshape::mqh
