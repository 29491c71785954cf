#include "anyshape/verify.h"

#include <algorithm>
#include <optional>

#include "anyshape/any_value.h"
#include "anyshape/session.h"
#include "api/model_impl.h"
#include "base/error.h"
#include "verify/boundary.h"
#include "verify/compare.h"

namespace anyshape {
namespace {

Result<std::vector<AnyValue>> random_inputs(const Session& session, const Shapes& shapes, uint64_t seed) {
  std::vector<AnyValue> out;
  for (const IoInfo& input : session.inputs()) {
    const auto sizes = shapes.find(input.name);
    if (input.kind != AnyValue::Kind::tensor || input.type == DType::undefined || sizes == shapes.end())
      return refuse("verify.input", "the input {:?} is no tensor of a known type and rank", input.name);
    TRY(AnyValue value, AnyValue::random(input.type, sizes->second, seed + out.size()));
    out.push_back(std::move(value));
  }
  return out;
}

Status verify_run(const Session& session, Context& context, const Shapes& shapes) {
  TRY(const auto inputs, random_inputs(session, shapes, 1));
  TRY(const auto expected, context.output_shapes(shapes));
  TRY(const auto outputs, context.run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = session.outputs()[i].name;
    if (outputs[i].kind() == AnyValue::Kind::tensor && expected[i] && outputs[i].shape() != *expected[i])
      return refuse("verify.shape", "at {} output {:?} has other sizes than inferred", to_text(shapes), name);
    if (!all_finite(outputs[i].datum()))
      return refuse("verify.finite", "at {} output {:?} has entries that are not finite", to_text(shapes), name);
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<IoInfo>& values) {
  std::vector<std::string> out;
  for (const IoInfo& value : values) out.push_back(value.name);
  return out;
}

std::string quoted(const std::vector<IoInfo>& values) {
  std::vector<std::string> out;
  for (const IoInfo& value : values) out.push_back(fmt::format("{:?}", value.name));
  return fmt::format("{}", fmt::join(out, ", "));
}

// Two models on the same numbers.
class Pair {
 public:
  static Result<Pair> make(const Model& model, const Model& other, const VerifyOptions& options);
  Result<Compared> compare(const Shapes& shapes);

 private:
  struct Side {
    const Model* model;
    Session session;
    Context context;
  };
  Pair(Side first, Side second, const VerifyOptions& options)
      : first_(std::move(first)), second_(std::move(second)), options_(&options) {}
  static Result<Side> make_side(const Model& model, const VerifyOptions& options);
  std::string first_difference(const std::vector<AnyValue>& got, const std::vector<AnyValue>& want,
                               double& worst) const;

  Side first_, second_;
  const VerifyOptions* options_;
  std::vector<size_t> inputs_, outputs_;  // of the second, for each of the first
};

Result<Pair::Side> Pair::make_side(const Model& model, const VerifyOptions& options) {
  TRY(Session session, Session::from_model(model, options.session));
  Context context(session, options.threads);
  return Side{&model, std::move(session), std::move(context)};
}

Result<Pair> Pair::make(const Model& model, const Model& other, const VerifyOptions& options) {
  TRY(Side first, make_side(model, options));
  TRY(Side second, make_side(other, options));
  const auto apart = [&](std::string_view code, std::string_view what, const auto& one, const auto& two) {
    return refuse(code, "the {} of {} are {}, those of {} are {}", what, model.name(), quoted(one), other.name(),
                  quoted(two));
  };
  const auto inputs = matched(names_of(first.session.inputs()), names_of(second.session.inputs()));
  if (!inputs) return apart("verify.inputs", "inputs", first.session.inputs(), second.session.inputs());
  for (size_t i = 0; i < inputs->size(); ++i) {
    const IoInfo &one = first.session.inputs()[i], &two = second.session.inputs()[(*inputs)[i]];
    if (one.type != two.type)
      return refuse("verify.inputs", "input {:?} of {} is of type {}, {:?} of {} of type {}", one.name, model.name(),
                    name(one.type), two.name, other.name(), name(two.type));
  }
  const auto outputs = matched(names_of(first.session.outputs()), names_of(second.session.outputs()));
  if (!outputs) return apart("verify.outputs", "outputs", first.session.outputs(), second.session.outputs());
  Pair out(std::move(first), std::move(second), options);
  out.inputs_ = *inputs;
  out.outputs_ = *outputs;
  return out;
}

std::string Pair::first_difference(const std::vector<AnyValue>& got, const std::vector<AnyValue>& want,
                                   double& worst) const {
  for (size_t i = 0; i < want.size(); ++i) {
    const AnyValue& other = got[outputs_[i]];
    if (const std::string found = difference(other, want[i], Tolerance{options_->relative, options_->absolute});
        !found.empty())
      return fmt::format("output {:?} differs: {}", first_.session.outputs()[i].name, found);
    worst = std::max(worst, largest_relative_error(other, want[i]));
  }
  return {};
}

Result<Compared> Pair::compare(const Shapes& shapes) {
  const auto drawn = random_inputs(first_.session, shapes, options_->seed);
  if (!drawn) return at(first_.model->name(), drawn.error());
  const std::vector<AnyValue>& inputs = *drawn;
  std::vector<AnyValue> reordered(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) reordered[inputs_[i]] = inputs[i];
  RunOptions run;
  run.seed = options_->seed;
  const auto want = first_.context.run(inputs, run);
  const auto got = second_.context.run(reordered, run);
  for (const auto* ran : {&want, &got})
    if (!*ran && ran->error().kind == Error::Kind::system) return tl::unexpected(ran->error());
  Compared out;
  out.shapes = shapes;
  if (!want && !got) {
    out.kind = Compared::Kind::both_refuse;
    out.sentence = want.error().message;
  } else if (!want || !got) {
    const Side& refuses = want ? second_ : first_;
    out.sentence = fmt::format("only {} refuses it: {}", refuses.model->name(), (want ? got : want).error().message);
  } else {
    out.sentence = first_difference(*got, *want, out.worst);
  }
  if (out.kind == Compared::Kind::same && !out.sentence.empty()) out.kind = Compared::Kind::differs;
  return out;
}

}  // namespace

std::vector<Shapes> boundary_shapes(const Model& model) { return boundary_shapes(model.impl()); }

Result<size_t> verify_runs(const Model& model) {
  TRY(const Session session, Session::from_model(model));
  Context context(session);
  const std::vector<Shapes> shapes = boundary_shapes(model);
  for (const Shapes& one : shapes) TRY_OK(verify_run(session, context, one));
  return shapes.size();
}

Result<GoldenMatch> verify_golden(const Session& session, const std::filesystem::path& path) {
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
    if (!value) return usage("golden.input", "{} has no array {:?}", path.string(), input.name);
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
    if (const std::string found = difference(outputs[i], *want, Tolerance()); !found.empty())
      return refuse("verify.values", "output {:?} is not that of {}: {}", name, path.string(), found);
    out.worst = std::max(out.worst, largest_relative_error(outputs[i], *want));
  }
  if (out.outputs == 0) return usage("golden.output", "{} holds no output", path.string());
  return out;
}

Result<std::vector<Compared>> verify(const Model& model, const Model& other, const VerifyOptions& options) {
  TRY(Pair pair, Pair::make(model, other, options));
  std::vector<Compared> out;
  for (const Shapes& shapes : options.shapes.empty() ? boundary_shapes(model) : options.shapes) {
    TRY(Compared one, pair.compare(completed(model.impl().typed(), shapes)));
    if (options.each) options.each(one);
    out.push_back(std::move(one));
  }
  if (std::all_of(out.begin(), out.end(), [](const auto& one) { return one.kind == Compared::Kind::both_refuse; }))
    return refuse("verify.nothing", "both models refuse every one of {} shapes: nothing was compared", out.size());
  return out;
}

}  // namespace anyshape
