#include "export_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "anyshape/any_value.h"
#include "anyshape/check.h"
#include "anyshape/session.h"
#include "inputs.h"

namespace anyshape::cli {
namespace {

tl::unexpected<Error> refused(std::string code, std::string message) {
  return tl::unexpected(Error{Error::Kind::refused, std::move(code), "", std::move(message), ""});
}

bool finite(const AnyValue& value) {
  if (value.kind() != AnyValue::Kind::tensor || value.type() != DType::f32) return true;
  const auto* numbers = static_cast<const float*>(value.data());
  return std::all_of(numbers, numbers + value.count(), [](float x) { return std::isfinite(x); });
}

// The smallest shape, and the shapes where one symbol at a time, then all of them, are larger.
std::vector<Shapes> boundary_shapes(const Model& model) {
  std::vector<Shapes> out{smallest_shapes(model)};
  const auto try_sizes = [&](const Shapes& wanted) {
    const bool taken = accepts(model, wanted).kind == Answer::Kind::accept;
    if (taken && std::find(out.begin(), out.end(), wanted) == out.end()) out.push_back(wanted);
  };
  std::vector<std::string> symbols;
  for (const ValueType& input : model.inputs())
    for (size_t i = 0; input.dims && i < input.dims->size(); ++i) {
      const std::string& dim = (*input.dims)[i];
      const bool number = !dim.empty() && std::all_of(dim.begin(), dim.end(), ::isdigit);
      if (!number && std::find(symbols.begin(), symbols.end(), dim) == symbols.end()) symbols.push_back(dim);
    }
  const auto grown = [&](const std::string& only, int64_t factor, int64_t more) {
    Shapes shapes = out.front();
    for (const ValueType& input : model.inputs())
      for (size_t i = 0; input.dims && i < input.dims->size(); ++i)
        if (std::find(symbols.begin(), symbols.end(), (*input.dims)[i]) != symbols.end() &&
            (only.empty() || (*input.dims)[i] == only))
          shapes[input.name][i] = shapes[input.name][i] * factor + more;
    return shapes;
  };
  for (const auto& [factor, more] : {std::pair<int64_t, int64_t>{1, 1}, {2, 0}, {3, 0}, {4, 1}, {16, 0}}) {
    for (const std::string& symbol : symbols) try_sizes(grown(symbol, factor, more));
    try_sizes(grown("", factor, more));
  }
  return out;
}

}  // namespace

Result<std::string> verify_runs(const Model& model) {
  auto session = Session::from_model(model);
  if (!session) return tl::unexpected(session.error());
  Context context(*session);
  const std::vector<Shapes> shapes = boundary_shapes(model);
  for (const Shapes& shape : shapes) {
    auto inputs = random_inputs(model, *session, shape, 1, "--verify");
    if (!inputs) return tl::unexpected(inputs.error());
    auto expected = context.output_shapes(shape);
    if (!expected) return tl::unexpected(expected.error());
    auto outputs = context.run(*inputs);
    if (!outputs) return tl::unexpected(outputs.error());
    for (size_t i = 0; i < outputs->size(); ++i) {
      const std::string& name = session->outputs()[i].name;
      const AnyValue& value = (*outputs)[i];
      if (value.kind() == AnyValue::Kind::tensor && (*expected)[i] && value.shape() != *(*expected)[i])
        return refused("verify.shape",
                       fmt::format("at {} output \"{}\" has other sizes than inferred", to_text(shape), name));
      if (!finite(value))
        return refused("verify.finite",
                       fmt::format("at {} output \"{}\" has entries that are not finite", to_text(shape), name));
    }
  }
  return fmt::format("verified: runs at {} shapes give the inferred sizes and finite values", shapes.size());
}

Result<std::string> verify_golden(const Model& model, const std::string& path) {
  auto session = Session::from_model(model);
  if (!session) return tl::unexpected(session.error());
  auto arrays = read_npz(path);
  if (!arrays) return tl::unexpected(arrays.error());
  const auto find = [&](std::initializer_list<std::string> names) -> const AnyValue* {
    for (const std::string& name : names)
      for (const auto& [key, value] : *arrays)
        if (key == name) return &value;
    return nullptr;
  };
  std::vector<AnyValue> inputs;
  for (const IoInfo& input : session->inputs()) {
    const AnyValue* value = find({input.name, "in_" + input.name, "input_" + input.name});
    if (!value)
      return tl::unexpected(usage_error("golden.input", fmt::format("{} has no array \"{}\"", path, input.name)));
    inputs.push_back(*value);
  }
  Context context(*session);
  auto outputs = context.run(inputs);
  if (!outputs) return tl::unexpected(outputs.error());
  size_t compared = 0;
  double worst = 0;
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string& name = session->outputs()[i].name;
    const AnyValue* want = find({name, fmt::format("output_{}", i), fmt::format("out_{}", i)});
    if (!want) continue;
    ++compared;
    if (const std::string found = difference((*outputs)[i], *want, 1e-3, 1e-5); !found.empty())
      return refused("verify.values", fmt::format("output \"{}\" is not that of {}: {}", name, path, found));
    worst = std::max(worst, largest_relative_error((*outputs)[i], *want));
  }
  if (compared == 0) return tl::unexpected(usage_error("golden.output", fmt::format("{} holds no output", path)));
  return fmt::format("verified: {} outputs equal those of {}, largest relative error {:.1e}", compared, path, worst);
}

}  // namespace anyshape::cli
