#include <numeric>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

Ref equal_to(Lowering& l, Ref a, Ref b) { return l.op("Equal", {a, b}); }
Ref differs(Lowering& l, Ref a, Ref b) { return l.op("Not", {l.op("Equal", {a, b})}); }

template <Ref (*Test)(Lowering&, Ref, Ref)>
Arg compared(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  return Test(l, x, y);
}

template <const char* Type>
Arg logical(Lowering& l, const Args& a) {
  return l.op(Type, {l.operand(a.arg("self"), DType::boolean), l.operand(a.arg("other"), DType::boolean)});
}

Arg logical_not(Lowering& l, const Args& a) { return l.op("Not", {l->cast(a.self(), DType::boolean)}); }

// The bits of whole numbers as a new last axis, low to high: n of them, for a sign bit one more.
Ref bits_of(Lowering& l, Ref x, int64_t count, bool is_signed) {
  std::vector<int64_t> powers;
  for (int64_t i = 0; i < count; ++i) powers.push_back(int64_t{1} << i);
  const Ref wide = l->unsqueeze(l->cast(x, DType::i64), {-1});
  const Ref bits = l.op("Mod", {floor_quotient(l, wide, l->ints(powers)), l->number(int64_t{2})});
  if (!is_signed) return bits;
  return l->concat({bits, l->cast(less(l, wide, l->number(int64_t{0})), DType::i64)}, -1);
}

Ref and_by_bits(Lowering& l, Ref a, Ref b) {
  const DType dtype = l->dtype(a);
  const bool is_signed = is_signed_integer(dtype);
  const int64_t count = std::min(63, bits(dtype) - (is_signed ? 1 : 0));
  std::vector<int64_t> weights;
  for (int64_t i = 0; i < count; ++i) weights.push_back(int64_t{1} << i);
  if (is_signed) weights.push_back(count == 63 ? INT64_MIN : -(int64_t{1} << count));
  const Ref both = l.op("Mul", {bits_of(l, a, count, is_signed), bits_of(l, b, count, is_signed)});
  return l->cast(l.reduce("ReduceSum", l.op("Mul", {both, l->ints(weights)}), {-1}, false), dtype);
}

// Before opset 18 there are no operators on the bits of numbers.
Ref bits_and(Lowering& l, Ref a, Ref b) {
  if (l->opset() >= 18) return l.op("BitwiseAnd", {a, b});
  for (const auto& [x, mask] : {std::pair(a, b), std::pair(b, a)}) {
    const Tensor* known = l->tensor(mask);
    if (!known || known->count() != 1) continue;
    const int64_t value = known->int_at(0);
    if (value >= 0 && value < INT64_MAX / 2 && (value & (value + 1)) == 0 && is_signed_integer(l->dtype(x)))
      return l.op("Mod", {x, l->integer(value + 1, l->dtype(x))});
  }
  return and_by_bits(l, a, b);
}

enum class Bits { conjunction, disjunction, difference };

template <Bits Kind>
Arg bitwise(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  const bool truths = l->dtype(x) == DType::boolean;
  if constexpr (Kind == Bits::conjunction) return truths ? l.op("And", {x, y}) : bits_and(l, x, y);
  constexpr bool kEither = Kind == Bits::disjunction;
  if (truths) return l.op(kEither ? "Or" : "Xor", {x, y});
  if (l->opset() >= 18) return l.op(kEither ? "BitwiseOr" : "BitwiseXor", {x, y});
  Ref common = bits_and(l, x, y);
  if (!kEither) common = l.op("Mul", {common, l->integer(2, l->dtype(x))});
  return l.op("Sub", {l.op("Add", {x, y}), common});
}

// -x - 1; a number without sign wraps.
Arg bitwise_not(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (l->dtype(x) == DType::boolean) return l.op("Not", {x});
  if (l->opset() >= 18) return l.op("BitwiseNot", {x});
  const Ref wide = l->cast(x, DType::i64);
  return l->cast(l.op("Sub", {l->number(int64_t{-1}), wide}), l->dtype(x));
}

template <bool Left>
Arg shift(Lowering& l, const Args& a) {
  const auto [x, count] = l.promoted(a, "self", "other");
  const Ref power = l.op("Pow", {l->integer(2, l->dtype(x)), count});
  return Left ? l.op("Mul", {x, power}) : floor_quotient(l, x, power);
}

Arg isclose(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  const DType wide = is_float(l->dtype(x)) ? l->dtype(x) : DType::f64;
  const Ref left = l->cast(x, wide), right = l->cast(y, wide);
  const Ref gap = l.op("Abs", {l.op("Sub", {left, right})});
  const Ref room = l.op("Add", {l.op("Mul", {l.op("Abs", {right}), like(l, right, a.f("rtol", 1e-5))}),
                                like(l, right, a.f("atol", 1e-8))});
  // Beside an infinite number everything finite would be close.
  const Ref finite = less(l, gap, like(l, gap, std::numeric_limits<double>::infinity()));
  Ref close = l.op("Or", {equal_to(l, left, right), l.op("And", {finite, at_most(l, gap, room)})});
  if (a.flag("equal_nan")) close = l.op("Or", {close, l.op("And", {l.op("IsNaN", {left}), l.op("IsNaN", {right})})});
  return close;
}

Arg equal_compare(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  if (l->rank(x) != l->rank(y)) return false;
  for (size_t i = 0; i < l->rank(x); ++i) {
    if (l->same(l->dim(x, i), l->dim(y, i))) continue;
    if (l->proves(Condition::ne(l->dim(x, i), l->dim(y, i)))) return false;
    l->refuse("aten.symbolic", "aten::equal of tensors whose sizes {} and {} may differ", print(l->dims(x)),
              print(l->dims(y)));
    return {};
  }
  const Ref wrong = l.reduce("ReduceSum", l->cast(differs(l, x, y), DType::i64), {}, false);
  return l.op("Equal", {wrong, l->number(int64_t{0})});
}

// torch.where(condition): the indices of what is true, one tensor for each axis.
Arg where_true(Lowering& l, Ref condition) {
  const Ref found = l.op("NonZero", {condition});
  Refs rows;
  for (size_t i = 0; i < l->rank(condition); ++i)
    rows.push_back(l->gather(found, l->number(static_cast<int64_t>(i)), 0));
  return rows;
}

Arg where_compare(Lowering& l, const Args& a) {
  const Ref condition = l->cast(a.tensor("condition"), DType::boolean);
  if (!a.has("self") && !a.has("other")) return where_true(l, condition);
  const auto [x, y] = l.promoted(a, "self", "other");
  return choose(l, condition, x, y);
}

Arg masked_fill_compare(Lowering& l, const Args& a) {
  const Ref x = a.self();
  return choose(l, l->cast(a.tensor("mask"), DType::boolean), l.operand(a.arg("value"), l->dtype(x)), x);
}

Arg clamp(Lowering& l, const Args& a) {
  const Arg &x = a.arg("self"), &min = a.arg("min"), &max = a.arg("max");
  const DType dtype = l.common_type({&x, &min, &max});
  const auto bound = [&](const Arg& arg) { return arg.is_none() ? Ref() : l.operand(arg, dtype); };
  const Ref lo = bound(min), hi = bound(max);
  Ref out = l.operand(x, dtype);
  if (l->rank(lo) == 0 && l->rank(hi) == 0 && dtype != DType::boolean) return l.clip(out, lo, hi);
  if (lo) out = larger(l, out, lo);
  return hi ? smaller(l, out, hi) : out;
}

Arg isin(Lowering& l, const Args& a) {
  const Arg& left = a.arg(a.has("elements") ? "elements" : "element");
  const Arg& right = a.arg(a.has("test_elements") ? "test_elements" : "test_element");
  const DType dtype = l.common_type({&left, &right});
  const Ref x = l.operand(left, dtype), set = l.operand(right, dtype);
  const Ref flat = l->reshape(set, {product(l->dims(set))});
  const Ref hits = l->cast(equal_to(l, l->unsqueeze(x, {-1}), flat), DType::i32);
  const Ref found = l->cast(l.reduce("ReduceSum", hits, {-1}, false), DType::boolean);
  return a.flag("invert") ? l.op("Not", {found}) : found;
}

constexpr char kAnd[] = "And", kOr[] = "Or", kXor[] = "Xor";
constexpr auto kBitAnd = bitwise<Bits::conjunction>;
constexpr auto kBitOr = bitwise<Bits::disjunction>;
constexpr auto kBitXor = bitwise<Bits::difference>;

constexpr AtenOp kCompareOps[] = {
    {"__and__", kBitAnd},
    {"__lshift__", shift<true>},
    {"__or__", kBitOr},
    {"__rshift__", shift<false>},
    {"__xor__", kBitXor},
    {"bitwise_and", kBitAnd},
    {"bitwise_left_shift", shift<true>},
    {"bitwise_not", bitwise_not},
    {"bitwise_or", kBitOr},
    {"bitwise_right_shift", shift<false>},
    {"bitwise_xor", kBitXor},
    {"clamp", clamp},
    {"clamp_max", clamp},
    {"clamp_min", clamp},
    {"clip", clamp},
    {"eq", compared<equal_to>},
    {"equal", equal_compare},
    {"ge", compared<at_least>},
    {"greater", compared<greater>},
    {"greater_equal", compared<at_least>},
    {"gt", compared<greater>},
    {"isclose", isclose},
    {"isin", isin},
    {"le", compared<at_most>},
    {"less", compared<less>},
    {"less_equal", compared<at_most>},
    {"logical_and", logical<kAnd>},
    {"logical_not", logical_not},
    {"logical_or", logical<kOr>},
    {"logical_xor", logical<kXor>},
    {"lt", compared<less>},
    {"masked_fill", masked_fill_compare},
    {"ne", compared<differs>},
    {"not_equal", compared<differs>},
    {"where", where_compare},
};

}  // namespace

std::span<const AtenOp> compare_ops() { return kCompareOps; }

}  // namespace anyshape::lower
