#include <gtest/gtest.h>

#include <random>

#include "ops/testing.h"
#include "passes/testing.h"
#include "run/cpu/engine.h"

// Small networks with blocked channels and without: the same results.
namespace anyshape::testing {
namespace {

void fill(Tensor& tensor, std::mt19937_64& engine, float size) {
  std::uniform_real_distribution<float> draw(-size, size);
  for (float& x : tensor.as_mutable<float>()) x = draw(engine);
}

// The graph with random numbers for constants of f32 but scales, such that values keep about their size.
std::shared_ptr<const Graph> with_weights(std::string_view text, std::mt19937_64& engine) {
  auto graph = std::make_shared<Graph>(*parse_graph(text));
  for (Value& value : graph->values) {
    if (!value.constant || value.constant->dtype != DType::f32 || value.name == "scales") continue;
    Tensor tensor = *Tensor::allocate(DType::f32, *value.constant->numeric_dims());
    const int64_t depth = tensor.rank() > 0 ? tensor.count() / std::max<int64_t>(1, tensor.dims()[0]) : 1;
    fill(tensor, engine, std::sqrt(3.0f / static_cast<float>(std::max<int64_t>(1, depth))));
    value.constant = std::make_shared<const Fact>(Fact::of_constant(std::move(tensor)));
  }
  return graph;
}

std::vector<Tensor> run(const EngineModel& model, const EngineOptions& options, const Tensor& x, int threads) {
  const auto loaded = cpu::load(model, options);
  EXPECT_TRUE(loaded) << loaded.error().text();
  const auto context = (*loaded)->make_context(threads);
  std::vector<Datum> in{Datum(x)}, out(model.typed->graph().outputs.size());
  Run run;
  run.inputs = in;
  run.outputs = out;
  const Status ran = context->run(run);
  EXPECT_TRUE(ran) << ran.error().text();
  std::vector<Tensor> tensors;
  for (const Datum& datum : out) tensors.push_back(datum.tensor());
  return tensors;
}

// The largest difference of two results, relative to the largest entry.
double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.dims(), b.dims());
  double most = 0, scale = 1e-30;
  for (int64_t i = 0; i < a.count(); ++i) {
    most = std::max(most, static_cast<double>(std::abs(a.at<float>(i) - b.at<float>(i))));
    scale = std::max(scale, static_cast<double>(std::abs(a.at<float>(i))));
  }
  return most / scale;
}

void check(std::string_view text, std::initializer_list<std::vector<int64_t>> shapes) {
  constexpr uint64_t kSeed = 7;
  std::mt19937_64 engine(kSeed);
  SCOPED_TRACE(::testing::Message() << text << "\nseed " << kSeed);
  EngineModel model;
  model.graph = with_weights(text, engine);
  model.typed = std::make_shared<const Typed>(solve(model.graph));
  ASSERT_FALSE(model.typed->refusal()) << model.typed->refusal()->text();
  EngineOptions plain, blocked;
  plain.without = {"layout"};
  blocked.verify = true;
  const auto loaded = cpu::load(model, blocked);
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_NE((*loaded)->plan_text({})->find("BlockedConv"), std::string::npos);
  for (const auto& dims : shapes) {
    Tensor x = *Tensor::allocate(DType::f32, dims);
    fill(x, engine, 1);
    const auto wanted = run(model, plain, x, 1), one = run(model, blocked, x, 1), two = run(model, blocked, x, 2);
    for (size_t i = 0; i < wanted.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "batch " << dims[0] << ", last axis " << dims.back());
      EXPECT_LT(difference(wanted[i], one[i]), 1e-5);
      EXPECT_TRUE(std::ranges::equal(one[i].bytes(), two[i].bytes()));
    }
  }
}

TEST(Blocked, ResidualBlocks) {
  check(R"(
      input x f32[n, 3, h, w]
      constant k f32[32, 3, 7, 7]
      constant b f32[32]
      constant k1 f32[32, 32, 3, 3]
      constant k2 f32[32, 32, 3, 3]
      constant d f32[40, 32, 1, 1]
      constant k3 f32[40, 32, 3, 3]
      constant f f32[40, 5]
      stem <- Conv(x, k, b) strides=[2, 2] pads=[3, 3, 3, 3]
      r0 <- Relu(stem)
      p <- MaxPool(r0) kernel_shape=[3, 3] strides=[2, 2] pads=[1, 1, 1, 1]
      c1 <- Conv(p, k1, b) pads=[1, 1, 1, 1]
      r1 <- Relu(c1)
      c2 <- Conv(r1, k2) pads=[1, 1, 1, 1]
      s <- Add(c2, p)
      r2 <- Relu(s)
      down <- Conv(r2, d) strides=[2, 2]
      c3 <- Conv(r2, k3) strides=[2, 2] pads=[1, 1, 1, 1]
      s2 <- Add(down, c3)
      r3 <- LeakyRelu(s2) alpha=0.1
      m <- ReduceMean(r3) axes=[2, 3] keepdims=0
      y <- MatMul(m, f)
      output y, r2)",
        {{1, 3, 32, 32}, {2, 3, 17, 45}, {3, 3, 1, 1}, {0, 3, 20, 20}});
}

TEST(Blocked, GatesAndDepthwise) {
  check(R"(
      input x f32[n, 3, h, w]
      constant k f32[16, 3, 3, 3]
      constant e f32[52, 16, 1, 1]
      constant d f32[52, 1, 5, 5]
      constant a f32[13, 52, 1, 1]
      constant b f32[52, 13, 1, 1]
      constant q f32[24, 52, 1, 1]
      constant gamma f32[52]
      constant variance f32[52] = [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2]
      stem <- Conv(x, k) strides=[2, 2] pads=[1, 1, 1, 1]
      h0 <- HardSwish(stem)
      c1 <- Conv(h0, e)
      h1 <- HardSwish(c1)
      c2 <- Conv(h1, d) group=52 strides=[2, 2] pads=[2, 2, 2, 2]
      h2 <- Relu(c2)
      g <- GlobalAveragePool(h2)
      g1 <- Conv(g, a)
      g2 <- Relu(g1)
      g3 <- Conv(g2, b)
      g4 <- HardSigmoid(g3)
      t <- Mul(g4, h2)
      nrm <- Mul(t, t)
      y <- Conv(nrm, q)
      output y)",
        {{1, 3, 32, 32}, {2, 3, 19, 40}, {0, 3, 20, 20}});
}

TEST(Blocked, ConcatAndUpsampling) {
  check(R"(
      input x f32[n, 3, 24, 32]
      constant k f32[16, 3, 3, 3]
      constant k1 f32[16, 16, 3, 3]
      constant k2 f32[32, 16, 3, 3]
      constant u f32[32, 16, 2, 2]
      constant k3 f32[16, 32, 3, 3]
      constant o f32[1, 16, 1, 1]
      a0 <- Conv(x, k) pads=[1, 1, 1, 1]
      a1 <- Relu(a0)
      a2 <- Conv(a1, k1) pads=[1, 1, 1, 1]
      a3 <- Relu(a2)
      p <- MaxPool(a3) kernel_shape=[2, 2] strides=[2, 2]
      b0 <- Conv(p, k2) pads=[1, 1, 1, 1]
      b1 <- Relu(b0)
      up <- ConvTranspose(b1, u) strides=[2, 2]
      c <- Concat(a3, up) axis=1
      d0 <- Conv(c, k3) pads=[1, 1, 1, 1]
      d1 <- Conv(d0, o)
      y <- Sigmoid(d1)
      output y)",
        {{1, 3, 24, 32}, {3, 3, 24, 32}, {0, 3, 24, 32}});
}

TEST(Blocked, TransposedConvolutions) {
  check(R"(
      input x f32[n, 3, h, w]
      constant k f32[37, 3, 3, 3]
      constant u f32[37, 21, 2, 3]
      constant b f32[21]
      constant m f32[18, 21, 3, 3]
      constant v f32[18, 40, 2, 2]
      constant o f32[16, 40, 1, 1]
      c <- Conv(x, k) pads=[1, 1, 1, 1]
      r <- Relu(c)
      up <- ConvTranspose(r, u, b) strides=[2, 3] auto_pad=NOTSET
      d <- Conv(up, m) pads=[1, 1, 1, 1]
      e <- ConvTranspose(d, v) strides=[2, 2] output_padding=[0, 0]
      f <- Relu(e)
      y <- Conv(f, o)
      output y)",
        {{1, 3, 9, 12}, {2, 3, 5, 7}, {1, 3, 1, 1}, {0, 3, 4, 4}});
}

TEST(Blocked, Resize) {
  for (const char* how : {"mode=nearest coordinate_transformation_mode=asymmetric nearest_mode=floor", "mode=linear"})
    check(fmt::format(R"(
      input x f32[n, 3, h, w]
      constant k f32[37, 3, 3, 3]
      constant scales f32[4] = [1, 1, 2, 3]
      constant m f32[18, 37, 3, 3]
      c <- Conv(x, k) pads=[1, 1, 1, 1]
      r <- Relu(c)
      up <- Resize@13(r, -, scales) {}
      y <- Conv(up, m) pads=[1, 1, 1, 1]
      output y)",
                      how),
          {{1, 3, 9, 12}, {2, 3, 5, 7}, {1, 3, 1, 1}, {0, 3, 4, 4}});
}

TEST(Blocked, ConcatOfPartBlocks) {
  check(R"(
      input x f32[n, 3, h, w]
      constant k f32[20, 3, 3, 3]
      constant ka f32[13, 20, 1, 1]
      constant kb f32[21, 20, 3, 3]
      constant kc f32[32, 20, 5, 5]
      constant kd f32[16, 20, 1, 1]
      constant o f32[32, 82, 3, 3]
      constant q f32[40, 64, 3, 3]
      s <- Conv(x, k) pads=[1, 1, 1, 1]
      r <- Relu(s)
      a <- Conv(r, ka)
      b <- Conv(r, kb) auto_pad=SAME_UPPER
      c <- Conv(r, kc) pads=[2, 2, 2, 2]
      m <- MaxPool(r) kernel_shape=[3, 3] pads=[1, 1, 1, 1]
      d <- Conv(m, kd)
      all <- Concat(a, b, c, d) axis=1
      z0 <- Conv(all, o)
      z <- Relu(z0)
      av <- AveragePool(z) kernel_shape=[3, 3] pads=[1, 1, 1, 1]
      two <- Concat(z, av) axis=1
      q0 <- Conv(two, q) strides=[2, 2] auto_pad=SAME_LOWER
      y <- Softmax(q0) axis=1
      output y, z)",
        {{1, 3, 12, 12}, {2, 3, 7, 21}, {0, 3, 9, 9}});
}

TEST(Blocked, OneSpatialAxis) {
  check(R"(
      input x f32[n, 2, t]
      constant k0 f32[24, 2, 3]
      constant k1 f32[24, 24, 3]
      constant k2 f32[24, 24, 3]
      constant d f32[24, 2, 1]
      constant f f32[24, 4]
      constant last i64[] = [-1]
      p0 <- Pad@2(x) pads=[0, 0, 2, 0, 0, 0]
      c0 <- Conv(p0, k0)
      r0 <- Relu(c0)
      d0 <- Conv(x, d)
      s0 <- Add(r0, d0)
      p1 <- Pad@2(s0) pads=[0, 0, 4, 0, 0, 0]
      c1 <- Conv(p1, k1) dilations=[2]
      t1 <- Tanh(c1)
      s1 <- Add(t1, s0)
      p2 <- Pad@2(s1) pads=[0, 0, 8, 0, 0, 0]
      c2 <- Conv(p2, k2) dilations=[4]
      s2 <- Add(c2, s1)
      e <- Gather(s2, last) axis=2
      y <- MatMul(e, f)
      output y, s1)",
        {{1, 2, 40}, {3, 2, 1}, {2, 2, 9}, {0, 2, 8}});
}

// Maps of one column, of channels that were last.
TEST(Blocked, OneColumn) {
  check(R"(
      input x f32[n, t, 1, 40]
      constant k0 f32[48, 40, 5, 1]
      constant k1 f32[48, 1, 3, 1]
      constant k2 f32[32, 48, 3, 1]
      a <- Transpose(x) perm=[0, 3, 1, 2]
      c0 <- Conv(a, k0) pads=[2, 0, 2, 0]
      r0 <- Relu(c0)
      c1 <- Conv(r0, k1) group=48 pads=[1, 0, 1, 0] strides=[2, 1]
      y <- Conv(c1, k2) dilations=[2, 1] pads=[2, 0, 2, 0]
      output y)",
        {{1, 50, 1, 40}, {2, 33, 1, 40}, {3, 1, 1, 40}, {0, 9, 1, 40}});
}

TEST(Blocked, ChannelsLast) {
  check(R"(
      input x f32[n, h, w, 40]
      constant k0 f32[48, 40, 3, 3]
      constant k1 f32[32, 48, 1, 1]
      a <- Transpose(x) perm=[0, 3, 1, 2]
      c0 <- Conv(a, k0) pads=[1, 1, 1, 1]
      r0 <- Relu(c0)
      y <- Conv(r0, k1)
      output y)",
        {{1, 9, 12, 40}, {2, 1, 7, 40}, {3, 5, 1, 40}, {0, 9, 9, 40}});
}

}  // namespace
}  // namespace anyshape::testing
