#include <gtest/gtest.h>

#include <random>

#include "passes/testing.h"
#include "run/cpu/engine.h"

// Operators between DequantizeLinear and QuantizeLinear on integers against the same in f32.
namespace anyshape::testing {
namespace {

Tensor random_bytes(DType dtype, const std::vector<int64_t>& dims, std::mt19937_64& engine) {
  Tensor out = *Tensor::allocate(dtype, dims);
  for (int64_t i = 0; i < out.count(); ++i)
    out.set_int(i, static_cast<int64_t>(engine() % 256) - (dtype == DType::i8 ? 128 : 0));
  return out;
}

Tensor run(const EngineModel& model, const EngineOptions& options, const Tensor& x) {
  const auto loaded = cpu::load(model, options);
  EXPECT_TRUE(loaded) << loaded.error().text();
  const auto context = (*loaded)->make_context(1);
  std::vector<Datum> in{Datum(x)}, out(1);
  Run run;
  run.inputs = in;
  run.outputs = out;
  const Status ran = context->run(run);
  EXPECT_TRUE(ran) << ran.error().text();
  return out[0].tensor();
}

// Results differ by one step at most, and by that in at most one entry of a thousand; `op` is in the plan.
void check(const std::string& text, const std::string& op, const std::vector<int64_t>& dims, bool equal = false) {
  int64_t entries = 0, different = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(::testing::Message() << text << "\nseed " << seed);
    std::mt19937_64 engine(seed);
    auto graph = std::make_shared<Graph>(*parse_graph(text));
    for (Value& value : graph->values)
      if (value.constant && value.constant->dtype == DType::i8 && value.constant->rank() > 1)
        value.constant = std::make_shared<const Fact>(
            Fact::of_constant(random_bytes(DType::i8, *value.constant->numeric_dims(), engine)));
    EngineModel model;
    model.graph = graph;
    model.typed = std::make_shared<const Typed>(solve(model.graph));
    ASSERT_FALSE(model.typed->refusal()) << model.typed->refusal()->text();
    EngineOptions plain, whole;
    plain.without = {"quantized"};
    whole.verify = true;
    const auto loaded = cpu::load(model, whole);
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_NE((*loaded)->plan_text({})->find(op), std::string::npos);
    const Tensor x = random_bytes(DType::u8, dims, engine), a = run(model, plain, x), b = run(model, whole, x);
    ASSERT_EQ(a.dims(), b.dims());
    entries += a.count();
    for (int64_t i = 0; i < a.count(); ++i) {
      const int64_t distance = std::abs(a.int_at(i) - b.int_at(i));
      ASSERT_LE(distance, equal ? 0 : 1);
      different += distance;
    }
  }
  EXPECT_GT(entries, 0);
  EXPECT_LE(different * 1000, entries) << text;
}

constexpr const char* kImage =
    "constant s f32[] = [0.0213]\n"
    "constant z u8[] = [117]\n"
    "constant t f32[] = [0.031]\n"
    "constant u u8[] = [0]\n"
    "input x u8[n, 6, h, w]\n"
    "a <- DequantizeLinear(x, s, z)\n";
constexpr const char* kRows =
    "constant s f32[] = [0.0213]\n"
    "constant z u8[] = [117]\n"
    "constant t f32[] = [0.031]\n"
    "input x u8[n, 300]\n"
    "a <- DequantizeLinear(x, s, z)\n";

TEST(Quantized, WithinOneStep) {
  const std::string image(kImage), rows(kRows), end = "y <- QuantizeLinear(c, t, z)\noutput y";
  check(image +
            "constant k i8[20, 6, 3, 3]\nconstant ks f32[] = [0.0041]\nb <- DequantizeLinear(k, ks)\n"
            "c <- Conv(a, b) pads=[1, 1, 1, 1]\n" +
            end,
        "QLinearConv", {2, 6, 19, 23});
  check(image +
            "constant k i8[6, 1, 3, 3]\nconstant ks f32[6] = [0.1, 0.2, 0.03, 0.11, 0.05, 0.07]\n"
            "b <- DequantizeLinear(k, ks) axis=0\nd <- Conv(a, b) group=6\nc <- Relu(d)\n"
            "y <- QuantizeLinear(c, t, u)\noutput y",
        "QLinearConv", {2, 6, 19, 23});
  check(rows +
            "constant k i8[300, 70]\n"
            "constant ks f32[] = [0.0041]\nb <- DequantizeLinear(k, ks)\nc <- MatMul(a, b)\n" +
            end,
        "QLinearMatMul", {33, 300});
  check(rows +
            "constant k i8[70, 300]\n"
            "constant ks f32[] = [0.0041]\nb <- DequantizeLinear(k, ks)\nc <- Gemm(a, b) transB=1\n" +
            end,
        "QGemm", {33, 300});
  for (const std::string op : {"Add", "Mul"})
    check(image + "b <- DequantizeLinear(x, t, u)\nc <- " + op + "(a, b)\n" + end, "QLinear" + op, {2, 6, 19, 23});
  check(image + "c <- GlobalAveragePool(a)\n" + end, "QLinearGlobalAveragePool", {20, 6, 19, 23});
  check(image + "c <- Sigmoid(a)\nconstant v f32[] = [0.0039]\ny <- QuantizeLinear(c, v, u)\noutput y",
        "QLinearSigmoid", {2, 6, 19, 23});
}

TEST(Quantized, Equal) {
  const std::string image(kImage);
  check(image + "c <- MaxPool(a) kernel_shape=[2, 2]\ny <- QuantizeLinear(c, s, z)\noutput y", "8-bit planes",
        {2, 6, 19, 23}, true);
  check(image + "b <- DequantizeLinear(x, t, u)\nc <- Concat(a, b) axis=1\ny <- QuantizeLinear(c, t, z)\noutput y",
        "QLinearConcat", {2, 6, 19, 23}, true);
}

}  // namespace
}  // namespace anyshape::testing
