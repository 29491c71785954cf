#include "ops/nn/recurrent_kernel.h"

#include "ops/wide.h"

namespace anyshape::ops {
namespace {

using Cell = kernels::Recurrent::Cell;

std::string_view default_function(Cell cell, size_t i) { return i == 0 && cell != Cell::rnn ? "Sigmoid" : "Tanh"; }

// alpha and beta are taken in order by the functions that have them.
Status read_activations(const Call& call, kernels::Recurrent& layer) {
  const size_t count = layer.reverse.size() * layer.functions();
  const auto* given = call.strings("activations");
  if (given && given->empty()) given = nullptr;
  if (given && given->size() < count)
    return refuse("rnn.activations", "{} activations are named, {} are needed", given->size(), count);
  const auto *alphas = call.floats("activation_alpha"), *betas = call.floats("activation_beta");
  size_t alpha = 0, beta = 0;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = given ? (*given)[i] : default_function(layer.cell, i % layer.functions());
    auto function = kernels::Activation::named(name);
    if (!function) return refuse("rnn.activations", "{:?} is no activation", name);
    if (function->takes_alpha() && alphas && alpha < alphas->size())
      function->alpha = static_cast<double>((*alphas)[alpha++]);
    if (function->takes_beta() && betas && beta < betas->size()) function->beta = static_cast<double>((*betas)[beta++]);
    layer.activations.push_back(*function);
  }
  return {};
}

}  // namespace

Result<kernels::Recurrent> read_recurrent(const Call& call, Cell cell) {
  kernels::Recurrent layer;
  layer.cell = cell;
  const auto direction = call.s("direction");
  layer.reverse = {direction == "reverse"};
  if (direction == "bidirectional") layer.reverse = {false, true};
  TRY_OK(read_activations(call, layer));
  if (call.has_attr("clip")) {
    const auto clip = static_cast<double>(call.f("clip"));
    if (!(clip >= 0)) return refuse("rnn.clip", "clip is {}, it must not be negative", clip);
    layer.clip = clip;
  }
  layer.batch_first = call.version() >= 14 && call.i("layout") == 1;
  layer.input_forget = cell == Cell::lstm && call.i("input_forget") != 0;
  layer.linear_before_reset = cell == Cell::gru && call.version() >= 3 && call.i("linear_before_reset") != 0;
  return layer;
}

Status run_recurrent(const Call& call, KernelArgs& args, Cell cell) {
  TRY(const kernels::Recurrent layer, read_recurrent(call, cell));
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const auto in = [&](size_t i) { return i < wide.inputs.size() ? wide.in(i) : Tensor(); };
    const auto out = [&](size_t i) { return call.has_output(i) ? wide.out(i) : Tensor(); };
    const kernels::RecurrentInputs inputs{in(0), in(1), in(2), in(3), in(4), in(5), in(6), in(7)};
    kernels::RecurrentOutputs outputs{out(0), out(1), out(2)};
    return kernels::recurrent(layer, inputs, outputs);
  });
}

}  // namespace anyshape::ops
