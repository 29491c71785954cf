#include <algorithm>
#include <numeric>

#include "kernels/boxes.h"
#include "kernels/copy.h"
#include "kernels/elementwise.h"
#include "kernels/reals.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kNmsIn[] = {{"boxes", Port::value | Port::settled},
                           {"scores", Port::value | Port::settled},
                           {"max_output_boxes_per_class", Port::optional | Port::value},
                           {"iou_threshold", Port::optional | Port::value | Port::settled},
                           {"score_threshold", Port::optional | Port::value | Port::settled}};
constexpr Port kNmsOut[] = {{"selected_indices"}};
constexpr Port kCol2ImIn[] = {{"input"}, {"image_shape", Port::value}, {"block_shape", Port::value}};
constexpr Port kGridIn[] = {{"theta"}, {"size", Port::value}};
constexpr Port kGridOut[] = {{"grid"}};
constexpr Port kDecoderIn[] = {{"encoded_stream"}};
constexpr Port kDecoderOut[] = {{"image"}};
constexpr Port kImageOut[] = {{"output"}};
constexpr AttributeDef kAffineGridAttributes[] = {
    {"align_corners", 0},
};
constexpr AttributeDef kCol2ImAttributes[] = {
    {"dilations", AttributeDef::integers},
    {"pads", AttributeDef::integers},
    {"strides", AttributeDef::integers},
};
constexpr AttributeDef kImageDecoderAttributes[] = {
    {"pixel_format", "RGB"},
};
constexpr AttributeDef kNonMaxSuppressionAttributes[] = {
    {"center_point_box", 0},
};

// A threshold that may be absent or an empty list.
float number_in_image(const Tensor& tensor, float fallback) {
  return tensor.dtype() == DType::f32 && tensor.count() > 0 ? tensor.at<float>(0) : fallback;
}

// The boxes that are kept, for inputs as they are given to the kernel.
Result<Temporary<std::array<int64_t, 3>>> kept_boxes(const Call& call, std::span<const Tensor> in) {
  if (in[0].dtype() != DType::f32 || in[1].dtype() != DType::f32)
    return unknown("dtype", "no kernel for boxes of type {}", name(in[0].dtype()));
  kernels::Suppression how;
  how.most = in[2] && in[2].count() > 0 ? in[2].int_at(0) : 0;
  how.overlap = number_in_image(in[3], 0);
  how.has_least = in[4] && in[4].count() > 0;
  how.least = number_in_image(in[4], 0);
  how.centers = call.i("center_point_box") != 0;
  return kernels::suppress(how, in[0], in[1]);
}

// How many boxes are kept, where all entries are known.
std::optional<int64_t> kept_count(const Call& call) {
  constexpr int64_t kMostScores = 4096;
  Tensor in[5];
  for (size_t i = 0; i < std::size(in); ++i) {
    if (!call.has(i)) continue;
    auto known = call.in(i).as_tensor();
    if (!known || known.count() > kMostScores) return std::nullopt;
    auto aligned = known.aligned();
    if (!aligned) return std::nullopt;
    in[i] = *std::move(aligned);
  }
  const auto rows = kept_boxes(call, in);
  return rows ? std::optional(static_cast<int64_t>(rows->size())) : std::nullopt;
}

Fact all_inputs(const Call& call) {
  Fact source;
  source.from_shapes = true;
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i)) source.from_shapes = source.from_shapes && call.in(i).from_shapes;
  return source;
}

Result<Facts> infer_nms(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  TRY_OK(require_rank(call, 1, 3));
  const Dims &boxes = *call.in(0).dims, &scores = *call.in(1).dims;
  const Dims box{boxes[0], boxes[1], 4}, matching{scores[0], scores[2], 4};
  TRY_OK(context.require(Condition::eq(boxes[2], 4), "nms.boxes", "a box must have 4 numbers, these have {}",
                         print(boxes[2])));
  TRY_OK(require_same_dims(context, box, matching, "the batches and boxes of boxes and scores"));
  Dim limit = 0;
  if (call.has(2)) {
    TRY_OK(require_integers(call, 2));
    const auto given = call.in(2).single();
    limit = given ? least_of(context, {*given, boxes[1]}) : boxes[1];
    if (given) limit = at_least_zero(context, limit);
  }
  const Dim most = context.simplify(scores[0] * scores[1] * limit);
  const auto count = kept_count(call);
  const Dim rows = most == Dim(0) ? Dim(0) : count ? Dim(*count) : context.fresh(all_inputs(call), "selected", 0, most);
  Fact out = Fact::tensor(DType::i64, {rows, 3});
  out.bounds = Bounds{0, max(max(scores[0], scores[1]), boxes[1]) - 1};
  return Facts{out};
}

// One attribute of `count` numbers, each at least `least`.
Result<Temporary<int64_t>> list_of(const Call& call, std::string_view name, size_t count, int64_t fallback,
                                   int64_t least) {
  const auto* values = call.ints(name);
  auto out = values ? temporary(*values) : Temporary<int64_t>(count, fallback);
  if (out.size() != count)
    return refuse("col2im.attributes", "{} has {} numbers, {} are wanted", name, out.size(), count);
  for (int64_t value : out)
    if (value < least || value > kFar) return refuse("col2im.attributes", "{} must not contain {}", name, value);
  return out;
}

// How many positions the block takes in the padded image.
Result<Dim> block_count(const Call& call, InferContext& context, const Dims& image, const Dims& block) {
  TRY(const auto dilations, list_of(call, "dilations", image.size(), 1, 1));
  TRY(const auto strides, list_of(call, "strides", image.size(), 1, 1));
  TRY(const auto pads, list_of(call, "pads", 2 * image.size(), 0, 0));
  Dim count = 1;
  for (size_t i = 0; i < image.size(); ++i) {
    const Dim room = image[i] + Dim(pads[i]) + Dim(pads[image.size() + i]) - Dim(dilations[i]) * (block[i] - 1) - 1;
    TRY_OK(context.require(Condition::ge(room, 0), "col2im.block", "the block {} must fit the image {}", text(block),
                           text(image)));
    count = count * (floordiv(room, strides[i]) + 1);
  }
  return count;
}

Result<Facts> infer_col2im(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  const Dims& in = *call.in(0).dims;
  TRY_OK(require_integers(call, 1));
  TRY_OK(require_integers(call, 2));
  TRY(const Dims image, sizes_from(call, context, 1, "image"));
  TRY(const Dims block, sizes_from(call, context, 2, "block"));
  if (image.size() != block.size())
    return refuse("col2im.block", "the block {} and the image {} must have one rank", text(block), text(image));
  for (Dim d : block)
    TRY_OK(context.require(Condition::ge(d, 1), "col2im.block", "the block {} must be positive", text(block)));
  TRY(const Dim count, block_count(call, context, image, block));
  TRY_OK(context.require(Condition::eq(in[2], count), "col2im.blocks",
                         "the blocks of the input must be those of the image: {} and {}", print(in[2]), print(count)));
  const Dim area = product(block);
  TRY_OK(context.require(Condition::divisible(in[1], area) && Condition::ge(in[1], 1), "col2im.channels",
                         "axis 1 of {} must be a positive multiple of {}", text(in), print(area)));
  const auto channels = context.assumptions().exact_div(in[1], area);
  Dims dims{in[0], channels ? *channels : floordiv(in[1], area)};
  dims.insert(dims.end(), image.begin(), image.end());
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_grid_image(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  const Dims& theta = *call.in(0).dims;
  TRY_OK(require_integers(call, 1));
  TRY(const Dims size, sizes_from(call, context, 1, "grid"));
  if (size.size() != 4 && size.size() != 5)
    return refuse("affinegrid.size", "the size must have 4 or 5 numbers, it has {}", size.size());
  const Dim space = size.size() - 2;
  TRY_OK(require_same_dims(context, theta, {size[0], space, space + 1}, "theta and the size"));
  for (Dim d : size)
    TRY_OK(context.require(Condition::ge(d, 0), "affinegrid.size", "the size {} must not be negative", text(size)));
  Dims dims{size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(space);
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_decoder(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 1));
  const std::string_view format = call.s("pixel_format");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    return refuse("imagedecoder.format", "the pixel format {:?} does not exist", format);
  const Dim height = context.data_dim("height"), width = context.data_dim("width");
  return Facts{Fact::tensor(DType::u8, {height, width, format == "Grayscale" ? 1 : 3})};
}

Status run_nms(const Call& call, KernelArgs& args) {
  const Tensor in[] = {args.in(0), args.in(1), args.in(2), args.in(3), args.in(4)};
  TRY(const auto rows, kept_boxes(call, in));
  TRY(args.out(0), Tensor::allocate(DType::i64, {static_cast<int64_t>(rows.size()), 3}));
  auto to = args.out(0).as_mutable<int64_t>();
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(), to.begin() + 3 * static_cast<ptrdiff_t>(i));
  return {};
}

struct Blocks {
  Temporary<int64_t> image, block, dilations, strides, pads;
};

// Where the cells of the blocks lie in the image: visit(block cell, block, pixel) for those that are inside.
template <class Visit>
void for_each_block_cell(const Blocks& how, Visit visit) {
  const size_t rank = how.image.size();
  Temporary<int64_t> blocks(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t room = how.image[i] + how.pads[i] + how.pads[rank + i] - how.dilations[i] * (how.block[i] - 1) - 1;
    blocks[i] = room / how.strides[i] + 1;
  }
  for_each_index(how.block, [&](std::span<const int64_t> cell, int64_t c) {
    for_each_index(blocks, [&](std::span<const int64_t> at, int64_t b) {
      int64_t pixel = 0;
      for (size_t i = 0; i < rank; ++i) {
        const int64_t x = at[i] * how.strides[i] + cell[i] * how.dilations[i] - how.pads[i];
        if (x < 0 || x >= how.image[i]) return;
        pixel = pixel * how.image[i] + x;
      }
      visit(c, b, pixel);
    });
  });
}

// Floats are added up in double and rounded once; integers wrap; bools are true where one is.
template <class T>
using Sum = std::conditional_t<kernels::kIsFloat<T>, double, std::conditional_t<std::is_same_v<T, bool>, int64_t, T>>;

template <class T>
void add_blocks(const Blocks& how, const Tensor& in, int64_t parts, Tensor& out) {
  const int64_t area = *element_count(how.block), pixels = *element_count(how.image), blocks = in.dims()[2];
  const auto planes = out.dims()[0] * out.dims()[1];
  const auto* from = reinterpret_cast<const T*>(in.bytes().data());
  auto* to = reinterpret_cast<T*>(out.data());
  Temporary<Sum<T>> sums(static_cast<size_t>(pixels * parts));
  for (int64_t plane = 0; plane < planes; ++plane) {
    std::fill(sums.begin(), sums.end(), Sum<T>{});
    for_each_block_cell(how, [&](int64_t cell, int64_t b, int64_t pixel) {
      for (int64_t k = 0; k < parts; ++k) {
        Sum<T>& sum = sums[static_cast<size_t>(pixel * parts + k)];
        const auto value = static_cast<Sum<T>>(kernels::widen(from[((plane * area + cell) * blocks + b) * parts + k]));
        sum = kernels::wrapping(sum, value, [](auto x, auto y) { return x + y; });
      }
    });
    for (size_t i = 0; i < sums.size(); ++i)
      to[plane * pixels * parts + static_cast<int64_t>(i)] = static_cast<T>(static_cast<kernels::Compute<T>>(sums[i]));
  }
}

// Strings have no sum: each pixel takes the cell of one block at most.
Status place_strings(const Blocks& how, const Tensor& in, Tensor& out) {
  const int64_t area = *element_count(how.block), pixels = *element_count(how.image), blocks = in.dims()[2];
  const auto planes = out.dims()[0] * out.dims()[1];
  Temporary<bool> taken(static_cast<size_t>(pixels), false);
  bool overlap = false;
  for_each_block_cell(how, [&](int64_t cell, int64_t b, int64_t pixel) {
    overlap = overlap || taken[static_cast<size_t>(pixel)];
    taken[static_cast<size_t>(pixel)] = true;
    for (int64_t plane = 0; plane < planes; ++plane)
      kernels::copy_elements(out, plane * pixels + pixel, in, (plane * area + cell) * blocks + b, 1);
  });
  if (overlap) return refuse("dtype", "blocks of strings overlap, and strings cannot be added");
  return {};
}

Status run_col2im(const Call& call, KernelArgs& args) {
  const Tensor& in = args.in(0);
  if (!args.out(0)) return unknown("col2im.image", "the image is not known");
  if (args.out(0).count() == 0) return {};
  Blocks how{ints_of(args.in(1)), ints_of(args.in(2)), {}, {}, {}};
  TRY(how.dilations, list_of(call, "dilations", how.image.size(), 1, 1));
  TRY(how.strides, list_of(call, "strides", how.image.size(), 1, 1));
  TRY(how.pads, list_of(call, "pads", 2 * how.image.size(), 0, 0));
  if (in.dtype() == DType::string) return place_strings(how, in, args.out(0));
  const bool is_complex = in.dtype() == DType::c64 || in.dtype() == DType::c128;
  const DType part = in.dtype() == DType::c64 ? DType::f32 : in.dtype() == DType::c128 ? DType::f64 : in.dtype();
  return kernels::visit_type<kernels::kAll>(part, [&]<class T>(T) -> Status {
    add_blocks<T>(how, in, is_complex ? 2 : 1, args.out(0));
    return {};
  });
}

// Position i of n, from -1 to 1.
double grid_line(int64_t i, int64_t n, bool align_corners) {
  const auto x = static_cast<double>(i), count = static_cast<double>(n);
  if (align_corners) return n == 1 ? -1 : -1 + 2 * x / (count - 1);
  return -1 + (2 * x + 1) / count;
}

Status run_grid_image(const Call& call, KernelArgs& args) {
  if (!args.out(0)) return unknown("affinegrid.size", "the size is not known");
  TRY(const auto theta, kernels::to_reals(args.in(0)));
  const bool align_corners = call.i("align_corners") != 0;
  const auto& dims = args.out(0).dims();
  const size_t space = dims.size() - 2;
  Temporary<double> grid(static_cast<size_t>(args.out(0).count()));
  for_each_index(dims, [&](std::span<const int64_t> index, int64_t n) {
    const size_t row = (static_cast<size_t>(index[0]) * space + static_cast<size_t>(index.back())) * (space + 1);
    double sum = theta[row + space];
    for (size_t k = 0; k < space; ++k)
      sum += theta[row + k] * grid_line(index[space - k], dims[space - k], align_corners);
    grid[static_cast<size_t>(n)] = sum;
  });
  return kernels::from_reals(grid, args.out(0));
}

constexpr Kernel kNmsKernels[] = {{"reference", run_nms}};
constexpr Kernel kCol2ImKernels[] = {{"reference", run_col2im}};
constexpr Kernel kImageGridKernels[] = {{"reference", run_grid_image}};

}  // namespace

constexpr OpDef kAffineGrid20{.name = "AffineGrid",
                              .since = 20,
                              .sig = {kGridIn, kGridOut, "sampling positions of an affine map", kAffineGridAttributes},
                              .infer = infer_grid_image,
                              .kernels = kImageGridKernels};
constexpr OpDef kCol2Im18{.name = "Col2Im",
                          .since = 18,
                          .sig = {kCol2ImIn, kImageOut, "blocks added up into an image", kCol2ImAttributes},
                          .infer = infer_col2im,
                          .kernels = kCol2ImKernels};
constexpr OpDef kImageDecoder20{.name = "ImageDecoder",
                                .since = 20,
                                .sig = {kDecoderIn, kDecoderOut, "an image file decoded", kImageDecoderAttributes},
                                .infer = infer_decoder};
constexpr OpDef kNonMaxSuppression10{
    .name = "NonMaxSuppression",
    .since = 10,
    .sig = {kNmsIn, kNmsOut, "boxes that overlap no better one", kNonMaxSuppressionAttributes},
    .infer = infer_nms,
    .kernels = kNmsKernels};

}  // namespace anyshape::ops
