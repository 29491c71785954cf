#include <algorithm>

#include "lower/lowering.h"

namespace anyshape::lower {
namespace {

using Types = uint32_t;

constexpr Types bit(DType dtype) { return Types{1} << static_cast<int>(dtype); }
template <class... D>
constexpr Types types(D... dtypes) {
  return (bit(dtypes) | ...);
}

constexpr Types kSingle = types(DType::f32, DType::f16);
constexpr Types kReal = kSingle | bit(DType::f64);
constexpr Types kWide = types(DType::i32, DType::i64);
constexpr Types kBytes = types(DType::i8, DType::u8);
constexpr Types kInts = kWide | kBytes | types(DType::i16, DType::u16, DType::u32, DType::u64);
constexpr Types kBool = bit(DType::boolean);
constexpr Types kBrain = bit(DType::bf16);
constexpr Types kLong = types(DType::u32, DType::u64);

// From opset `since` on ONNX Runtime's CPU kernels of an operator take these types. `first`: the operand that gives
// the type; the ones after it up to `last` have it too. `kept`: the result has it.
struct Row {
  std::string_view type;
  int64_t since;
  Types types;
  size_t first = 0, last = 0;
  bool kept = true;
};

constexpr size_t kAll = 64;

// Sorted by type, then by opset. Operators without a row are taken to have kernels for all their types.
constexpr Row kRows[] = {
    {"Abs", 1, kReal | kInts},
    {"Acos", 1, kSingle},
    {"Acosh", 1, kSingle},
    {"Add", 1, kReal | kWide | kLong, 0, 1},
    {"Add", 14, kReal | kInts, 0, 1},
    {"ArgMax", 1, kReal | kWide, 0, 0, false},
    {"ArgMax", 13, kReal | kWide | kBytes, 0, 0, false},
    {"ArgMin", 1, kReal | kWide, 0, 0, false},
    {"ArgMin", 13, kReal | kWide | kBytes, 0, 0, false},
    {"Asin", 1, kSingle},
    {"Asinh", 1, kSingle},
    {"Atan", 1, kSingle},
    {"Atanh", 1, kSingle},
    {"AveragePool", 1, kSingle},
    {"BatchNormalization", 1, kReal, 0, 4},
    {"Ceil", 1, kReal},
    {"Celu", 1, bit(DType::f32)},
    {"Clip", 1, kSingle, 0, 2},
    {"Clip", 12, kReal | kWide | kBytes | kLong, 0, 2},
    {"Conv", 1, kSingle, 0, 2},
    {"ConvTranspose", 1, kSingle, 0, 2},
    {"Cos", 1, kReal},
    {"Cosh", 1, kSingle},
    {"CumSum", 1, types(DType::f32, DType::f64) | kWide},
    {"DFT", 17, types(DType::f32, DType::f64)},
    {"Div", 1, kReal | kWide | kLong, 0, 1},
    {"Div", 14, kReal | kInts, 0, 1},
    {"Einsum", 12, types(DType::f32, DType::f64) | kWide, 0, kAll},
    {"Elu", 1, kSingle},
    {"Equal", 1, kReal | kInts | kBool, 0, 1, false},
    {"Erf", 1, kSingle},
    {"Exp", 1, kReal},
    {"Expand", 1, kReal | kInts | kBool},
    {"Floor", 1, kReal},
    {"Gelu", 20, kSingle},
    {"Gemm", 1, kReal, 0, 2},
    {"GlobalAveragePool", 1, kSingle},
    {"GlobalMaxPool", 1, kSingle},
    {"Greater", 1, kReal | kInts, 0, 1, false},
    {"GreaterOrEqual", 12, kReal | kInts, 0, 1, false},
    {"GridSample", 16, types(DType::f32, DType::f64), 0, 1},
    {"HardSigmoid", 1, kSingle},
    {"HardSwish", 14, kSingle},
    {"InstanceNormalization", 1, kSingle, 0, 2},
    {"IsInf", 1, types(DType::f32, DType::f64), 0, 0, false},
    {"IsInf", 20, kReal | kBrain, 0, 0, false},
    {"IsNaN", 1, kReal, 0, 0, false},
    {"IsNaN", 20, kReal | kBrain, 0, 0, false},
    {"LayerNormalization", 17, kReal, 0, 2},
    {"LeakyRelu", 1, kSingle},
    {"Less", 1, kReal | kInts, 0, 1, false},
    {"LessOrEqual", 12, kReal | kInts, 0, 1, false},
    {"Log", 1, kReal},
    {"LogSoftmax", 1, kReal},
    {"MatMul", 1, kReal | kWide | kLong, 0, 1},
    {"Max", 1, kReal, 0, kAll},
    {"Max", 12, kReal | kWide | kBytes | kLong, 0, kAll},
    {"MaxPool", 1, kReal | kBytes},
    {"Min", 1, kReal, 0, kAll},
    {"Min", 12, kReal | kWide | kBytes | kLong, 0, kAll},
    {"Mish", 18, kSingle},
    {"Mod", 1, kReal | kInts, 0, 1},
    {"Mul", 1, kReal | kWide | kLong, 0, 1},
    {"Mul", 14, kReal | kInts, 0, 1},
    {"Neg", 1, kReal | kWide | types(DType::i8, DType::i16)},
    {"NonZero", 1, kSingle | kWide | kBool | bit(DType::u8), 0, 0, false},
    {"PRelu", 1, kSingle, 0, 1},
    {"Pow", 1, kReal, 0, 1},
    {"Pow", 12, kReal | kWide, 0, 1},
    {"Range", 1, types(DType::f32, DType::f64, DType::i16) | kWide, 0, 2},
    {"Reciprocal", 1, kReal},
    {"ReduceL1", 1, kReal | kWide},
    {"ReduceL2", 1, kReal | kWide},
    {"ReduceLogSumExp", 1, kReal | kWide},
    {"ReduceMax", 1, kReal | kWide},
    {"ReduceMax", 13, kReal | kWide | kBytes},
    {"ReduceMax", 20, kReal | kWide | kBytes | kBool},
    {"ReduceMean", 1, kReal | kWide},
    {"ReduceMin", 1, kReal | kWide},
    {"ReduceMin", 13, kReal | kWide | kBytes},
    {"ReduceMin", 20, kReal | kWide | kBytes | kBool},
    {"ReduceProd", 1, kReal | kWide},
    {"ReduceSum", 1, kReal | kWide},
    {"ReduceSumSquare", 1, kReal | kWide},
    {"Relu", 1, kReal},
    {"Resize", 11, kSingle | kBytes | bit(DType::i32)},
    {"Round", 1, kReal},
    {"Selu", 1, kSingle},
    {"Shrink", 1, kReal | kInts},
    {"Sigmoid", 1, kReal},
    {"Sign", 1, kReal | kInts},
    {"Sin", 1, kReal},
    {"Sinh", 1, kSingle},
    {"Softmax", 1, kReal},
    {"Softplus", 1, kSingle},
    {"Softsign", 1, kSingle},
    {"Sqrt", 1, kReal},
    {"Sub", 1, kReal | kWide | kLong, 0, 1},
    {"Sub", 14, kReal | kInts, 0, 1},
    {"Tan", 1, kSingle},
    {"Tanh", 1, kReal},
    {"Tile", 1, kReal | kInts | kBool},
    {"TopK", 1, kReal | kWide | types(DType::i8, DType::u8, DType::i16)},
    {"Trilu", 14, kReal | kWide | kBool},
    {"Where", 1, kReal | kWide | kBytes | bit(DType::u32), 1, 2},
};

const Row* row_of(std::string_view type, int64_t opset) {
  const Row* found = nullptr;
  const auto before = [](const Row& row, std::string_view wanted) { return row.type < wanted; };
  for (const Row* row = std::lower_bound(std::begin(kRows), std::end(kRows), type, before);
       row != std::end(kRows) && row->type == type && row->since <= opset; ++row)
    found = row;
  return found;
}

// The first of these that the kernels take can hold every value of `dtype`, or comes closest.
DType nearest(DType dtype, Types taken) {
  static constexpr DType kForFloats[] = {DType::f32, DType::f64};
  static constexpr DType kForSmall[] = {DType::i32, DType::i64, DType::f32, DType::f64};
  static constexpr DType kForWide[] = {DType::i64, DType::f64, DType::f32};
  if ((bit(dtype) & taken) != 0) return dtype;
  const bool small = dtype == DType::boolean || (is_integer(dtype) && bits(dtype) <= 16);
  const auto pick = [&](auto& list) {
    const auto it = std::find_if(std::begin(list), std::end(list), [&](DType one) { return (bit(one) & taken) != 0; });
    return it == std::end(list) ? dtype : *it;
  };
  if (small) return pick(kForSmall);
  if (is_integer(dtype)) return pick(kForWide);
  return is_float(dtype) ? pick(kForFloats) : dtype;
}

}  // namespace

DType Lowering::kernel_type(std::string_view type, DType dtype) const {
  const Row* row = row_of(type, builder_.opset());
  return row && dtype != DType::undefined ? nearest(dtype, row->types) : dtype;
}

Ref Lowering::op(std::string_view type, const Refs& in, std::vector<Attribute> attributes) {
  const Row* row = row_of(type, builder_.opset());
  if (builder_.failed() || !row || row->first >= in.size()) return builder_.op(type, in, std::move(attributes));
  const DType given = builder_.dtype(in[row->first]), used = kernel_type(type, given);
  if (given == used) return builder_.op(type, in, std::move(attributes));
  Refs operands = in;
  for (size_t i = row->first; i <= std::min(row->last, in.size() - 1); ++i)
    if (operands[i]) operands[i] = builder_.cast(operands[i], used);
  const Ref result = builder_.op(type, operands, std::move(attributes));
  return row->kept ? builder_.cast(result, given) : result;
}

Ref Lowering::reduce(std::string_view type, Ref x, std::vector<int64_t> axes, bool keepdims) {
  const DType given = builder_.dtype(x);
  return builder_.cast(builder_.reduce(type, builder_.cast(x, kernel_type(type, given)), std::move(axes), keepdims),
                       given);
}

Ref Lowering::softmax(Ref x, int64_t axis, bool logarithm) {
  const DType given = builder_.dtype(x);
  const std::string_view type = logarithm ? "LogSoftmax" : "Softmax";
  return builder_.cast(builder_.softmax(builder_.cast(x, kernel_type(type, given)), axis, logarithm), given);
}

Ref Lowering::clip(Ref x, Ref lo, Ref hi) {
  const DType given = builder_.dtype(x);
  if (given == DType::f64 && builder_.opset() < 12) {
    if (lo) x = op("Max", {x, lo});
    return hi ? op("Min", {x, hi}) : x;
  }
  const DType used = kernel_type(is_float(given) || builder_.opset() >= 12 ? "Clip" : "Where", given);
  const auto as_used = [&](Ref bound) { return bound ? builder_.cast(bound, used) : bound; };
  return builder_.cast(builder_.clip(builder_.cast(x, used), as_used(lo), as_used(hi)), given);
}

std::pair<Ref, Ref> Lowering::topk(Ref x, Dim k, int64_t axis, bool largest, bool sorted) {
  const DType given = builder_.dtype(x);
  const auto [values, indices] = builder_.topk(builder_.cast(x, kernel_type("TopK", given)), k, axis, largest, sorted);
  return {builder_.cast(values, given), indices};
}

}  // namespace anyshape::lower
