#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// BitwiseAnd, BitwiseOr, BitwiseXor, BitShift.
namespace anyshape::ops {
namespace {

enum class Bits { band, bor, bxor, shift };

constexpr Port kBitwiseIn[] = {{"A"}, {"B"}};
constexpr Port kBitwiseOut[] = {{"C"}};
constexpr AttributeDef kShiftAttributes[] = {{"direction", AttributeDef::string, AttributeDef::required}};

// x & (2^k - 1) of any integer in two's complement, and shifts by a constant, are sums and quotients.
Ratio entry(Bits op, InferContext& context, bool left, Dim a, Dim b) {
  if (op == Bits::band && a.is_constant()) std::swap(a, b);
  const auto n = b.constant();
  if (!n || *n < 0) return unknown_ratio();
  if (op == Bits::band) {
    const bool low_bits = *n < (int64_t{1} << 62) && (*n & (*n + 1)) == 0;
    return low_bits ? Ratio{context.simplify(mod(a, Dim(*n + 1)))} : unknown_ratio();
  }
  if (op != Bits::shift || *n > 61) return unknown_ratio();
  const Dim power = int64_t{1} << *n;
  return {left ? a * power : context.simplify(floordiv(a, power))};
}

bool shifts_left(Bits op, const Call& call) { return op == Bits::shift && call.s("direction") == "LEFT"; }

template <Bits op>
Result<Facts> infer_bitwise(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskInt));
  TRY_OK(require_tensor(call, 1, kMaskInt));
  TRY(const DType dtype, common_dtype(call, 0, 1));
  if (op == Bits::shift) {
    const auto direction = call.s("direction");
    if (direction != "LEFT" && direction != "RIGHT")
      return refuse("bitshift.direction", "the direction of BitShift is LEFT or RIGHT, not {:?}", direction);
    if (call.version() < 28 && is_signed_integer(dtype))
      return refuse("dtype", "BitShift takes unsigned integers before opset 28, not {}", name(dtype));
  }
  TRY(auto dims, elementwise_dims(call, context));
  Fact out = typed(dtype, std::move(dims));
  const bool left = shifts_left(op, call);
  map_ratios(
      call, context, [&](std::span<const Ratio> in) { return entry(op, context, left, in[0].num, in[1].num); }, out);
  return Facts{out};
}

template <class T>
T shifted(T x, T by, bool left) {
  constexpr int width = static_cast<int>(sizeof(T)) * 8;
  const bool past = by < 0 || static_cast<uint64_t>(by) >= static_cast<uint64_t>(width);
  if (past) return !left && x < 0 ? static_cast<T>(-1) : T(0);
  if (!left) return static_cast<T>(x >> by);
  return static_cast<T>(static_cast<uint64_t>(x) << by);
}

template <Bits op>
Status reference_bitwise(const Call& call, KernelArgs& args) {
  const Tensor &a = args.in(0), &b = args.in(1);
  if (a.dtype() != b.dtype() || a.dtype() != args.out(0).dtype())
    return unknown("dtype", "{} of {} and {}", call.type(), name(a.dtype()), name(b.dtype()));
  const bool left = shifts_left(op, call);
  return kernels::visit_type<kernels::kInts>(a.dtype(), [&]<class T>(T) -> Status {
    return kernels::apply<T, T, T>(a, b, args.out(0), [&](T x, T y) -> T {
      if constexpr (op == Bits::band) return static_cast<T>(x & y);
      if constexpr (op == Bits::bor) return static_cast<T>(x | y);
      if constexpr (op == Bits::bxor) return static_cast<T>(x ^ y);
      return shifted(x, y, left);
    });
  });
}

template <Bits op>
constexpr Kernel kBitwiseKernels[] = {{"reference", reference_bitwise<op>}};

template <Bits op>
constexpr OpDef record_bitwise(std::string_view op_name, int since, std::string_view doc,
                               std::span<const AttributeDef> attributes = {}) {
  return {.name = op_name,
          .since = since,
          .sig = {kBitwiseIn, kBitwiseOut, doc, attributes},
          .infer = infer_bitwise<op>,
          .kernels = kBitwiseKernels<op>};
}

}  // namespace

constexpr OpDef kBitShift11 =
    record_bitwise<Bits::shift>("BitShift", 11, "bits shifted left or right", kShiftAttributes);
constexpr OpDef kBitwiseAnd18 = record_bitwise<Bits::band>("BitwiseAnd", 18, "and of the bits");
constexpr OpDef kBitwiseOr18 = record_bitwise<Bits::bor>("BitwiseOr", 18, "or of the bits");
constexpr OpDef kBitwiseXor18 = record_bitwise<Bits::bxor>("BitwiseXor", 18, "exclusive or of the bits");

}  // namespace anyshape::ops
