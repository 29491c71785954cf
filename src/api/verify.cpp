#include "anyshape/verify.h"

#include <algorithm>
#include <optional>

#include "anyshape/any_value.h"
#include "anyshape/session.h"
#include "api/model_impl.h"
#include "base/among.h"
#include "base/error.h"
#include "base/printable.h"
#include "verify/boundary.h"
#include "verify/compare.h"
#include "verify/shape_box.h"

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
  // Shapes of the second as those of the first.
  Shapes of_first(const Shapes& shapes) const;

 private:
  struct Side {
    const Model* model;
    Session session;
    Context context;
  };
  Pair(Side first, Side second, const VerifyOptions& options)
      : first_(std::move(first)), second_(std::move(second)), options_(&options) {}
  static Result<Side> make_side(const Model& model, const VerifyOptions& options);
  using Right = std::vector<std::vector<Computations>>;  // of each output of the first
  Result<std::string> first_difference(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& got,
                                       const std::vector<AnyValue>& want, Compared& out);
  Result<Right> right_computations(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& want);
  Result<std::vector<AnyValue>> plain_outputs(const std::vector<AnyValue>& inputs);

  Side first_, second_;
  std::optional<Side> exact_, plain_;  // the first with exact kernels, and in plain loops, once they were asked for
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

// Others that are as right as `want`, where they run.
Result<Pair::Right> Pair::right_computations(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& want) {
  if (!exact_) {
    VerifyOptions exact = *options_;
    exact.session.exact = true;
    exact.session.optimize = exact.session.optimize && exact.session.engine == Engine::anyshape;
    TRY(exact_, make_side(*first_.model, exact));
  }
  std::vector<AnyValue> near;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRY(AnyValue moved, inputs[i].nudged(i));
    near.push_back(std::move(moved));
  }
  RunOptions run;
  run.seed = options_->seed;
  Right out(want.size());
  const auto add = [&](const Result<std::vector<AnyValue>>& outputs) -> Status {
    for (size_t i = 0; outputs && i < want.size(); ++i) {
      TRY(AnyValue kept, (*outputs)[i].kept());
      out[i].push_back({want[i], std::move(kept)});
    }
    return {};
  };
  TRY_OK(add(exact_->context.run(inputs, run)));
  TRY_OK(add(exact_->context.run(near, run)));
  return out;
}

// What plain loops make of it; none where they do not run.
Result<std::vector<AnyValue>> Pair::plain_outputs(const std::vector<AnyValue>& inputs) {
  if (!plain_) {
    VerifyOptions plain = *options_;
    plain.session.engine = Engine::anyshape;
    plain.session.optimize = false;
    TRY(plain_, make_side(*first_.model, plain));
  }
  RunOptions run;
  run.seed = options_->seed;
  std::vector<AnyValue> out;
  if (const auto outputs = plain_->context.run(inputs, run))
    for (const AnyValue& value : *outputs) {
      TRY(AnyValue kept, value.kept());
      out.push_back(std::move(kept));
    }
  return out;
}

Result<std::string> Pair::first_difference(const std::vector<AnyValue>& inputs, const std::vector<AnyValue>& got,
                                           const std::vector<AnyValue>& want, Compared& out) {
  const Tolerance tolerance{options_->relative, options_->absolute};
  std::optional<Right> right;
  std::optional<std::vector<AnyValue>> plain;
  for (size_t i = 0; i < want.size(); ++i) {
    const AnyValue& other = got[outputs_[i]];
    if (const std::string found = difference(other, want[i], tolerance); !found.empty()) {
      if (!right) {
        TRY(right, right_computations(inputs, want));
      }
      bool noise = difference(other, want[i], tolerance, (*right)[i]).empty();
      if (!noise) {
        if (!plain) {
          TRY(plain, plain_outputs(inputs));
        }
        noise = !plain->empty() && equally_right(other, want[i], (*plain)[i]);
      }
      if (!noise) return fmt::format("output {:?} differs: {}", first_.session.outputs()[i].name, found);
      out.noisy = true;
    }
    out.worst = std::max(out.worst, largest_relative_error(other, want[i]));
  }
  return std::string();
}

Shapes Pair::of_first(const Shapes& shapes) const {
  Shapes out;
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (const auto found = shapes.find(second_.session.inputs()[inputs_[i]].name); found != shapes.end())
      out[first_.session.inputs()[i].name] = found->second;
  return out;
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
    out.kind = want ? Compared::Kind::only_first : Compared::Kind::only_second;
    out.sentence = (want ? got : want).error().message;
  } else {
    TRY(out.sentence, first_difference(inputs, *got, *want, out));
  }
  if (out.kind == Compared::Kind::same && !out.sentence.empty()) out.kind = Compared::Kind::differs;
  return out;
}

}  // namespace

std::vector<Shapes> boundary_shapes(const Model& model) { return boundary_shapes(model.impl()); }

Result<ShapeBox> shape_box(const Model& model, const std::vector<std::string>& wanted) {
  auto box = shape_box(model.impl(), wanted);
  if (!box && box.error().kind == Error::Kind::refused) return at(model.name(), std::move(box).error());
  return box;
}

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

std::string to_text(const Compared& compared) {
  const std::string shapes = to_text(compared.shapes);
  const auto with_reason = [&](std::string_view word) {
    return printable(fmt::format("{:<7}  {}  {}", word, shapes, compared.sentence));
  };
  switch (compared.kind) {
    case Compared::Kind::same:
      return fmt::format("same     {}  largest relative error {:.1e}{}", shapes, compared.worst,
                         compared.noisy ? ", which is the noise in it" : "");
    case Compared::Kind::differs:
      return with_reason("differs");
    case Compared::Kind::both_refuse:
      return with_reason("refused");
    case Compared::Kind::only_first:
      return with_reason("first");
    case Compared::Kind::only_second:
      return with_reason("second");
  }
  return {};
}

Status judge(const Model& model, const Model& other, const std::vector<Compared>& compared, bool every) {
  for (const Compared& one : compared) {
    const bool only_one = one.kind == Compared::Kind::only_first || one.kind == Compared::Kind::only_second;
    if (one.kind == Compared::Kind::differs || (every && only_one))
      return at(other.name(),
                refuse("verify.differs", "at {} it is not as {}: {}", to_text(one.shapes), model.name(), one.sentence)
                    .value());
  }
  return {};
}

Result<std::vector<Compared>> verify(const Model& model, const Model& other, const VerifyOptions& options) {
  TRY(Pair pair, Pair::make(model, other, options));
  std::vector<Compared> out;
  std::vector<Shapes> tried = options.shapes;
  if (tried.empty()) {
    tried = boundary_shapes(model);
    for (const Shapes& shapes : boundary_shapes(other))
      if (Shapes one = pair.of_first(shapes); !among(one, tried)) tried.push_back(std::move(one));
  }
  for (const Shapes& shapes : tried) {
    TRY(Compared one, pair.compare(completed(model.impl().typed(), shapes)));
    if (options.each) options.each(one);
    out.push_back(std::move(one));
  }
  const auto compared = [](const Compared& one) {
    return one.kind == Compared::Kind::same || one.kind == Compared::Kind::differs;
  };
  if (std::none_of(out.begin(), out.end(), compared))
    return refuse("verify.nothing", "no one of {} shapes is taken by both models, nothing was compared: {}", out.size(),
                  out.empty() ? "" : out.front().sentence);
  return out;
}

}  // namespace anyshape
