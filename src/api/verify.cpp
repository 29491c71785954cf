#include "anyshape/verify.h"

#include <algorithm>
#include <cmath>

#include "anyshape/any_value.h"
#include "anyshape/session.h"
#include "base/among.h"
#include "base/error.h"

namespace anyshape {
namespace {

constexpr double kRelative = 1e-3, kAbsolute = 1e-5;

bool finite(const AnyValue& value) {
  if (value.kind() != AnyValue::Kind::tensor || value.type() != DType::f32) return true;
  const auto* numbers = static_cast<const float*>(value.data());
  return std::all_of(numbers, numbers + value.count(), [](float x) { return std::isfinite(x); });
}

bool is_symbol(const std::string& dim) { return dim.empty() || !std::all_of(dim.begin(), dim.end(), ::isdigit); }

// The shapes with the axes called `only` (all symbols: empty) of another size.
Shapes grown(const Model& model, Shapes shapes, const std::string& only, int64_t factor, int64_t more) {
  for (const ValueType& input : model.inputs()) {
    const auto sizes = shapes.find(input.name);
    for (size_t i = 0; sizes != shapes.end() && input.dims && i < input.dims->size(); ++i) {
      const std::string& dim = (*input.dims)[i];
      if (is_symbol(dim) && (only.empty() || dim == only)) sizes->second[i] = sizes->second[i] * factor + more;
    }
  }
  return shapes;
}

Result<std::vector<AnyValue>> random_inputs(const Session& session, const Shapes& shapes) {
  std::vector<AnyValue> out;
  for (const IoInfo& input : session.inputs()) {
    const auto sizes = shapes.find(input.name);
    if (input.kind != AnyValue::Kind::tensor || input.type == DType::undefined || sizes == shapes.end())
      return refuse("verify.input", "the input \"{}\" is no tensor of a known type and rank", input.name);
    TRY(AnyValue value, AnyValue::random(input.type, sizes->second, out.size() + 1));
    out.push_back(std::move(value));
  }
  return out;
}

Status verify_run(const Session& session, Context& context, const Shapes& shapes) {
  TRY(const auto inputs, random_inputs(session, shapes));
  TRY(const auto expected, context.output_shapes(shapes));
  TRY(const auto outputs, context.run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = session.outputs()[i].name;
    if (outputs[i].kind() == AnyValue::Kind::tensor && expected[i] && outputs[i].shape() != *expected[i])
      return refuse("verify.shape", "at {} output \"{}\" has other sizes than inferred", to_text(shapes), name);
    if (!finite(outputs[i]))
      return refuse("verify.finite", "at {} output \"{}\" has entries that are not finite", to_text(shapes), name);
  }
  return {};
}

}  // namespace

std::vector<Shapes> boundary_shapes(const Model& model) {
  std::vector<Shapes> out{smallest_shapes(model)};
  const auto try_shapes = [&](const Shapes& wanted) {
    if (!among(wanted, out) && accepts(model, wanted).kind == Answer::Kind::accept) out.push_back(wanted);
  };
  std::vector<std::string> symbols;
  for (const ValueType& input : model.inputs())
    if (input.dims)
      for (const std::string& dim : *input.dims)
        if (is_symbol(dim) && !among(dim, symbols)) symbols.push_back(dim);
  for (const auto& [factor, more] : {std::pair<int64_t, int64_t>{1, 1}, {2, 0}, {3, 0}, {4, 1}, {16, 0}}) {
    for (const std::string& symbol : symbols) try_shapes(grown(model, out.front(), symbol, factor, more));
    try_shapes(grown(model, out.front(), "", factor, more));
  }
  return out;
}

Result<size_t> verify_runs(const Model& model) {
  TRY(const Session session, Session::from_model(model));
  Context context(session);
  const std::vector<Shapes> shapes = boundary_shapes(model);
  for (const Shapes& one : shapes) TRY_OK(verify_run(session, context, one));
  return shapes.size();
}

Result<GoldenMatch> verify_golden(const Model& model, const std::filesystem::path& path) {
  TRY(const Session session, Session::from_model(model));
  TRY(const auto arrays, read_npz(path));
  const auto find = [&](std::initializer_list<std::string> names) -> const AnyValue* {
    for (const std::string& name : names)
      for (const auto& [key, value] : arrays)
        if (key == name) return &value;
    return nullptr;
  };
  std::vector<AnyValue> inputs;
  for (const IoInfo& input : session.inputs()) {
    const AnyValue* value = find({input.name, "in_" + input.name, "input_" + input.name});
    if (!value) return usage("golden.input", "{} has no array \"{}\"", path.string(), input.name);
    inputs.push_back(*value);
  }
  Context context(session);
  TRY(const auto outputs, context.run(inputs));
  GoldenMatch out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = session.outputs()[i].name;
    const AnyValue* want = find({name, fmt::format("output_{}", i), fmt::format("out_{}", i)});
    if (!want) continue;
    ++out.outputs;
    if (const std::string found = difference(outputs[i], *want, kRelative, kAbsolute); !found.empty())
      return refuse("verify.values", "output \"{}\" is not that of {}: {}", name, path.string(), found);
    out.worst = std::max(out.worst, largest_relative_error(outputs[i], *want));
  }
  if (out.outputs == 0) return usage("golden.output", "{} holds no output", path.string());
  return out;
}

}  // namespace anyshape
