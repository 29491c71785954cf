#include <algorithm>
#include <cctype>
#include <limits>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/recurrent_f32.h"

// RNN, GRU and LSTM of f32 with constant weights.
namespace anyshape::cpu {
namespace {

using simd::Cell;
using simd::Layer;
using simd::LayerRun;
using simd::RnnFunction;

struct Prepared {
  Layer layer;
  Floats weights[2];
  bool batch_first = false;
};

const Prepared& prepared_of(const ViewArgs& args) { return *static_cast<const Prepared*>(args.prepared); }

Cell cell_of(const Call& call) {
  return call.type() == "LSTM" ? Cell::lstm : call.type() == "GRU" ? Cell::gru : Cell::rnn;
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

std::string_view accepts(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (i != 4 && call.has(i) && !is_f32(call, i)) return "its element type is not f32";
    const bool weights = i == 1 || i == 2 || i == 3 || i == 7;
    if (weights && call.has(i) && !is_constant(call, i)) return "the weights are not constant";
  }
  if (call.has(4) && call.in(4).dtype != DType::i32) return "the lengths are not i32";
  if (call.in(1).constant->rank() != 3 || call.in(2).constant->rank() != 3) return "the weights have not three axes";
  const bool known = cell_of(call) == Cell::rnn ? rnn_function(call).has_value() : default_functions(call);
  return known ? "" : "its activations are not the default ones";
}

Layer layer_of(const Call& call) {
  Layer layer;
  layer.cell = cell_of(call);
  layer.function = rnn_function(call).value_or(RnnFunction::tanh);
  const auto &w = call.in(1).constant->dims(), &r = call.in(2).constant->dims();
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

void pack_direction(const Call& call, Prepared& p, int64_t d) {
  const simd::PackedSizes sizes = simd::packed_sizes(p.layer);
  const int64_t parts[] = {sizes.input, sizes.hidden, sizes.bias, sizes.hidden_bias, sizes.peepholes};
  int64_t all = 0;
  for (int64_t n : parts) all += round_up(n, 16);
  p.weights[d].resize(static_cast<size_t>(all));
  float* at[5];
  float* next = p.weights[d].data();
  for (size_t i = 0; i < 5; next += round_up(parts[i], 16), ++i) at[i] = next;
  const int64_t directions = call.in(1).constant->dims()[0];
  const std::byte* peepholes = p.layer.cell == Cell::lstm ? direction_of(call, 7, d, directions) : nullptr;
  simd::pack_recurrent(p.layer, direction_of(call, 1, d, directions), direction_of(call, 2, d, directions),
                       direction_of(call, 3, d, directions), peepholes, {at[0], at[1], at[2], at[3], at[4]});
  p.layer.weights[d] = {at[0], at[1], at[2], at[3], peepholes ? at[4] : nullptr};
}

Result<std::shared_ptr<const void>> prepare(const Call& call) {
  auto p = std::make_shared<Prepared>();
  p->layer = layer_of(call);
  p->batch_first = call.version() >= 14 && call.i("layout") == 1;
  for (int64_t d = 0; d < p->layer.directions; ++d) pack_direction(call, *p, d);
  return p;
}

simd::StateRows state_of(std::span<const View> views, size_t i, bool batch_first) {
  if (i >= views.size() || !views[i]) return {};
  const auto strides = views[i].strides;
  return {views[i].as<float>(), strides[batch_first ? 1 : 0], strides[batch_first ? 0 : 1], strides[2]};
}

LayerRun run_of(const ViewArgs& args) {
  const Prepared& p = prepared_of(args);
  const size_t time = p.batch_first ? 1 : 0, row = p.batch_first ? 0 : 1;
  const View& x = args.in[0];
  LayerRun r;
  r.steps = x.dims[time];
  r.batch = x.dims[row];
  r.x = x.as<const float>();
  r.x_step = x.strides[time];
  r.x_row = x.strides[row];
  r.x_column = x.strides[2];
  r.has_lengths = args.in.size() > 4 && args.in[4];
  if (r.has_lengths) r.lengths = args.in[4].as<const int32_t>();
  if (!args.out.empty() && args.out[0]) {
    const auto strides = args.out[0].strides;
    r.y = args.out[0].as<float>();
    r.y_step = strides[time];
    r.y_direction = strides[p.batch_first ? 2 : 1];
    r.y_row = strides[p.batch_first ? 0 : 2];
  }
  r.first_h = state_of(args.in, 5, p.batch_first);
  r.last_h = state_of(args.out, 1, p.batch_first);
  if (p.layer.cell == Cell::lstm) {
    r.first_c = state_of(args.in, 6, p.batch_first);
    r.last_c = state_of(args.out, 2, p.batch_first);
  }
  return r;
}

int64_t tasks_of(const Layer& layer, const LayerRun& run) {
  const simd::LayerCut cut = simd::recurrent_cut(layer, run);
  const double work = static_cast<double>(run.steps * run.batch * layer.directions) *
                      static_cast<double>(simd::recurrent_columns(layer) * (layer.input + layer.hidden));
  return tasks_for(cut.tasks, work / static_cast<double>(std::max<int64_t>(cut.tasks, 1)));
}

int64_t tasks(const ViewArgs& args) { return tasks_of(prepared_of(args).layer, run_of(args)); }

int64_t scratch(const ViewArgs& args) {
  const LayerRun run = run_of(args);
  const Layer& layer = prepared_of(args).layer;
  return simd::recurrent_scratch(layer, run, tasks_of(layer, run)) * static_cast<int64_t>(sizeof(float));
}

Status check_lengths(const LayerRun& run) {
  for (int64_t i = 0; run.lengths && i < run.batch; ++i)
    if (run.lengths[i] < 0 || run.lengths[i] > run.steps)
      return refuse("rnn.sequence_lens", "sequence {} has {} steps, at most {} are there", i, run.lengths[i],
                    run.steps);
  return {};
}

Status begin(const ViewArgs& args) {
  const LayerRun r = run_of(args);
  TRY_OK(check_lengths(r));
  simd::recurrent_begin(prepared_of(args).layer, r, reinterpret_cast<float*>(args.scratch));
  return {};
}

Status run(const ViewArgs& args, int64_t first, int64_t last) {
  const Layer& layer = prepared_of(args).layer;
  const LayerRun r = run_of(args);
  simd::recurrent_run(layer, r, first, last, tasks_of(layer, r), reinterpret_cast<float*>(args.scratch));
  return {};
}

}  // namespace

// Bits of x and of the initial states.
constexpr EngineKernel kRecurrent{.name = "f32 packed",
                                  .accepts = accepts,
                                  .prepare = prepare,
                                  .scratch = scratch,
                                  .tasks = tasks,
                                  .begin = begin,
                                  .run = run,
                                  .strided = 1 | 1 << 5 | 1 << 6,
                                  .packed = 1 << 1 | 1 << 2};

}  // namespace anyshape::cpu
