#include <cmath>

#include "kernels/elementwise.h"
#include "kernels/matmul.h"
#include "kernels/normalize.h"
#include "ops/nn/matmul.h"
#include "ops/records.h"

// anyshape.Attention: two matrix products and the softmax between them as one node. Made by passes, never in files.
//
//   scores = scale * (q k), k being [..., size, keys]
//   scores = where ? scores : fill       `keep` 0: the other way round; `where_first` 0: after the mask
//   scores = scores + mask
//   weights = softmax(scores)            `nan_to_zero` 1: entries that are NaN become 0
//   y = transpose(weights v, perm)
namespace anyshape::ops {
namespace {

constexpr Port kFusedAttentionIn[] = {{"q"}, {"k"}, {"v"}, {"mask", Port::optional}, {"where", Port::optional}};
constexpr Port kFusedAttentionOut[] = {{"y"}};
constexpr AttributeDef kFusedAttentionAttributes[] = {{"fill", 0.0f},     {"keep", 1},
                                                      {"nan_to_zero", 0}, {"perm", AttributeDef::integers},
                                                      {"scale", 1.0f},    {"where_first", 1}};

Result<std::vector<size_t>> permutation_of(const Call& call, size_t rank) {
  std::vector<size_t> out;
  const auto* perm = call.ints("perm");
  for (size_t i = 0; !perm && i < rank; ++i) out.push_back(i);
  if (!perm) return out;
  std::vector<bool> taken(rank, false);
  for (int64_t axis : *perm) {
    const bool fits = axis >= 0 && axis < static_cast<int64_t>(rank) && !taken[static_cast<size_t>(axis)];
    if (!fits) return refuse("perm", "perm is no order of {} axes", rank);
    taken[static_cast<size_t>(axis)] = true;
    out.push_back(static_cast<size_t>(axis));
  }
  if (out.size() != rank) return refuse("perm", "perm is no order of {} axes", rank);
  return out;
}

Result<Facts> infer_fused_attention(const Call& call, InferContext& context) {
  for (size_t i = 0; i < 4; ++i)
    if (call.has(i) && call.in(i).dtype != DType::f32) return refuse("dtype", "attention takes f32");
  if (call.has(4)) TRY_OK(require_tensor(call, 4, kMaskBool));
  TRY(const Dims q, call.dims(0));
  TRY(const Dims k, call.dims(1));
  TRY(const Dims v, call.dims(2));
  if (q.size() < 2 || k.size() < 2 || v.size() < 2)
    return refuse("rank", "attention takes matrices, they are {}, {} and {}", text(q), text(k), text(v));
  TRY(const Dims scores, matmul_dims(context, q, k));
  for (size_t i : {size_t{3}, size_t{4}}) {
    if (!call.has(i)) continue;
    TRY(const Dims mask, call.dims(i));
    TRY_OK(require_broadcastable_to(context, mask, scores, "the mask"));
  }
  TRY(const Dims y, matmul_dims(context, scores, v));
  TRY(const auto perm, permutation_of(call, y.size()));
  Dims dims;
  for (size_t axis : perm) dims.push_back(y[axis]);
  return Facts{Fact::tensor(DType::f32, std::move(dims))};
}

Temporary<int64_t> product_dims(const Tensor& a, const Tensor& b) {
  const auto &da = a.dims(), &db = b.dims();
  Temporary<int64_t> out(std::max(da.size(), db.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < da.size() ? da[da.size() - 1 - i] : 1, y = i < db.size() ? db[db.size() - 1 - i] : 1;
    out[out.size() - 1 - i] = i == 0 ? y : i == 1 ? x : x == 1 ? y : x;
  }
  return out;
}

Status apply_masks(const Call& call, const KernelArgs& args, Tensor& scores) {
  const float fill = call.f("fill");
  const bool keep = call.i("keep") != 0;
  const auto choose = [&]() -> Status {
    if (!args.in(4)) return {};
    return kernels::apply<float, bool, float>(scores, args.in(4), scores,
                                              [=](float x, bool kept) { return kept == keep ? x : fill; });
  };
  if (call.i("where_first") != 0) TRY_OK(choose());
  if (args.in(3))
    TRY_OK((kernels::apply<float, float, float>(scores, args.in(3), scores, [](float x, float m) { return x + m; })));
  return call.i("where_first") != 0 ? Status() : choose();
}

// out[...] = in[...], axis k of out being axis perm[k] of in.
void transpose(const Tensor& in, const std::vector<size_t>& perm, Tensor& out) {
  Temporary<int64_t> strides(perm.size()), index(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) {
    strides[k] = 1;
    for (size_t i = perm[k] + 1; i < perm.size(); ++i) strides[k] *= in.dims()[i];
  }
  for (int64_t n = 0; n < out.count(); ++n) {
    int64_t at = 0;
    for (size_t k = 0; k < perm.size(); ++k) at += index[k] * strides[k];
    out.as_mutable<float>()[static_cast<size_t>(n)] = in.at<float>(at);
    for (size_t k = perm.size(); k-- > 0 && ++index[k] == out.dims()[k];) index[k] = 0;
  }
}

Status reference_fused_attention(const Call& call, KernelArgs& args) {
  const Tensor &q = args.in(0), &k = args.in(1), &v = args.in(2);
  TRY(Tensor scores, Tensor::allocate(DType::f32, product_dims(q, k)));
  TRY_OK(kernels::matmul(q, k, scores));
  const float scale = call.f("scale");
  kernels::apply<float, float>(scores, scores, [=](float x) { return x * scale; });
  TRY_OK(apply_masks(call, args, scores));
  TRY(Tensor weights, Tensor::allocate(DType::f32, scores.dims()));
  const int64_t keys = scores.dims().back(), rows = keys == 0 ? 0 : scores.count() / keys;
  TRY_OK(kernels::softmax(kernels::SoftmaxKind::soft, {rows, keys, 1}, scores, weights));
  if (call.i("nan_to_zero") != 0)
    kernels::apply<float, float>(weights, weights, [](float x) { return std::isnan(x) ? 0.0f : x; });
  TRY(Tensor y, Tensor::allocate(DType::f32, product_dims(weights, v)));
  TRY_OK(kernels::matmul(weights, v, y));
  TRY(const auto perm, permutation_of(call, y.rank()));
  transpose(y, perm, args.out(0));
  return {};
}

constexpr Kernel kFusedAttentionKernels[] = {{"reference", reference_fused_attention}};

}  // namespace

constexpr OpDef kFusedAttention1{.name = "Attention",
                                 .since = 1,
                                 .domain = "anyshape",
                                 .sig = {kFusedAttentionIn, kFusedAttentionOut,
                                         "two matrix products and the softmax between them", kFusedAttentionAttributes},
                                 .infer = infer_fused_attention,
                                 .kernels = kFusedAttentionKernels};

}  // namespace anyshape::ops
