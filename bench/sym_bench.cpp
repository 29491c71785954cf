#include <benchmark/benchmark.h>

#include "sym/assumptions.h"

namespace anyshape {
namespace {

// What inference does for a graph of n nodes: convolutions and pools that shrink an axis, elementwise pairs that
// broadcast, reshapes that multiply and divide, each with the proof its rule asks for.
size_t walk_graph(int nodes) {
  Symbols symbols;
  Assumptions known(symbols);
  Dim batch = symbols.symbol("batch"), seq = symbols.symbol("seq"), h = symbols.symbol("h"), w = symbols.symbol("w");
  for (Dim s : {batch, seq, h, w}) known.assume(Condition::ge(s, 1));
  known.assume(Condition::eq(mod(h, 32), 0));
  size_t proved = 0;
  Dim y = h, x = w;
  for (int i = 0; i < nodes; ++i) {
    switch (i % 5) {
      case 0:
        y = floordiv(y + 1, 2);
        x = floordiv(x - 3 + 2, 2) + 1;
        if (i % 25 == 0) y = h, x = w;
        proved += known.proves(Condition::ge(y, 1));
        break;
      case 1:
        proved += known.proves(Condition::eq(broadcast(batch * seq, 1), batch * seq));
        break;
      case 2:
        proved += exact_div(batch * seq * 768, seq * 64).has_value();
        break;
      case 3:
        proved += known.proves(Condition::divisible(batch * seq * 12 * (i % 7 + 1), 12));
        break;
      default:
        proved += known.proves(Condition::eq(2 * floordiv(h, 2), h));
        break;
    }
  }
  return proved;
}

void BM_GraphFacts(benchmark::State& state) {
  size_t proved = 0;
  for (auto _ : state) proved = walk_graph(static_cast<int>(state.range(0)));
  state.counters["proved"] = static_cast<double>(proved);
}
BENCHMARK(BM_GraphFacts)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

void BM_Prove(benchmark::State& state, const char* known, const char* goal) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  assumptions.assume(*parse_condition(known, symbols));
  Condition condition = *parse_condition(goal, symbols);
  for (auto _ : state) benchmark::DoNotOptimize(assumptions.prove(condition));
}
BENCHMARK_CAPTURE(BM_Prove, identity, "a >= 0 and b >= 0", "a*b == b*a + 0*a or a == 1");
BENCHMARK_CAPTURE(BM_Prove, bound, "a >= 1 and b >= 1", "a*b >= 1");
BENCHMARK_CAPTURE(BM_Prove, chain, "a >= b and b >= c", "a >= c");
BENCHMARK_CAPTURE(BM_Prove, quotient, "h >= 1", "(h + 1)//2 <= h");
BENCHMARK_CAPTURE(BM_Prove, extremum, "a >= 1", "min(a, b) + max(a, b) == a + b");
BENCHMARK_CAPTURE(BM_Prove, undecided, "a >= 0 and b >= 0", "a == b or a == 1 or b == 1");
BENCHMARK_CAPTURE(BM_Prove, periodic, "h % 32 == 0", "2*((h + 31)//32) == (h + 15)//16");

void BM_PeriodicSet(benchmark::State& state) {
  Symbols symbols;
  Dim h = symbols.symbol("h");
  Condition condition = *parse_condition(
      "2*((h + 31)//32) == (h + 15)//16 and 2*((h + 15)//16) == (h + 7)//8 and 2*((h + 7)//8) == (h + 3)//4", symbols);
  for (auto _ : state) {
    auto set = PeriodicSet::solve(condition, h, 1, std::nullopt);
    benchmark::DoNotOptimize(set->to_condition(h));
  }
}
BENCHMARK(BM_PeriodicSet)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace anyshape

BENCHMARK_MAIN();
