#include <cstring>

#include "kernels/copy.h"
#include "ops/common.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"data"}, {"indices", Port::value}};
constexpr Port kOut[] = {{"output"}};

// -size <= index < size for every index, where something is known of them.
Status require_in_range(const Call& call, InferContext& context, Dim size) {
  const auto bounds = call.in(1).value_bounds();
  if (!bounds) {
    context.data_condition("gather.index", "indices must be in -{0}..{0}-1", print(size));
    return {};
  }
  // An empty index tensor reads nothing, whatever its bounds say.
  const Condition nothing = call.in(1).dims ? Condition::eq(product(*call.in(1).dims), 0) : Condition::never();
  TRY_OK(context.require(nothing || Condition::lt(bounds->hi, size), "gather.index",
                         "indices reach {}, the axis has {} entries", print(bounds->hi), print(size)));
  return context.require(nothing || Condition::ge(bounds->lo, -size), "gather.index",
                         "indices go down to {}, the axis has {} entries", print(bounds->lo), print(size));
}

Status reference(const Call& call, KernelArgs& args);
constexpr Kernel kKernels[] = {{"reference", reference}};

Result<Facts> infer(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis", 0), data.size()));
  TRY_OK(require_in_range(call, context, data[axis]));
  TRY(const Dims indices, call.dims(1));
  Dims dims(data.begin(), data.begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + static_cast<ptrdiff_t>(axis) + 1, data.end());
  Fact out = Fact::tensor(call.in(0).dtype, std::move(dims));
  carry_values(call, kKernels[0], {0}, out);
  return Facts{out};
}

Status reference(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in[0], &indices = args.in[1];
  TRY(const size_t axis, normalize_axis(call.i("axis", 0), data.rank()));
  const int64_t size = data.dims()[axis];
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= data.dims()[i];
  for (size_t i = axis + 1; i < data.rank(); ++i) inner *= data.dims()[i];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < indices.count(); ++k) {
      const int64_t raw = indices.int_at(k);
      const int64_t index = raw < 0 ? raw + size : raw;
      if (index < 0 || index >= size)
        return refuse("gather.index", "index {} is out of range for {} entries", raw, size);
      kernels::copy_elements(args.out[0], (o * indices.count() + k) * inner, data, (o * size + index) * inner, inner);
    }
  return {};
}

}  // namespace

constexpr OpDef kGather1{.name = "Gather",
                         .since = 1,
                         .sig = {kIn, kOut, "entries of one axis, chosen by index"},
                         .infer = infer,
                         .kernels = kKernels};

}  // namespace anyshape::ops
