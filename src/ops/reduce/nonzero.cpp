#include <algorithm>

#include "base/temporary.h"
#include "kernels/dispatch.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kNonZeroIn[] = {{"X", Port::value | Port::settled}};
constexpr Port kNonZeroOut[] = {{"Y"}};
constexpr Port kCompressIn[] = {{"input"}, {"condition", Port::value | Port::settled}};
constexpr Port kCompressOut[] = {{"output"}};
constexpr AttributeDef kNonzeroAttributes[] = {
    {"axis", AttributeDef::integer},
};
constexpr int64_t kCountLimit = int64_t{1} << 24;

// An empty string counts as zero.
bool is_zero(const Tensor& tensor, int64_t i, bool& known) {
  bool zero = false;
  known = true;
  if (tensor.dtype() == DType::string) return tensor.strings()[static_cast<size_t>(i)].empty();
  if (tensor.dtype() == DType::c64) return tensor.at<float>(2 * i) == 0 && tensor.at<float>(2 * i + 1) == 0;
  if (tensor.dtype() == DType::c128) return tensor.at<double>(2 * i) == 0 && tensor.at<double>(2 * i + 1) == 0;
  known = kernels::visit_type<kernels::kAll>(tensor.dtype(), [&]<class T>(T) -> Status {
            zero = kernels::widen(tensor.at<T>(i)) == kernels::Compute<T>(0);
            return {};
          }).has_value();
  return zero;
}

// The number of entries that are not zero among the first `limit`, where each one is decided.
std::optional<int64_t> count_nonzero(InferContext& context, const Fact& fact, int64_t limit) {
  int64_t count = 0;
  if (fact.elements) {
    for (size_t i = 0; i < fact.elements->size() && static_cast<int64_t>(i) < limit; ++i) {
      const Tri zero = context.assumptions().prove(Condition::eq((*fact.elements)[i], 0));
      if (zero == Tri::unknown) return std::nullopt;
      count += zero == Tri::no ? 1 : 0;
    }
    return count;
  }
  if (!fact.constant || fact.constant->count() > kCountLimit) return std::nullopt;
  bool known = true;
  for (int64_t i = 0; known && i < std::min(limit, fact.constant->count()); ++i)
    count += is_zero(*fact.constant, i, known) ? 0 : 1;
  return known ? std::optional(count) : std::nullopt;
}

Result<Facts> infer_nonzero(const Call& call, InferContext& context) {
  const Fact& in = call.in(0);
  TRY(const Dims dims, call.dims(0));
  const auto exact = count_nonzero(context, in, kCountLimit);
  const Dim count = exact ? Dim(*exact) : context.fresh(in, "nonzero", 0, product(dims));
  Fact out = Fact::tensor(DType::i64, {dims.size(), count});
  Dim longest = dims.empty() ? Dim(1) : dims[0];
  for (size_t i = 1; i < dims.size(); ++i) longest = max(longest, dims[i]);
  out.bounds = Bounds{0, longest - 1};
  return Facts{out};
}

Status reference_nonzero(const Call&, KernelArgs& args) {
  const Tensor& in = args.in(0);
  Temporary<int64_t> hits;
  bool known = true;
  for (int64_t i = 0; known && i < in.count(); ++i)
    if (!is_zero(in, i, known)) hits.push_back(i);
  if (!known) return unknown("dtype", "no kernel for elements of type {}", name(in.dtype()));
  const auto found = static_cast<int64_t>(hits.size());
  const auto& dims = in.dims();
  const auto strides = row_strides(dims);
  TRY(args.out(0), Tensor::allocate(DType::i64, {static_cast<int64_t>(dims.size()), found}));
  for (size_t axis = 0; axis < dims.size(); ++axis)
    for (int64_t k = 0; k < found; ++k)
      args.out(0).set_int(static_cast<int64_t>(axis) * found + k,
                          hits[static_cast<size_t>(k)] / strides[axis] % dims[axis]);
  return {};
}

constexpr Kernel kNonZero[] = {{"reference", reference_nonzero}};

Result<Facts> infer_compress(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  if (dims.empty()) return refuse("compress.rank", "a scalar cannot be compressed");
  const Fact& condition = call.in(1);
  if (condition.dtype != DType::boolean && condition.dtype != DType::undefined)
    return refuse("dtype", "the condition must be bool, it is {}", name(condition.dtype));
  size_t axis = 0;
  if (!call.has_attr("axis")) {
    dims = {product(dims)};
  } else {
    TRY(axis, normalize_axis(call.i("axis"), dims.size()));
  }
  const Dim length = condition.dims ? product(*condition.dims) : dims[axis];
  const bool whole = context.proves(Condition::le(length, dims[axis]));
  const int64_t limit = whole ? kCountLimit : dims[axis].constant().value_or(-1);
  const auto exact = limit < 0 ? std::nullopt : count_nonzero(context, condition, limit);
  dims[axis] = exact ? Dim(*exact) : context.fresh(condition, "compress", 0, least_of(context, {dims[axis], length}));
  Fact out = Fact::tensor(call.in(0).dtype, std::move(dims));
  if (const auto bounds = call.in(0).value_bounds()) out.bounds = Bounds{bounds->lo, bounds->hi};
  return Facts{out};
}

Status reference_compress(const Call& call, KernelArgs& args) {
  Tensor data = args.in(0);
  size_t axis = 0;
  if (!call.has_attr("axis")) {
    data = data.reshaped({data.count()});
  } else {
    TRY(axis, normalize_axis(call.i("axis"), data.rank()));
  }
  Temporary<int64_t> kept;
  std::vector<int64_t> dims = data.dims();
  for (int64_t i = 0; i < std::min(args.in(1).count(), dims[axis]); ++i)
    if (args.in(1).int_at(i) != 0) kept.push_back(i);
  dims[axis] = static_cast<int64_t>(kept.size());
  TRY(args.out(0), Tensor::allocate(data.dtype(), dims));
  const auto strides = row_strides(data.dims());
  fill_by(args.out(0), data, [&](std::span<const int64_t> index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i)
      offset += (i == axis ? kept[static_cast<size_t>(index[i])] : index[i]) * strides[i];
    return offset;
  });
  return {};
}

constexpr Kernel kCompress[] = {{"reference", reference_compress}};

}  // namespace

constexpr OpDef kCompress9{
    .name = "Compress",
    .since = 9,
    .sig = {kCompressIn, kCompressOut, "entries of an axis where a condition holds", kNonzeroAttributes},
    .infer = infer_compress,
    .kernels = kCompress};
constexpr OpDef kNonZero9{.name = "NonZero",
                          .since = 9,
                          .sig = {kNonZeroIn, kNonZeroOut, "the positions of entries that are not zero"},
                          .infer = infer_nonzero,
                          .kernels = kNonZero};

}  // namespace anyshape::ops
