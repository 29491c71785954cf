#include <algorithm>
#include <cctype>
#include <limits>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/recurrent_f32.h"

// RNN, GRU and LSTM of f32 with constant weights, and stacks of them.
namespace anyshape::cpu {
namespace {

using simd::Cell;
using simd::Layer;
using simd::LayersRun;
using simd::RnnFunction;

// Where the inputs and outputs of a layer are among those of the node.
struct Ports {
  size_t w, r, bias, first_h, first_c, peepholes, last_h, last_c;
};
constexpr Ports kAlone = {1, 2, 3, 5, 6, 7, 1, 2};
constexpr size_t kInputsEach = 6;  // of a layer of a stack

Ports ports_of(bool stack, Cell cell, size_t layer) {
  const size_t in = 1 + layer * kInputsEach, out = 1 + (cell == Cell::lstm ? 2 : 1) * layer;
  return stack ? Ports{in, in + 1, in + 2, in + 3, in + 4, in + 5, out, out + 1} : kAlone;
}

struct RecurrentPrepared {
  std::vector<Layer> layers;
  std::vector<RawFloats> weights;
  bool stack = false, batch_first = false;
};

bool is_stack(const Call& call) { return call.op()->domain == "anyshape"; }

size_t layers_of(const Call& call) { return is_stack(call) ? (call.inputs() + kInputsEach - 2) / kInputsEach : 1; }

Cell cell_of(const Call& call) {
  const std::string_view name = is_stack(call) ? call.s("cell") : call.type();
  return name == "LSTM" ? Cell::lstm : name == "GRU" ? Cell::gru : Cell::rnn;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

std::optional<RnnFunction> function_of(std::string_view name) {
  if (same_letters(name, "Tanh")) return RnnFunction::tanh;
  if (same_letters(name, "Relu")) return RnnFunction::relu;
  if (same_letters(name, "Sigmoid")) return RnnFunction::sigmoid;
  return std::nullopt;
}

// The function of RNN's cells; nullopt: one that has no kernel, or another one in each direction.
std::optional<RnnFunction> rnn_function(const Call& call) {
  const auto* names = call.strings("activations");
  if (!names || names->empty()) return RnnFunction::tanh;
  for (const std::string& name : *names)
    if (!same_letters(name, (*names)[0])) return std::nullopt;
  return function_of((*names)[0]);
}

bool default_functions(const Call& call) {
  const auto* names = call.strings("activations");
  if (!names) return true;
  const size_t each = cell_of(call) == Cell::lstm ? 3 : 2;
  for (size_t i = 0; i < names->size(); ++i)
    if (!same_letters((*names)[i], i % each == 0 ? "Sigmoid" : "Tanh")) return false;
  return true;
}

std::string_view refuses_layer(const Call& call, const Ports& ports) {
  for (size_t i : {ports.w, ports.r, ports.bias, ports.peepholes})
    if (call.has(i) && !is_constant(call, i)) return "the weights are not constant";
  if (call.in(ports.w).constant->rank() != 3 || call.in(ports.r).constant->rank() != 3)
    return "the weights have not three axes";
  return "";
}

std::string_view accepts_recurrent(const Call& call) {
  const bool stack = is_stack(call);
  for (size_t i = 0; i < call.inputs(); ++i)
    if ((stack || i != 4) && call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  if (!stack && call.has(4) && call.in(4).dtype != DType::i32) return "the lengths are not i32";
  if (layers_of(call) > static_cast<size_t>(simd::kMostLayers)) return "it has too many layers";
  for (size_t layer = 0; layer < layers_of(call); ++layer)
    if (const auto why = refuses_layer(call, ports_of(stack, cell_of(call), layer)); !why.empty()) return why;
  const bool known = cell_of(call) == Cell::rnn ? rnn_function(call).has_value() : default_functions(call);
  return known ? "" : "its activations are not the default ones";
}

Layer layer_of(const Call& call, const Ports& ports) {
  Layer layer;
  layer.cell = cell_of(call);
  layer.function = rnn_function(call).value_or(RnnFunction::tanh);
  const auto &w = call.in(ports.w).constant->dims(), &r = call.in(ports.r).constant->dims();
  layer.input = w[2];
  layer.hidden = r[2];
  layer.directions = std::min<int64_t>(w[0], 2);
  layer.reverse[0] = call.s("direction") == "reverse";
  layer.reverse[1] = true;
  layer.clip = call.has_attr("clip") ? call.f("clip") : std::numeric_limits<float>::infinity();
  layer.input_forget = layer.cell == Cell::lstm && call.i("input_forget") != 0;
  layer.linear_before_reset = layer.cell == Cell::gru && call.i("linear_before_reset") != 0;
  return layer;
}

// Bytes of direction d of a constant, null when the input is absent.
const std::byte* direction_of(const Call& call, size_t input, int64_t d, int64_t directions) {
  if (!call.has(input)) return nullptr;
  const auto bytes = call.in(input).constant->bytes();
  return bytes.data() + static_cast<int64_t>(bytes.size()) / directions * d;
}

void pack_direction(const Call& call, const Ports& ports, int64_t d, Layer& layer, RawFloats& to) {
  const simd::PackedSizes sizes = simd::packed_sizes(layer);
  const int64_t parts[] = {sizes.input, sizes.hidden, sizes.bias, sizes.hidden_bias, sizes.peepholes};
  int64_t all = 0;
  for (int64_t n : parts) all += round_up(n, 16);
  to = RawFloats(static_cast<size_t>(all));
  float* at[5];
  float* next = to.data();
  for (size_t i = 0; i < 5; next += round_up(parts[i], 16), ++i) at[i] = next;
  const int64_t directions = call.in(ports.w).constant->dims()[0];
  const auto bytes = [&](size_t input) { return direction_of(call, input, d, directions); };
  const std::byte* peepholes = layer.cell == Cell::lstm ? bytes(ports.peepholes) : nullptr;
  simd::pack_recurrent(layer, bytes(ports.w), bytes(ports.r), bytes(ports.bias), peepholes,
                       {at[0], at[1], at[2], at[3], at[4]});
  layer.weights[d] = {at[0], at[1], at[2], at[3], peepholes ? at[4] : nullptr};
}

Result<std::shared_ptr<const void>> prepare_recurrent(const Call& call) {
  auto p = std::make_shared<RecurrentPrepared>();
  p->stack = is_stack(call);
  p->batch_first = (p->stack || call.version() >= 14) && call.i("layout") == 1;
  for (size_t i = 0; i < layers_of(call); ++i) {
    const Ports ports = ports_of(p->stack, cell_of(call), i);
    Layer& layer = p->layers.emplace_back(layer_of(call, ports));
    for (int64_t d = 0; d < layer.directions; ++d) pack_direction(call, ports, d, layer, p->weights.emplace_back());
  }
  return p;
}

simd::StateRows state_of(std::span<const View> views, size_t i, bool batch_first) {
  if (i >= views.size() || !views[i]) return {};
  const auto strides = views[i].strides;
  return {views[i].as<float>(), strides[batch_first ? 1 : 0], strides[batch_first ? 0 : 1], strides[2]};
}

void set_states(const ViewArgs& args, const RecurrentPrepared& p, LayersRun& run) {
  for (size_t i = 0; i < p.layers.size(); ++i) {
    const Ports ports = ports_of(p.stack, p.layers[i].cell, i);
    simd::LayerStates& states = run.states[i];
    states.first_h = state_of(args.in, ports.first_h, p.batch_first);
    states.last_h = state_of(args.out, ports.last_h, p.batch_first);
    if (p.layers[i].cell != Cell::lstm) continue;
    states.first_c = state_of(args.in, ports.first_c, p.batch_first);
    states.last_c = state_of(args.out, ports.last_c, p.batch_first);
  }
}

LayersRun run_of(const ViewArgs& args) {
  const RecurrentPrepared& p = prepared_as<RecurrentPrepared>(args);
  const size_t time = p.batch_first ? 1 : 0, row = p.batch_first ? 0 : 1;
  const View& x = args.in[0];
  LayersRun r;
  r.steps = x.dims[time];
  r.batch = x.dims[row];
  r.x = x.as<const float>();
  r.x_step = x.strides[time];
  r.x_row = x.strides[row];
  r.x_column = x.strides[2];
  r.has_lengths = !p.stack && args.in.size() > 4 && args.in[4];
  if (r.has_lengths) r.lengths = args.in[4].as<const int32_t>();
  if (!args.out.empty() && args.out[0]) {
    const auto strides = args.out[0].strides;
    r.y = args.out[0].as<float>();
    r.y_step = strides[time];
    r.y_direction = strides[p.batch_first ? 2 : 1];
    r.y_row = strides[p.batch_first ? 0 : 2];
  }
  set_states(args, p, r);
  return r;
}

int64_t tasks_of_recurrent(const RecurrentPrepared& p, const LayersRun& run) {
  const simd::LayersCut cut = simd::recurrent_cut(p.layers, run);
  int64_t weights = 0;
  for (const Layer& layer : p.layers)
    weights += layer.directions * simd::recurrent_columns(layer) * (layer.input + layer.hidden);
  const double work = static_cast<double>(run.steps * run.batch) * static_cast<double>(weights);
  return tasks_for(cut.tasks, work / static_cast<double>(std::max<int64_t>(cut.tasks, 1)));
}

int64_t tasks_recurrent(const ViewArgs& args) {
  return tasks_of_recurrent(prepared_as<RecurrentPrepared>(args), run_of(args));
}

int64_t scratch_recurrent(const ViewArgs& args) {
  const LayersRun run = run_of(args);
  const RecurrentPrepared& p = prepared_as<RecurrentPrepared>(args);
  return simd::recurrent_scratch(p.layers, run, tasks_of_recurrent(p, run)) * static_cast<int64_t>(sizeof(float));
}

Status check_lengths(const LayersRun& run) {
  for (int64_t i = 0; run.lengths && i < run.batch; ++i)
    if (run.lengths[i] < 0 || run.lengths[i] > run.steps)
      return refuse("rnn.sequence_lens", "sequence {} has {} steps, at most {} are there", i, run.lengths[i],
                    run.steps);
  return {};
}

Status begin(const ViewArgs& args) {
  const LayersRun r = run_of(args);
  TRY_OK(check_lengths(r));
  simd::recurrent_begin(prepared_as<RecurrentPrepared>(args).layers, r, reinterpret_cast<float*>(args.scratch));
  return {};
}

Status run_recurrent(const ViewArgs& args, int64_t first, int64_t last) {
  const RecurrentPrepared& p = prepared_as<RecurrentPrepared>(args);
  const LayersRun r = run_of(args);
  simd::recurrent_run(p.layers, r, first, last, tasks_of_recurrent(p, r), reinterpret_cast<float*>(args.scratch));
  return {};
}

// Bits of x, and of what each layer of a stack has at these places: 0 is W, 3 and 4 are the initial states.
constexpr uint32_t of_all_layers(uint32_t bits) {
  uint32_t all = 0;
  for (int64_t i = 0; i < simd::kMostLayers; ++i) all |= bits << (1 + i * static_cast<int64_t>(kInputsEach));
  return all;
}

}  // namespace

// Bits of x and of the initial states.
constexpr EngineKernel kRecurrent{.name = "f32 packed",
                                  .accepts = accepts_recurrent,
                                  .prepare = prepare_recurrent,
                                  .scratch = scratch_recurrent,
                                  .tasks = tasks_recurrent,
                                  .begin = begin,
                                  .run = run_recurrent,
                                  .strided = 1 | 1 << 5 | 1 << 6,
                                  .packed = 1 << 1 | 1 << 2};

constexpr EngineKernel kRecurrentStack{.name = "f32 packed",
                                       .accepts = accepts_recurrent,
                                       .prepare = prepare_recurrent,
                                       .scratch = scratch_recurrent,
                                       .tasks = tasks_recurrent,
                                       .begin = begin,
                                       .run = run_recurrent,
                                       .strided = 1 | of_all_layers(1 << 3 | 1 << 4),
                                       .packed = of_all_layers(1 << 0 | 1 << 1)};

}  // namespace anyshape::cpu
