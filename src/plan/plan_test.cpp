#include "plan/plan.h"

#include <gtest/gtest.h>

#include "passes/testing.h"
#include "plan/print.h"
#include "run/cpu/target.h"

namespace anyshape {
namespace {

std::shared_ptr<const Plan> plan_of(std::string_view text, const PlanOptions& options = {}) {
  const auto plan = make_plan(solve(testing::parse_graph(text)), cpu::target(), options);
  EXPECT_TRUE(plan) << plan.error().text();
  return plan ? *plan : nullptr;
}

// Steps and slots as they are printed.
void check(std::string_view graph, std::string_view wanted, const PlanOptions& options = {}) {
  const auto plan = plan_of(graph, options);
  ASSERT_TRUE(plan);
  const std::string text = print_plan(*plan, nullptr);
  EXPECT_EQ("\n" + text.substr(text.find("steps\n") - 2), wanted);
}

// A value that ends gives its slot to the next; a kernel that may writes over what nobody reads afterwards.
TEST(Plan, ValuesShareSlots) {
  check(R"(
      input x f32[n, 4]
      constant w f32[4, 4]
      a <- MatMul(x, w)
      b <- Softmax(a)
      c <- Add(b, x)
      d <- MatMul(c, w)
      y <- Softmax(d)
      output y)",
        R"(
5 steps
     0  MatMul "a"  kernel f32 packed (best kernel that takes it)
        -> f32[n, 4]  in slot 0
     1  Softmax "b"  kernel f32 rows (best kernel that takes it)
        -> f32[n, 4]  in slot 0
     2  Add "c"  kernel elementwise (best kernel that takes it)
        -> f32[n, 4]  in slot 0
     3  MatMul "d"  kernel f32 packed (best kernel that takes it)
        -> f32[n, 4]  in slot 1
     4  Softmax "y"  kernel f32 rows (best kernel that takes it)
        -> f32[n, 4]  in output

2 slots
  slot 0  16*n
  slot 1  16*n
peak  up64(16*n) + up64(16*n)
no step runs by a reference kernel
)");
}

// Both are read after both are made; sizes of two kinds.
TEST(Plan, ValuesThatLiveTogether) {
  check(R"(
      input x f32[n, 4]
      constant w f32[4, 8]
      a <- Softmax(x)
      b <- MatMul(a, w)
      c <- Softmax(b)
      d <- Concat(a, c) axis=1
      y <- Softmax(d)
      output y)",
        R"(
5 steps
     0  Softmax "a"  kernel f32 rows (best kernel that takes it)
        -> f32[n, 4]  in slot 0
     1  MatMul "b"  kernel f32 packed (best kernel that takes it)
        -> f32[n, 8]  in slot 1
     2  Softmax "c"  kernel f32 rows (best kernel that takes it)
        -> f32[n, 8]  in slot 1
     3  Concat "d"  kernel strided copy (best kernel that takes it)
        -> f32[n, 12]  in slot 2
     4  Softmax "y"  kernel f32 rows (best kernel that takes it)
        -> f32[n, 12]  in output

3 slots
  slot 0  16*n
  slot 1  32*n
  slot 2  48*n
peak  up64(16*n) + up64(32*n) + up64(48*n)
no step runs by a reference kernel
)");
}

TEST(Plan, WindowsAndTheirCopies) {
  check(R"(
      input x f32[n, m]
      constant w f32[4, 8]
      t <- Transpose(x) perm=[1,0]
      constant s i64[2] = [-1, 4]
      r <- Reshape(t, s)
      a <- MatMul(r, w)
      b <- Relu(t)
      output a, b)",
        R"(
3 steps
     0  copy "t"  kernel copy (the next kernel takes dense tensors)
        -> f32[m, n]  in slot 0
     1  MatMul "a"  kernel f32 packed (best kernel that takes it)
        -> f32[(n*m)//4, 8]  in output
     2  Relu "b"  kernel elementwise (best kernel that takes it)
        -> f32[m, n]  in output

1 slots
  slot 0  4*n*m
peak  up64(4*n*m)
no step runs by a reference kernel
)");
}

// Axes that are split or taken out need no copy, whatever the strides are; axes that are joined do.
TEST(Plan, WindowsOnWindows) {
  check(R"(
      input x f32[n, m, 3, 8]
      constant one i64[] = [-2]
      g <- Gather(x, one) axis=2
      constant s i64[4] = [0, 0, 2, 4]
      r <- Reshape(g, s)
      a <- Relu(r)
      constant j i64[2] = [-1, 8]
      f <- Reshape(g, j)
      b <- Relu(f)
      output a, b)",
        R"(
3 steps
     0  Relu "a"  kernel elementwise (best kernel that takes it)
        -> f32[n, m, 2, 4]  in output
     1  copy "g"  kernel copy (the next kernel takes dense tensors)
        -> f32[n, m, 8]  in slot 0
     2  Relu "b"  kernel elementwise (best kernel that takes it)
        -> f32[n*m, 8]  in output

1 slots
  slot 0  32*n*m
peak  up64(32*n*m)
no step runs by a reference kernel
)");
}

// No kernel runs for what follows from sizes, and what nobody reads takes no memory.
TEST(Plan, IntegersFromSizes) {
  check(R"(
      input x f32[n, m]
      s <- Shape(x)
      constant one i64[1] = [1]
      e <- Concat(s, one) axis=0
      y <- Mul(e, e)
      output y)",
        R"(
0 steps

1 slots
  slot 0  24
peak  up64(24)
no step runs by a reference kernel
)");
}

// A size that depends on data starts a stage; slots of two stages are not shared.
TEST(Plan, Stages) {
  check(R"(
      input x f32[n]
      a <- Softmax(x)
      k <- NonZero(a)
      f <- Cast(k) to=1
      b <- Softmax(f)
      y <- Neg(b)
      output y)",
        R"(
5 steps
     0  Softmax "a"  kernel f32 rows (best kernel that takes it)
        -> f32[n]  in slot 0
     1  NonZero "k"  kernel reference (sizes are known only when it runs)
        -> i64[1, nonzero]  in own memory
  -- stage 1: sizes that depend on data are known
     2  Cast "f"  kernel numbers (best kernel that takes it)
        -> f32[1, nonzero]  in slot 1
     3  Softmax "b"  kernel f32 rows (best kernel that takes it)
        -> f32[1, nonzero]  in slot 1
     4  Neg "y"  kernel elementwise (best kernel that takes it)
        -> f32[1, nonzero]  in output

2 slots
  slot 0  4*n
  slot 1  4*nonzero  (stage 1)
peak  up64(4*n) + up64(4*nonzero), and the values in own memory
1 step runs by a reference kernel: NonZero
)");
}

// A size that is a sum tells the one part of it that data tells; what comes after it is planned.
TEST(Plan, SizesTellEntries) {
  const auto plan = plan_of(R"(
      input x f32[n, t]
      input p i64[1]
      constant before i64[3] = [0, 0, 0]
      pads <- Concat(before, p) axis=0
      a <- Pad(x, pads)
      b <- Softmax(a)
      y <- Neg(b)
      output y)");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->stages.size(), 2u);
  for (const PlanStep& step : plan->steps) EXPECT_EQ(step.kind == PlanStep::Kind::dynamic, step.type == "Pad");
}

TEST(Plan, WhyNoKernelTakesIt) {
  check(R"(
      input x i64[n, 4]
      input w i64[4, 4]
      a <- MatMul(x, w)
      y <- Mod(a, x)
      output y)",
        R"(
2 steps
     0  MatMul "a"  kernel reference (f32 packed: its element type is not f32)
        -> i64[n, 4]  in slot 0
     1  Mod "y"  kernel reference (no faster kernel)
        -> i64[n, 4]  in output

1 slots
  slot 0  32*n
peak  up64(32*n)
2 steps run by reference kernels: MatMul, Mod
)");
}

TEST(Plan, Plain) {
  PlanOptions plain;
  plain.plain = true;
  check(R"(
      input x f32[n]
      a <- Identity(x)
      y <- Relu(a)
      output y)",
        R"(
2 steps
     0  Identity "a"  kernel reference (sizes are known only when it runs)
        -> f32[?]  in own memory
     1  Relu "y"  kernel reference (sizes are known only when it runs)
        -> f32[?]  in own memory

0 slots
peak  0, and the values in own memory
2 steps run by reference kernels: Identity, Relu
)",
        plain);
}

// Facts of a model are those that plans are made of, unless a rule told apart what it means in empty tensors only.
TEST(Plan, CornersOfFacts) {
  const auto has_corners = [](std::string_view text) { return solve(testing::parse_graph(text)).has_corners(); };
  EXPECT_FALSE(has_corners(R"(
      input x f32[n, m]
      constant s i64[2] = [0, -1]
      y <- Reshape(x, s)
      output y)"));
  EXPECT_TRUE(has_corners(R"(
      input x f32[n, m]
      s <- Shape(x)
      constant i i64[2] = [1, 0]
      t <- Gather(s, i)
      y <- Reshape(x, t)
      output y)"));
}

// A value ends with the last step that reads it or a window on it, outputs never, and one whose size is read not before
// the stage begins.
TEST(Plan, Lifetimes) {
  const auto plan = plan_of(R"(
      input x f32[n, 4]
      a <- Softmax(x)
      t <- Transpose(a) perm=[1,0]
      k <- NonZero(a)
      b <- Softmax(t)
      m <- Cast(k) to=1
      y <- Softmax(m)
      output y, b)");
  ASSERT_TRUE(plan);
  std::string text;
  for (const PlanStep& step : plan->steps) {
    text += step.label + ":";
    for (uint32_t value : step.ends)
      text += " " + (value < plan->graph->values.size() ? plan->graph->values[value].name : "copy");
    text += "\n";
  }
  EXPECT_EQ(text, R"(a:
k:
t: a
b: copy
m: k
y: m
)");
  for (uint32_t output : plan->outputs) EXPECT_EQ(plan->values[output].last_step, plan->steps.size());
}

// What a kernel has packed stays where it was in the file; what steps read comes to an address that its type allows.
TEST(Plan, OnlyConstantsThatAreReadAreAligned) {
  Graph graph = *testing::parse_graph(R"(
      input x f32[n, 4]
      constant w f32[4, 4]
      constant b f32[4, 4]
      a <- MatMul(x, w)
      c <- MatMul(x, b)
      d <- Add(a, c)
      e <- Concat(d, b) axis=0
      output e)");
  const auto file = std::make_shared<std::vector<std::byte>>(1 + 2 * 64);
  file->back() = std::byte{1};
  size_t at = 1;
  for (Value& value : graph.values) {
    if (!value.is_initializer) continue;
    const auto bytes = std::span(*file).subspan(at, 64);
    value.constant = std::make_shared<Fact>(Fact::of_constant(Tensor::borrow(DType::f32, {4, 4}, bytes, file)));
    at += 64;
  }
  const auto plan = make_plan(solve(std::make_shared<const Graph>(graph)), cpu::target());
  ASSERT_TRUE(plan) << plan.error().text();
  int packed = 0, read = 0;
  for (const PlanValue& value : (*plan)->values) {
    if (value.kind != PlanValue::Kind::constant) continue;
    const auto address = reinterpret_cast<uintptr_t>(value.constant.tensor().bytes().data());
    ++(address % sizeof(float) == 0 ? read : packed);
  }
  EXPECT_EQ(packed, 1);
  EXPECT_EQ(read, 1);
}

}  // namespace
}  // namespace anyshape
