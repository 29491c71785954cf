#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

// The names of the modes changed with opset 20.
std::string_view mode_name(Lowering& l, int64_t mode) {
  static constexpr std::string_view kOld[] = {"bilinear", "nearest", "bicubic"},
                                    kNew[] = {"linear", "nearest", "cubic"};
  if (mode < 0 || mode > 2) mode = 0;
  return l->opset() >= 20 ? kNew[mode] : kOld[mode];
}

Arg grid_sampler(Lowering& l, const Args& a) {
  const Ref x = a.tensor("input"), grid = a.tensor("grid");
  if (!l.need_rank(x, 4, 5)) return {};
  const int64_t needed = l->rank(x) == 5 ? 20 : 16;
  if (l->opset() < needed) {
    l->refuse(kOpsetCode, "grid_sample of {} axes needs opset {} or later", l->rank(x), needed);
    return {};
  }
  static constexpr std::string_view kPadding[] = {"zeros", "border", "reflection"};
  const int64_t padding = a.i("padding_mode");
  if (padding < 0 || padding > 2) return {};
  return l.op("GridSample", {x, l->cast(grid, l->dtype(x))},
              {attr("align_corners", a.flag("align_corners")), attr("mode", mode_name(l, a.i("interpolation_mode"))),
               attr("padding_mode", kPadding[padding])});
}

// n places between -1 and 1: (2i - (n - 1)) / (n - 1) from corner to corner, else over n; a single one is 0.
Ref places_sampler(Lowering& l, Dim n, bool corners, DType dtype) {
  const Ref twice = l.op("Mul", {counted(l, n, DType::i64), l->number(int64_t{2})});
  const Ref top = l->cast(l.op("Sub", {twice, l->scalar(n - 1)}), dtype);
  return l.op("Div", {top, l->cast(l->scalar(corners ? max(n - 1, 1) : n), dtype)});
}

Arg affine_grid(Lowering& l, const Args& a) {
  const Ref theta = a.tensor("theta");
  const Dims size = a.dims("size");
  if (!l.need_rank(theta, 3, 3) || size.size() < 4 || size.size() > 5) return {};
  const size_t spatial = size.size() - 2;
  const DType dtype = l->dtype(theta);
  const int64_t count = static_cast<int64_t>(spatial);
  // Column j of theta as [n, 1, .., 1, spatial].
  const Refs columns = l->split(theta, 2, Dims(spatial + 1, 1));
  std::vector<int64_t> ones;
  for (int64_t i = 1; i < count; ++i) ones.push_back(i);
  const auto column = [&](size_t j) { return l->unsqueeze(l->transpose(columns[j], {0, 2, 1}), ones); };
  Ref sum = column(spatial);
  for (size_t j = 0; j < spatial; ++j) {
    const size_t axis = spatial - 1 - j;  // x runs along the last axis
    const Ref along = with_trailing_ones(l, places_sampler(l, size[axis + 2], a.flag("align_corners"), dtype), j + 1);
    sum = l.op("Add", {sum, l.op("Mul", {along, column(j)})});
  }
  Dims out{l->dim(theta, 0)};
  out.insert(out.end(), size.begin() + 2, size.end());
  out.push_back(count);
  return l->expand(sum, out);
}

constexpr AtenOp kSamplerOps[] = {
    {"affine_grid_generator", affine_grid},
    {"grid_sampler", grid_sampler},
    {"grid_sampler_2d", grid_sampler},
    {"grid_sampler_3d", grid_sampler},
};

}  // namespace

std::span<const AtenOp> sampler_ops() { return kSamplerOps; }

}  // namespace anyshape::lower
