#include <algorithm>
#include <cstring>
#include <type_traits>

#include "ops/common.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/places.h"

// ScatterElements and ScatterND: a copy of the data, then entries or blocks at their places, in the order of the
// indices. Sums of f32, f64, i32 and i64; otherwise what is there is replaced.
namespace anyshape::cpu {
namespace {

struct Prepared {
  size_t axis = 0;
  bool adds = false;
};

const Prepared& prepared_of(const ViewArgs& args) { return *static_cast<const Prepared*>(args.prepared); }

std::string_view reduction_of(const Call& call) { return call.version() >= 16 ? call.s("reduction") : "none"; }

bool adds(const Call& call) { return reduction_of(call) == "add"; }

std::string_view accepts(const Call& call) {
  const Fact &data = call.in(0), &indices = call.in(1);
  if (!data.is_tensor() || !data.dims || data.rank() == 0) return "its rank is not known";
  if (!indices.is_tensor() || (indices.dtype != DType::i64 && indices.dtype != DType::i32))
    return "its indices are neither i64 nor i32";
  const int size = data.dtype == DType::string ? 0 : bits(data.dtype);
  if (size != 8 && size != 16 && size != 32 && size != 64) return "its elements have not 1, 2, 4 or 8 bytes";
  const bool summed =
      data.dtype == DType::f32 || data.dtype == DType::f64 || data.dtype == DType::i32 || data.dtype == DType::i64;
  if (adds(call)) return summed ? "" : "it adds up elements that are not f32, f64, i32 or i64";
  return reduction_of(call) == "none" ? "" : "it neither replaces nor adds";
}

Result<std::shared_ptr<const void>> prepare_elements(const Call& call) {
  TRY(const size_t axis, ops::normalize_axis(call.i("axis"), call.in(0).rank()));
  return std::make_shared<Prepared>(Prepared{axis, adds(call)});
}

Result<std::shared_ptr<const void>> prepare_nd(const Call& call) {
  return std::make_shared<Prepared>(Prepared{0, adds(call)});
}

// An index as it is given, which may count from the end.
Result<int64_t> index_at(const View& indices, int64_t n, int64_t size, std::string_view code) {
  const int64_t given = indices.dtype == DType::i64 ? indices.as<const int64_t>()[n] : indices.as<const int32_t>()[n];
  const int64_t index = given < 0 ? given + size : given;
  if (index < 0 || index >= size) return refuse(code, "index {} must lie within {} entries", given, size);
  return index;
}

template <class T>
void put(T* to, const T* from, int64_t count, bool adding) {
  if constexpr (std::is_floating_point_v<T>) {
    for (int64_t i = 0; i < count; ++i) to[i] = adding ? to[i] + from[i] : from[i];
  } else {
    // Sums wrap, whatever the sign.
    for (int64_t i = 0; i < count; ++i) to[i] = adding ? static_cast<T>(to[i] + from[i]) : from[i];
  }
}

template <class Visit>
Status visit_entries(const ViewArgs& args, Visit visit) {
  const DType dtype = args.in[0].dtype;
  if (prepared_of(args).adds && dtype == DType::f32) return visit(float());
  if (prepared_of(args).adds && dtype == DType::f64) return visit(double());
  if (bits(dtype) == 8) return visit(uint8_t());
  if (bits(dtype) == 16) return visit(uint16_t());
  if (bits(dtype) == 32) return visit(uint32_t());
  return visit(uint64_t());
}

void copy_data(const ViewArgs& args) {
  const View &from = args.in[0], &to = args.out[0];
  const int64_t bytes = from.count() * (bits(from.dtype) / 8);
  if (bytes > 0 && from.data != to.data) std::memcpy(to.data, from.data, static_cast<size_t>(bytes));
}

// The rows of the indices along the last axis.
template <class T>
Status put_row(const ViewArgs& args, int64_t row) {
  const View &data = args.in[0], &indices = args.in[1];
  const size_t axis = prepared_of(args).axis, last = data.rank() - 1;
  int64_t base = 0, rest = row;
  for (size_t i = last; i-- > 0; rest /= indices.dims[i])
    if (i != axis) base += rest % indices.dims[i] * data.strides[i];
  const int64_t width = indices.dims[last], along = axis == last ? 0 : 1;
  for (int64_t j = 0; j < width; ++j) {
    TRY(const int64_t index, index_at(indices, row * width + j, data.dims[axis], "scatter.index"));
    put(args.out[0].as<T>() + base + index * data.strides[axis] + j * along, args.in[2].as<const T>() + row * width + j,
        1, prepared_of(args).adds);
  }
  return {};
}

Status run_elements(const ViewArgs& args, int64_t, int64_t) {
  copy_data(args);
  const auto dims = args.in[1].dims;
  if (args.in[1].count() == 0) return {};
  const int64_t rows = args.in[1].count() / dims.back();
  return visit_entries(args, [&]<class T>(T) -> Status {
    for (int64_t row = 0; row < rows; ++row) TRY_OK(put_row<T>(args, row));
    return {};
  });
}

Status run_nd(const ViewArgs& args, int64_t, int64_t) {
  copy_data(args);
  const View &data = args.in[0], &indices = args.in[1];
  const int64_t length = indices.dims.back();
  int64_t tuples = 1, inner = 1;
  for (size_t i = 0; i + 1 < indices.rank(); ++i) tuples *= indices.dims[i];
  for (size_t i = static_cast<size_t>(length); i < data.rank(); ++i) inner *= data.dims[i];
  return visit_entries(args, [&]<class T>(T) -> Status {
    for (int64_t n = 0; n < tuples; ++n) {
      int64_t at = 0;
      for (int64_t i = 0; i < length; ++i) {
        const auto axis = static_cast<size_t>(i);
        TRY(const int64_t index, index_at(indices, n * length + i, data.dims[axis], "scatternd.index"));
        at += index * data.strides[axis];
      }
      put(args.out[0].as<T>() + at, args.in[2].as<const T>() + n * inner, inner, prepared_of(args).adds);
    }
    return {};
  });
}

}  // namespace

constexpr EngineKernel kScatterElements = {
    .name = "entries", .accepts = accepts, .prepare = prepare_elements, .run = run_elements, .in_place = 1};
constexpr EngineKernel kScatterND = {
    .name = "blocks", .accepts = accepts, .prepare = prepare_nd, .run = run_nd, .in_place = 1};

}  // namespace anyshape::cpu
