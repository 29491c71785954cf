#include "anyshape/verify.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "anyshape/any_value.h"
#include "anyshape/session.h"
#include "base/among.h"
#include "base/error.h"
#include "base/work.h"

namespace anyshape {
namespace {

constexpr double kRelative = 1e-3, kAbsolute = 1e-5;
// Limits of a symbol are looked for up to this size.
constexpr int64_t kLargestTried = 4096;

bool finite(const AnyValue& value) {
  if (value.kind() != AnyValue::Kind::tensor || value.type() != DType::f32) return true;
  const auto* numbers = static_cast<const float*>(value.data());
  return std::all_of(numbers, numbers + value.count(), [](float x) { return std::isfinite(x); });
}

std::optional<int64_t> number_of(const std::string& dim) {
  int64_t size = 0;
  const char* end = dim.data() + dim.size();
  const auto [stop, wrong] = std::from_chars(dim.data(), end, size);
  return wrong == std::errc() && stop == end ? std::optional(size) : std::nullopt;
}

bool is_symbol(const std::string& dim) { return !number_of(dim); }

// The shapes with those of inputs left out whose sizes are all numbers.
Shapes completed(const Model& model, Shapes shapes) {
  for (const ValueType& input : model.inputs()) {
    if (!input.dims || std::any_of(input.dims->begin(), input.dims->end(), is_symbol)) continue;
    std::vector<int64_t> sizes;
    for (const std::string& dim : *input.dims) sizes.push_back(*number_of(dim));
    shapes.try_emplace(input.name, std::move(sizes));
  }
  return shapes;
}

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

// The given shapes with the symbol as large as the model takes it, where it refuses kLargestTried; else as given. Where
// sizes in between are refused, too, it need not be the largest.
Shapes at_limit(const Model& model, const Shapes& from, const std::string& symbol) {
  const auto taken = [&](int64_t size) {
    return accepts(model, grown(model, from, symbol, 0, size)).kind == Answer::Kind::accept;
  };
  if (taken(kLargestTried)) return from;
  int64_t low = 0, high = kLargestTried;
  for (const ValueType& input : model.inputs())
    for (size_t i = 0; input.dims && i < input.dims->size(); ++i)
      if ((*input.dims)[i] == symbol && from.contains(input.name)) low = from.find(input.name)->second[i];
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (taken(middle) ? low : high) = middle;
  }
  return grown(model, from, symbol, 0, low);
}

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
    if (!finite(outputs[i]))
      return refuse("verify.finite", "at {} output {:?} has entries that are not finite", to_text(shapes), name);
  }
  return {};
}

// For each of `names` its place among `others`: by name where all are there, else by order.
std::optional<std::vector<size_t>> matched(const std::vector<IoInfo>& names, const std::vector<IoInfo>& others) {
  if (names.size() != others.size()) return std::nullopt;
  std::vector<size_t> by_name, by_order;
  for (const IoInfo& one : names) {
    by_order.push_back(by_order.size());
    const auto it = std::find_if(others.begin(), others.end(), [&](const IoInfo& its) { return its.name == one.name; });
    if (it != others.end()) by_name.push_back(static_cast<size_t>(it - others.begin()));
  }
  return by_name.size() == names.size() ? by_name : by_order;
}

std::string names_of(const std::vector<IoInfo>& values) {
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
    return refuse(code, "the {} of {} are {}, those of {} are {}", what, model.name(), names_of(one), other.name(),
                  names_of(two));
  };
  const auto inputs = matched(first.session.inputs(), second.session.inputs());
  if (!inputs) return apart("verify.inputs", "inputs", first.session.inputs(), second.session.inputs());
  for (size_t i = 0; i < inputs->size(); ++i) {
    const IoInfo &one = first.session.inputs()[i], &two = second.session.inputs()[(*inputs)[i]];
    if (one.type != two.type)
      return refuse("verify.inputs", "input {:?} of {} is of type {}, {:?} of {} of type {}", one.name, model.name(),
                    name(one.type), two.name, other.name(), name(two.type));
  }
  const auto outputs = matched(first.session.outputs(), second.session.outputs());
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
    if (const std::string found = difference(other, want[i], options_->relative, options_->absolute); !found.empty())
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

std::vector<Shapes> boundary_shapes(const Model& model) {
  std::vector<Shapes> out{smallest_shapes(model)};
  const auto try_shapes = [&](const Shapes& wanted) {
    if (!Work::stopped() && !among(wanted, out) && accepts(model, wanted).kind == Answer::Kind::accept)
      out.push_back(wanted);
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
  for (const std::string& symbol : symbols) try_shapes(at_limit(model, out.front(), symbol));
  return out;
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
    if (const std::string found = difference(outputs[i], *want, kRelative, kAbsolute); !found.empty())
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
    TRY(Compared one, pair.compare(completed(model, shapes)));
    if (options.each) options.each(one);
    out.push_back(std::move(one));
  }
  if (std::all_of(out.begin(), out.end(), [](const auto& one) { return one.kind == Compared::Kind::both_refuse; }))
    return refuse("verify.nothing", "both models refuse every one of {} shapes: nothing was compared", out.size());
  return out;
}

}  // namespace anyshape
