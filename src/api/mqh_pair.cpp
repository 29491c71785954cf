#include "api/mqh_pair.h"

#include <algorithm>
#include <cstring>

#include "anyshape/check.h"
#include "anyshape/session.h"
#include "api/model_impl.h"
#include "base/work.h"
#include "tensor/datum.h"

namespace anyshape {
namespace {

// Sizes to test at, the better first.
constexpr int64_t kTestedSizes[] = {32, 16, 64, 8, 120, 4, 2, 1};

// Ranges to draw from: the widest first, then those that tables and logarithms take.
struct Range {
  double centre, spread;
  int64_t span;
};
constexpr Range kRanges[] = {{0, 1, 8}, {0, 1, 2}, {0, 1, 1}, {1.5, 0.5, 8}, {1.5, 0.5, 1}};

// Longer lists of means do not go into the class: their input is drawn as any other.
constexpr size_t kLongestList = 512;

class PairMaker {
 public:
  PairMaker(const Model& model, const std::vector<mqh::Scaling>& scalings, mqh::ClassDescription& described)
      : model_(model), scalings_(scalings), described_(described) {}
  Status run();

 private:
  struct Try {
    std::vector<mqh::InputSample> inputs;
    std::vector<AnyValue> outputs;
  };
  Status choose_sizes();
  std::optional<int64_t> value_of(Dim dim) const;
  Shapes shapes() const;
  mqh::Recipe recipe(const mqh::Port& port, const Range& range) const;
  Result<Try> attempt(const Session& session, const Range& range) const;
  Result<Try> best_attempt(const Session& session) const;
  Status keep_outputs(const std::vector<AnyValue>& outputs);

  const Model& model_;
  const std::vector<mqh::Scaling>& scalings_;
  mqh::ClassDescription& described_;
};

std::optional<int64_t> PairMaker::value_of(Dim dim) const {
  return evaluate(dim, [this](Dim symbol) -> std::optional<int64_t> {
    for (const mqh::Size& size : described_.sizes)
      if (size.symbol == symbol) return size.tested;
    return std::nullopt;
  });
}

Shapes PairMaker::shapes() const {
  Shapes out;
  for (const mqh::Port& port : described_.inputs)
    for (auto& sizes = out[port.name]; const Dim dim : port.dims) sizes.push_back(value_of(dim).value_or(1));
  return out;
}

Status PairMaker::choose_sizes() {
  if (described_.sizes.empty()) return {};
  for (const int64_t tried : kTestedSizes) {
    for (mqh::Size& size : described_.sizes) size.tested = tried;
    if (accepts(model_, shapes()).kind == Answer::Kind::accept) return {};
  }
  const Shapes smallest = smallest_shapes(model_);
  for (const AxisSymbol& axis : model_.impl().typed().axes())
    for (mqh::Size& size : described_.sizes)
      if (const auto it = smallest.find(axis.axes.front().input); size.symbol == axis.symbol && it != smallest.end())
        size.tested = it->second[axis.axes.front().axis];
  const Answer answer = accepts(model_, shapes());
  if (answer.kind == Answer::Kind::accept) return {};
  return refuse("mql5.pair", "no sizes were found that the model takes: {}", answer.sentence);
}

mqh::Recipe PairMaker::recipe(const mqh::Port& port, const Range& range) const {
  mqh::Recipe out{{range.centre}, {range.spread}, 1, range.span};
  for (const mqh::Scaling& one : scalings_) {
    if (one.output || one.name != port.name || one.mean.size() > kLongestList) continue;
    out.centre = one.mean;
    out.spread = one.std;
    for (size_t i = static_cast<size_t>(one.axis) + 1; i < port.dims.size(); ++i)
      out.inner *= value_of(port.dims[i]).value_or(1);
  }
  return out;
}

Result<PairMaker::Try> PairMaker::attempt(const Session& session, const Range& range) const {
  Try out;
  std::vector<AnyValue> inputs;
  mqh::Generator generator;
  const Shapes sizes = shapes();
  for (const mqh::Port& port : described_.inputs) {
    const std::vector<int64_t>& dims = sizes.find(port.name)->second;
    const auto count = element_count(dims);
    if (!count) return refuse("mql5.pair", "the input {:?} is too large", port.name);
    const mqh::Recipe used = recipe(port, range);
    out.inputs.push_back({used, mqh::draw(generator, used, port.type, *count)});
    TRY(Tensor tensor, mqh::tensor_of(port.type, dims, out.inputs.back().entries));
    inputs.emplace_back(std::make_shared<Datum>(std::move(tensor)));
  }
  RunOptions first, second;
  first.seed = 1;
  second.seed = 2;
  Context context(session, 1);
  TRY(const auto again, context.run(inputs, second));
  TRY(out.outputs, context.run(inputs, first));
  for (size_t i = 0; i < again.size(); ++i)
    if (std::memcmp(again[i].data(), out.outputs[i].data(), again[i].bytes()) != 0)
      return refuse("mql5.random", "the output {:?} has random numbers in it, which nothing can be compared with",
                    described_.outputs[i].name);
  return out;
}

Result<PairMaker::Try> PairMaker::best_attempt(const Session& session) const {
  std::optional<Try> best;
  std::optional<Error> refusal;
  for (const Range& range : kRanges) {
    auto tried = attempt(session, range);
    TRY_OK(Work::check());
    if (!tried && (tried.error().kind == Error::Kind::system || tried.error().code == "mql5.random")) return tried;
    if (!tried) {
      if (!refusal) refusal = std::move(tried).error();
      continue;
    }
    const auto finite = [](const AnyValue& value) { return mqh::all_finite(value.datum().tensor()); };
    if (std::all_of(tried->outputs.begin(), tried->outputs.end(), finite)) return tried;
    if (!best) best = *std::move(tried);
  }
  if (best) return *std::move(best);
  return refuse("mql5.pair", "no input that was tried can be run: {}", refusal->message);
}

Status PairMaker::keep_outputs(const std::vector<AnyValue>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    mqh::Port& port = described_.outputs[i];
    if (described_.sizes.empty()) port.dims.assign(outputs[i].shape().begin(), outputs[i].shape().end());
    if (outputs[i].count() == 0) return refuse("mql5.output-size", "the output {:?} has no entries", port.name);
    described_.sample_outputs.push_back(mqh::sample_of(outputs[i].datum().tensor()));
  }
  return {};
}

Status PairMaker::run() {
  TRY_OK(choose_sizes());
  SessionOptions options;
  // The same numbers on every processor.
  options.optimize = false;
  TRY(const Session session, Session::from_model(model_, options));
  TRY(Try pair, best_attempt(session));
  described_.sample_inputs = std::move(pair.inputs);
  return keep_outputs(pair.outputs);
}

}  // namespace

Status add_stored_pair(const Model& model, const std::vector<mqh::Scaling>& scalings,
                       mqh::ClassDescription& described) {
  return PairMaker(model, scalings, described).run();
}

}  // namespace anyshape
