#include <numeric>

#include "ops/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kNmsIn[] = {{"boxes"},
                           {"scores"},
                           {"max_output_boxes_per_class", Port::optional | Port::value},
                           {"iou_threshold", Port::optional},
                           {"score_threshold", Port::optional}};
constexpr Port kNmsOut[] = {{"selected_indices"}};
constexpr Port kCol2ImIn[] = {{"input"}, {"image_shape", Port::value}, {"block_shape", Port::value}};
constexpr Port kGridIn[] = {{"theta"}, {"size", Port::value}};
constexpr Port kGridOut[] = {{"grid"}};
constexpr Port kDecoderIn[] = {{"encoded_stream"}};
constexpr Port kDecoderOut[] = {{"image"}};
constexpr Port kOut[] = {{"output"}};

Result<Facts> infer_nms(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  TRY_OK(require_rank(call, 1, 3));
  const Dims &boxes = *call.in(0).dims, &scores = *call.in(1).dims;
  const Dims box{boxes[0], boxes[1], 4}, matching{scores[0], scores[2], 4};
  TRY_OK(
      context.require(Condition::eq(boxes[2], 4), "nms.boxes", "a box has 4 numbers, these have {}", print(boxes[2])));
  TRY_OK(require_same_dims(context, box, matching, "boxes against scores (batches, boxes)"));
  Dim limit = 0;
  if (call.has(2)) {
    TRY_OK(require_integers(call, 2));
    const auto given = call.in(2).single();
    limit = given ? least_of(context, {*given, boxes[1]}) : boxes[1];
    if (given) limit = at_least_zero(context, limit);
  }
  const Dim most = context.simplify(scores[0] * scores[1] * limit);
  const Dim rows = most == Dim(0) ? Dim(0) : context.data_dim("selected", 0, most);
  Fact out = Fact::tensor(DType::i64, {rows, 3});
  out.bounds = Bounds{0, max(max(scores[0], scores[1]), boxes[1]) - 1};
  return Facts{out};
}

// One attribute of `count` numbers, each at least `least`.
Result<std::vector<int64_t>> list_of(const Call& call, std::string_view name, size_t count, int64_t fallback,
                                     int64_t least) {
  const auto* values = call.ints(name);
  std::vector<int64_t> out = values ? *values : std::vector<int64_t>(count, fallback);
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
    TRY_OK(context.require(Condition::ge(room, 0), "col2im.block", "the block {} does not fit the image {}",
                           text(block), text(image)));
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
  TRY_OK(context.require(Condition::eq(in[2], count), "col2im.blocks", "the input has {} blocks, the image takes {}",
                         print(in[2]), print(count)));
  const Dim area = product(block);
  TRY_OK(context.require(Condition::divisible(in[1], area) && Condition::ge(in[1], 1), "col2im.channels",
                         "axis 1 of {} must be a positive multiple of {}", text(in), print(area)));
  const auto channels = context.assumptions().exact_div(in[1], area);
  Dims dims{in[0], channels ? *channels : floordiv(in[1], area)};
  dims.insert(dims.end(), image.begin(), image.end());
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_grid(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 3));
  const Dims& theta = *call.in(0).dims;
  TRY_OK(require_integers(call, 1));
  TRY(const Dims size, sizes_from(call, context, 1, "grid"));
  if (size.size() != 4 && size.size() != 5)
    return refuse("affinegrid.size", "the size must have 4 or 5 numbers, it has {}", size.size());
  const Dim space = size.size() - 2;
  TRY_OK(require_same_dims(context, theta, {size[0], space, space + 1}, "theta against the size"));
  for (Dim d : size)
    TRY_OK(context.require(Condition::ge(d, 0), "affinegrid.size", "the size {} must not be negative", text(size)));
  Dims dims{size[0]};
  dims.insert(dims.end(), size.begin() + 2, size.end());
  dims.push_back(space);
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_decoder(const Call& call, InferContext& context) {
  TRY_OK(require_rank(call, 0, 1));
  const std::string_view format = call.s("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    return refuse("imagedecoder.format", "the pixel format \"{}\" does not exist", format);
  const Dim height = context.data_dim("height"), width = context.data_dim("width");
  return Facts{Fact::tensor(DType::u8, {height, width, format == "Grayscale" ? 1 : 3})};
}

}  // namespace

constexpr OpDef kAffineGrid20{.name = "AffineGrid",
                              .since = 20,
                              .sig = {kGridIn, kGridOut, "sampling positions of an affine map"},
                              .infer = infer_grid};
constexpr OpDef kCol2Im18{
    .name = "Col2Im", .since = 18, .sig = {kCol2ImIn, kOut, "blocks added up into an image"}, .infer = infer_col2im};
constexpr OpDef kImageDecoder20{.name = "ImageDecoder",
                                .since = 20,
                                .sig = {kDecoderIn, kDecoderOut, "an image file decoded"},
                                .infer = infer_decoder};
constexpr OpDef kNonMaxSuppression10{.name = "NonMaxSuppression",
                                     .since = 10,
                                     .sig = {kNmsIn, kNmsOut, "boxes that overlap no better one"},
                                     .infer = infer_nms};

}  // namespace anyshape::ops
