#include "device.h"

#include <gtest/gtest.h>

#include "ops/testing.h"
#include "passes/testing.h"
#include "run/cpu/engine.h"

namespace anyshape::testing {
namespace {

Tensor floats(std::vector<int64_t> dims) {
  Tensor out = *Tensor::allocate(DType::f32, std::move(dims));
  for (int64_t i = 0; i < out.count(); ++i) out.as_mutable<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 7);
  return out;
}

EngineModel model_of(const std::shared_ptr<const Graph>& graph) {
  EngineModel out;
  out.graph = graph;
  out.typed = std::make_shared<const Typed>(solve(graph));
  return out;
}

// y = (relu(x) + x) transposed; and the number of entries of x that are not zero.
std::shared_ptr<const Graph> small() {
  return parse_graph(R"(
      input x f32[m, n]
      r <- Relu(x)
      s <- Add(r, x)
      y <- Transpose(s) perm=[1,0]
      k <- NonZero(x)
      z <- Shape(k)
      output y, z)");
}

Result<std::vector<Datum>> run(EngineContext& context, const Tensor& x) {
  const std::vector<Datum> in{Datum(x)};
  std::vector<Datum> out(2);
  Run run;
  run.inputs = in;
  run.outputs = out;
  TRY_OK(context.run(run));
  return out;
}

TEST(Device, HostCannotTouchItsMemory) {
  const auto there = device_memory().allocate(64);
  ASSERT_TRUE(there);
  EXPECT_DEATH(std::printf("%d", static_cast<int>(**there)), "");
}

std::string plan_of(std::string_view text) {
  const auto loaded = load_device(model_of(parse_graph(text)), {});
  return loaded ? *(*loaded)->plan_text({}) : loaded.error().text();
}

TEST(Device, CopiesBetweenMemoriesAreSteps) {
  EXPECT_EQ(plan_of("input x f32[n]\n"
                    "constant c f32[1]\n"
                    "a <- Softmax(x)\n"
                    "b <- Div(a, c)\n"
                    "y <- NonZero(b)\n"
                    "output y, b"),
            R"(input x  f32[n]
output y  i64[?]
output b  f32[n]

5 steps
     0  copy "x"  kernel copy (the next kernel works in the engine's memory)
        -> f32[n]  in slot 0
     1  Softmax "a"  kernel device (best kernel that takes it)
        -> f32[n]  in slot 1
     2  Div "b"  kernel device (best kernel that takes it)
        -> f32[n]  in slot 0
     3  copy "b"  kernel copy (the host reads it)
        -> f32[n]  in output
     4  NonZero "y"  kernel reference (sizes are known only when it runs)
        -> i64[?]  in own memory

2 slots
  slot 0  4*n  (in the engine's memory)
  slot 1  4*n  (in the engine's memory)
peak  up64(4*n) + up64(4*n), and the values in own memory
1 step runs by a reference kernel: NonZero
)");
}

// Sizes stay in host memory where a kernel reads them there.
TEST(Device, SizesStayOnTheHost) {
  EXPECT_EQ(plan_of("input x f32[n]\n"
                    "input z f32[m, n]\n"
                    "s <- Shape(z)\n"
                    "y <- Expand(x, s)\n"
                    "output y"),
            R"(input x  f32[n]
input z  f32[m, n]
output y  f32[m, n]

3 steps
     0  copy "x"  kernel copy (the next kernel works in the engine's memory)
        -> f32[n]  in slot 1
     1  Expand "y"  kernel device, entries on the host (best kernel that takes it)
        -> f32[m, n]  in slot 2
     2  copy "y"  kernel copy (the host reads it)
        -> f32[m, n]  in output

3 slots
  slot 0  16
  slot 1  4*n  (in the engine's memory)
  slot 2  4*n*m  (in the engine's memory)
peak  up64(16) + up64(4*n) + up64(4*n*m)
no step runs by a reference kernel
)");
}

TEST(Device, SameAnswersAsTheProcessor) {
  const auto device = load_device(model_of(small()), {}), cpu = cpu::load(model_of(small()), {});
  ASSERT_TRUE(device && cpu);
  const auto there = (*device)->make_context(1), here = (*cpu)->make_context(1);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2, 3}, {5, 8}, {2, 3}, {0, 4}, {40, 30}}) {
    const auto got = run(*there, floats(dims)), wanted = run(*here, floats(dims));
    ASSERT_TRUE(got && wanted);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(ops::print_all(Fact::of((*got)[i])), ops::print_all(Fact::of((*wanted)[i])));
  }
}

// A shape that is bound is recorded once, and anew when its memory has moved.
TEST(Device, RecordsOncePerShape) {
  const auto device = load_device(model_of(small()), {});
  ASSERT_TRUE(device);
  const auto context = (*device)->make_context(1);
  const auto recorded = [&](std::vector<int64_t> dims) {
    const DeviceCounts before = device_counts();
    EXPECT_TRUE(run(*context, floats(std::move(dims))));
    EXPECT_EQ(device_counts().replayed, before.replayed + 1);
    return device_counts().recorded - before.recorded;
  };
  EXPECT_EQ(recorded({2, 3}), 1);
  EXPECT_EQ(recorded({2, 3}), 0);
  EXPECT_EQ(recorded({3, 2}), 1);
  EXPECT_EQ(recorded({2, 3}), 0);
  EXPECT_EQ(recorded({50, 60}), 1);
  EXPECT_EQ(recorded({2, 3}), 1);
  EXPECT_EQ(recorded({2, 3}), 0);
}

}  // namespace
}  // namespace anyshape::testing
