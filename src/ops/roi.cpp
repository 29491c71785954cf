#include <algorithm>

#include "ops/records.h"
#include "ops/window.h"

namespace anyshape::ops {
namespace {

constexpr Port kInMaxRoi[] = {{"X"}, {"rois"}};
constexpr Port kInAlign[] = {{"X"}, {"rois"}, {"batch_indices", Port::value}};
constexpr Port kInGrid[] = {{"X"}, {"grid"}};
constexpr Port kOut[] = {{"Y"}};

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
                         "batch_indices are in {}..{}, the batch has {} images", print(bounds->lo), print(bounds->hi),
                         print(batch));
}

Result<Facts> infer_align(const Call& call, InferContext& context) {
  TRY(const Dims x, dims_of_rank(call, 0, 4));
  TRY(const Dims rois, dims_of_rank(call, 1, 2));
  TRY_OK(require_dims(call, context, 1, {rois[0], 4}, "roi.shape", "rois"));
  TRY_OK(require_vector(call, context, 2, rois[0], "roi.shape", "batch_indices"));
  TRY_OK(require_batch_indices(call, context, x[0]));
  const int64_t height = call.i("output_height", 1), width = call.i("output_width", 1);
  if (height < 0 || width < 0) return refuse("roi.output", "the output size {} x {} is negative", height, width);
  return Facts{Fact::tensor(call.in(0).dtype, {rois[0], x[1], height, width})};
}

Result<Facts> infer_grid(const Call& call, InferContext& context) {
  TRY(const Dims x, call.dims(0));
  const bool any_rank = call.version() >= 20;
  if (any_rank ? x.size() < 3 : x.size() != 4)
    return refuse("rank", "GridSample takes an input of rank {}, it is {}", any_rank ? "3 or more" : "4", text(x));
  TRY(const Dims grid, dims_of_rank(call, 1, x.size()));
  TRY_OK(context.require(Condition::eq(grid.back(), x.size() - 2), "gridsample.grid",
                         "the last axis of the grid {} must be {}, one per spatial axis", text(grid), x.size() - 2));
  TRY_OK(context.require(Condition::eq(grid[0], x[0]), "gridsample.batch",
                         "the grid has a batch of {}, the input of {}", print(grid[0]), print(x[0])));
  for (size_t i = 2; i < x.size(); ++i)
    TRY_OK(context.require(Condition::ge(x[i], 1), "gridsample.empty", "axis {} of {} must not be empty", i, text(x)));
  Dims out{x[0], x[1]};
  out.insert(out.end(), grid.begin() + 1, grid.end() - 1);
  return Facts{Fact::tensor(call.in(0).dtype, std::move(out))};
}

}  // namespace

constexpr OpDef kGridSample16{.name = "GridSample",
                              .since = 16,
                              .sig = {kInGrid, kOut, "samples at the positions of a grid"},
                              .infer = infer_grid};
constexpr OpDef kMaxRoiPool1{.name = "MaxRoiPool",
                             .since = 1,
                             .sig = {kInMaxRoi, kOut, "maximum over the cells of regions"},
                             .infer = infer_max_roi};
constexpr OpDef kRoiAlign10{
    .name = "RoiAlign", .since = 10, .sig = {kInAlign, kOut, "interpolated cells of regions"}, .infer = infer_align};

}  // namespace anyshape::ops
