#include "run/cpu/simd/recurrent_f32.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "run/cpu/simd/recurrent_claims.h"
#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

float* aligned(std::vector<float>& memory) {
  float* at = memory.data();
  while (reinterpret_cast<uintptr_t>(at) % 64 != 0) ++at;
  return at;
}

// A random layer, tensors in the order of ONNX with time first.
struct RecurrentCase {
  Layer layer;
  LayersRun run;
  std::vector<float> x, w, r, bias, peep, first_h, first_c, y, last_h, last_c, scratch;
  std::vector<float> packed[2][5];
  std::vector<int32_t> lengths;
  bool has_bias, has_peep;
  int64_t tasks;

  explicit RecurrentCase(Dice& dice, int64_t most_units = 50) {
    layer.cell = static_cast<Cell>(dice.between(0, 2));
    layer.function = static_cast<RnnFunction>(dice.between(0, 2));
    layer.input = dice.between(1, 9), layer.hidden = dice.between(1, dice.coin() ? 9 : most_units);
    layer.directions = dice.between(1, 2);
    layer.reverse[0] = layer.directions == 1 && dice.coin();
    layer.clip = dice.coin() ? std::numeric_limits<float>::infinity() : 0.5f;
    layer.input_forget = dice.between(0, 3) == 0;
    layer.linear_before_reset = dice.coin();
    run.steps = dice.coin() ? dice.size(6) : dice.size(70), run.batch = dice.between(1, dice.coin() ? 3 : 19);
    draw(dice);
  }
  // All but the sizes.
  void draw(Dice& dice) {
    const int64_t d = layer.directions, n = layer.hidden, rows = layer.gates() * n;
    x = dice.numbers(run.steps * run.batch * layer.input);
    w = dice.numbers(d * rows * layer.input), r = dice.numbers(d * rows * n, 0.5f), bias = dice.numbers(d * 2 * rows);
    peep = dice.numbers(d * 3 * n), first_h = dice.numbers(d * run.batch * n),
    first_c = dice.numbers(d * run.batch * n);
    has_bias = dice.coin(), has_peep = layer.cell == Cell::lstm && dice.coin();
    lengths.clear(), run.states[0] = {};
    for (int64_t i = 0; i < run.batch; ++i) lengths.push_back(static_cast<int32_t>(dice.between(0, run.steps)));
    set_run(dice);
    for (int64_t i = 0; i < d; ++i) pack(i);
    tasks = dice.between(1, recurrent_cut({&layer, 1}, run).tasks);
    scratch.assign(static_cast<size_t>(recurrent_scratch({&layer, 1}, run, tasks) + 16), std::nanf(""));
  }
  float* aligned_scratch() { return aligned(scratch); }
  void run_alone() {
    scratch.assign(static_cast<size_t>(recurrent_scratch({&layer, 1}, run, 1) + 16), std::nanf(""));
    recurrent_begin({&layer, 1}, run, aligned_scratch());
    recurrent_run({&layer, 1}, run, 0, 1, 1, aligned_scratch());
  }

  void set_run(Dice& dice) {
    const int64_t d = layer.directions, n = layer.hidden, state = run.batch * n;
    y.assign(static_cast<size_t>(run.steps * d * state + 1), 77.0f);
    last_h.assign(static_cast<size_t>(d * state + 1), 77.0f), last_c = last_h;
    run.x = x.data(), run.x_step = run.batch * layer.input, run.x_row = layer.input;
    if (dice.coin()) run.lengths = lengths.data(), run.has_lengths = true;
    run.y = y.data(), run.y_step = d * state, run.y_direction = state, run.y_row = n;
    if (dice.coin()) run.states[0].first_h = {first_h.data(), state, n, 1};
    if (layer.cell == Cell::lstm && dice.coin()) run.states[0].first_c = {first_c.data(), state, n, 1};
    run.states[0].last_h = {last_h.data(), state, n, 1};
    if (layer.cell == Cell::lstm) run.states[0].last_c = {last_c.data(), state, n, 1};
  }

  void pack(int64_t d) {
    const PackedSizes s = packed_sizes(layer);
    const int64_t sizes[] = {s.input, s.hidden, s.bias, s.hidden_bias, s.peepholes};
    for (size_t i = 0; i < 5; ++i) packed[d][i].assign(static_cast<size_t>(sizes[i]), std::nanf(""));
    const auto bytes = [&](const std::vector<float>& v) {
      return reinterpret_cast<const std::byte*>(v.data() + v.size() / static_cast<size_t>(layer.directions) *
                                                               static_cast<size_t>(d));
    };
    auto& p = packed[d];
    pack_recurrent(layer, bytes(w), bytes(r), has_bias ? bytes(bias) : nullptr, has_peep ? bytes(peep) : nullptr,
                   {p[0].data(), p[1].data(), p[2].data(), p[3].data(), p[4].data()});
    layer.weights[d] = {p[0].data(), p[1].data(), p[2].data(), p[3].data(), has_peep ? p[4].data() : nullptr};
  }
};

// The same by plain loops in double: one sequence of one direction.
struct Plain {
  const RecurrentCase& k;
  int64_t d, b;
  std::vector<double> h, c;

  double get(const std::vector<float>& v, int64_t i) const { return v[static_cast<size_t>(i)]; }
  double limited(double x) const { return std::min<double>(std::max<double>(x, -k.layer.clip), k.layer.clip); }
  double input(int64_t t, int64_t row) const {
    const int64_t rows = k.layer.gates() * k.layer.hidden;
    double sum = k.has_bias ? get(k.bias, d * 2 * rows + row) : 0;
    for (int64_t i = 0; i < k.layer.input; ++i)
      sum += get(k.x, (t * k.run.batch + b) * k.layer.input + i) * get(k.w, (d * rows + row) * k.layer.input + i);
    return sum;
  }
  double hidden(const std::vector<double>& from, int64_t row) const {
    const int64_t n = k.layer.hidden, rows = k.layer.gates() * n;
    double sum = k.has_bias ? get(k.bias, d * 2 * rows + rows + row) : 0;
    for (int64_t i = 0; i < n; ++i) sum += from[static_cast<size_t>(i)] * get(k.r, (d * rows + row) * n + i);
    return sum;
  }
  double gate(int64_t t, int64_t g, int64_t u) const {
    return input(t, g * k.layer.hidden + u) + hidden(h, g * k.layer.hidden + u);
  }
  double peep(int64_t which, int64_t u, double cell) const {
    return k.has_peep ? get(k.peep, (d * 3 + which) * k.layer.hidden + u) * cell : 0;
  }

  double lstm(int64_t t, int64_t u) {
    double& cell = c[static_cast<size_t>(u)];
    const double in = sigmoid(limited(gate(t, 0, u) + peep(0, u, cell)));
    const double forget = k.layer.input_forget ? 1 - in : sigmoid(limited(gate(t, 2, u) + peep(2, u, cell)));
    cell = forget * cell + in * std::tanh(limited(gate(t, 3, u)));
    return sigmoid(limited(gate(t, 1, u) + peep(1, u, cell))) * std::tanh(cell);
  }
  double gru(int64_t t, int64_t u) const {
    const int64_t n = k.layer.hidden;
    const double update = sigmoid(limited(gate(t, 0, u)));
    std::vector<double> scaled(h.size());
    for (int64_t i = 0; i < n; ++i)
      scaled[static_cast<size_t>(i)] = sigmoid(limited(gate(t, 1, i))) * h[static_cast<size_t>(i)];
    const double part = k.layer.linear_before_reset ? sigmoid(limited(gate(t, 1, u))) * hidden(h, 2 * n + u)
                                                    : hidden(scaled, 2 * n + u);
    return (1 - update) * std::tanh(limited(input(t, 2 * n + u) + part)) + update * h[static_cast<size_t>(u)];
  }
  double rnn(int64_t t, int64_t u) const {
    const double x = limited(gate(t, 0, u));
    if (k.layer.function == RnnFunction::relu) return std::max(x, 0.0);
    return k.layer.function == RnnFunction::sigmoid ? sigmoid(x) : std::tanh(x);
  }
  void step(int64_t t) {
    std::vector<double> next(h.size());
    for (int64_t u = 0; u < k.layer.hidden; ++u)
      next[static_cast<size_t>(u)] = k.layer.cell == Cell::lstm  ? lstm(t, u)
                                     : k.layer.cell == Cell::gru ? gru(t, u)
                                                                 : rnn(t, u);
    h = next;
  }
  void start() {
    const int64_t n = k.layer.hidden;
    for (int64_t u = 0; u < n; ++u) {
      h.push_back(k.run.states[0].first_h.data ? get(k.first_h, (d * k.run.batch + b) * n + u) : 0);
      c.push_back(k.run.states[0].first_c.data ? get(k.first_c, (d * k.run.batch + b) * n + u) : 0);
    }
  }
  void check() {
    start();
    const int64_t n = k.layer.hidden, length = k.run.lengths ? k.lengths[static_cast<size_t>(b)] : k.run.steps;
    for (int64_t s = 0; s < k.run.steps; ++s) {
      const bool over = s >= length;
      const int64_t t = over ? s : k.layer.reverse[d] ? length - 1 - s : s;
      if (!over) step(t);
      for (int64_t u = 0; u < n; ++u)
        ASSERT_NEAR(get(k.y, ((t * k.layer.directions + d) * k.run.batch + b) * n + u),
                    over ? 0 : h[static_cast<size_t>(u)], 3e-5);
    }
    if (length == 0) h.assign(h.size(), 0.0), c = h;
    for (int64_t u = 0; u < n; ++u) {
      ASSERT_NEAR(get(k.last_h, (d * k.run.batch + b) * n + u), h[static_cast<size_t>(u)], 3e-5);
      if (!k.run.states[0].last_c.data) continue;
      ASSERT_NEAR(get(k.last_c, (d * k.run.batch + b) * n + u), c[static_cast<size_t>(u)], 1e-4);
    }
  }
};

TEST(Recurrent, AgainstLoops) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      RecurrentCase k(dice, seed % 6 == 0 ? 200 : 50);
      const int64_t cut = dice.between(0, k.tasks);
      recurrent_begin({&k.layer, 1}, k.run, k.aligned_scratch());
      recurrent_run({&k.layer, 1}, k.run, cut, k.tasks, k.tasks, k.aligned_scratch());
      recurrent_run({&k.layer, 1}, k.run, 0, cut, k.tasks, k.aligned_scratch());
      for (int64_t d = 0; d < k.layer.directions; ++d)
        for (int64_t b = 0; b < k.run.batch; ++b) {
          Plain{k, d, b, {}, {}}.check();
          if (testing::Test::HasFatalFailure()) return;
        }
      ASSERT_EQ(k.y.back(), 77.0f);
      ASSERT_EQ(k.last_h.back(), 77.0f);
    }
  });
}

// Threads that share the units of a step give the same bits as one alone.
TEST(Recurrent, SharedByThreads) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    RecurrentCase k(dice, 300);
    k.tasks = recurrent_cut({&k.layer, 1}, k.run).tasks;
    k.scratch.assign(static_cast<size_t>(recurrent_scratch({&k.layer, 1}, k.run, k.tasks) + 16), std::nanf(""));
    float* scratch = k.aligned_scratch();
    recurrent_begin({&k.layer, 1}, k.run, scratch);
    recurrent_run({&k.layer, 1}, k.run, 0, k.tasks, k.tasks, scratch);
    const auto y = k.y, h = k.last_h, c = k.last_c;
    std::fill(k.y.begin(), k.y.end() - 1, 5.0f);
    recurrent_begin({&k.layer, 1}, k.run, scratch);
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < k.tasks; ++t)
      threads.emplace_back([&, t] { recurrent_run({&k.layer, 1}, k.run, t, t + 1, k.tasks, scratch); });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(y, k.y);
    ASSERT_EQ(h, k.last_h);
    ASSERT_EQ(c, k.last_c);
  }
}

// Layers in a stack give the same bits as one after the other, whether threads follow each other or one does all.
struct StackCase {
  std::vector<RecurrentCase> cases;  // each reads what the one before it writes
  std::vector<Layer> layers;
  LayersRun run;
  std::vector<float> y, states;

  explicit StackCase(Dice& dice) {
    const int64_t count = dice.between(2, kMostLayers);
    for (int64_t i = 0; i < count; ++i) {
      RecurrentCase& one = cases.emplace_back(dice, 90);
      one.layer.cell = cases[0].layer.cell, one.layer.directions = 1, one.layer.reverse[0] = cases[0].layer.reverse[0];
      if (i > 0) one.layer.input = cases[static_cast<size_t>(i) - 1].layer.hidden;
      if (i > 0) one.run.steps = cases[0].run.steps, one.run.batch = cases[0].run.batch;
      one.draw(dice);
      one.run.has_lengths = false, one.run.lengths = nullptr;
    }
    run = cases[0].run;
    for (size_t i = 0; i < cases.size(); ++i) {
      if (i > 0) cases[i].run.x = cases[i - 1].y.data();
      layers.push_back(cases[i].layer);
      run.states[i] = cases[i].run.states[0];
    }
    y = cases.back().y;
    run.y = y.data(), run.y_step = cases.back().run.y_step, run.y_row = cases.back().run.y_row;
  }

  void run_one_by_one() {
    for (RecurrentCase& one : cases) one.run_alone();
  }
  // What the layers have left behind, which is forgotten.
  std::vector<float> results() {
    std::vector<float> all = y;
    for (RecurrentCase& one : cases)
      for (std::vector<float>* state : {&one.last_h, &one.last_c}) {
        all.insert(all.end(), state->begin(), state->end());
        std::fill(state->begin(), state->end(), 55.0f);
      }
    return all;
  }
  void run_stack(bool on_threads) {
    const int64_t tasks = recurrent_cut(layers, run).tasks;
    std::vector<float> memory(static_cast<size_t>(recurrent_scratch(layers, run, tasks) + 16), std::nanf(""));
    float* scratch = aligned(memory);
    recurrent_begin(layers, run, scratch);
    if (!on_threads) return recurrent_run(layers, run, 0, tasks, tasks, scratch);
    std::vector<std::thread> threads;
    for (int64_t t = 0; t < tasks; ++t)
      threads.emplace_back([&, t] { recurrent_run(layers, run, t, t + 1, tasks, scratch); });
    for (std::thread& thread : threads) thread.join();
  }
};

TEST(Recurrent, StacksGiveTheSameAsLayers) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    StackCase k(dice);
    k.results();
    k.run_one_by_one();
    k.y = k.cases.back().y;
    const auto want = k.results();
    for (const bool on_threads : {false, true}) {
      std::fill(k.y.begin(), k.y.end() - 1, 5.0f);
      k.run_stack(on_threads);
      ASSERT_EQ(k.results(), want);
    }
  }
}

TEST(Recurrent, ClaimsGiveEachChunkOnce) {
  constexpr int64_t kRounds = 500, kChunks = 7;
  Claims claims(kRounds, kChunks);
  std::vector<std::atomic<int>> times(kRounds * kChunks);
  const auto work = [&] {
    const uint32_t me = claims.join();
    for (Claims::Claim claim; (claim = claims.next(me)).round >= 0;) {
      for (int64_t i = 0; i < kChunks; ++i)
        if (claim.chunks >> i & 1) ++times[static_cast<size_t>(claim.round * kChunks + i)];
      if (claims.finish(claim)) claims.open(claim.round + 1);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  work();
  for (const auto& n : times) ASSERT_EQ(n, 1);
}

}  // namespace
}  // namespace anyshape::simd
