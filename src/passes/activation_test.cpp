#include "passes/activation.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "passes/testing.h"

namespace anyshape {
namespace {

constexpr std::string_view kBegin =
    "input x f32[n, 4]\n"
    "constant half f32[] = [0.5]\n"
    "constant one f32[1] = [1]\n"
    "constant two f32[] = [2]\n"
    "constant three f32[] = [3]\n"
    "constant six f32[] = [6]\n"
    "constant zero f32[] = [0]\n"
    "constant root f32[] = [1.41421356]\n"
    "constant inverse f32[] = [0.70710678]\n"
    "constant cube f32[] = [0.044715]\n"
    "constant outside f32[] = [0.79788456]\n";

// What ends in the last node: its name and parameters, how many nodes it is and how often they read what value.
std::string found(std::string_view nodes) {
  const Typed typed = solve(testing::parse_graph(std::string(kBegin) + std::string(nodes)));
  const Draft draft(typed);
  const auto out = find_activation(draft, Readers(draft), static_cast<uint32_t>(draft.graph.nodes.size() - 1));
  if (!out) return "";
  const std::string params = out->params.empty() ? "" : fmt::format("{}", out->params);
  return fmt::format("{}{} {} nodes {} x {}", out->name, params, out->nodes.size(), out->reads,
                     draft.graph.values[out->in].name);
}

TEST(Activation, Operators) {
  EXPECT_EQ(found("y <- Relu(x)\noutput y"), "Relu 1 nodes 1 x x");
  EXPECT_EQ(found("y <- LeakyRelu(x) alpha=0.25\noutput y"), "LeakyRelu[0.25] 1 nodes 1 x x");
  EXPECT_EQ(found("y <- Clip(x, zero, six)\noutput y"), "Clip[0, 6] 1 nodes 1 x x");
  EXPECT_EQ(found("y <- HardSwish(x)\noutput y"), "HardSwish 1 nodes 1 x x");
  EXPECT_EQ(found("y <- Gelu@20(x)\noutput y"), "Gelu 1 nodes 1 x x");
  EXPECT_EQ(found("y <- Gelu@20(x) approximate=tanh\noutput y"), "GeluTanh 1 nodes 1 x x");
  EXPECT_EQ(found("y <- com.microsoft.FastGelu(x)\noutput y"), "GeluTanh 1 nodes 1 x x");
  EXPECT_EQ(found("y <- com.microsoft.FastGelu(x, one)\noutput y"), "");
  EXPECT_EQ(found("y <- Exp(x)\noutput y"), "");
  EXPECT_EQ(found("y <- Clip(x, six, zero)\noutput y"), "");
}

TEST(Activation, Gates) {
  EXPECT_EQ(found("a <- Abs(x)\ns <- Sigmoid(a)\ny <- Mul(a, s)\noutput y"), "Silu 2 nodes 2 x a");
  EXPECT_EQ(found("s <- HardSigmoid(x) alpha=0.16666667 beta=0.5\ny <- Mul(s, x)\noutput y"),
            "HardSwish 2 nodes 2 x x");
  EXPECT_EQ(found("a <- Add(three, x)\nc <- Clip(a, zero, six)\nm <- Mul(x, c)\ny <- Div(m, six)\noutput y"),
            "HardSwish 4 nodes 2 x x");
  EXPECT_EQ(found("a <- Add(three, x)\nc <- Clip(a, zero, six)\nm <- Div(c, six)\ny <- Mul(x, m)\noutput y"),
            "HardSwish 4 nodes 2 x x");
  // The gate of another value, one that somebody else reads, another slope.
  EXPECT_EQ(found("a <- Abs(x)\ns <- Sigmoid(a)\ny <- Mul(x, s)\noutput y"), "");
  EXPECT_EQ(found("s <- Sigmoid(x)\ny <- Mul(x, s)\noutput y, s"), "");
  EXPECT_EQ(found("s <- HardSigmoid(x)\ny <- Mul(s, x)\noutput y"), "");
  EXPECT_EQ(found("s <- Sigmoid(x)\nm <- Mul(x, s)\ny <- Mul(m, two)\noutput y"), "");
}

TEST(Activation, Gelu) {
  EXPECT_EQ(found("d <- Div(x, root)\ne <- Erf(d)\na <- Add(e, one)\nm <- Mul(x, a)\ny <- Mul(m, half)\noutput y"),
            "Gelu 5 nodes 2 x x");
  EXPECT_EQ(found("h <- Mul(half, x)\nd <- Mul(x, inverse)\ne <- Erf(d)\na <- Add(one, e)\ny <- Mul(h, a)\noutput y"),
            "Gelu 5 nodes 2 x x");
  EXPECT_EQ(found("d <- Div(x, two)\ne <- Erf(d)\na <- Add(e, one)\nm <- Mul(x, a)\ny <- Mul(m, half)\noutput y"), "");
  EXPECT_EQ(found("p <- Pow(x, three)\nc <- Mul(p, cube)\ns <- Add(x, c)\no <- Mul(s, outside)\nt <- Tanh(o)\n"
                  "a <- Add(t, one)\nh <- Mul(x, half)\ny <- Mul(h, a)\noutput y"),
            "GeluTanh 8 nodes 3 x x");
  EXPECT_EQ(found("q <- Mul(x, x)\nc <- Mul(q, cube)\ns <- Add(one, c)\nr <- Mul(x, outside)\no <- Mul(s, r)\n"
                  "t <- Tanh(o)\na <- Add(t, one)\nh <- Mul(x, a)\ny <- Mul(h, half)\noutput y"),
            "GeluTanh 9 nodes 4 x x");
}

// A product of more entries than x has.
TEST(Activation, SizesStay) {
  EXPECT_EQ(found("constant ones f32[1, 1, 1]\ns <- Sigmoid(x)\nm <- Mul(s, ones)\ny <- Mul(x, m)\noutput y"), "");
}

}  // namespace
}  // namespace anyshape
