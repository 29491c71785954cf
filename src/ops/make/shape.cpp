#include <algorithm>

#include "ops/common.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kShapeIn[] = {{"data"}};
constexpr Port kShapeOut[] = {{"shape"}};
constexpr Port kSizeOut[] = {{"size"}};
constexpr AttributeDef kShapeAttributes[] = {
    {"end", AttributeDef::integer, {15}},
    {"start", 0, {15}},
};

// `start` or `end`, clamped to 0..rank as the operator's text says.
size_t clamped(int64_t position, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  return static_cast<size_t>(std::clamp<int64_t>(position < 0 ? position + n : position, 0, n));
}

// What a value of unknown rank is told by: its shape may follow from the shapes of the inputs, from data, or from both.
Fact either() {
  Fact source;
  source.from_sizes = true;
  return source;
}

Result<Facts> infer_shape(const Call& call, InferContext& context) {
  const auto& dims = call.in(0).dims;
  if (!dims) return Facts{Fact::tensor(DType::i64, {context.fresh(either(), "rank")})};
  const size_t start = clamped(call.i("start"), dims->size());
  const size_t end = call.has_attr("end") ? std::max(start, clamped(call.i("end"), dims->size())) : dims->size();
  Dims part(dims->begin() + static_cast<ptrdiff_t>(start), dims->begin() + static_cast<ptrdiff_t>(end));
  return Facts{Fact::of_elements(DType::i64, {static_cast<int64_t>(part.size())}, part)};
}

Status reference_shape(const Call& call, KernelArgs& args) {
  const auto& dims = args.in(0).dims();
  const size_t start = clamped(call.i("start"), dims.size());
  for (int64_t i = 0; i < args.out(0).count(); ++i) args.out(0).set_int(i, dims[start + static_cast<size_t>(i)]);
  return {};
}

Result<Facts> infer_size(const Call& call, InferContext& context) {
  const auto& dims = call.in(0).dims;
  const Dim count = dims ? product(*dims) : context.fresh(either(), "size");
  return Facts{Fact::of_elements(DType::i64, {}, {count})};
}

Status reference_size(const Call&, KernelArgs& args) {
  args.out(0).set_int(0, args.in(0).count());
  return {};
}

constexpr Kernel kShapeKernels[] = {{"reference", reference_shape}};
constexpr Kernel kSizeKernels[] = {{"reference", reference_size}};

}  // namespace

constexpr OpDef kShape1{.name = "Shape",
                        .since = 1,
                        .sig = {kShapeIn, kShapeOut, "the dims of a tensor", kShapeAttributes},
                        .infer = infer_shape,
                        .kernels = kShapeKernels,
                        .reads_shapes_only = true};
constexpr OpDef kSize1{.name = "Size",
                       .since = 1,
                       .sig = {kShapeIn, kSizeOut, "the number of elements of a tensor"},
                       .infer = infer_size,
                       .kernels = kSizeKernels,
                       .reads_shapes_only = true};

}  // namespace anyshape::ops
