#include "kernels/program.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/program_scalar.h"
#include "kernels/program_simd.h"
#include "kernels/simd_testing.h"

namespace anyshape::simd {
namespace {

// Distance in units in the last place of the float nearest to `wanted`.
double ulps(float got, double wanted) {
  const float near = static_cast<float>(wanted);
  if (std::isnan(near) || std::isnan(got)) return std::isnan(near) && std::isnan(got) ? 0 : 1e30;
  if (std::isinf(near) || std::isinf(got)) return near == got ? 0 : 1e30;
  const float size = std::max(std::fabs(near), std::numeric_limits<float>::min());
  const double unit = static_cast<double>(std::nextafter(size, 1e38f)) - static_cast<double>(size);
  return std::fabs(static_cast<double>(got) - wanted) / unit;
}

// Floats of every size and sign, and the special ones.
std::vector<float> sweep() {
  std::vector<float> out{0.0f,
                         -0.0f,
                         1.0f,
                         -1.0f,
                         0.625f,
                         std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(),
                         std::nanf(""),
                         1e-45f,
                         -1e-45f,
                         3e38f,
                         -3e38f};
  for (uint32_t bits = 0; bits < 0x7f800000u; bits += 40009) {
    out.push_back(std::bit_cast<float>(bits));
    out.push_back(-std::bit_cast<float>(bits));
  }
  for (float x = -110; x < 110; x += 0.00317f) out.push_back(x);
  return out;
}

double exact(ElementOp op, double x) {
  if (op == ElementOp::sigmoid) return 1 / (1 + std::exp(-x));
  return scalar<double>(op, x, 0, 0);
}

TEST(Program, FunctionsAreNearTheExactValue) {
  const auto in = sweep();
  std::vector<float> out(in.size());
  const std::pair<ElementOp, double> kLimits[] = {{ElementOp::exp, 2},      {ElementOp::log, 2}, {ElementOp::tanh, 2},
                                                  {ElementOp::sigmoid, 2},  {ElementOp::erf, 2}, {ElementOp::sqrt, 1},
                                                  {ElementOp::softplus, 4}, {ElementOp::sin, 1}, {ElementOp::round, 0},
                                                  {ElementOp::floor, 0},    {ElementOp::ceil, 0}};
  for_each_target([&] {
    for (const auto& [op, limit] : kLimits) {
      run_f32(op, static_cast<int64_t>(in.size()), {in.data(), 1}, {}, {}, out.data());
      double worst = 0;
      float where = 0;
      for (size_t i = 0; i < in.size(); ++i)
        if (const double d = ulps(out[i], exact(op, in[i])); d > worst) worst = d, where = in[i];
      EXPECT_LE(worst, limit) << info(op).name << " at " << where;
    }
  });
}

TEST(Program, OperationsAgreeWithTheirPlainForm) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float values[] = {0, -0.0f, 1, -1, 0.5f, -2.5f, 3.5f, 7, infinity, -infinity, std::nanf("")};
  std::vector<float> a, b, c;
  for (float x : values)
    for (float y : values)
      for (float z : {-1.0f, 0.0f, 2.0f}) a.push_back(x), b.push_back(y), c.push_back(z);
  std::vector<float> out(a.size() + 1);
  for_each_target([&] {
    for (int code = 0; code < kElementOps; ++code) {
      const auto op = static_cast<ElementOp>(code);
      out.back() = 77;
      run_f32(op, static_cast<int64_t>(a.size()), {a.data(), 1}, {b.data(), 1}, {c.data(), 1}, out.data());
      EXPECT_EQ(out.back(), 77);
      for (size_t i = 0; i < a.size(); ++i) {
        const float wanted = scalar<float>(op, a[i], b[i], c[i]);
        if (std::isnan(wanted))
          EXPECT_TRUE(std::isnan(out[i])) << info(op).name << "(" << a[i] << ", " << b[i] << ", " << c[i] << ")";
        else
          EXPECT_TRUE(out[i] == wanted || std::fabs(out[i] - wanted) <= 2e-6f * (std::fabs(wanted) + 0.1f))
              << info(op).name << "(" << a[i] << ", " << b[i] << ", " << c[i] << ") is " << out[i] << ", not "
              << wanted;
      }
    }
  });
}

ElementwiseProgram random_program(Dice& dice) {
  ElementwiseProgram p;
  p.inputs = static_cast<int>(dice.between(1, 4));
  p.constants = dice.numbers(dice.between(0, 2));
  constexpr ElementOp kOps[] = {ElementOp::add, ElementOp::sub,  ElementOp::mul,   ElementOp::min,  ElementOp::max,
                                ElementOp::neg, ElementOp::relu, ElementOp::where, ElementOp::less, ElementOp::clip};
  for (int64_t n = dice.between(1, 8); n > 0; --n) {
    const auto reg = [&] { return static_cast<int>(dice.between(0, p.registers() - 1)); };
    p.code.push_back({kOps[dice.between(0, std::size(kOps) - 1)], reg(), reg(), reg()});
  }
  return p;
}

template <class T>
struct Array {
  std::vector<T> memory;
  std::vector<int64_t> dims, strides;
  int64_t start = 0;

  View view() {
    constexpr DType kType = std::is_same_v<T, float>     ? DType::f32
                            : std::is_same_v<T, double>  ? DType::f64
                            : std::is_same_v<T, int32_t> ? DType::i32
                                                         : DType::i64;
    return {kType, dims, strides, reinterpret_cast<std::byte*>(memory.data() + start)};
  }
};

// An input that broadcasts to `out`, with odd strides.
template <class T>
Array<T> random_input(Dice& dice, const std::vector<int64_t>& out) {
  Array<T> a;
  const size_t skip = static_cast<size_t>(dice.between(0, dice.coin() ? 0 : static_cast<int64_t>(out.size())));
  a.dims.assign(out.begin() + static_cast<ptrdiff_t>(skip), out.end());
  int64_t step = dice.coin() ? 1 : 2;
  a.strides.resize(a.dims.size());
  for (size_t i = a.dims.size(); i-- > 0;) {
    if (dice.between(0, 3) == 0) a.dims[i] = 1;
    a.strides[i] = step;
    if (dice.between(0, 5) == 0 && a.dims[i] > 0) a.start += step * (a.dims[i] - 1), a.strides[i] = -step;
    step *= a.dims[i];
    if (dice.between(0, 3) == 0) step += 1;
  }
  a.memory.resize(static_cast<size_t>(step + 1));
  for (T& x : a.memory) x = static_cast<T>(dice.between(-9, 9));
  return a;
}

template <class T>
T evaluate(const ElementwiseProgram& p, std::vector<T> registers) {
  for (float c : p.constants) registers.push_back(static_cast<T>(c));
  for (const auto& i : p.code)
    registers.push_back(scalar<T>(i.op, registers[static_cast<size_t>(i.a)], registers[static_cast<size_t>(i.b)],
                                  registers[static_cast<size_t>(i.c)]));
  return registers.back();
}

template <class T>
T entry(Array<T>& a, const std::vector<int64_t>& index) {
  int64_t at = a.start;
  for (size_t i = 0; i < a.dims.size(); ++i)
    if (a.dims[i] != 1) at += index[index.size() - a.dims.size() + i] * a.strides[i];
  return a.memory[static_cast<size_t>(at)];
}

template <class T>
void run_random(uint64_t seed) {
  Dice dice(seed);
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const ElementwisePlan plan = plan_program(random_program(dice));
  std::vector<int64_t> dims;
  for (int64_t rank = dice.between(0, 4), most = 2000; rank > 0; --rank) {
    dims.push_back(dice.size(most));
    most = std::max<int64_t>(most / std::max<int64_t>(dims.back(), 1), 3);
  }
  std::vector<Array<T>> in;
  std::vector<View> views;
  for (int i = 0; i < plan.program.inputs; ++i) in.push_back(random_input<T>(dice, dims));
  for (auto& a : in) views.push_back(a.view());
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  const bool gives_bool = plan.program.gives_bool();
  std::vector<T> out(static_cast<size_t>(count) + 1, T(77));
  std::vector<uint8_t> flags(static_cast<size_t>(count) + 1, 77);
  std::vector<int64_t> strides(dims.size());
  View to = views[0];
  to.dims = dims;
  to.strides = strides;
  to.data = gives_bool ? reinterpret_cast<std::byte*>(flags.data()) : reinterpret_cast<std::byte*>(out.data());
  if (gives_bool) to.dtype = DType::boolean;
  std::vector<double> scratch(static_cast<size_t>(elementwise_scratch(plan)) / 8 + 8);
  auto* bytes = reinterpret_cast<std::byte*>(scratch.data());
  const int64_t cut = dice.between(0, count);
  ASSERT_TRUE(run_elementwise(plan, views[0].dtype, views, to, cut, count, bytes));
  ASSERT_TRUE(run_elementwise(plan, views[0].dtype, views, to, 0, cut, bytes));
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<T> registers;
    for (auto& a : in) registers.push_back(entry(a, index));
    const T wanted = evaluate<T>(plan.program, registers);
    ASSERT_EQ(gives_bool ? static_cast<T>(flags[static_cast<size_t>(i)]) : out[static_cast<size_t>(i)], wanted) << i;
    for (size_t axis = dims.size(); axis-- > 0 && ++index[axis] == dims[axis];) index[axis] = 0;
  }
  ASSERT_EQ(out.back(), T(77));
  ASSERT_EQ(flags.back(), 77);
}

TEST(Program, RandomProgramsOnRandomShapes) {
  for_each_target([] {
    for (uint64_t seed = 1; seed <= 300; ++seed) run_random<float>(seed);
  });
  for (uint64_t seed = 1; seed <= 100; ++seed) run_random<double>(seed);
  for (uint64_t seed = 1; seed <= 100; ++seed) run_random<int64_t>(seed);
  for (uint64_t seed = 1; seed <= 100; ++seed) run_random<int32_t>(seed);
}

TEST(Program, DecodesWhatItEncodes) {
  Dice dice(3);
  const ElementwiseProgram p = random_program(dice);
  const auto again = decode_program(p.inputs, encode_code(p), p.constants);
  ASSERT_TRUE(again);
  EXPECT_EQ(encode_code(*again).size(), encode_code(p).size());
  const int64_t no_op[] = {99, 0, 0, 0}, no_register[] = {1, 0, 5, 0}, cut[] = {1, 0, 0}, future[] = {8, 1, 0, 0};
  for (std::span<const int64_t> code : {std::span<const int64_t>(no_op), std::span<const int64_t>(no_register),
                                        std::span<const int64_t>(cut), std::span<const int64_t>(future)})
    EXPECT_EQ(decode_program(1, code, {}).error().code, "elementwise.code");
}

}  // namespace
}  // namespace anyshape::simd
