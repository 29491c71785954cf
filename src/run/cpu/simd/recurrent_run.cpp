#include <algorithm>
#include <bit>
#include <new>

#include "run/cpu/simd/recurrent_claims.h"
#include "run/cpu/simd/recurrent_pass.h"
#include "run/cpu/simd/recurrent_relay.h"
#include "run/cpu/simd/recurrent_step.h"

namespace anyshape::simd {
namespace {

static_assert(Relay::kMost == kMostLayers);

Piece piece_of(const LayersRun& run, const LayersCut& cut, int64_t index) {
  const int64_t begin = std::min(run.batch, index % cut.parts * cut.rows);
  return {index / cut.parts, begin, std::min(cut.rows, run.batch - begin)};
}

template <class T>
constexpr int64_t floats_of() {
  return static_cast<int64_t>(sizeof(T) / sizeof(float));
}

// Where what belongs to a piece or to a task is in the scratch of all. A piece has the state of each layer, what
// layers hand on, and how far it has come; the input part of the gates is the piece's where all tasks share it.
class Memory {
 public:
  Memory(Layers layers, const LayersRun& run, const LayersCut& cut, float* scratch)
      : shared_(cut.shared > 0), scratch_(scratch) {
    for (const Layer& layer : layers) {
      const Pass::Floats one = Pass::floats(layer, cut.rows, cut.at_once);
      state_at_[layers_] = states_;
      states_ += one.state;
      if (layers_ > 0) {
        handed_at_[layers_ - 1] = handed_;
        handed_ += whole_lines(run.steps * cut.rows * layer.input);
      }
      ++layers_;
      inputs_ = std::max(inputs_, one.inputs);
      product_ = std::max(product_, one.product);
    }
    progress_ = shared_ ? floats_of<Claims>() : floats_of<Relay>();
    piece_ = progress_ + states_ + handed_ + (shared_ ? inputs_ : 0);
    task_ = product_ + (shared_ ? 0 : inputs_);
    pieces_ = cut.pieces();
  }

  int64_t size(int64_t tasks) const { return pieces_ * piece_ + tasks * task_; }
  Claims* claims(int64_t piece) const { return reinterpret_cast<Claims*>(scratch_ + piece * piece_); }
  Relay* relay(int64_t piece) const { return reinterpret_cast<Relay*>(scratch_ + piece * piece_); }
  // What layer `layer` hands on: rows of sequences.
  float* handed(int64_t piece, int64_t layer) const {
    return scratch_ + piece * piece_ + progress_ + states_ + handed_at_[layer];
  }
  Pass::Memory<float*> of(int64_t piece, int64_t layer, int64_t task) const {
    float *own = scratch_ + piece * piece_ + progress_, *mine = scratch_ + pieces_ * piece_ + task * task_;
    return {own + state_at_[layer], shared_ ? own + states_ + handed_ : mine + product_, mine};
  }

 private:
  bool shared_;
  float* scratch_;
  int64_t layers_ = 0, states_ = 0, handed_ = 0, inputs_ = 0, product_ = 0;
  int64_t progress_ = 0, piece_ = 0, task_ = 0, pieces_ = 0;
  int64_t state_at_[kMostLayers] = {}, handed_at_[kMostLayers] = {};
};

// A run of some layers in the memory of all.
struct Running {
  Layers layers;
  const LayersRun& run;
  LayersCut cut;
  Memory memory;

  Running(Layers all, const LayersRun& r, float* scratch)
      : layers(all), run(r), cut(recurrent_cut(all, r)), memory(all, r, cut, scratch) {}

  // The run as a layer sees it: between layers are sequences of the piece alone.
  LayersRun run_of(int64_t piece, int64_t layer) const {
    LayersRun one = run;
    const int64_t before = piece_of(run, cut, piece).first;
    if (layer > 0) {
      one.x_step = layers[static_cast<size_t>(layer)].input;
      one.x_row = run.steps * one.x_step;
      one.x_column = 1;
      one.x = memory.handed(piece, layer - 1) - before * one.x_row;
    }
    if (layer + 1 < static_cast<int64_t>(layers.size())) {
      one.y_step = layers[static_cast<size_t>(layer)].hidden;
      one.y_row = run.steps * one.y_step;
      one.y_direction = 0;
      one.y = memory.handed(piece, layer) - before * one.y_row;
    }
    return one;
  }
  Pass pass(const LayersRun& as_seen, int64_t piece, int64_t layer, int64_t task) const {
    return {layers[static_cast<size_t>(layer)], as_seen,     run.states[layer],
            piece_of(run, cut, piece),          cut.at_once, memory.of(piece, layer, task)};
  }
};

// A task's part in a piece that is shared.
void help(const Running& r, int64_t piece, int64_t task) {
  const Layer& layer = r.layers[0];
  Claims& claims = *r.memory.claims(piece);
  Pass pass = r.pass(r.run, piece, 0, task);
  const int64_t blocks = unit_blocks(layer), phases = step_phases(layer);
  const uint32_t me = claims.join();
  for (;;) {
    const Claims::Claim claim = claims.next(me);
    if (claim.round < 0) return;
    for (uint64_t left = claim.chunks; left != 0;) {
      // Neighbouring chunks at once.
      const int first = std::countr_zero(left), last = first + std::countr_one(left >> first);
      pass.step(claim.round / phases, claim.round % phases, first * r.cut.shared,
                std::min(blocks, last * r.cut.shared));
      left = left >> last << last;
    }
    if (!claims.finish(claim)) continue;
    if (claim.round + 1 == r.run.steps * phases) pass.end();
    claims.open(claim.round + 1);
  }
}

// A layer by itself, all of a piece.
void do_all(const Running& r, int64_t piece, int64_t task) {
  Pass pass = r.pass(r.run, piece, 0, task);
  pass.begin();
  pass.steps(0, r.run.steps);
  pass.end();
}

// A task's part in the layers of a piece.
void attend(const Running& r, int64_t piece, int64_t task) {
  Relay& relay = *r.memory.relay(piece);
  for (int64_t layer; (layer = relay.take()) >= 0; relay.leave(layer)) {
    const LayersRun as_seen = r.run_of(piece, layer);
    Pass pass = r.pass(as_seen, piece, layer, task);
    for (int64_t round; (round = relay.next(layer)) >= 0; relay.finish(layer, round)) {
      if (round == 0) pass.begin();
      pass.steps(round * r.cut.round, std::min(r.run.steps, (round + 1) * r.cut.round));
      if (round + 1 == relay.rounds()) pass.end();
    }
  }
}

// More of them are read for many sequences at once, and by many threads.
constexpr int64_t kManyWeights = 1 << 17;

// Blocks that are claimed at once; 0: sharing a step does not pay.
int64_t shared_blocks(const Layer& layer, const LayersRun& run) {
  constexpr int64_t kLeastWork = 10000;  // multiplications in a step, about a microsecond
  if (run.has_lengths || run.batch >= 4 || run.steps < 4) return 0;
  if (run.steps * step_phases(layer) > Claims::kMostRounds) return 0;
  if (run.batch * layer.hidden * recurrent_columns(layer) < kLeastWork * step_phases(layer)) return 0;
  // Two directions are enough to do for two threads, which need not wait for each other then.
  if (layer.directions > 1 && layer.hidden * recurrent_columns(layer) <= kManyWeights) return 0;
  // Whole panels of the packed weights, and pairs of blocks.
  const int64_t columns = layer.gates() * step_lanes();
  int64_t size = std::max<int64_t>(2, (unit_blocks(layer) + Claims::kMostChunks - 1) / Claims::kMostChunks);
  while (size * columns % gemm_panel() != 0 || size % 2 != 0) ++size;
  return size < unit_blocks(layer) ? size : 0;
}

// All are cut like the largest layer.
const Layer& largest_of(Layers layers) {
  return *std::max_element(layers.begin(), layers.end(),
                           [](const Layer& a, const Layer& b) { return recurrent_columns(a) < recurrent_columns(b); });
}

// Tasks follow each other through the layers where there are not pieces enough for each: the shorter a round, the
// sooner the next layer begins.
void set_rounds(LayersCut& cut, Layers layers, const LayersRun& run) {
  constexpr int64_t kRounds = 16, kLeastSteps = 4;
  cut.at_once = Pass::steps_at_once(largest_of(layers), cut.rows);
  cut.round = std::max<int64_t>(run.steps, 1);
  if (layers.size() == 1 || cut.pieces() > 1) return;
  cut.at_once = std::min(cut.at_once, std::max((run.steps + kRounds - 1) / kRounds, kLeastSteps));
  cut.round = cut.at_once;
}

}  // namespace

LayersCut recurrent_cut(Layers layers, const LayersRun& run) {
  constexpr int64_t kMostParts = 16, kRows = 8;
  const Layer& layer = largest_of(layers);
  const auto count = static_cast<int64_t>(layers.size());
  LayersCut cut;
  cut.directions = layer.directions;
  cut.rows = run.batch;
  cut.shared = count == 1 ? shared_blocks(layer, run) : 0;
  const int64_t rows = layer.hidden * recurrent_columns(layer) > kManyWeights ? 2 * kRows : kRows;
  if (cut.shared == 0) {
    cut.parts = std::clamp<int64_t>((run.batch + rows - 1) / rows, run.batch >= 4 ? 2 : 1, kMostParts);
    cut.rows = (run.batch + cut.parts - 1) / cut.parts;
  }
  set_rounds(cut, layers, run);
  const int64_t alone = cut.pieces() > 1 ? 1 : count;
  const int64_t chunks = cut.shared == 0 ? alone : (unit_blocks(layer) + cut.shared - 1) / cut.shared;
  cut.tasks = cut.pieces() * std::min<int64_t>(chunks, 8);
  return cut;
}

int64_t recurrent_scratch(Layers layers, const LayersRun& run, int64_t tasks) {
  return Running(layers, run, nullptr).memory.size(tasks);
}

void recurrent_begin(Layers layers, const LayersRun& run, float* scratch) {
  if (layers.size() == 1 && shared_blocks(layers[0], run) == 0) return;
  const Running r(layers, run, scratch);
  const int64_t chunks = r.cut.shared == 0 ? 0 : (unit_blocks(layers[0]) + r.cut.shared - 1) / r.cut.shared;
  const int64_t rounds = std::max<int64_t>((run.steps + r.cut.round - 1) / r.cut.round, 1);
  for (int64_t i = 0; i < r.cut.pieces(); ++i) {
    if (chunks == 0) {
      new (r.memory.relay(i)) Relay(static_cast<int64_t>(layers.size()), rounds);
      continue;
    }
    new (r.memory.claims(i)) Claims(run.steps * step_phases(layers[0]), chunks);
    r.pass(run, i, 0, 0).begin();
  }
}

void recurrent_run(Layers layers, const LayersRun& run, int64_t first, int64_t last, int64_t tasks, float* scratch) {
  const Running r(layers, run, scratch);
  const int64_t pieces = r.cut.pieces();
  const auto work = r.cut.shared > 0 ? help : layers.size() == 1 ? do_all : attend;
  for (int64_t t = first; t < last; ++t) {
    // Tasks that share pieces work on all of them.
    const int64_t begin = r.cut.shared > 0 ? t : pieces * t / tasks;
    const int64_t end = r.cut.shared > 0 ? t + pieces : std::max(pieces * (t + 1) / tasks, begin + 1);
    for (int64_t i = begin; i < end; ++i)
      if (piece_of(run, r.cut, i % pieces).rows > 0) work(r, i % pieces, t);
  }
}

}  // namespace anyshape::simd
