#include <algorithm>
#include <bit>
#include <new>

#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/recurrent_claims.h"
#include "run/cpu/simd/recurrent_f32.h"
#include "run/cpu/simd/recurrent_step.h"

namespace anyshape::simd {
namespace {

// The input part of so many steps is made by one product, as far as it stays in the cache.
constexpr int64_t kMostStepsAtOnce = 32, kFloatsAtOnce = 1 << 16;

// In blocks of a cache line.
int64_t lines(int64_t floats) { return (floats + 15) / 16 * 16; }

int64_t steps_at_once(const Layer& layer, int64_t rows) {
  return std::clamp<int64_t>(kFloatsAtOnce / std::max<int64_t>(rows * recurrent_columns(layer), 1), 1,
                             kMostStepsAtOnce);
}

// A block of sequences of one direction.
struct Piece {
  int64_t direction, first, rows;
};

Piece piece_of(const LayerRun& run, const LayerCut& cut, int64_t index) {
  const int64_t begin = std::min(run.batch, index % cut.parts * cut.rows);
  return {index / cut.parts, begin, std::min(cut.rows, run.batch - begin)};
}

// What a piece needs while it runs; a task needs scratch for its products beside that.
constexpr int64_t kClaimFloats = sizeof(Claims) / sizeof(float);

int64_t piece_floats(const Layer& layer, const LayerCut& cut) {
  const int64_t state = lines(cut.rows * padded_units(layer.hidden));
  return 5 * state + lines(steps_at_once(layer, cut.rows) * cut.rows * recurrent_columns(layer));
}

int64_t product_floats(const Layer& layer, const LayerCut& cut) {
  // The input may have any strides, so a product may have to pack it.
  Gemm g;
  g.m = std::max(cut.rows, steps_at_once(layer, cut.rows));
  g.n = recurrent_columns(layer);
  g.k = layer.input;
  g.a_row = 0;
  g.a_column = 2;
  return lines(gemm_scratch(g));
}

class Pass {
 public:
  Pass(const Layer& layer, const LayerRun& run, const LayerCut& cut, int64_t piece, float* memory, float* product)
      : layer_(layer),
        run_(run),
        piece_(piece_of(run, cut, piece)),
        weights_(layer.weights[piece_.direction]),
        product_(product) {
    padded_ = padded_units(layer.hidden);
    columns_ = recurrent_columns(layer);
    at_once_ = steps_at_once(layer, cut.rows);
    const int64_t state = lines(cut.rows * padded_);
    h_[0] = memory;
    h_[1] = h_[0] + state;
    c_ = h_[1] + state;
    gate_ = c_ + state;
    reset_ = gate_ + state;
    x_ = reset_ + state;
  }

  void begin() {
    load(run_.first_h, h_[0]);
    load(run_.first_c, c_);
  }
  void end() const {
    store(h_[run_.steps % 2], run_.last_h);
    store(c_, run_.last_c);
  }

  void run() {
    begin();
    const int64_t blocks = padded_ / step_lanes(), phases = step_phases(layer_);
    for (int64_t s = 0; s < run_.steps; ++s)
      for (int64_t phase = 0; phase < phases; ++phase) step(s, phase, 0, blocks);
    end();
  }

  // One phase of step s for blocks first..last - 1. All of the step before is done.
  void step(int64_t s, int64_t phase, int64_t first, int64_t last) {
    if (phase == 0 && s % at_once_ == 0) multiply_inputs(s, std::min(run_.steps, s + at_once_), first, last);
    const float* x = x_ + s % at_once_ * piece_.rows * columns_;
    if (!run_.lengths) return step_rows(s, 0, piece_.rows, x, phase, first, last);
    step_of_lengths(s, x, phase, first, last);
  }

 private:
  int64_t length(int64_t row) const { return run_.lengths ? run_.lengths[piece_.first + row] : run_.steps; }
  bool reverse() const { return layer_.reverse[piece_.direction]; }
  // The time that sequence `row` is at in step s. REQUIRES: s < length(row).
  int64_t time(int64_t row, int64_t s) const { return reverse() ? length(row) - 1 - s : s; }

  float* state_at(const StateRows& state, int64_t row) const {
    return state.data + piece_.direction * state.direction + (piece_.first + row) * state.row;
  }
  void load(const StateRows& from, float* to) const {
    std::fill_n(to, piece_.rows * padded_, 0.0f);
    for (int64_t r = 0; from.data && r < piece_.rows; ++r)
      for (int64_t u = 0; u < layer_.hidden; ++u) to[r * padded_ + u] = state_at(from, r)[u * from.unit];
  }
  void store(const float* from, const StateRows& to) const {
    for (int64_t r = 0; to.data && r < piece_.rows; ++r)
      std::copy_n(from + r * padded_, layer_.hidden, state_at(to, r));
  }

  Gemm product() const {
    Gemm g;
    g.n = columns_;
    g.k = layer_.input;
    g.a_column = run_.x_column;
    g.b = weights_.input;
    g.epilogue.bias = Addend::per_column(weights_.bias);
    return g;
  }
  void multiply(const Gemm& g, int64_t first, int64_t last) const {
    const int64_t block = layer_.gates() * step_lanes();
    gemm_tile(g, 0, g.m, first * block, last * block, product_);
  }

  const float* input_at(int64_t row, int64_t t) const {
    return run_.x + t * run_.x_step + (piece_.first + row) * run_.x_row;
  }

  // The input part of all gates for steps s0..s1 - 1: sequence by sequence, or step by step where that is more rows.
  void multiply_inputs(int64_t s0, int64_t s1, int64_t first, int64_t last) const {
    if (!run_.lengths && s1 - s0 < piece_.rows) return multiply_by_steps(s0, s1, first, last);
    for (int64_t r = 0; r < piece_.rows; ++r) {
      const int64_t end = std::min(s1, length(r));
      if (s0 >= end) continue;
      Gemm g = product();
      g.m = end - s0;
      g.a = input_at(r, time(r, s0));
      g.a_row = reverse() ? -run_.x_step : run_.x_step;
      g.c = x_ + r * columns_;
      g.c_row = piece_.rows * columns_;
      multiply(g, first, last);
    }
  }

  void multiply_by_steps(int64_t s0, int64_t s1, int64_t first, int64_t last) const {
    for (int64_t s = s0; s < s1; ++s) {
      Gemm g = product();
      g.m = piece_.rows;
      g.a = input_at(0, time(0, s));
      g.a_row = run_.x_row;
      g.c = x_ + (s - s0) * piece_.rows * columns_;
      g.c_row = columns_;
      multiply(g, first, last);
    }
  }

  float* output_at(int64_t row, int64_t t) const {
    return run_.y + t * run_.y_step + (piece_.first + row) * run_.y_row + piece_.direction * run_.y_direction;
  }

  // Runs of sequences that are not over yet are worked on together. REQUIRES: all blocks.
  void step_of_lengths(int64_t s, const float* x, int64_t phase, int64_t first, int64_t last) {
    for (int64_t r = 0; r < piece_.rows;) {
      int64_t end = r;
      while (end < piece_.rows && s < length(end)) ++end;
      if (end > r) step_rows(s, r, end, x, phase, first, last);
      for (; end < piece_.rows && s >= length(end); ++end)
        std::copy_n(h_[s % 2] + end * padded_, padded_, h_[(s + 1) % 2] + end * padded_);
      r = end;
    }
    for (int64_t r = 0; run_.y && r < piece_.rows; ++r) {
      if (s < length(r))
        std::copy_n(h_[(s + 1) % 2] + r * padded_, layer_.hidden, output_at(r, time(r, s)));
      else
        std::fill_n(output_at(r, s), layer_.hidden, 0.0f);
    }
  }

  void step_rows(int64_t s, int64_t from, int64_t to, const float* x, int64_t phase, int64_t first, int64_t last) {
    const int64_t at = from * padded_;
    Step step;
    step.hidden = layer_.hidden;
    step.padded = padded_;
    step.rows = to - from;
    step.x = x + from * columns_;
    step.x_row = columns_;
    step.h = h_[s % 2] + at;
    step.next = h_[(s + 1) % 2] + at;
    step.c = c_ + at;
    step.gate = gate_ + at;
    step.reset = reset_ + at;
    if (run_.y && !run_.lengths) step.y = output_at(from, time(from, s));
    step.y_row = run_.y_row;
    step.backwards = s % 2 != 0;
    recurrent_step(layer_, weights_, step, phase, first, last);
  }

  const Layer& layer_;
  const LayerRun& run_;
  Piece piece_;
  const CellWeights& weights_;
  int64_t padded_, columns_, at_once_;
  float *h_[2], *c_, *gate_, *reset_, *x_, *product_;
};

// A task's part in a piece that is shared.
void help(const Layer& layer, const LayerRun& run, const LayerCut& cut, Pass& pass, Claims& claims) {
  const int64_t blocks = padded_units(layer.hidden) / step_lanes(), phases = step_phases(layer);
  const uint32_t me = claims.join();
  for (;;) {
    const Claims::Claim claim = claims.next(me);
    if (claim.round < 0) return;
    for (uint64_t left = claim.chunks; left != 0;) {
      // Neighbouring chunks at once.
      const int first = std::countr_zero(left), last = first + std::countr_one(left >> first);
      pass.step(claim.round / phases, claim.round % phases, first * cut.shared, std::min(blocks, last * cut.shared));
      left = left >> last << last;
    }
    if (!claims.finish(claim)) continue;
    if (claim.round + 1 == run.steps * phases) pass.end();
    claims.open(claim.round + 1);
  }
}

// Where what belongs to a piece or a task is in the scratch of all.
struct Memory {
  const Layer& layer;
  const LayerCut& cut;
  float* scratch;
  int64_t piece, product;

  Memory(const Layer& l, const LayerCut& c, float* at)
      : layer(l), cut(c), scratch(at), piece(piece_floats(l, c)), product(product_floats(l, c)) {}

  // Of pieces that are shared first their claims, then all else; of others one place for each task.
  int64_t places(int64_t tasks) const { return cut.shared > 0 ? cut.pieces(layer) : tasks; }
  int64_t claims_size() const { return cut.shared > 0 ? lines(kClaimFloats) * cut.pieces(layer) : 0; }
  int64_t size(int64_t tasks) const { return claims_size() + places(tasks) * piece + tasks * product; }

  Claims* claims(int64_t index) const { return reinterpret_cast<Claims*>(scratch + index * lines(kClaimFloats)); }
  float* place(int64_t index) const { return scratch + claims_size() + index * piece; }
  float* product_of(int64_t task, int64_t tasks) const { return place(places(tasks)) + task * product; }
};

int64_t blocks_of(const Layer& layer) { return padded_units(layer.hidden) / step_lanes(); }

// Blocks that are claimed at once; 0: sharing a step does not pay.
int64_t shared_blocks(const Layer& layer, const LayerRun& run) {
  constexpr int64_t kLeastWork = 10000;  // multiplications in a step, about a microsecond
  if (run.has_lengths || run.batch >= 4 || run.steps < 4) return 0;
  if (run.steps * step_phases(layer) > Claims::kMostRounds) return 0;
  if (run.batch * layer.hidden * recurrent_columns(layer) < kLeastWork * step_phases(layer)) return 0;
  // Whole panels of the packed weights, and pairs of blocks.
  const int64_t columns = layer.gates() * step_lanes();
  int64_t size = std::max<int64_t>(2, (blocks_of(layer) + Claims::kMostChunks - 1) / Claims::kMostChunks);
  while (size * columns % gemm_panel() != 0 || size % 2 != 0) ++size;
  return size < blocks_of(layer) ? size : 0;
}

}  // namespace

LayerCut recurrent_cut(const Layer& layer, const LayerRun& run) {
  constexpr int64_t kMostParts = 16, kRows = 8, kLarge = 1 << 17;
  LayerCut cut;
  cut.rows = run.batch;
  cut.shared = shared_blocks(layer, run);
  if (cut.shared > 0) {
    cut.tasks = std::min<int64_t>((blocks_of(layer) + cut.shared - 1) / cut.shared, 8) * layer.directions;
    return cut;
  }
  // Many weights are read for many sequences at once.
  const int64_t rows = layer.hidden * recurrent_columns(layer) > kLarge ? 2 * kRows : kRows;
  cut.parts = std::clamp<int64_t>((run.batch + rows - 1) / rows, run.batch >= 4 ? 2 : 1, kMostParts);
  cut.rows = (run.batch + cut.parts - 1) / cut.parts;
  cut.tasks = cut.pieces(layer);
  return cut;
}

int64_t recurrent_scratch(const Layer& layer, const LayerRun& run, int64_t tasks) {
  const LayerCut cut = recurrent_cut(layer, run);
  return Memory(layer, cut, nullptr).size(tasks);
}

void recurrent_begin(const Layer& layer, const LayerRun& run, float* scratch) {
  const LayerCut cut = recurrent_cut(layer, run);
  if (cut.shared == 0) return;
  const Memory memory(layer, cut, scratch);
  const int64_t chunks = (blocks_of(layer) + cut.shared - 1) / cut.shared;
  for (int64_t i = 0; i < cut.pieces(layer); ++i) {
    new (memory.claims(i)) Claims(run.steps * step_phases(layer), chunks);
    Pass(layer, run, cut, i, memory.place(i), nullptr).begin();
  }
}

void recurrent_run(const Layer& layer, const LayerRun& run, int64_t first, int64_t last, int64_t tasks,
                   float* scratch) {
  const LayerCut cut = recurrent_cut(layer, run);
  const Memory memory(layer, cut, scratch);
  const int64_t pieces = cut.pieces(layer);
  for (int64_t t = first; t < last; ++t) {
    float* product = memory.product_of(t, tasks);
    for (int64_t i = 0; cut.shared > 0 && i < pieces; ++i) {
      const int64_t index = (t + i) % pieces;
      Pass pass(layer, run, cut, index, memory.place(index), product);
      help(layer, run, cut, pass, *memory.claims(index));
    }
    for (int64_t i = pieces * t / tasks; cut.shared == 0 && i < pieces * (t + 1) / tasks; ++i)
      if (piece_of(run, cut, i).rows > 0) Pass(layer, run, cut, i, memory.place(t), product).run();
  }
}

}  // namespace anyshape::simd
