#include <algorithm>

#include "kernels/boxes.h"
#include "kernels/grid_sample.h"
#include "kernels/resample.h"
#include "ops/movement/movement.h"
#include "ops/nn/window.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kInMaxRoi[] = {{"X"}, {"rois"}};
constexpr Port kInAlign[] = {{"X"}, {"rois"}, {"batch_indices", Port::value | Port::settled}};
constexpr Port kInGrid[] = {{"X"}, {"grid"}};
constexpr Port kRoiOut[] = {{"Y"}};
constexpr AttributeDef kGridSampleAttributes[] = {
    {"align_corners", 0},
    {"mode", "bilinear", {1, 19}},
    {"mode", "linear", {20}},
    {"padding_mode", "zeros"},
};
constexpr AttributeDef kMaxRoiPoolAttributes[] = {
    {"pooled_shape", AttributeDef::integers, AttributeDef::required},
    {"spatial_scale", 1.0f},
};
constexpr AttributeDef kRoiAlignAttributes[] = {
    {"coordinate_transformation_mode", "half_pixel", {16}},
    {"mode", "avg"},
    {"output_height", 1},
    {"output_width", 1},
    {"sampling_ratio", 0},
    {"spatial_scale", 1.0f},
};

Result<Facts> infer_max_roi(const Call& call, InferContext& context) {
  TRY(const Dims x, dims_of_rank(call, 0, 4));
  TRY(const Dims rois, dims_of_rank(call, 1, 2));
  TRY_OK(require_dims(call, context, 1, {rois[0], 5}, "roi.shape", "rois"));
  if (!call.has_attr("pooled_shape")) return refuse("roi.pooled_shape", "pooled_shape is missing");
  TRY(const auto pooled, axis_ints(call, "pooled_shape", 2, 0, 1));
  if (pooled[0] < 1) return refuse("roi.pooled_shape", "pooled_shape is empty");
  context.data_condition("roi.batch", "the first column of rois must be in 0..{}", print(x[0] - 1));
  return Facts{Fact::tensor(call.in(0).dtype, {rois[0], x[1], pooled[0], pooled[1]})};
}

Status require_batch_indices(const Call& call, InferContext& context, Dim batch) {
  const auto bounds = call.in(2).value_bounds();
  if (!bounds) {
    context.data_condition("roi.batch", "batch_indices must be in 0..{}", print(batch - 1));
    return {};
  }
  const Condition none = call.in(2).dims ? Condition::eq(product(*call.in(2).dims), 0) : Condition::never();
  return context.require(none || (Condition::ge(bounds->lo, 0) && Condition::lt(bounds->hi, batch)), "roi.batch",
                         "batch_indices, which are in {}..{}, must be below the {} images of the batch",
                         print(bounds->lo), print(bounds->hi), print(batch));
}

Result<kernels::RoiAlign> read_align(const Call& call) {
  kernels::RoiAlign how;
  how.scale = call.f("spatial_scale");
  how.samples = call.i("sampling_ratio");
  const std::string_view mode = call.s("mode");
  const std::string_view coordinates =
      call.version() < 16 ? "output_half_pixel" : call.s("coordinate_transformation_mode");
  if (how.samples < 0) return refuse("roi.samples", "sampling_ratio is {}", how.samples);
  if (mode != "avg" && mode != "max") return refuse("roi.mode", "the mode {:?} does not exist", mode);
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return refuse("roi.mode", "the coordinates {:?} do not exist", coordinates);
  how.maximum = mode == "max";
  how.half_pixel = coordinates == "half_pixel";
  return how;
}

Result<Facts> infer_align(const Call& call, InferContext& context) {
  TRY_OK(read_align(call));
  TRY(const Dims x, dims_of_rank(call, 0, 4));
  TRY(const Dims rois, dims_of_rank(call, 1, 2));
  TRY_OK(require_dims(call, context, 1, {rois[0], 4}, "roi.shape", "rois"));
  TRY_OK(require_vector(call, context, 2, rois[0], "roi.shape", "batch_indices"));
  TRY_OK(require_batch_indices(call, context, x[0]));
  const int64_t height = call.i("output_height"), width = call.i("output_width");
  if (height < 0 || width < 0) return refuse("roi.output", "the output size {} x {} is negative", height, width);
  return Facts{Fact::tensor(call.in(0).dtype, {rois[0], x[1], height, width})};
}

// The names of the modes changed with version 20.
Result<kernels::Interpolation> interpolation_of_roi(const Call& call) {
  const std::string_view mode = call.s("mode");
  if (mode == "nearest") return kernels::Interpolation::nearest;
  if (mode == "linear" || mode == "bilinear") return kernels::Interpolation::linear;
  if (mode == "cubic" || mode == "bicubic") return kernels::Interpolation::cubic;
  return refuse("gridsample.mode", "the mode {:?} does not exist", mode);
}

Result<kernels::GridSample> read_grid(const Call& call) {
  kernels::GridSample how;
  TRY(how.interpolation, interpolation_of_roi(call));
  const std::string_view padding = call.s("padding_mode");
  if (padding == "border")
    how.padding = kernels::Padding::border;
  else if (padding == "reflection")
    how.padding = kernels::Padding::reflection;
  else if (padding != "zeros")
    return refuse("gridsample.mode", "the padding {:?} does not exist", padding);
  how.align_corners = call.i("align_corners") != 0;
  return how;
}

Result<Facts> infer_grid_roi(const Call& call, InferContext& context) {
  TRY(const kernels::GridSample how, read_grid(call));
  TRY_OK(kernels::require_numbers(how.interpolation, call.in(0).dtype));
  TRY(const Dims x, call.dims(0));
  const bool any_rank = call.version() >= 20;
  if (any_rank ? x.size() < 3 : x.size() != 4)
    return refuse("rank", "GridSample takes an input of rank {}, it is {}", any_rank ? "3 or more" : "4", text(x));
  TRY(const Dims grid, dims_of_rank(call, 1, x.size()));
  TRY_OK(context.require(Condition::eq(grid.back(), x.size() - 2), "gridsample.grid",
                         "the last axis of the grid {} must be {}, one per spatial axis", text(grid), x.size() - 2));
  TRY_OK(context.require(Condition::eq(grid[0], x[0]), "gridsample.batch",
                         "the batches of the grid and of the input must be equal: {} and {}", print(grid[0]),
                         print(x[0])));
  for (size_t i = 2; i < x.size(); ++i)
    TRY_OK(context.require(Condition::ge(x[i], 1), "gridsample.empty", "axis {} of {} must not be empty", i, text(x)));
  Dims out{x[0], x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

Status check_rois(const KernelArgs& args) {
  if (args.in(0).dtype() == args.in(1).dtype()) return {};
  return refuse("dtype", "X is {}, rois are {}", name(args.in(0).dtype()), name(args.in(1).dtype()));
}

Status run_max_roi(const Call& call, KernelArgs& args) {
  TRY_OK(check_rois(args));
  return kernels::max_roi_pool(call.f("spatial_scale"), args.in(0), args.in(1), args.out(0));
}

Status run_align(const Call& call, KernelArgs& args) {
  TRY_OK(check_rois(args));
  TRY(const kernels::RoiAlign how, read_align(call));
  if (!is_integer(args.in(2).dtype())) return refuse("dtype", "batch_indices are {}", name(args.in(2).dtype()));
  const auto batch = ints_of(args.in(2));
  for (int64_t image : batch)
    if (image < 0 || image >= args.in(0).dims()[0]) return refuse("roi.batch", "a region lies in image {}", image);
  return kernels::roi_align(how, args.in(0), args.in(1), batch, args.out(0));
}

Status run_grid_roi(const Call& call, KernelArgs& args) {
  TRY(const kernels::GridSample how, read_grid(call));
  return kernels::grid_sample(how, args.in(0), args.in(1), args.out(0));
}

constexpr Kernel kMaxRoiKernels[] = {{"reference", run_max_roi}};
constexpr Kernel kAlignKernels[] = {{"reference", run_align}};
constexpr Kernel kRoiGridKernels[] = {{"reference", run_grid_roi}};

}  // namespace

constexpr OpDef kGridSample16{.name = "GridSample",
                              .since = 16,
                              .sig = {kInGrid, kRoiOut, "samples at the positions of a grid", kGridSampleAttributes},
                              .infer = infer_grid_roi,
                              .kernels = kRoiGridKernels};
constexpr OpDef kMaxRoiPool1{.name = "MaxRoiPool",
                             .since = 1,
                             .sig = {kInMaxRoi, kRoiOut, "maximum over the cells of regions", kMaxRoiPoolAttributes},
                             .infer = infer_max_roi,
                             .kernels = kMaxRoiKernels};
constexpr OpDef kRoiAlign10{.name = "RoiAlign",
                            .since = 10,
                            .sig = {kInAlign, kRoiOut, "interpolated cells of regions", kRoiAlignAttributes},
                            .infer = infer_align,
                            .kernels = kAlignKernels};

}  // namespace anyshape::ops
