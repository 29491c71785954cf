#include "lower/aten/fft.h"

#include <cmath>
#include <numbers>

namespace anyshape::lower {
namespace {

// cos and sin of 2 pi j k / n, [n, n]. j k is taken modulo n, so that the angle stays exact.
std::pair<Ref, Ref> waves(Lowering& l, Dim n, DType dtype) {
  const Ref k = counted(l, n, DType::i64);
  const Ref turn = l.op("Mod", {l.op("Mul", {l->unsqueeze(k, {1}), k}), l->scalar(n)});
  const Ref angle = l.op("Div", {times(l, l->cast(turn, dtype), 2 * std::numbers::pi), l->cast(l->scalar(n), dtype)});
  return {l.op("Cos", {angle}), l.op("Sin", {angle})};
}

// Before opset 17 there is no DFT: two products with matrices.
Ref by_matrix(Lowering& l, Ref pairs, size_t axis, bool inverse, bool onesided) {
  const size_t last = l->rank(pairs) - 1;
  const Dim n = l->dim(pairs, axis);
  const bool is_real = l->dim(pairs, last) == Dim(1);
  const Ref turned = move_axis(l, pairs, axis, last - 1);  // [..., n, parts]
  const auto part = [&](int64_t i) { return l->gather(turned, l->number(i), static_cast<int64_t>(last)); };
  const auto [cosine, sine] = waves(l, n, l->dtype(pairs));
  const Ref re = part(0);
  // (a + bi)(cos -+ i sin)
  Ref out_re = l.op("MatMul", {re, cosine}), out_im = l.op("MatMul", {re, sine});
  if (!inverse) out_im = l.op("Neg", {out_im});
  if (!is_real) {
    const Ref im = part(1);
    const Ref im_sine = l.op("MatMul", {im, sine}), im_cosine = l.op("MatMul", {im, cosine});
    out_re = l.op(inverse ? "Sub" : "Add", {out_re, im_sine});
    out_im = l.op("Add", {out_im, im_cosine});
  }
  Ref out = l->concat({l->unsqueeze(out_re, {-1}), l->unsqueeze(out_im, {-1})}, -1);
  if (inverse) out = over_length(l, out, n, false);
  if (onesided) out = l->slice(out, static_cast<int64_t>(last) - 1, 0, floordiv(n, 2) + 1);
  return move_axis(l, out, last - 1, axis);
}

enum class Norm { none, by_root, by_length };

// norm: "backward" scales the inverse, "forward" the forward transform, "ortho" both by the root.
Norm scale_of(const std::string& norm, bool inverse) {
  if (norm == "ortho") return Norm::by_root;
  return (norm == "forward") != inverse ? Norm::by_length : Norm::none;
}

Ref scaled_fft(Lowering& l, Ref x, Norm norm, Dim n) {
  return norm == Norm::none ? x : over_length(l, x, n, norm == Norm::by_root);
}

// The transform itself divides the inverse by n.
Ref rescaled(Lowering& l, Ref x, Norm norm, Dim n, bool inverse) {
  if (!inverse) return scaled_fft(l, x, norm, n);
  if (norm == Norm::by_length) return x;
  const DType dtype = l->dtype(x);
  const auto number = n.constant();
  const Ref length = number ? l->integer(*number, dtype) : l->cast(l->scalar(n), dtype);
  return l.op("Mul", {x, norm == Norm::by_root ? l.op("Sqrt", {length}) : length});
}

struct Plan {
  std::vector<int64_t> axes;  // of the tensor without the axis of parts
  Dims lengths;               // -1: as it is
};

Plan plan_of(Lowering& l, const Args& a, Ref x) {
  Plan plan;
  const Dims lengths = a.has("n") ? Dims{a.dim("n")} : a.has("s") ? a.dims("s") : Dims();
  std::vector<int64_t> axes = a.ints("dim");
  if (axes.empty()) {
    const size_t count = lengths.empty() ? l->rank(x) : lengths.size();
    for (size_t i = l->rank(x) - std::min(count, l->rank(x)); i < l->rank(x); ++i)
      axes.push_back(static_cast<int64_t>(i));
  }
  for (int64_t& axis : axes) axis = l.axis(x, axis);
  plan.axes = std::move(axes);
  for (size_t i = 0; i < plan.axes.size(); ++i) plan.lengths.push_back(i < lengths.size() ? lengths[i] : Dim(-1));
  return plan;
}

bool is_complex(Lowering& l, Ref x) { return Lowering::is_complex(l->dtype(x)); }

// [..., 2] of a complex tensor, [..., 1] of a real one.
Ref pairs_or_single(Lowering& l, Ref x) {
  if (is_complex(l, x)) return l.complex().pairs(x);
  const DType dtype = l->dtype(x) == DType::f64 ? DType::f64 : DType::f32;
  return l->unsqueeze(l->cast(x, dtype), {-1});
}

Ref over_all_axes(Lowering& l, Ref pairs, const Plan& plan, const std::string& norm, bool inverse, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<size_t>(plan.axes[i]);
    if (plan.lengths[i] != Dim(-1)) pairs = resized(l, pairs, axis, plan.lengths[i]);
    const Dim n = l->dim(pairs, axis);
    pairs = rescaled(l, transformed(l, pairs, axis, inverse, false), scale_of(norm, inverse), n, inverse);
  }
  return pairs;
}

std::string norm_of(const Args& a) { return a.has("norm") ? a.s("norm", "backward") : "backward"; }

template <bool Inverse>
Arg complex_transform(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Plan plan = plan_of(l, a, x);
  if (l->failed()) return {};
  return l.complex().of_pairs(over_all_axes(l, pairs_or_single(l, x), plan, norm_of(a), Inverse, plan.axes.size()));
}

// The last axis first, one-sided; then the others.
Arg real_transform(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Plan plan = plan_of(l, a, x);
  if (l->failed() || plan.axes.empty()) return {};
  const auto axis = static_cast<size_t>(plan.axes.back());
  Ref signal = pairs_or_single(l, x);
  if (plan.lengths.back() != Dim(-1)) signal = resized(l, signal, axis, plan.lengths.back());
  const Dim n = l->dim(signal, axis);
  const Ref half = scaled_fft(l, transformed(l, signal, axis, false, true), scale_of(norm_of(a), false), n);
  return l.complex().of_pairs(over_all_axes(l, half, plan, norm_of(a), false, plan.axes.size() - 1));
}

Arg real_result(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Plan plan = plan_of(l, a, x);
  if (l->failed() || plan.axes.empty()) return {};
  const auto axis = static_cast<size_t>(plan.axes.back());
  const auto [re, im] = l.complex().parts(x);
  const Ref pairs = is_complex(l, x) ? l.complex().pairs(x) : l.complex().pairs(l.complex().of(re, im));
  const Ref others = over_all_axes(l, pairs, plan, norm_of(a), true, plan.axes.size() - 1);
  const Dim n = plan.lengths.back() == Dim(-1) ? (l->dim(others, axis) - 1) * Dim(2) : plan.lengths.back();
  return rescaled(l, real_inverse(l, others, axis, n), scale_of(norm_of(a), true), n, true);
}

// normalization: 0 none, 1 by root, 2 by length, whichever direction.
Norm low_level(int64_t code) { return code == 1 ? Norm::by_root : code == 2 ? Norm::by_length : Norm::none; }

Arg c2c(Lowering& l, const Args& a) {
  const Ref x = a.self();
  Ref pairs = pairs_or_single(l, x);
  const bool inverse = !a.flag("forward", true);
  const Plan plan = plan_of(l, a, x);
  for (int64_t axis : plan.axes) {
    const Dim n = l->dim(pairs, static_cast<size_t>(axis));
    pairs = rescaled(l, transformed(l, pairs, static_cast<size_t>(axis), inverse, false),
                     low_level(a.i("normalization")), n, inverse);
  }
  return l.complex().of_pairs(pairs);
}

Arg r2c(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Plan plan = plan_of(l, a, x);
  if (l->failed() || plan.axes.empty()) return {};
  const Norm norm = low_level(a.i("normalization"));
  Ref pairs = pairs_or_single(l, x);
  for (size_t i = plan.axes.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(plan.axes[i]);
    const Dim n = l->dim(pairs, axis);
    const bool last = i + 1 == plan.axes.size();
    pairs = scaled_fft(l, transformed(l, pairs, axis, false, last && a.flag("onesided", true)), norm, n);
  }
  return l.complex().of_pairs(pairs);
}

Arg c2r(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Plan plan = plan_of(l, a, x);
  if (l->failed() || plan.axes.empty()) return {};
  const Norm norm = low_level(a.i("normalization"));
  Ref pairs = l.complex().pairs(x);
  for (size_t i = 0; i + 1 < plan.axes.size(); ++i) {
    const auto axis = static_cast<size_t>(plan.axes[i]);
    pairs = rescaled(l, transformed(l, pairs, axis, true, false), norm, l->dim(pairs, axis), true);
  }
  const Dim n = a.dim("last_dim_size");
  return rescaled(l, real_inverse(l, pairs, static_cast<size_t>(plan.axes.back()), n), norm, n, true);
}

// hfft(x) is the real transform of a half-spectrum: irfft of the conjugate without its division.
Arg hermitian(Lowering& l, const Args& a) {
  const auto [re, im] = l.complex().parts(a.self());
  const Ref turned = l.complex().pairs(l.complex().of(re, l.op("Neg", {im})));
  const Plan plan = plan_of(l, a, a.self());
  if (l->failed() || plan.axes.empty()) return {};
  const auto axis = static_cast<size_t>(plan.axes.back());
  const Dim n = plan.lengths.back() == Dim(-1) ? (l->dim(turned, axis) - 1) * Dim(2) : plan.lengths.back();
  const Norm norm = scale_of(norm_of(a), false);
  return rescaled(l, real_inverse(l, turned, axis, n), norm, n, true);
}

// Frequencies k/(n d) for k = 0 .. , then the negative ones.
template <bool Half>
Arg frequencies(Lowering& l, const Args& a) {
  const Dim n = a.dim("n");
  const DType dtype = a.dtype("dtype").value_or(DType::f32);
  const Ref length = l->cast(l->scalar(n), dtype);
  Ref k = counted(l, Half ? floordiv(n, 2) + 1 : n, DType::i64);
  if (!Half) k = l.op("Where", {l.op("Less", {k, l->scalar(floordiv(n + 1, 2))}), k, l.op("Sub", {k, l->scalar(n)})});
  return l.op("Div", {l->cast(k, dtype), times(l, length, a.f("d", 1))});
}

// The zero frequency goes to the middle, or back.
template <bool Back>
Arg shifted(Lowering& l, const Args& a) {
  Ref x = a.self();
  for (int64_t axis : l.axes(x, a.ints("dim"))) {
    const Dim n = l->dim(x, static_cast<size_t>(axis)), half = floordiv(n, 2), cut = Back ? half : n - half;
    x = l->concat({l->slice(x, axis, cut, n), l->slice(x, axis, 0, cut)}, axis);
  }
  return x;
}

constexpr AtenOp kFftOps[] = {
    {"_fft_c2c", c2c},
    {"_fft_c2r", c2r},
    {"_fft_r2c", r2c},
    {"fft_fft", complex_transform<false>},
    {"fft_fft2", complex_transform<false>},
    {"fft_fftfreq", frequencies<false>},
    {"fft_fftn", complex_transform<false>},
    {"fft_fftshift", shifted<false>},
    {"fft_hfft", hermitian},
    {"fft_ifft", complex_transform<true>},
    {"fft_ifft2", complex_transform<true>},
    {"fft_ifftn", complex_transform<true>},
    {"fft_ifftshift", shifted<true>},
    {"fft_irfft", real_result},
    {"fft_irfft2", real_result},
    {"fft_irfftn", real_result},
    {"fft_rfft", real_transform},
    {"fft_rfft2", real_transform},
    {"fft_rfftfreq", frequencies<true>},
    {"fft_rfftn", real_transform},
};

}  // namespace

Ref over_length(Lowering& l, Ref x, Dim n, bool root) {
  const DType dtype = l->dtype(x);
  if (const auto number = n.constant()) {
    const double length = static_cast<double>(*number);
    return l.op("Div", {x, l->number(root ? std::sqrt(length) : length, dtype)});
  }
  const Ref length = l->cast(l->scalar(n), dtype);
  return l.op("Div", {x, root ? l.op("Sqrt", {length}) : length});
}

Ref resized(Lowering& l, Ref x, size_t axis, Dim n) {
  const Dim now = l->dim(x, axis);
  if (l->same(now, n)) return x;
  if (!l->proves(Condition::ge(n, now))) x = l->slice(x, static_cast<int64_t>(axis), 0, min(n, now));
  if (l->proves(Condition::le(n, now))) return x;
  Dims pads(2 * l->rank(x), 0);
  pads[l->rank(x) + axis] = n - l->dim(x, axis);
  return l->pad(x, pads, l->number(0.0, l->dtype(x)));
}

Ref transformed(Lowering& l, Ref pairs, size_t axis, bool inverse, bool onesided) {
  if (l->failed() || axis + 1 >= l->rank(pairs)) return {};
  if (l->opset() < 17) return by_matrix(l, pairs, axis, inverse, onesided);
  std::vector<Attribute> attributes;
  if (l->opset() < 20) attributes.push_back(attr("axis", static_cast<int64_t>(axis)));
  if (inverse) attributes.push_back(attr("inverse", 1));
  if (onesided) attributes.push_back(attr("onesided", 1));
  Refs in{pairs};
  if (l->opset() >= 20) in = {pairs, Ref(), l->number(static_cast<int64_t>(axis))};
  return l.op("DFT", in, std::move(attributes));
}

// The other half of the spectrum is the first one backwards and conjugate.
Ref real_inverse(Lowering& l, Ref pairs, size_t axis, Dim n) {
  const int64_t at = static_cast<int64_t>(axis), last = static_cast<int64_t>(l->rank(pairs)) - 1;
  const Ref half = resized(l, pairs, axis, floordiv(n, 2) + 1);
  const Dim mirrored = n - floordiv(n, 2) - 1;  // entries 1 .. mirrored
  const Ref places = l.op("Sub", {l->scalar(mirrored), counted(l, mirrored, DType::i64)});
  const Ref back = l->gather(half, places, at);
  auto signs = Tensor::allocate(l->dtype(pairs) == DType::f64 ? DType::f64 : DType::f32, {2});
  if (l->failed() || !signs) return {};
  if (signs->dtype() == DType::f64) {
    signs->as_mutable<double>()[0] = 1;
    signs->as_mutable<double>()[1] = -1;
  } else {
    signs->as_mutable<float>()[0] = 1;
    signs->as_mutable<float>()[1] = -1;
  }
  const Ref all = l->concat({half, l.op("Mul", {back, l->constant(*std::move(signs))})}, at);
  return l->gather(transformed(l, all, axis, true, false), l->number(int64_t{0}), last);
}

std::span<const AtenOp> fft_ops() { return kFftOps; }

}  // namespace anyshape::lower
