// Speed of the kernels alone: GFLOP/s on one core, beside the peak of its multiply-add units.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "fma_peak.h"
#include "kernels/gemm.h"

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
  std::vector<float> packed(static_cast<size_t>(gemm_packed_size(k, n))), c(static_cast<size_t>(m * n));
  gemm_pack(reinterpret_cast<const std::byte*>(b.data()), k, n, n, 1, 1, packed.data());
  Gemm g{.m = m, .n = n, .k = k, .a = a.data(), .a_row = k, .b = packed.data(), .c = c.data(), .c_row = n};
  if (state.range(3) != 0) {
    g.b_packed = false;
    g.b = b.data();
    g.b_row = state.range(3) == 2 ? 1 : n;
    g.b_column = state.range(3) == 2 ? k : 1;
  }
  std::vector<float> scratch(static_cast<size_t>(gemm_scratch(g)));
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
    ->Args({64, 64, 64, 0})
    ->Args({64, 64, 64, 1})
    ->Args({64, 64, 64, 2})
    ->Args({512, 512, 512, 1})
    ->Args({512, 512, 512, 2})
    ->Args({1, 256, 256, 1})
    ->Args({1, 10, 5, 0})
    ->Args({64, 10, 5, 0});

}  // namespace
}  // namespace anyshape::simd

BENCHMARK_MAIN();
