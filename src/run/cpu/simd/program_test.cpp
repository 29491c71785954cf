#include "run/cpu/simd/program.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "kernels/program_scalar.h"
#include "run/cpu/simd/program_simd.h"
#include "run/cpu/simd/simd_testing.h"

namespace anyshape::simd {
namespace {

constexpr double kApart = 1e30;  // one is NaN or infinite, the other is not

double unit_of(float x) {
  const float size = std::max(std::fabs(x), std::numeric_limits<float>::min());
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

// Distance in units in the last place of the float nearest to `wanted`.
double ulps(float got, double wanted) {
  const float near = static_cast<float>(wanted);
  if (std::isnan(near) || std::isnan(got)) return std::isnan(near) && std::isnan(got) ? 0 : kApart;
  if (std::isinf(near) || std::isinf(got)) return near == got ? 0 : kApart;
  return std::fabs(static_cast<double>(got) - wanted) / unit_of(near);
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

// How far `got` is from the plain function, in the units of the row's bound.
double distance(ElementOp op, float got, const float* x, double wanted) {
  const double own = ulps(got, wanted);
  if (own >= kApart || !std::isfinite(x[0])) return own;
  const double apart = std::fabs(static_cast<double>(got) - wanted), first = std::fabs(static_cast<double>(x[0]));
  switch (info_of(op).error.of) {
    case ElementError::Of::value:
      return own;
    case ElementError::Of::operand:
      return std::min(own, apart / unit_of(x[0]));
    case ElementError::Of::underflow:
      return std::min(own, apart / std::max(first * 0x1p-149, 0x1p-149));
  }
  return own;
}

double distance(ElementOp op, float got, const float* x) {
  return std::min(distance(op, got, x, kernels::scalar<double>(op, x[0], x[1], x[2])),
                  distance(op, got, x, static_cast<double>(kernels::scalar<float>(op, x[0], x[1], x[2]))));
}

// Operands: floats of every size and sign with all that is special, then what activations mostly see.
float random_operand(Dice& dice) {
  constexpr float kSpecial[] = {0.0f, -0.0f, 1, -1, 0.5f, 2, 3, 0x1p-126f, -0x1p-126f, 1e-45f, -1e-45f, 3e38f, -3e38f};
  switch (dice.between(0, 3)) {
    case 0:
      return kSpecial[dice.between(0, std::size(kSpecial) - 1)];
    case 1: {
      const auto bits = std::bit_cast<float>(static_cast<uint32_t>(dice.between(0, 0xffffffff)));
      return std::isnan(bits) ? std::nanf("") : bits;
    }
    default:
      return dice.number(dice.coin() ? 4.0f : 110.0f);
  }
}

// ANYSHAPE_SEED=N draws others.
uint64_t seed_of_this_run() {
  const char* given = std::getenv("ANYSHAPE_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

struct Operands {
  std::vector<float> a, b, c;
  void add(float x, float y, float z) { a.push_back(x), b.push_back(y), c.push_back(z); }
};

Operands operands_of_every_kind(uint64_t seed) {
  Operands out;
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {0, -0.0f, 1, -1, 2.5f, -7, infinity, -infinity, std::nanf(""), 1e-45f, -1e-40f, 3e38f};
  for (float x : special)
    for (float y : special)
      for (float z : special) out.add(x, y, z);
  for (float x : sweep()) out.add(x, 1, 0.5f);
  Dice dice(seed);
  for (int i = 0; i < 100000; ++i) out.add(random_operand(dice), random_operand(dice), random_operand(dice));
  return out;
}

TEST(Program, EveryVectorFunctionIsWithinItsBoundOfThePlainOne) {
  const uint64_t seed = seed_of_this_run();
  const Operands in = operands_of_every_kind(seed);
  std::vector<float> out(in.a.size() + 1);
  for_each_target([&] {
    for (size_t code = 0; code < std::size(kElementOps); ++code) {
      const auto op = static_cast<ElementOp>(code);
      const ElementOpInfo& row = info_of(op);
      out.back() = 77;
      run_f32(op, static_cast<int64_t>(in.a.size()), {in.a.data(), 1}, {in.b.data(), 1}, {in.c.data(), 1}, out.data());
      EXPECT_EQ(out.back(), 77);
      double worst = 0;
      size_t where = 0;
      for (size_t i = 0; i < in.a.size(); ++i) {
        const float x[] = {in.a[i], in.b[i], in.c[i]};
        if (const double d = distance(op, out[i], x); d > worst) worst = d, where = i;
      }
      EXPECT_LE(worst, row.error.ulps) << row.name << "(" << in.a[where] << ", " << in.b[where] << ", " << in.c[where]
                                       << ") is " << out[where] << ", seed " << seed;
    }
  });
}

TEST(Program, PowersWithOneExponent) {
  const auto in = sweep();
  std::vector<float> out(in.size());
  for_each_target([&] {
    for (float exponent : {2.0f, 3.0f, -1.0f, 0.5f}) {
      const std::vector<float> splat(kSplat, exponent);
      run_f32(ElementOp::pow, static_cast<int64_t>(in.size()), {in.data(), 1}, {splat.data(), 0}, {}, out.data());
      for (size_t i = 0; i < in.size(); ++i)
        EXPECT_LE(ulps(out[i], std::pow(static_cast<double>(in[i]), exponent)), 1.5) << in[i] << " ^ " << exponent;
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
    registers.push_back(kernels::scalar<T>(i.op, registers[static_cast<size_t>(i.a)],
                                           registers[static_cast<size_t>(i.b)], registers[static_cast<size_t>(i.c)]));
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
  // Short rows, as of blocked channels.
  if (!dims.empty() && dice.between(0, 2) == 0) dims.back() = int64_t{1} << dice.between(1, 4);
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
  int64_t cut = dice.between(0, count);
  if (dice.coin()) cut = cut / 16 * 16;
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
