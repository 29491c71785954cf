#include <cmath>

#include "kernels/dispatch.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kOneHotIn[] = {{"indices"}, {"depth", Port::value}, {"values"}};
constexpr Port kTriluIn[] = {{"input"}, {"k", Port::optional | Port::value | Port::settled}};
constexpr Port kEyeIn[] = {{"input"}};
constexpr Port kOnehotOut[] = {{"output"}};
constexpr AttributeDef kEyeLikeAttributes[] = {
    {"dtype", AttributeDef::integer},
    {"k", 0},
};
constexpr AttributeDef kOneHotAttributes[] = {
    {"axis", -1},
};
constexpr AttributeDef kTriluAttributes[] = {
    {"upper", 1},
};
constexpr size_t kOnehotData[] = {0};

// Element i as an integer, fractions cut off. nullopt: no number of that size.
std::optional<int64_t> whole_at(const Tensor& tensor, int64_t i) {
  std::optional<int64_t> out;
  (void)kernels::visit_type<kernels::kNumbers>(tensor.dtype(), [&]<class T>(T) -> Status {
    const auto value = kernels::widen(tensor.at<T>(i));
    if constexpr (kernels::kIsFloat<T>) {
      if (std::fabs(static_cast<double>(value)) < 9e18) out = static_cast<int64_t>(value);
    } else {
      out = static_cast<int64_t>(value);
    }
    return {};
  });
  return out;
}

Result<Dim> depth_of(const Call& call, InferContext& context) {
  const Fact& depth = call.in(1);
  if (depth.dims)
    TRY_OK(context.require(Condition::eq(product(*depth.dims), 1), "onehot.depth",
                           "the depth must be one number, it is {}", print(depth)));
  std::optional<Dim> known = depth.single();
  if (!known && depth.constant && depth.constant->count() == 1) {
    const auto whole = whole_at(*depth.constant, 0);
    if (!whole) return refuse("onehot.depth", "the depth is no number");
    known = *whole;
  }
  const Dim value = known ? *known : context.fresh(depth, "depth", 1);
  TRY_OK(
      context.require(Condition::ge(value, 1), "onehot.depth", "the depth must be positive, it is {}", print(value)));
  return value;
}

Result<Facts> infer_onehot(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  if (dims.empty()) return refuse("onehot.rank", "the indices must not be a scalar");
  TRY(const size_t axis, normalize_axis(call.i("axis"), dims.size() + 1));
  if (call.in(2).dims) TRY_OK(require_same_dims(context, *call.in(2).dims, {2}, "the values of OneHot are [off, on]"));
  TRY(const Dim depth, depth_of(call, context));
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), depth);
  Fact out = Fact::tensor(call.in(2).dtype, std::move(dims));
  if (const auto bounds = call.in(2).value_bounds()) out.bounds = Bounds{bounds->lo, bounds->hi};
  return Facts{out};
}

Status reference_onehot(const Call& call, KernelArgs& args) {
  const Tensor &indices = args.in(0), &values = args.in(2);
  TRY(const size_t axis, normalize_axis(call.i("axis"), indices.rank() + 1));
  if (!args.out(0) || values.count() != 2) return unknown("onehot.depth", "the depth is not known");
  const int64_t depth = args.out(0).dims()[axis];
  const auto strides = row_strides(indices.dims());
  for_each_index(args.out(0).dims(), [&](std::span<const int64_t> at, int64_t n) {
    int64_t offset = 0;
    for (size_t i = 0; i < indices.rank(); ++i) offset += at[i < axis ? i : i + 1] * strides[i];
    const auto raw = whole_at(indices, offset);
    const bool on = raw && (*raw < 0 ? *raw + depth : *raw) == at[axis];
    kernels::copy_elements(args.out(0), n, values, on ? 1 : 0, 1);
  });
  return {};
}

constexpr Kernel kOneHot[] = {{"reference", reference_onehot}};

// Which diagonal, far ones pulled close enough not to overflow.
int64_t near(int64_t k) { return std::clamp(k, -kFar, kFar); }

Status reference_trilu(const Call& call, KernelArgs& args) {
  const Tensor& data = args.in(0);
  if (data.rank() < 2) return refuse("rank", "Trilu takes matrices");
  const bool upper = call.i("upper") != 0;
  const int64_t k = args.in(1) && args.in(1).count() == 1 ? near(args.in(1).int_at(0)) : 0;
  const auto strides = row_strides(data.dims());
  fill_by(args.out(0), data, [&](std::span<const int64_t> at) {
    const int64_t row = at[at.size() - 2], column = at[at.size() - 1];
    if (upper ? column < row + k : column > row + k) return int64_t{-1};
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) offset += at[i] * strides[i];
    return offset;
  });
  return {};
}

constexpr Kernel kTrilu[] = {{"reference", reference_trilu}};

Result<Facts> infer_trilu(const Call& call, InferContext& context) {
  TRY_OK(require_min_rank(call, 0, 2));
  TRY_OK(require_integers(call, 1));
  if (call.has(1) && call.in(1).dims)
    TRY_OK(context.require(Condition::eq(product(*call.in(1).dims), 1), "trilu.k", "k must be one number, it is {}",
                           print(call.in(1))));
  Facts out{call.in(0).type_only()};
  carry_all(call, kTrilu[0], kOnehotData, out);
  if (out[0].bounds) out[0].bounds = Bounds{min(out[0].bounds->lo, Dim(0)), max(out[0].bounds->hi, Dim(0))};
  return out;
}

Result<DType> eye_dtype(const Call& call) {
  if (!call.has_attr("dtype")) return call.in(0).dtype;
  const auto dtype = dtype_from_onnx(call.i("dtype"));
  if (!dtype) return refuse("eyelike.dtype", "{} is no element type", call.i("dtype"));
  return *dtype;
}

Result<Facts> infer_eye(const Call& call, InferContext&) {
  TRY_OK(require_rank(call, 0, 2));
  TRY(const DType dtype, eye_dtype(call));
  Fact out = Fact::tensor(dtype, *call.in(0).dims);
  const auto dims = out.numeric_dims();
  const auto count = dims ? element_count(*dims) : std::nullopt;
  const bool integers = is_integer(dtype) || dtype == DType::boolean;
  if (integers) out.bounds = Bounds{0, 1};
  if (!integers || !count || *count > static_cast<int64_t>(Fact::kMaxElements)) return Facts{out};
  Dims values;
  const int64_t k = near(call.i("k"));
  for (int64_t row = 0; row < (*dims)[0]; ++row)
    for (int64_t column = 0; column < (*dims)[1]; ++column) values.push_back(column == row + k ? 1 : 0);
  return Facts{Fact::of_elements(dtype, *out.dims, std::move(values))};
}

Status reference_eye(const Call& call, KernelArgs& args) {
  Tensor& out = args.out(0);
  const int64_t rows = out.dims()[0], columns = out.dims()[1], k = near(call.i("k"));
  return kernels::visit_type<kernels::kAll>(out.dtype(), [&]<class T>(T) -> Status {
    auto values = out.as_mutable<T>();
    for (int64_t row = 0; row < rows; ++row)
      if (row + k >= 0 && row + k < columns)
        values[static_cast<size_t>(row * columns + row + k)] = kernels::narrow<T>(kernels::Compute<T>(1));
    return {};
  });
}

constexpr Kernel kEye[] = {{"reference", reference_eye}};

}  // namespace

constexpr OpDef kEyeLike9{.name = "EyeLike",
                          .since = 9,
                          .sig = {kEyeIn, kOnehotOut, "ones on a diagonal", kEyeLikeAttributes},
                          .infer = infer_eye,
                          .kernels = kEye,
                          .reads_shapes_only = true};
constexpr OpDef kOneHot9{.name = "OneHot",
                         .since = 9,
                         .sig = {kOneHotIn, kOnehotOut, "an axis added that marks each index", kOneHotAttributes},
                         .infer = infer_onehot,
                         .kernels = kOneHot};
constexpr OpDef kTrilu14{.name = "Trilu",
                         .since = 14,
                         .sig = {kTriluIn, kOnehotOut, "the upper or lower triangle of matrices", kTriluAttributes},
                         .infer = infer_trilu,
                         .kernels = kTrilu};

}  // namespace anyshape::ops
