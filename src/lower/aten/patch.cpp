#include <algorithm>

#include "lower/aten/families.h"
#include "lower/aten/move.h"

namespace anyshape::lower {
namespace {

// Windows of up to this many entries are cut one place at a time, which needs no sizes; longer ones are looked up.
constexpr int64_t kCut = 16;

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

// ONNX Runtime moves blocks of floats and doubles only.
bool moves_blocks(DType dtype) { return dtype == DType::f32 || dtype == DType::f64 || is_half(dtype); }

// All axes before the last three as one.
Ref as_images(Lowering& l, Ref x) {
  const size_t rank = l->rank(x);
  if (rank == 4) return x;
  if (rank == 3) return l->unsqueeze(x, {0});
  const Dims dims = l->dims(x);
  const auto three = dims.end() - 3;
  Dims to{product({dims.begin(), three})};
  to.insert(to.end(), three, dims.end());
  return l->reshape(x, std::move(to));
}

Ref like_images(Lowering& l, Ref images, const Dims& before) {
  if (before.size() == 4) return images;
  if (before.size() == 3) return l->squeeze(images, {0});
  Dims to(before.begin(), before.end() - 3);
  for (size_t i = 1; i < 4; ++i) to.push_back(l->dim(images, i));
  return l->reshape(images, std::move(to));
}

Ref as_blocks(Lowering& l, Ref x) { return is_half(l->dtype(x)) ? l->cast(x, DType::f32) : x; }

// [b, c*r*r, h, w] -> [b, c, h*r, w*r] for any type.
Ref shuffled_plain(Lowering& l, Ref x, int64_t r) {
  const Dim b = l->dim(x, 0), h = l->dim(x, 2), w = l->dim(x, 3),
            c = l->assumptions().simplify(floordiv(l->dim(x, 1), r * r));
  const Ref six = l->transpose(l->reshape(x, {b, c, r, r, h, w}), {0, 1, 4, 2, 5, 3});
  return l->reshape(six, {b, c, h * Dim(r), w * Dim(r)});
}

Arg pixel_shuffle(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const int64_t r = a.i("upscale_factor", 1);
  if (!l.need_rank(x, 3, 64)) return {};
  const Ref images = as_images(l, x);
  const DType dtype = l->dtype(x);
  const Ref out =
      moves_blocks(dtype)
          ? l->cast(l.op("DepthToSpace", {as_blocks(l, images)}, {attr("blocksize", r), attr("mode", "CRD")}), dtype)
          : shuffled_plain(l, images, r);
  return like_images(l, out, l->dims(x));
}

// SpaceToDepth puts the place within a block before the channel, PyTorch behind it.
Ref unshuffled(Lowering& l, Ref x, int64_t r) {
  const auto channels = l->dim(x, 1).constant();
  const DType dtype = l->dtype(x);
  if (!channels || !moves_blocks(dtype)) {
    const Dim b = l->dim(x, 0), c = l->dim(x, 1);
    const Dim h = l->assumptions().simplify(floordiv(l->dim(x, 2), r)),
              w = l->assumptions().simplify(floordiv(l->dim(x, 3), r));
    return l->reshape(l->transpose(l->reshape(x, {b, c, h, r, w, r}), {0, 1, 3, 5, 2, 4}), {b, c * Dim(r * r), h, w});
  }
  const Ref deep = l->cast(l.op("SpaceToDepth", {as_blocks(l, x)}, {attr("blocksize", r)}), dtype);
  if (*channels == 1) return deep;
  std::vector<int64_t> from;
  for (int64_t c = 0; c < *channels; ++c)
    for (int64_t k = 0; k < r * r; ++k) from.push_back(k * *channels + c);
  return l->gather(deep, l->ints(std::move(from)), 1);
}

Arg pixel_unshuffle(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 3, 64)) return {};
  return like_images(l, unshuffled(l, as_images(l, x), a.i("downscale_factor", 1)), l->dims(x));
}

Arg channel_shuffle(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!l.need_rank(x, 3, 64)) return {};
  const auto channels = l->dim(x, 1).constant();
  const int64_t groups = a.i("groups", 1);
  if (!channels || groups < 1 || *channels % groups != 0) {
    l->refuse("aten.arguments", "{} channels shuffled in {} groups", print(l->dim(x, 1)), groups);
    return {};
  }
  std::vector<int64_t> from;
  for (int64_t i = 0; i < *channels / groups; ++i)
    for (int64_t g = 0; g < groups; ++g) from.push_back(g * (*channels / groups) + i);
  return l->gather(x, l->ints(std::move(from)), 1);
}

Arg unfold(Lowering& l, const Args& a) {
  const Ref self = a.self();
  const Ref x = at_least_1d(l, self);
  const int64_t axis = l.axis(x, a.i("dimension")), size = a.i("size", 1), step = a.i("step", 1);
  if (size < 0 || step < 1) l->refuse("aten.arguments", "unfold in windows of {} every {}", size, step);
  if (l->failed()) return {};
  const Ref out = windows(l, x, axis, size, step, 1);
  std::vector<int64_t> order = all_axes(l->rank(out));
  if (l->failed()) return {};
  std::rotate(order.begin() + axis + 1, order.begin() + axis + 2, order.end());
  const Ref last = l->transpose(out, std::move(order));
  return l->rank(self) == 0 ? l->squeeze(last, {0}) : last;
}

Ref put_unfolded(Lowering& l, const Args&, Ref, Ref, size_t) {
  l->refuse("aten.unfold", "the windows of unfold() are written in place; use clone() before");
  return {};
}

struct Kernel2d {
  std::vector<int64_t> size, dilation, padding, stride;
};

std::optional<Kernel2d> kernel_of(Lowering& l, const Args& a) {
  Kernel2d k{a.ints("kernel_size"), a.ints("dilation"), a.ints("padding"), a.ints("stride")};
  const bool two = k.size.size() == 2 && k.dilation.size() == 2 && k.padding.size() == 2 && k.stride.size() == 2;
  if (!two && !l->failed()) l->refuse("aten.arguments", "a window needs two numbers");
  return l->failed() ? std::nullopt : std::optional(std::move(k));
}

Arg im2col(Lowering& l, const Args& a) {
  const Ref self = a.self();
  const auto k = kernel_of(l, a);
  if (!k || !l.need_rank(self, 3, 4)) return {};
  Ref x = l->rank(self) == 3 ? l->unsqueeze(self, {0}) : self;
  if (k->padding[0] != 0 || k->padding[1] != 0)
    x = l->pad(x, {0, 0, k->padding[0], k->padding[1], 0, 0, k->padding[0], k->padding[1]}, {});
  x = windows(l, x, 2, k->size[0], k->stride[0], k->dilation[0]);
  x = windows(l, x, 4, k->size[1], k->stride[1], k->dilation[1]);
  x = l->transpose(x, {0, 1, 3, 5, 2, 4});
  const Ref out =
      l->reshape(x, {l->dim(x, 0), l->dim(x, 1) * l->dim(x, 2) * l->dim(x, 3), l->dim(x, 4) * l->dim(x, 5)});
  return l->rank(self) == 3 ? l->squeeze(out, {0}) : out;
}

// One filter per place in a window, 1 there and 0 elsewhere.
Ref place_filters(Lowering& l, int64_t channels, const Kernel2d& k) {
  const int64_t area = k.size[0] * k.size[1];
  auto weight = Tensor::allocate(DType::f32, {channels * area, 1, k.size[0], k.size[1]});
  if (!weight) {
    l->fail(std::move(weight).error());
    return {};
  }
  for (int64_t i = 0; i < channels * area; ++i)
    weight->as_mutable<float>()[static_cast<size_t>(i * area + i % area)] = 1;
  return l->constant(*std::move(weight));
}

// The sum of overlapping windows is what a transposed convolution does. Where the windows may leave some entries at the
// end, it makes as many as they can leave at most, and the rest is cut off.
Arg col2im(Lowering& l, const Args& a) {
  const Ref self = a.self();
  const auto k = kernel_of(l, a);
  const Dims size = a.dims("output_size");
  if (!k || size.size() != 2 || !l.need_rank(self, 2, 3)) return {};
  const DType dtype = l->dtype(self);
  const Ref x = l->cast(l->rank(self) == 2 ? l->unsqueeze(self, {0}) : self, DType::f32);
  const int64_t area = k->size[0] * k->size[1];
  const Dim channels = l->assumptions().simplify(floordiv(l->dim(x, 1), area));
  if (!channels.is_constant() || (dtype != DType::f32 && !is_half(dtype))) {
    if (!l->failed()) l->refuse("aten.fold", "fold of {} with {} channels", print(l->fact(self)), print(channels));
    return {};
  }
  Dims grid{l->dim(x, 0), l->dim(x, 1)};
  std::vector<int64_t> rest, pads(k->padding);
  bool cut[2];
  pads.insert(pads.end(), k->padding.begin(), k->padding.end());
  for (size_t i = 0; i < 2; ++i) {
    const Dim free = size[i] + Dim(2 * k->padding[i] - k->dilation[i] * (k->size[i] - 1) - 1);
    grid.push_back(l->assumptions().simplify(floordiv(free, k->stride[i]) + 1));
    const Dim over = l->assumptions().simplify(mod(free, k->stride[i]));
    rest.push_back(over.is_constant() ? *over.constant() : k->stride[i] - 1);
    cut[i] = !over.is_constant();
  }
  Ref out = l.op("ConvTranspose", {l->reshape(x, grid), place_filters(l, *channels.constant(), *k)},
                 {attr("dilations", k->dilation), attr("group", *channels.constant()), attr("kernel_shape", k->size),
                  attr("output_padding", rest), attr("pads", pads), attr("strides", k->stride)});
  for (size_t i = 0; i < 2; ++i)
    if (cut[i]) out = l->slice(out, static_cast<int64_t>(i) + 2, 0, size[i]);
  return l->cast(l->rank(self) == 2 ? l->squeeze(out, {0}) : out, dtype);
}

constexpr AtenOp kPatchOps[] = {
    {.name = "channel_shuffle", .lower = channel_shuffle},
    {.name = "col2im", .lower = col2im},
    {.name = "im2col", .lower = im2col},
    {.name = "native_channel_shuffle", .lower = channel_shuffle},
    {.name = "pixel_shuffle", .lower = pixel_shuffle},
    {.name = "pixel_unshuffle", .lower = pixel_unshuffle},
    {.name = "unfold", .lower = unfold, .put = put_unfolded, .reorders = true},
    {.name = "unfold_copy", .lower = unfold},
};

// The places of the entries of each window, i64[count, size].
Ref window_places(Lowering& l, Dim count, int64_t size, int64_t step, int64_t dilation) {
  const Ref first = l->unsqueeze(l.op("Mul", {iota(l, count), l->number(step)}), {1});
  std::vector<int64_t> within;
  for (int64_t i = 0; i < size; ++i) within.push_back(i * dilation);
  return l.op("Add", {first, l->ints(std::move(within))});
}

}  // namespace

Ref windows(Lowering& l, Ref x, int64_t axis, int64_t size, int64_t step, int64_t dilation) {
  if (l->failed()) return {};
  const Dim whole = l->dim(x, static_cast<size_t>(axis));
  const int64_t span = dilation * (size - 1) + 1;
  const Dim count = l->assumptions().simplify(floordiv(whole - Dim(span), step) + 1);
  if (size == step && dilation == 1)
    if (const auto exact = l->assumptions().exact_div(whole, size)) {
      Dims to = l->dims(x);
      to[static_cast<size_t>(axis)] = *exact;
      to.insert(to.begin() + axis + 1, Dim(size));
      return l->reshape(x, std::move(to));
    }
  if (count.is_constant() || size > kCut || size < 1)
    return l->gather(x, window_places(l, count, size, step, dilation), axis);
  Refs places;
  for (int64_t i = 0; i < size; ++i) {
    const int64_t behind = dilation * (size - 1 - i);
    places.push_back(l->slice(x, axis, i * dilation, behind == 0 ? INT64_MAX : -behind, step));
  }
  return stacked(l, places, axis + 1);
}

std::span<const AtenOp> patch_ops() { return kPatchOps; }

}  // namespace anyshape::lower
