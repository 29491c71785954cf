#include <vector>

#include "ops/nn/recurrent_kernel.h"
#include "ops/records.h"

// anyshape.RecurrentStack: layers RNN, GRU or LSTM of one direction, each of which reads what the one before it has
// written, as one node. Made by passes, never in files. The attributes are those of all layers; `cell` says which
// operator they are. After X come W, R, B, initial_h, initial_c and P of each layer, after Y its Y_h and, of LSTM, Y_c.
namespace anyshape::ops {
namespace {

constexpr size_t kInputsEach = 6;

constexpr Port kRecurrentStackIn[] = {{"X"}, {"layers", Port::variadic | Port::optional}};
constexpr Port kRecurrentStackOut[] = {{"Y", Port::optional}, {"states", Port::variadic | Port::optional}};
constexpr AttributeDef kRecurrentStackAttributes[] = {
    {"activation_alpha", AttributeDef::reals},
    {"activation_beta", AttributeDef::reals},
    {"activations", AttributeDef::strings},
    {"cell", "LSTM"},
    {"clip", AttributeDef::real},
    {"direction", "forward"},
    {"input_forget", 0},
    {"layout", 0},
    {"linear_before_reset", 0},
};

using Cell = kernels::Recurrent::Cell;
constexpr int64_t kVersion = 14;

struct CellOp {
  std::string_view name;
  const OpDef* op;
  Cell cell;
};
constexpr CellOp kCells[] = {{"GRU", &kGRU1, Cell::gru}, {"LSTM", &kLSTM1, Cell::lstm}, {"RNN", &kRNN1, Cell::rnn}};

Result<CellOp> cell_of(const Call& call) {
  for (const CellOp& cell : kCells)
    if (call.s("cell") == cell.name) return cell;
  return refuse("rnn.cell", "cell {:?} is not one of GRU, LSTM, RNN", call.s("cell"));
}

size_t layers_of(const Call& call) { return (call.inputs() - 1 + kInputsEach - 1) / kInputsEach; }

// Input i of the operator that layer `layer` is, as an input of the stack.
size_t input_of(size_t layer, size_t i) { return 1 + layer * kInputsEach + (i < 4 ? i - 1 : i - 2); }

// The inputs of the operator that layer `layer` is: sequence_lens is never there.
std::vector<const Fact*> inputs_of(const Call& call, size_t layer, const Fact& x) {
  std::vector<const Fact*> in{&x};
  for (size_t i = 1; i < 8; ++i) {
    const size_t at = input_of(layer, i);
    in.push_back(i != 4 && call.has(at) ? &call.in(at) : nullptr);
  }
  return in;
}

size_t direction_axis(const Call& call) { return call.i("layout") == 1 ? 2 : 1; }

Result<Facts> infer_recurrent_stack(const Call& call, InferContext& context) {
  TRY(const CellOp cell, cell_of(call));
  Facts out(1);
  Fact x = call.in(0);
  for (size_t layer = 0; layer < layers_of(call); ++layer) {
    if (!call.has(input_of(layer, 1)) || !call.has(input_of(layer, 2)))
      return refuse("rnn.weights", "layer {} has no W or no R", layer);
    const auto in = inputs_of(call, layer, x);
    TRY(Facts one, cell.op->infer(Call(call, *cell.op, kVersion, in), context));
    Dims dims = *one[0].dims;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(direction_axis(call)));
    x = Fact::tensor(one[0].dtype, std::move(dims));
    out[0] = one[0];
    out.insert(out.end(), one.begin() + 1, one.end());
  }
  return out;
}

// What a layer of hidden units writes, with an axis of directions or without one.
Result<Tensor> sequence_of(const Tensor& x, int64_t hidden) {
  return Tensor::allocate(x.dtype(), {x.dims()[0], x.dims()[1], hidden});
}

Status reference_recurrent_stack(const Call& call, KernelArgs& args) {
  TRY(const CellOp cell, cell_of(call));
  const auto in = [&](size_t layer, size_t i) {
    const size_t at = input_of(layer, i);
    return at < args.inputs.size() ? args.in(at) : Tensor();
  };
  const auto out = [&](size_t i) { return call.has_output(i) ? args.out(i) : Tensor(); };
  Tensor x = args.in(0);
  const size_t layers = layers_of(call);
  for (size_t layer = 0; layer < layers; ++layer) {
    const auto facts = inputs_of(call, layer, call.in(0));
    TRY(const kernels::Recurrent one, read_recurrent(Call(call, *cell.op, kVersion, facts), cell.cell));
    Tensor y = out(0);
    if (layer + 1 < layers) {
      TRY(y, sequence_of(x, in(layer, 2).dims()[2]));
    }
    const bool has_c = cell.cell == Cell::lstm;
    const size_t first = 1 + layer * (has_c ? 2 : 1);
    kernels::RecurrentOutputs outputs{y, out(first), has_c ? out(first + 1) : Tensor()};
    const kernels::RecurrentInputs inputs{x,        in(layer, 1), in(layer, 2), in(layer, 3),
                                          Tensor(), in(layer, 5), in(layer, 6), in(layer, 7)};
    TRY_OK(kernels::recurrent(one, inputs, outputs));
    x = y;
  }
  return {};
}

constexpr Kernel kRecurrentStackKernels[] = {{"reference", reference_recurrent_stack}};

}  // namespace

constexpr OpDef kRecurrentStack1{
    .name = "RecurrentStack",
    .since = 1,
    .domain = "anyshape",
    .sig = {kRecurrentStackIn, kRecurrentStackOut, "recurrent layers one behind the other", kRecurrentStackAttributes},
    .infer = infer_recurrent_stack,
    .kernels = kRecurrentStackKernels};

}  // namespace anyshape::ops
