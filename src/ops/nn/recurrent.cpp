#include "ops/nn/recurrent_kernel.h"
#include "ops/nn/window.h"
#include "ops/records.h"
#include "ops/shown.h"

namespace anyshape::ops {
namespace {

constexpr Port kRecurrentIn[] = {{"X"},
                                 {"W"},
                                 {"R"},
                                 {"B", Port::optional},
                                 {"sequence_lens", Port::optional | Port::value | Port::settled},
                                 {"initial_h", Port::optional}};
constexpr Port kInLstm[] = {{"X"},
                            {"W"},
                            {"R"},
                            {"B", Port::optional},
                            {"sequence_lens", Port::optional | Port::value | Port::settled},
                            {"initial_h", Port::optional},
                            {"initial_c", Port::optional},
                            {"P", Port::optional}};
constexpr Port kRecurrentOut[] = {{"Y", Port::optional}, {"Y_h", Port::optional}};
constexpr Port kOutLstm[] = {{"Y", Port::optional}, {"Y_h", Port::optional}, {"Y_c", Port::optional}};
constexpr AttributeDef kGRUAttributes[] = {
    {"activation_alpha", AttributeDef::reals},
    {"activation_beta", AttributeDef::reals},
    {"activations", AttributeDef::strings},
    {"clip", AttributeDef::real},
    {"direction", "forward"},
    {"hidden_size", AttributeDef::integer},
    {"layout", 0, {14}},
    {"linear_before_reset", 0, {3}},
    {"output_sequence", 0, {1, 6}},
};
constexpr AttributeDef kLSTMAttributes[] = {
    {"activation_alpha", AttributeDef::reals},
    {"activation_beta", AttributeDef::reals},
    {"activations", AttributeDef::strings},
    {"clip", AttributeDef::real},
    {"direction", "forward"},
    {"hidden_size", AttributeDef::integer},
    {"input_forget", 0},
    {"layout", 0, {14}},
    {"output_sequence", 0, {1, 6}},
};
constexpr std::string_view kRnnActivations[] = {"Tanh", "Tanh"};
constexpr AttributeDef kRNNAttributes[] = {
    {"activation_alpha", AttributeDef::reals},
    {"activation_beta", AttributeDef::reals},
    {"activations", kRnnActivations},
    {"clip", AttributeDef::real},
    {"direction", "forward"},
    {"hidden_size", AttributeDef::integer},
    {"layout", 0, {14}},
    {"output_sequence", 0, {1, 6}},
};

struct Sizes {
  Dim steps, batch, input, hidden, directions;
  bool batch_first = false;

  Dims state() const { return batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden}; }
  Dims sequence() const {
    return batch_first ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden};
  }
};

Result<int64_t> direction_count(const Call& call) {
  const auto direction = call.s("direction");
  // "foward": the default as the text of GRU 1 spells it.
  if (direction == "forward" || direction == "reverse" || direction == "foward") return 1;
  if (direction == "bidirectional") return 2;
  return refuse("rnn.direction", "direction {:?} is not one of forward, reverse, bidirectional", direction);
}

Result<Sizes> read_sizes(const Call& call) {
  Sizes s;
  TRY(const Dims x, dims_of_rank(call, 0, 3));
  TRY(const Dims r, dims_of_rank(call, 2, 3));
  TRY(s.directions, direction_count(call));
  const int64_t layout = call.version() >= 14 ? call.i("layout") : 0;
  if (layout != 0 && layout != 1) return refuse("rnn.layout", "layout is {}, 0 or 1 is needed", layout);
  s.batch_first = layout == 1;
  s.steps = x[s.batch_first ? 1 : 0];
  s.batch = x[s.batch_first ? 0 : 1];
  s.input = x[2];
  s.hidden = r[2];
  if (call.has_attr("hidden_size")) {
    const int64_t hidden = call.i("hidden_size");
    if (hidden < 1 || hidden > (int64_t{1} << 31))
      return refuse("rnn.hidden_size", "hidden_size is {}, at least 1 is needed", hidden);
    s.hidden = hidden;
  }
  return s;
}

Status require_lengths(const Call& call, InferContext& context, const Sizes& s) {
  if (!call.has(4)) return {};
  TRY_OK(require_vector(call, context, 4, s.batch, "rnn.sequence_lens", "sequence_lens"));
  const auto bounds = call.in(4).value_bounds();
  if (!bounds) {
    context.data_condition("rnn.sequence_lens", "sequence_lens must be in 0..{}", shown(s.steps));
    return {};
  }
  return context.require(Condition::ge(bounds->lo, 0) && Condition::le(bounds->hi, s.steps), "rnn.sequence_lens",
                         "sequence_lens, which are in {}..{}, must be in 0..{}, the steps of the sequence",
                         shown(bounds->lo), shown(bounds->hi), shown(s.steps));
}

// `gates` matrices per direction; LSTM has cell state and peepholes besides.
Result<Sizes> check(const Call& call, InferContext& context, int64_t gates) {
  TRY(const Sizes s, read_sizes(call));
  const Dim rows = s.hidden * Dim(gates);
  TRY_OK(require_dims(call, context, 1, {s.directions, rows, s.input}, "rnn.weights", "W"));
  TRY_OK(require_dims(call, context, 2, {s.directions, rows, s.hidden}, "rnn.weights", "R"));
  TRY_OK(require_dims(call, context, 3, {s.directions, rows * Dim(2)}, "rnn.weights", "B"));
  TRY_OK(require_lengths(call, context, s));
  TRY_OK(require_dims(call, context, 5, s.state(), "rnn.initial_state", "initial_h"));
  return s;
}

Status require_batch(const Call& call, InferContext& context, const Sizes& s) {
  return context.require(Condition::ge(s.batch, 1), "rnn.empty", "{} needs a batch of at least 1, it is {}",
                         call.type(), shown(s.batch));
}

Facts outputs(const Call& call, const Sizes& s, size_t states) {
  Facts out{Fact::tensor(call.in(0).dtype, s.sequence())};
  for (size_t i = 0; i < states; ++i) out.push_back(Fact::tensor(call.in(0).dtype, s.state()));
  return out;
}

Result<Facts> infer_rnn(const Call& call, InferContext& context) {
  TRY(const Sizes s, check(call, context, 1));
  return outputs(call, s, 1);
}

Result<Facts> infer_gru(const Call& call, InferContext& context) {
  TRY(const Sizes s, check(call, context, 3));
  TRY_OK(require_batch(call, context, s));
  TRY_OK(context.require(Condition::ge(s.steps, 1), "rnn.empty", "GRU needs at least one step, it has {}",
                         shown(s.steps)));
  return outputs(call, s, 1);
}

Result<Facts> infer_lstm(const Call& call, InferContext& context) {
  TRY(const Sizes s, check(call, context, 4));
  TRY_OK(require_dims(call, context, 6, s.state(), "rnn.initial_state", "initial_c"));
  TRY_OK(require_dims(call, context, 7, {s.directions, s.hidden * Dim(3)}, "rnn.weights", "P"));
  TRY_OK(require_batch(call, context, s));
  return outputs(call, s, 2);
}

template <kernels::Recurrent::Cell cell>
Status reference_recurrent(const Call& call, KernelArgs& args) {
  return run_recurrent(call, args, cell);
}

template <kernels::Recurrent::Cell cell>
constexpr Kernel kRecurrentKernels[] = {{"reference", reference_recurrent<cell>}};
using Cell = kernels::Recurrent::Cell;

}  // namespace

constexpr OpDef kGRU1{.name = "GRU",
                      .since = 1,
                      .sig = {kRecurrentIn, kRecurrentOut, "gated recurrent units", kGRUAttributes},
                      .infer = infer_gru,
                      .kernels = kRecurrentKernels<Cell::gru>};
constexpr OpDef kLSTM1{.name = "LSTM",
                       .since = 1,
                       .sig = {kInLstm, kOutLstm, "long short-term memory", kLSTMAttributes},
                       .infer = infer_lstm,
                       .kernels = kRecurrentKernels<Cell::lstm>};
constexpr OpDef kRNN1{.name = "RNN",
                      .since = 1,
                      .sig = {kRecurrentIn, kRecurrentOut, "plain recurrent layer", kRNNAttributes},
                      .infer = infer_rnn,
                      .kernels = kRecurrentKernels<Cell::rnn>};

}  // namespace anyshape::ops
