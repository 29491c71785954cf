#include <algorithm>

#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kGatherNdIn[] = {{"data"}, {"indices", Port::value | Port::settled}};
constexpr Port kGatherNdOut[] = {{"output"}};
constexpr AttributeDef kGatherElementsAttributes[] = {
    {"axis", 0},
};
constexpr AttributeDef kGatherNDAttributes[] = {
    {"batch_dims", 0, {12}},
};
constexpr size_t kGatherNdData[] = {0};

Status reference_elements(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in(0), &indices = args.in(1);
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.rank()));
  const auto strides = row_strides(data.dims());
  Status status;
  for_each_index(indices.dims(), [&](std::span<const int64_t> at, int64_t n) {
    auto index = checked_index(indices.int_at(n), data.dims()[axis], "gatherelements.index");
    if (!index) {
      status = tl::unexpected(std::move(index).error());
      return;
    }
    int64_t offset = *index * strides[axis];
    for (size_t i = 0; i < at.size(); ++i) offset += i == axis ? 0 : at[i] * strides[i];
    kernels::copy_elements(args.out(0), n, data, offset, 1);
  });
  return status;
}

constexpr Kernel kElements[] = {{"reference", reference_elements}};

Result<Facts> infer_elements(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const Dims indices, call.dims(1));
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.size()));
  if (data.size() != indices.size())
    return refuse("gatherelements.rank", "data {} and indices {} must have one rank", text(data), text(indices));
  for (size_t i = 0; i < data.size(); ++i)
    if (i != axis)
      TRY_OK(context.require(Condition::le(indices[i], data[i]), "gatherelements.shape",
                             "axis {} of the indices {} must not be longer than that of the data {}", i, text(indices),
                             text(data)));
  TRY_OK(require_index(call, context, 1, data[axis], "gatherelements.index"));
  Facts out{Fact::tensor(call.in(0).dtype, indices)};
  carry_all(call, kElements[0], kGatherNdData, out);
  return out;
}

// Rank of the batch and of the index tuple, checked.
struct Split {
  size_t batch = 0, tuple = 0;
};

Result<Split> split_of(const Call& call, size_t data_rank, size_t index_rank, std::optional<int64_t> last) {
  const int64_t batch = call.version() >= 12 ? call.i("batch_dims") : 0;
  if (data_rank == 0 || index_rank == 0) return refuse("gathernd.rank", "data and indices must not be scalars");
  if (batch < 0 || batch >= static_cast<int64_t>(std::min(data_rank, index_rank)))
    return refuse("gathernd.batch", "batch_dims {} must be less than both ranks, {} and {}", batch, data_rank,
                  index_rank);
  if (!last) return unknown("infer.rank", "the length of the index tuples is not known");
  if (*last < 0 || *last > static_cast<int64_t>(data_rank) - batch)
    return refuse("gathernd.tuple", "index tuples of {} entries do not fit data of rank {} with {} batch axes", *last,
                  data_rank, batch);
  return Split{static_cast<size_t>(batch), static_cast<size_t>(*last)};
}

Status reference_nd(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in(0), &indices = args.in(1);
  const auto last = indices.rank() > 0 ? std::optional(indices.dims().back()) : std::nullopt;
  TRY(const Split split, split_of(call, data.rank(), indices.rank(), last));
  const auto strides = row_strides(data.dims());
  int64_t inner = 1;
  for (size_t i = split.batch + split.tuple; i < data.rank(); ++i) inner *= data.dims()[i];
  const Temporary<int64_t> outer(indices.dims().begin(), indices.dims().end() - 1);
  Status status;
  for_each_index(outer, [&](std::span<const int64_t> at, int64_t n) {
    int64_t offset = 0;
    for (size_t i = 0; i < split.batch; ++i) offset += at[i] * strides[i];
    for (size_t i = 0; i < split.tuple; ++i) {
      const size_t axis = split.batch + i;
      auto index =
          checked_index(indices.int_at(n * *last + static_cast<int64_t>(i)), data.dims()[axis], "gathernd.index");
      if (!index) {
        status = tl::unexpected(std::move(index).error());
        return;
      }
      offset += *index * strides[axis];
    }
    kernels::copy_elements(args.out(0), n * inner, data, offset, inner);
  });
  return status;
}

constexpr Kernel kNd[] = {{"reference", reference_nd}};

Result<Facts> infer_nd(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const Dims indices, call.dims(1));
  const auto last = indices.empty() ? std::nullopt : indices.back().constant();
  TRY(const Split split, split_of(call, data.size(), indices.size(), last));
  for (size_t i = 0; i < split.batch; ++i)
    TRY_OK(context.require(Condition::eq(data[i], indices[i]), "gathernd.batch",
                           "batch axis {} must be equal in the data and in the indices: {} and {}", i, print(data[i]),
                           print(indices[i])));
  const auto tuple = data.begin() + static_cast<ptrdiff_t>(split.batch);
  const auto slice = tuple + static_cast<ptrdiff_t>(split.tuple);
  // ONNX Runtime does not look at indices that select nothing.
  const bool nothing = product(Dims(slice, data.end())) == Dim(0);
  if (!nothing || !context.certain())
    TRY_OK(require_tuples(call, context, 1, Dims(tuple, slice), nothing ? "lenient.gathernd" : "gathernd.index"));
  Dims dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), slice, data.end());
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kNd[0], kGatherNdData, out);
  return out;
}

}  // namespace

constexpr OpDef kGatherElements11{
    .name = "GatherElements",
    .since = 11,
    .sig = {kGatherNdIn, kGatherNdOut, "one entry of an axis for each index", kGatherElementsAttributes},
    .infer = infer_elements,
    .kernels = kElements};
constexpr OpDef kGatherND11{
    .name = "GatherND",
    .since = 11,
    .sig = {kGatherNdIn, kGatherNdOut, "slices chosen by tuples of indices", kGatherNDAttributes},
    .infer = infer_nd,
    .kernels = kNd};

}  // namespace anyshape::ops
