#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"data"}, {"indices", Port::value | Port::settled}};
constexpr Port kOut[] = {{"output"}};
constexpr AttributeDef kAttributes[] = {
    {"axis", 0},
};
constexpr size_t kData[] = {0};

Status reference(const Call& call, KernelArgs& args);
constexpr Kernel kKernels[] = {{"reference", reference}};

Result<Facts> infer(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.size()));
  TRY_OK(require_index(call, context, 1, data[axis], "gather.index"));
  TRY(const Dims indices, call.dims(1));
  Dims dims(data.begin(), data.begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + static_cast<ptrdiff_t>(axis) + 1, data.end());
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kKernels[0], kData, out);
  return out;
}

Status reference(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in(0), &indices = args.in(1);
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.rank()));
  const int64_t size = data.dims()[axis];
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= data.dims()[i];
  for (size_t i = axis + 1; i < data.rank(); ++i) inner *= data.dims()[i];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < indices.count(); ++k) {
      TRY(const int64_t index, checked_index(indices.int_at(k), size, "gather.index"));
      kernels::copy_elements(args.out(0), (o * indices.count() + k) * inner, data, (o * size + index) * inner, inner);
    }
  return {};
}

}  // namespace

constexpr OpDef kGather1{.name = "Gather",
                         .since = 1,
                         .sig = {kIn, kOut, "entries of one axis, chosen by index", kAttributes},
                         .infer = infer,
                         .kernels = kKernels};

}  // namespace anyshape::ops
