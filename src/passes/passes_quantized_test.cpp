#include <gtest/gtest.h>

#include "passes/pipeline.h"
#include "passes/print.h"
#include "passes/testing.h"
#include "run/cpu/target.h"

namespace anyshape {
namespace {

// What the nodes are after the pass alone, each as "out <- Op(inputs)".
std::string after(std::string_view pass, std::string_view graph) {
  PassOptions options;
  options.verify = true;
  for (const Pass& other : all_passes())
    if (other.name != pass && other.name != "dead") options.without.emplace_back(other.name);
  const Typed typed = solve(testing::parse_graph(graph));
  EXPECT_FALSE(typed.refusal());
  const auto program = rewritten(typed, cpu::target(), options);
  EXPECT_TRUE(program);
  std::string out;
  for (const Node& node : program->graph->nodes) {
    const auto name = [&](ValueId id) { return id == kNoValue ? "-" : program->graph->values[id].name; };
    out += name(node.out[0]) + " <- " + node.type + "(";
    for (ValueId id : node.in) out += (out.back() == '(' ? "" : ", ") + name(id);
    out += ")\n";
  }
  return out;
}

constexpr std::string_view kHead =
    "input x f32[n, 4]\n"
    "constant w i8[4, 3]\n"
    "constant ws f32[] = [0.5]\n"
    "constant wz i8[] = [0]\n"
    "constant b f32[3]\n"
    "q, s, z <- DynamicQuantizeLinear(x)\n"
    "t <- Mul(s, ws)\n"
    "m <- MatMulInteger(q, w, z, wz)\n";

TEST(PassesQuantized, IntegerProducts) {
  const std::string head(kHead);
  EXPECT_EQ(after("integer-products", head + "c <- Cast(m) to=1\nd <- Mul(c, t)\ny <- Add(b, d)\noutput y"),
            "q <- DynamicQuantizeLinear(x)\ny <- IntegerMatMul(q, w, s, ws, z, wz, b)\n");
  EXPECT_EQ(after("integer-products", head + "c <- Cast(m) to=1\ny <- Mul(t, c)\noutput y"),
            "q <- DynamicQuantizeLinear(x)\ny <- IntegerMatMul(q, w, s, ws, z, wz)\n");
  // A scale that is no product.
  EXPECT_EQ(after("integer-products", head + "c <- Cast(m) to=1\ny <- Mul(c, s)\noutput y"),
            "q <- DynamicQuantizeLinear(x)\ny <- IntegerMatMul(q, w, s, -, z, wz)\n");
}

TEST(PassesQuantized, IntegerProductsThatStay) {
  const std::string head(kHead), start = "q <- DynamicQuantizeLinear(x)\n";
  // Somebody else reads the sums.
  EXPECT_EQ(after("integer-products", head + "c <- Cast(m) to=1\ny <- Mul(c, t)\noutput y, m"),
            start + "t <- Mul(s, ws)\nm <- MatMulInteger(q, w, z, wz)\nc <- Cast(m)\ny <- Mul(c, t)\n");
  // The scale makes the result larger.
  EXPECT_EQ(after("integer-products", "input k f32[2, 1, 1]\n" + head + "c <- Cast(m) to=1\ny <- Mul(c, k)\noutput y"),
            start + "m <- MatMulInteger(q, w, z, wz)\nc <- Cast(m)\ny <- Mul(c, k)\n");
  // What is added is no row.
  EXPECT_EQ(after("integer-products",
                  "input k f32[n, 3]\n" + head + "c <- Cast(m) to=1\nd <- Mul(c, t)\ny <- Add(d, k)\noutput y"),
            start + "d <- IntegerMatMul(q, w, s, ws, z, wz)\ny <- Add(d, k)\n");
}

}  // namespace
}  // namespace anyshape
