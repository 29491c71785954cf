#include <cmath>
#include <numbers>

#include "lower/aten/fft.h"

namespace anyshape::lower {
namespace {

// Windows a - b cos(2 pi k / n) + c cos(4 pi k / n); a periodic one is cut from one that is longer by an entry.
struct Cosines {
  double a = 0.5, b = 0.5, c = 0;
};

Arg window(Lowering& l, const Args& a, const Cosines& shape) {
  const Dim length = a.dim("window_length");
  const DType dtype = a.dtype("dtype").value_or(DType::f32);
  const Dim period = a.flag("periodic", true) ? length : max(length - 1, 1);
  if (length == Dim(1)) return filled(l, {1}, 1, dtype);
  const Ref k = counted(l, length, DType::f64);
  const Ref turn = l.op("Div", {times(l, k, 2 * std::numbers::pi), l->cast(l->scalar(period), DType::f64)});
  Ref y = l.op("Sub", {l->number(shape.a, DType::f64), times(l, l.op("Cos", {turn}), shape.b)});
  if (shape.c != 0) y = l.op("Add", {y, times(l, l.op("Cos", {times(l, turn, 2)}), shape.c)});
  return l->cast(y, dtype);
}

Arg hann(Lowering& l, const Args& a) { return window(l, a, {}); }
Arg hamming(Lowering& l, const Args& a) { return window(l, a, {a.f("alpha", 0.54), a.f("beta", 0.46), 0}); }
Arg blackman(Lowering& l, const Args& a) { return window(l, a, {0.42, 0.5, 0.08}); }

Arg bartlett(Lowering& l, const Args& a) {
  const Dim length = a.dim("window_length");
  const DType dtype = a.dtype("dtype").value_or(DType::f32);
  if (length == Dim(1)) return filled(l, {1}, 1, dtype);
  const Dim period = a.flag("periodic", true) ? length : max(length - 1, 1);
  const Ref place = l.op("Div", {times(l, counted(l, length, DType::f64), 2), l->cast(l->scalar(period), DType::f64)});
  const Ref apart = l.op("Abs", {l.op("Sub", {place, l->number(1.0, DType::f64)})});
  return l->cast(l.op("Sub", {l->number(1.0, DType::f64), apart}), dtype);
}

struct Frames {
  int64_t n = 0, hop = 0, bins = 0;
  Ref window;  // [n]
  bool normalized = false, onesided = true;
};

// A window shorter than the frame stands in its middle.
std::optional<Frames> frames_of(Lowering& l, const Args& a, DType dtype) {
  Frames f;
  f.n = a.i("n_fft", 1);
  f.hop = a.has("hop_length") ? a.i("hop_length", 1) : f.n / 4;
  const int64_t width = a.has("win_length") ? a.i("win_length", f.n) : f.n;
  f.window = a.has("window") ? l->cast(a.tensor("window"), dtype) : filled(l, {width}, 1, dtype);
  if (f.n < 1 || f.hop < 1 || width > f.n || l->failed()) return std::nullopt;
  if (width < f.n) {
    const int64_t front = (f.n - width) / 2;
    f.window = l->pad(f.window, {front, f.n - width - front}, l->number(0.0, dtype));
  }
  f.normalized = a.flag("normalized");
  return f;
}

// The waves of every frequency times the window, [2 * bins, 1, n]: first all cosines, then all sines.
Ref kernel(Lowering& l, const Frames& f, DType dtype, double sine_sign) {
  const Ref k = l->unsqueeze(counted(l, f.bins, DType::i64), {1}), place = counted(l, f.n, DType::i64);
  const Ref turn = l.op("Mod", {l.op("Mul", {k, place}), l->number(f.n)});
  const Ref angle = times(l, l->cast(turn, DType::f64), 2 * std::numbers::pi / static_cast<double>(f.n));
  const Ref all = l->concat({l.op("Cos", {angle}), times(l, l.op("Sin", {angle}), sine_sign)}, 0);
  return l->unsqueeze(l.op("Mul", {l->cast(all, dtype), f.window}), {1});
}

// A convolution with windowed waves: its channels are the real, then the imaginary parts of the frequencies.
Arg stft(Lowering& l, const Args& a) {
  Ref x = a.self();
  if (!l.need_rank(x, 1, 2)) return {};
  if (Lowering::is_complex(l->dtype(x))) {
    l->refuse("aten.complex", "the short-time transform of a complex signal cannot be exported yet");
    return {};
  }
  const DType dtype = l->dtype(x);
  auto f = frames_of(l, a, dtype);
  if (!f) return {};
  f->onesided = a.flag("onesided", true);
  f->bins = f->onesided ? f->n / 2 + 1 : f->n;
  const bool batched = l->rank(x) == 2;
  if (!batched) x = l->unsqueeze(x, {0});
  if (a.has("center") && a.flag("center")) {
    const std::string mode = a.s("pad_mode", "reflect");
    x = l->pad(x, {0, f->n / 2, 0, f->n / 2}, {}, mode == "replicate" ? "edge" : mode);
  }
  Ref y = l.op("Conv", {l->unsqueeze(x, {1}), kernel(l, *f, dtype, -1)},
               {attr("kernel_shape", std::vector<int64_t>{f->n}), attr("strides", std::vector<int64_t>{f->hop})});
  if (f->normalized) y = times(l, y, 1 / std::sqrt(static_cast<double>(f->n)));
  const Refs parts = l->split(y, 1, {f->bins, f->bins});
  const auto out = [&](Ref part) { return batched ? part : l->squeeze(part, {0}); };
  const Ref complex = l.complex().of(out(parts[0]), out(parts[1]));
  return a.has("return_complex") && !a.flag("return_complex") ? Arg(l.complex().pairs(complex)) : Arg(complex);
}

// How often a frequency counts in a real signal: twice, but for the first one and the one in the middle.
Ref multiplicity(Lowering& l, const Frames& f, DType dtype) {
  auto tensor = Tensor::allocate(DType::f64, {2 * f.bins, 1, 1});
  if (!tensor) {
    l->fail(std::move(tensor).error());
    return {};
  }
  for (int64_t k = 0; k < f.bins; ++k) {
    const bool single = !f.onesided || k == 0 || 2 * k == f.n;
    for (const int64_t at : {k, k + f.bins}) tensor->as_mutable<double>()[static_cast<size_t>(at)] = single ? 1 : 2;
  }
  return l->cast(l->constant(*std::move(tensor)), dtype);
}

// Frames added where they overlap, over the sum of the squared windows there.
Arg istft(Lowering& l, const Args& a) {
  const Ref z = a.self();
  if (!l.need_rank(z, 2, 3)) return {};
  auto [re, im] = l.complex().parts(z);
  const DType dtype = l->dtype(re);
  auto f = frames_of(l, a, dtype);
  if (!f || a.flag("return_complex")) {
    if (!l->failed()) l->refuse("aten.complex", "istft is exported for real signals with a number as n_fft");
    return {};
  }
  const bool batched = l->rank(z) == 3;
  const auto bins = l->dim(z, batched ? 1 : 0).constant();
  f->bins = bins.value_or(f->n / 2 + 1);
  f->onesided = a.has("onesided") ? a.flag("onesided") : f->bins != f->n;
  if (!batched) {
    re = l->unsqueeze(re, {0});
    im = l->unsqueeze(im, {0});
  }
  const std::vector<int64_t> stride{f->hop}, size{f->n};
  const double scale = f->normalized ? 1 / std::sqrt(static_cast<double>(f->n)) : 1 / static_cast<double>(f->n);
  const Ref waves = times(l, l.op("Mul", {kernel(l, *f, dtype, -1), multiplicity(l, *f, dtype)}), scale);
  const auto overlapped = [&](Ref frames, Ref shape) {
    return l.op("ConvTranspose", {frames, shape}, {attr("kernel_shape", size), attr("strides", stride)});
  };
  const Ref sum = l->squeeze(overlapped(l->concat({re, im}, 1), waves), {1});
  const Ref squares = l->unsqueeze(l.op("Mul", {f->window, f->window}), {0, 1});
  const Ref weight = l->squeeze(overlapped(filled(l, {1, 1, l->dim(re, 2)}, 1, dtype), squares), {1});
  const Dim whole = l->dim(sum, 1);
  const Dim start = a.flag("center", true) ? f->n / 2 : 0;
  Dim end = a.flag("center", true) ? whole - Dim(f->n / 2) : whole;
  if (a.has("length")) end = start + a.dim("length");
  const Ref y = l.op("Div", {l->slice(sum, 1, start, min(end, whole)), l->slice(weight, 1, start, min(end, whole))});
  const Ref full = resized(l, y, 1, end - start);
  return batched ? full : l->squeeze(full, {0});
}

constexpr AtenOp kStftOps[] = {
    {"bartlett_window", bartlett},
    {"blackman_window", blackman},
    {"hamming_window", hamming},
    {"hann_window", hann},
    {"istft", istft},
    {"stft", stft},
};

}  // namespace

std::span<const AtenOp> stft_ops() { return kStftOps; }

}  // namespace anyshape::lower
