#include "lower/aten/nn.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

// The places of the boxes that stay, by falling score.
Arg nms(Lowering& l, const Args& a) {
  const Ref boxes = l->cast(a.tensor("dets"), DType::f32), scores = l->cast(a.tensor("scores"), DType::f32);
  if (!l.need_rank(boxes, 2, 2) || !l.need_rank(scores, 1, 1)) return {};
  const Ref limit = reals(l, {a.f("iou_threshold")}, DType::f32);
  const Ref chosen = l.op("NonMaxSuppression", {l->unsqueeze(boxes, {0}), l->unsqueeze(scores, {0, 1}),
                                                l->ints({std::numeric_limits<int32_t>::max()}), limit});
  return l->gather(chosen, l->number(int64_t{2}), 1);
}

// A box is (image, x1, y1, x2, y2).
Ref aligned_boxes(Lowering& l, const Args& a, bool aligned) {
  const Ref x = a.tensor("input"), boxes = a.tensor("rois");
  if (!l.need_rank(x, 4, 4) || !l.need_rank(boxes, 2, 2)) return {};
  if (aligned && l->opset() < 16) {
    l->refuse(kOpsetCode, "{} with boxes aligned to pixel centres needs opset 16 or later", a.schema().name);
    return {};
  }
  std::vector<Attribute> attributes{
      attr("mode", "avg"), attr("output_height", a.i("pooled_height")), attr("output_width", a.i("pooled_width")),
      attr("sampling_ratio", std::max<int64_t>(0, a.i("sampling_ratio"))), attr("spatial_scale", a.f("spatial_scale"))};
  if (l->opset() >= 16)
    attributes.push_back(attr("coordinate_transformation_mode", aligned ? "half_pixel" : "output_half_pixel"));
  const Ref image = l->cast(l->gather(boxes, l->number(int64_t{0}), 1), DType::i64);
  return l.op("RoiAlign", {x, l->cast(l->slice(boxes, 1, 1, 5), l->dtype(x)), image}, std::move(attributes));
}

Arg roi_align(Lowering& l, const Args& a) { return aligned_boxes(l, a, a.flag("aligned")); }

// Bin (i, j) is read from channels of its own: the diagonal of what all bins see in all channels.
Arg ps_roi_align(Lowering& l, const Args& a) {
  const int64_t bins = a.i("pooled_height") * a.i("pooled_width");
  const Ref all = aligned_boxes(l, a, true);
  if (l->failed()) return {};
  const Dim boxes = l->dim(all, 0), channels = floordiv(l->dim(all, 1), bins);
  std::vector<int64_t> diagonal;
  for (int64_t i = 0; i < bins; ++i) diagonal.push_back(i * (bins + 1));
  const Ref own = l->gather(l->reshape(all, {boxes, channels, bins * bins}), l->ints(diagonal), 2);
  return Arguments{l->reshape(own, {boxes, channels, a.i("pooled_height"), a.i("pooled_width")}), Arg()};
}

// The second result is for the backward pass.
Arg roi_pool(Lowering& l, const Args& a) {
  const Ref x = a.tensor("input"), boxes = a.tensor("rois");
  if (!l.need_rank(x, 4, 4) || !l.need_rank(boxes, 2, 2)) return {};
  const Ref out = l.op("MaxRoiPool", {x, l->cast(boxes, l->dtype(x))},
                       {attr("pooled_shape", std::vector<int64_t>{a.i("pooled_height"), a.i("pooled_width")}),
                        attr("spatial_scale", a.f("spatial_scale"))});
  return Arguments{out, Arg()};
}

Arg deform_conv(Lowering& l, const Args& a) {
  if (l->opset() < 19) {
    l->refuse(kOpsetCode, "{} needs opset 19 or later", a.schema().name);
    return {};
  }
  const Ref x = a.tensor("input"), weight = a.tensor("weight");
  if (!l.need_rank(x, 4, 4) || !l.need_rank(weight, 4, 4)) return {};
  Refs in{x, weight, a.tensor("offset"), a.tensor("bias")};
  if (a.flag("use_mask")) in.push_back(a.tensor("mask"));
  const auto pair = [&](const std::string& what) { return std::vector<int64_t>{a.i(what + "_h"), a.i(what + "_w")}; };
  std::vector<int64_t> pads = pair("pad");
  pads.insert(pads.end(), {pads[0], pads[1]});
  return l.op("DeformConv", in,
              {attr("dilations", pair("dilation")), attr("group", a.i("groups")),
               attr("offset_group", a.i("offset_groups")), attr("pads", pads), attr("strides", pair("stride"))});
}

constexpr AtenOp kTorchvisionOps[] = {
    {"torchvision::deform_conv2d", deform_conv}, {"torchvision::nms", nms},
    {"torchvision::ps_roi_align", ps_roi_align}, {"torchvision::roi_align", roi_align},
    {"torchvision::roi_pool", roi_pool},
};

}  // namespace

std::span<const AtenOp> torchvision_ops() { return kTorchvisionOps; }

}  // namespace anyshape::lower
