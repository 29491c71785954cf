#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kGatherIn[] = {{"data"}, {"indices", Port::value | Port::settled}};
constexpr Port kGatherOut[] = {{"output"}};
constexpr AttributeDef kGatherAttributes[] = {
    {"axis", 0},
};
constexpr size_t kGatherData[] = {0};

Status reference_gather(const Call& call, KernelArgs& args);
constexpr Kernel kGatherKernels[] = {{"reference", reference_gather}};

Result<Facts> infer_gather(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis"), data.size()));
  TRY_OK(require_index(call, context, 1, data[axis], "gather.index"));
  TRY(const Dims indices, call.dims(1));
  Dims dims(data.begin(), data.begin() + static_cast<ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.begin(), indices.end());
  dims.insert(dims.end(), data.begin() + static_cast<ptrdiff_t>(axis) + 1, data.end());
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kGatherKernels[0], kGatherData, out);
  if (!out[0].elements && data[axis] == Dim(1) && product(indices) == Dim(1)) {
    // Whichever index reads the only entry.
    out[0].elements = call.in(0).elements;
    out[0].denominator = call.in(0).denominator;
    out[0].bounds.reset();
  }
  return out;
}

// One known place of an axis whose size is a number is a window.
std::vector<ViewRule> view(const Call& call, const Facts& out) {
  const auto index = known_numbers(call, 1);
  if (!call.in(0).has_rank() || !index || index->size() != 1 || !call.in(1).dims || call.in(1).rank() > 1) return {};
  const Dims& data = *call.in(0).dims;
  const auto axis = normalize_axis(call.i("axis"), data.size());
  const auto size = axis ? data[*axis].constant() : std::nullopt;
  const int64_t at = !size || index->front() >= 0 ? index->front() : index->front() + *size;
  if (!size || at < 0 || at >= *size) return {};
  ViewRule rule = whole_window(data.size());
  rule.start[*axis] = at;
  if (call.in(1).rank() == 0) {
    rule.axis.erase(rule.axis.begin() + static_cast<ptrdiff_t>(*axis));
    rule.step.pop_back();
  }
  return out[0].rank() == rule.axis.size() ? std::vector<ViewRule>{rule} : std::vector<ViewRule>();
}

Status reference_gather(const Call& call, KernelArgs& args) {
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
                         .sig = {kGatherIn, kGatherOut, "entries of one axis, chosen by index", kGatherAttributes},
                         .infer = infer_gather,
                         .kernels = kGatherKernels,
                         .view = view};

}  // namespace anyshape::ops
