#include "ops/elementwise/elementwise.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kExpandIn[] = {{"input"}, {"shape", Port::value}};
constexpr Port kTileIn1[] = {{"input"}, {"tiles", Port::value}, {"axis", Port::value}};
constexpr Port kTileIn6[] = {{"input"}, {"repeats", Port::value}};
constexpr Port kExpandOut[] = {{"output"}};
constexpr size_t kExpandData[] = {0};

// The kernel of both: position i of an output axis reads position i % size of the input axis.
Status reference_expand(const Call&, KernelArgs& args) {
  const Tensor& data = args.in(0);
  if (!args.out(0) || args.out(0).rank() < data.rank()) return unknown("infer.rank", "the output is not known");
  const auto strides = row_strides(data.dims());
  const size_t shift = args.out(0).rank() - data.rank();
  fill_by(args.out(0), data, [&](std::span<const int64_t> index) {
    int64_t offset = 0;
    for (size_t i = 0; i < data.rank(); ++i) offset += index[shift + i] % data.dims()[i] * strides[i];
    return offset;
  });
  return {};
}

constexpr Kernel kExpandKernels[] = {{"reference", reference_expand}};

Facts repeated(const Call& call, Dims dims) {
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kExpandKernels[0], kExpandData, out);
  keep_attained(call.in(0), out[0]);
  return out;
}

// The size an axis of `size` entries gets by an entry that is not known: its own, if it has more than one.
Dim expanded(const Call& call, InferContext& context, Dim size) {
  if (context.proves(Condition::ge(size, 2))) return size;
  const Dim out = context.fresh(call.in(1), "expand");
  context.bound(Condition::le(size, 1) || Condition::eq(out, size));
  return out;
}

Result<Facts> expand_to_unknown(const Call& call, InferContext& context) {
  const Dims data = *call.in(0).dims;
  const auto length = call.in(1).numeric_dims();
  if (!length || length->size() != 1 || length->front() > 64)
    return Facts{Fact::tensor_of_unknown_rank(call.in(0).dtype)};
  const auto rank = std::max(data.size(), static_cast<size_t>(length->front()));
  const size_t shift = rank - data.size();
  Dims dims;
  for (size_t i = 0; i < rank; ++i) {
    if (i < shift) {
      dims.push_back(context.fresh(call.in(1), "expand"));
    } else {
      const bool asked = i >= rank - static_cast<size_t>(length->front());
      dims.push_back(asked ? expanded(call, context, data[i - shift]) : data[i - shift]);
    }
  }
  return repeated(call, std::move(dims));
}

Result<Facts> infer_expand(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY_OK(require_integers(call, 1));
  const Fact& shape = call.in(1);
  if (shape.dims && shape.rank() != 1)
    return refuse("expand.shape", "the shape must be a list, it is {}", print(shape));
  if (!shape.elements || shape.denominator != 1) return expand_to_unknown(call, context);
  Dims target;
  for (Dim d : *shape.elements) {
    target.push_back(context.simplify(d));
    TRY_OK(context.require(Condition::ge(d, 0), "expand.shape", "the shape {} must not have a negative size",
                           text(*shape.elements)));
  }
  const Dims both[] = {data, target};
  TRY(Dims dims, broadcast_dims(context, both));
  return repeated(call, std::move(dims));
}

Result<Facts> infer_tile(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  TRY_OK(require_integers(call, 1));
  const Fact& repeats = call.in(1);
  if (repeats.dims && repeats.rank() != 1)
    return refuse("tile.repeats", "the repeats must be a list, they are {}", print(repeats));
  if (repeats.dims) {
    TRY_OK(context.require(Condition::eq((*repeats.dims)[0], dims.size()), "tile.repeats",
                           "there must be a repeat for each axis: {} for {}", print((*repeats.dims)[0]), text(dims)));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const bool known = repeats.elements && repeats.denominator == 1;
    const Dim count = known ? (*repeats.elements)[i] : context.fresh(repeats, "repeats");
    TRY_OK(context.require(Condition::ge(count, 0), "tile.repeats", "axis {} must be repeated at least 0 times, not {}",
                           i, print(count)));
    dims[i] = dims[i] * count;
  }
  return repeated(call, std::move(dims));
}

// The only entry of a tensor, which may be a float: in version 1 all inputs of Tile have one type.
std::optional<Dim> whole_entry(const Fact& fact) {
  const auto entries = known_entries(fact);
  if (!entries || entries->size() != 1 || (*entries)[0].den != 1) return std::nullopt;
  return (*entries)[0].num;
}

Result<Facts> infer_tile_axis(const Call& call, InferContext& context) {
  TRY(Dims dims, call.dims(0));
  const auto axis_entry = whole_entry(call.in(2));
  if (!axis_entry || !axis_entry->is_constant()) return unknown("infer.axes", "the axis is not known");
  TRY(const size_t axis, normalize_axis(*axis_entry->constant(), dims.size()));
  const auto tiles = whole_entry(call.in(1));
  const Dim count = tiles ? *tiles : context.fresh(call.in(1), "tiles");
  TRY_OK(context.require(Condition::ge(count, 0), "tile.repeats", "axis {} must be repeated at least 0 times, not {}",
                         axis, print(count)));
  dims[axis] = dims[axis] * count;
  return repeated(call, std::move(dims));
}

}  // namespace

constexpr OpDef kExpand8{.name = "Expand",
                         .since = 8,
                         .sig = {kExpandIn, kExpandOut, "broadcast to a shape"},
                         .infer = infer_expand,
                         .kernels = kExpandKernels};
constexpr OpDef kTile1{.name = "Tile",
                       .since = 1,
                       .sig = {kTileIn1, kExpandOut, "one axis repeated"},
                       .infer = infer_tile_axis,
                       .kernels = kExpandKernels};
constexpr OpDef kTile6{.name = "Tile",
                       .since = 6,
                       .sig = {kTileIn6, kExpandOut, "every axis repeated"},
                       .infer = infer_tile,
                       .kernels = kExpandKernels};

}  // namespace anyshape::ops
