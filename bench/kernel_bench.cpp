// Speed of the kernels alone: GFLOP/s on one core, beside the peak of its multiply-add units.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "fma_peak.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/attention_f32.h"
#include "run/cpu/simd/blocked.h"
#include "run/cpu/simd/conv_f32.h"
#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/recurrent_f32.h"

namespace anyshape::simd {
namespace {

std::vector<float> numbers(int64_t count) {
  std::mt19937 engine(1);
  std::vector<float> out(static_cast<size_t>(count));
  for (float& x : out) x = static_cast<float>(engine() % 2001) / 1000 - 1;
  return out;
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void peak(benchmark::State& state) {
  double flops = 0;
  for (auto _ : state) flops = bench::multiply_add(2000);
  count_flops(state, flops);
}
BENCHMARK(peak);

void gemm(benchmark::State& state) {
  const int64_t m = state.range(0), k = state.range(1), n = state.range(2);
  const auto a = numbers(m * k), b = numbers(k * n);
  cpu::Floats packed(static_cast<size_t>(gemm_packed_size(k, n))), c(static_cast<size_t>(m * n));
  gemm_pack(reinterpret_cast<const std::byte*>(b.data()), k, n, n, 1, 1, packed.data());
  Gemm g{.m = m, .n = n, .k = k, .a = a.data(), .a_row = k, .b = packed.data(), .c = c.data(), .c_row = n};
  if (state.range(3) != 0) {
    g.b_packed = false;
    g.b = b.data();
    g.b_row = state.range(3) == 2 ? 1 : n;
    g.b_column = state.range(3) == 2 ? k : 1;
  }
  cpu::Floats scratch(static_cast<size_t>(gemm_scratch(g)));
  const GemmTiles t = gemm_tiles(m, n, k, g.b_packed);
  for (auto _ : state) {
    for (int64_t i = 0; i < t.count(); ++i) {
      const int64_t i0 = i % t.down * t.rows, j0 = i / t.down * t.columns;
      gemm_tile(g, i0, std::min(m, i0 + t.rows), j0, std::min(n, j0 + t.columns), scratch.data());
    }
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k));
}
BENCHMARK(gemm)
    ->ArgNames({"m", "k", "n", "plain"})
    ->Args({1, 256, 256, 0})
    ->Args({1, 768, 768, 0})
    ->Args({4, 256, 256, 0})
    ->Args({8, 256, 256, 0})
    ->Args({8, 768, 768, 0})
    ->Args({128, 256, 256, 0})
    ->Args({128, 768, 768, 0})
    ->Args({512, 512, 512, 0})
    ->Args({512, 768, 768, 0})
    ->Args({32, 256, 1024, 0})
    ->Args({1024, 256, 1024, 0})
    ->Args({1024, 1024, 256, 0})
    ->Args({1024, 1536, 384, 0})
    ->Args({2048, 64, 64, 0})
    ->Args({64, 64, 64, 0})
    ->Args({64, 64, 64, 1})
    ->Args({64, 64, 64, 2})
    ->Args({512, 512, 512, 1})
    ->Args({512, 512, 512, 2})
    ->Args({1, 256, 256, 1})
    ->Args({1, 10, 5, 0})
    ->Args({64, 10, 5, 0});

// One head, queries and keys as columns of wider matrices; `kind` 1: with a mask that is added, 2: with one that
// chooses.
void attention(benchmark::State& state) {
  AttentionSpec spec;
  const int64_t places = spec.keys = state.range(0), row = 4 * state.range(1);
  spec.size = spec.values = state.range(1);
  spec.fill = -1e9f;
  const auto q = numbers(places * row), k = q, v = q, mask = numbers(places * places);
  const std::vector<uint8_t> where(static_cast<size_t>(places * places), 1);
  std::vector<float> out(static_cast<size_t>(places * row));
  AttentionHead h{.q = q.data(), .q_row = row, .k = k.data(), .k_row = 1, .k_column = row, .v = v.data(), .v_row = row};
  h.out = out.data(), h.out_row = row;
  h.mask_row = h.where_row = places;
  if (state.range(2) == 1) h.mask = mask.data();
  if (state.range(2) == 2) h.where = where.data();
  cpu::Floats scratch(static_cast<size_t>(attention_scratch(spec, h)));
  for (auto _ : state) {
    attention_pack(spec, h, scratch.data());
    attention_rows(spec, h, 0, places, scratch.data());
    benchmark::ClobberMemory();
  }
  count_flops(state, 4.0 * static_cast<double>(places * places * spec.size));
}
BENCHMARK(attention)
    ->ArgNames({"places", "size", "mask"})
    ->Args({64, 16, 0})
    ->Args({64, 16, 1})
    ->Args({64, 16, 2})
    ->Args({32, 64, 1})
    ->Args({128, 64, 0})
    ->Args({128, 64, 1})
    ->Args({128, 32, 1})
    ->Args({512, 64, 1});

void conv(benchmark::State& state) {
  Conv c;
  c.batch = 1;
  c.groups = state.range(4);
  c.in_channels = state.range(0) / c.groups, c.out_channels = state.range(1) / c.groups;
  c.in_height = c.in_width = c.out_height = c.out_width = state.range(2);
  c.kernel_height = c.kernel_width = state.range(3);
  c.pad_top = c.pad_left = state.range(3) / 2;
  const auto in = numbers(state.range(0) * c.places()), plain = numbers(state.range(1) * c.depth());
  std::vector<float> packed(static_cast<size_t>(conv_packed_size(c.groups, c.out_channels, c.depth())));
  conv_pack(reinterpret_cast<const std::byte*>(plain.data()), c.groups, c.out_channels, c.depth(), packed.data());
  std::vector<float> out(static_cast<size_t>(state.range(1) * c.places()));
  c.in = in.data(), c.out = out.data(), c.weights = packed.data();
  std::vector<float> scratch(static_cast<size_t>(conv_scratch(c)));
  for (auto _ : state) {
    conv_run(c, 0, conv_items(c), scratch.data());
    benchmark::ClobberMemory();
  }
  count_flops(state, 2.0 * static_cast<double>(state.range(1) * c.places() * c.depth()));
}
BENCHMARK(conv)
    ->ArgNames({"in", "out", "size", "kernel", "groups"})
    ->Args({64, 64, 56, 3, 1})
    ->Args({256, 256, 14, 3, 1})
    ->Args({64, 256, 28, 1, 1})
    ->Args({96, 96, 56, 3, 96});

// Over blocked channels; `exact` leaves out Winograd's ways.
void blocked_conv(benchmark::State& state) {
  BlockedConv c;
  c.batch = 1;
  c.groups = state.range(5);
  c.in_channels = state.range(0) / c.groups, c.out_channels = state.range(1) / c.groups;
  c.in_height = c.in_width = state.range(2);
  c.kernel_height = c.kernel_width = state.range(3);
  c.stride_y = c.stride_x = state.range(4);
  c.out_height = c.out_width = (c.in_width - 1) / c.stride_x + 1;
  c.pad_top = c.pad_left = state.range(3) / 2;
  c.exact = state.range(6) != 0;
  c.plain_input = state.range(0) < 4;
  const int64_t lanes = block_lanes(), places = c.out_height * c.out_width;
  const int64_t depth = c.in_channels * c.kernel_height * c.kernel_width;
  const auto in = numbers((state.range(0) + lanes) * c.in_height * c.in_width), plain = numbers(state.range(1) * depth);
  std::vector<float> packed(static_cast<size_t>(blocked_conv_packed_size(c)));
  blocked_conv_pack(c, reinterpret_cast<const std::byte*>(plain.data()), packed.data());
  std::vector<float> out(static_cast<size_t>((state.range(1) + lanes) * places));
  c.in = in.data(), c.out = out.data(), c.weights = packed.data();
  c.activation = {Activation::relu};
  std::vector<float> scratch(static_cast<size_t>(blocked_conv_scratch(c)));
  for (auto _ : state) {
    blocked_conv_run(c, 0, blocked_conv_items(c), scratch.data());
    benchmark::ClobberMemory();
  }
  state.SetLabel(std::string(blocked_conv_way(c)));
  count_flops(state, 2.0 * static_cast<double>(state.range(1) * places * depth));
}
BENCHMARK(blocked_conv)
    ->ArgNames({"in", "out", "size", "kernel", "stride", "groups", "exact"})
    ->Args({64, 64, 56, 3, 1, 1, 1})
    ->Args({64, 64, 28, 3, 1, 1, 1})
    ->Args({64, 64, 28, 3, 1, 1, 0})
    ->Args({256, 256, 14, 3, 1, 1, 1})
    ->Args({256, 256, 14, 3, 1, 1, 0})
    ->Args({32, 32, 56, 3, 1, 1, 1})
    ->Args({32, 32, 56, 3, 1, 1, 0})
    ->Args({64, 64, 8, 3, 1, 1, 1})
    ->Args({64, 64, 8, 3, 1, 1, 0})
    ->Args({128, 128, 4, 3, 1, 1, 1})
    ->Args({128, 128, 4, 3, 1, 1, 0})
    ->Args({128, 128, 8, 3, 1, 1, 0})
    ->Args({128, 128, 14, 3, 1, 1, 0})
    ->Args({128, 128, 28, 3, 1, 1, 0})
    ->Args({256, 256, 7, 3, 1, 1, 0})
    ->Args({256, 256, 28, 3, 1, 1, 0})
    ->Args({512, 512, 7, 3, 1, 1, 0})
    ->Args({64, 128, 28, 3, 2, 1, 1})
    ->Args({64, 256, 28, 1, 1, 1, 1})
    ->Args({256, 64, 56, 1, 1, 1, 1})
    ->Args({3, 64, 224, 7, 2, 1, 1})
    ->Args({3, 64, 224, 7, 2, 1, 0})
    ->Args({3, 16, 224, 3, 2, 1, 1})
    ->Args({96, 96, 56, 3, 1, 96, 1})
    ->Args({96, 96, 56, 3, 2, 96, 1})
    ->Args({256, 256, 7, 3, 1, 256, 1});

void blocked_max_pool(benchmark::State& state) {
  BlockedPool p;
  const int64_t lanes = block_lanes(), size = state.range(0);
  p.planes = 64 / lanes;
  p.in_height = p.in_width = size, p.out_height = p.out_width = size / 2;
  p.kernel_height = p.kernel_width = 3, p.stride_y = p.stride_x = 2;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 1;
  const auto in = numbers(64 * size * size);
  std::vector<float> out(static_cast<size_t>(16 * size * size));
  p.in = in.data(), p.out = out.data();
  for (auto _ : state) {
    blocked_pool_run(p, 0, p.planes);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(blocked_max_pool)->Arg(56)->Arg(112);

void into_blocks(benchmark::State& state) {
  const int64_t channels = state.range(0), plane = state.range(1);
  const auto in = numbers((channels + block_lanes()) * plane);
  std::vector<float> out(static_cast<size_t>((channels + block_lanes()) * plane));
  const int64_t items = (channels + block_lanes() - 1) / block_lanes();
  for (auto _ : state) {
    if (state.range(2) == 0)
      to_blocked(in.data(), channels, plane, 0, items, out.data());
    else
      from_blocked(in.data(), channels, plane, 0, items, out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(into_blocks)->ArgNames({"channels", "plane", "back"})->Args({64, 3136, 0})->Args({64, 3136, 1});

void lstm(benchmark::State& state) {
  Layer layer;
  layer.input = state.range(0), layer.hidden = state.range(1);
  layer.clip = INFINITY;
  LayersRun run;
  run.steps = state.range(2), run.batch = state.range(3);
  const int64_t n = layer.hidden;
  const auto x = numbers(run.steps * run.batch * layer.input), w = numbers(4 * n * layer.input), r = numbers(4 * n * n);
  const PackedSizes s = packed_sizes(layer);
  const auto floats = [](int64_t count) { return std::vector<float>(static_cast<size_t>(count)); };
  auto input = floats(s.input), hidden = floats(s.hidden), bias = floats(s.bias), extra = floats(s.hidden_bias);
  auto peep = floats(s.peepholes), y = floats(run.steps * run.batch * n);
  const auto bytes = [](const std::vector<float>& v) { return reinterpret_cast<const std::byte*>(v.data()); };
  pack_recurrent(layer, bytes(w), bytes(r), nullptr, nullptr,
                 {input.data(), hidden.data(), bias.data(), extra.data(), peep.data()});
  layer.weights[0] = {input.data(), hidden.data(), bias.data(), extra.data(), nullptr};
  run.x = x.data(), run.x_step = run.batch * layer.input, run.x_row = layer.input;
  run.y = y.data(), run.y_step = run.batch * n, run.y_row = n;
  std::vector<float> scratch(static_cast<size_t>(recurrent_scratch({&layer, 1}, run, 1)));
  for (auto _ : state) {
    recurrent_begin({&layer, 1}, run, scratch.data());
    recurrent_run({&layer, 1}, run, 0, 1, 1, scratch.data());
    benchmark::ClobberMemory();
  }
  count_flops(state, 8.0 * static_cast<double>(run.steps * run.batch * n * (n + layer.input)));
}
BENCHMARK(lstm)
    ->ArgNames({"input", "hidden", "steps", "batch"})
    ->Args({64, 64, 32, 1})
    ->Args({1, 64, 30, 64})
    ->Args({64, 256, 64, 1});

}  // namespace
}  // namespace anyshape::simd

BENCHMARK_MAIN();
