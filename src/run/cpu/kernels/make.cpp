#include <algorithm>
#include <cstring>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"

// ConstantOfShape, Trilu, Range of integers, and Cast between numbers where nothing saturates.
namespace anyshape::cpu {
namespace {

int64_t bytes_of(DType dtype) { return bits(dtype) / 8; }

struct Value {
  std::byte bytes[8] = {};
  int64_t size = 4;
};

std::string_view accepts_fill(const Call& call) {
  const Tensor* value = call.tensor("value");
  if (!value) return {};
  const int size = bits(value->dtype());
  if (value->count() != 1 || value->dtype() == DType::string || (size != 8 && size != 16 && size != 32 && size != 64))
    return "its value is not one of 1, 2, 4 or 8 bytes";
  return {};
}

Result<std::shared_ptr<const void>> prepare_fill(const Call& call) {
  auto p = std::make_shared<Value>();
  if (const Tensor* value = call.tensor("value")) {
    p->size = bytes_of(value->dtype());
    std::memcpy(p->bytes, value->bytes().data(), static_cast<size_t>(p->size));
  }
  return p;
}

int64_t fill_tasks(const ViewArgs& args) { return tasks_for(args.out[0].count(), 1); }

template <class T>
void fill(const Value& value, const ViewArgs& args, int64_t from, int64_t to) {
  T x;
  std::memcpy(&x, value.bytes, sizeof(T));
  std::fill(args.out[0].as<T>() + from, args.out[0].as<T>() + to, x);
}

Status run_fill(const ViewArgs& args, int64_t first, int64_t last) {
  const Value& value = prepared_as<Value>(args);
  const int64_t tasks = fill_tasks(args), count = args.out[0].count();
  const int64_t from = share_of(count, tasks, first).first, to = share_of(count, tasks, last - 1).last;
  if (value.size == 1) fill<uint8_t>(value, args, from, to);
  if (value.size == 2) fill<uint16_t>(value, args, from, to);
  if (value.size == 4) fill<uint32_t>(value, args, from, to);
  if (value.size == 8) fill<uint64_t>(value, args, from, to);
  return {};
}

struct Triangle {
  bool upper = true;
};

std::string_view accepts_trilu(const Call& call) {
  if (!call.in(0).is_tensor() || bits(call.in(0).dtype) < 8 || call.in(0).dtype == DType::string)
    return "its elements are no whole bytes";
  if (call.has(1) && call.in(1).dtype != DType::i64) return "k is not i64";
  return {};
}

Result<std::shared_ptr<const void>> prepare_trilu(const Call& call) {
  return std::make_shared<Triangle>(Triangle{call.i("upper") != 0});
}

int64_t rows_of_make(const View& v) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < v.rank(); ++i) rows *= v.dims[i];
  return rows;
}

int64_t trilu_tasks(const ViewArgs& args) {
  return tasks_for(rows_of_make(args.out[0]), static_cast<double>(args.out[0].dims[args.out[0].rank() - 1]));
}

Status run_trilu(const ViewArgs& args, int64_t first, int64_t last) {
  const View &in = args.in[0], &out = args.out[0];
  if (out.count() == 0) return {};
  const int64_t columns = out.dims[out.rank() - 1], height = out.dims[out.rank() - 2], size = bytes_of(out.dtype);
  const int64_t rows = rows_of_make(out), tasks = trilu_tasks(args);
  const int64_t raw = args.in.size() > 1 && args.in[1] ? *args.in[1].as<const int64_t>() : 0;
  const int64_t k = std::clamp(raw, -height - columns - 1, height + columns + 1);
  const bool upper = prepared_as<Triangle>(args).upper;
  for (int64_t r = share_of(rows, tasks, first).first; r < share_of(rows, tasks, last - 1).last; ++r) {
    // Columns before `cut` are the lower triangle, with the diagonal only where that is kept.
    const int64_t cut = std::clamp<int64_t>(r % height + k + (upper ? 0 : 1), 0, columns);
    const int64_t from = upper ? cut : 0, to = upper ? columns : cut;
    std::byte* row = out.data + r * columns * size;
    if (row != in.data + r * columns * size && to > from)
      std::memcpy(row + from * size, in.data + (r * columns + from) * size, static_cast<size_t>((to - from) * size));
    std::memset(row, 0, static_cast<size_t>(from * size));
    std::memset(row + to * size, 0, static_cast<size_t>((columns - to) * size));
  }
  return {};
}

std::string_view accepts_range(const Call& call) {
  for (size_t i = 0; i < 3; ++i)
    if (!call.in(i).is_tensor() || (call.in(i).dtype != DType::i64 && call.in(i).dtype != DType::i32))
      return "it does not count in i64 or i32";
  return {};
}

template <class T>
void count_up(const ViewArgs& args) {
  const auto start = static_cast<uint64_t>(*args.in[0].as<const T>()),
             step = static_cast<uint64_t>(*args.in[2].as<const T>());
  T* out = args.out[0].as<T>();
  for (int64_t i = 0; i < args.out[0].count(); ++i) out[i] = static_cast<T>(start + static_cast<uint64_t>(i) * step);
}

Status run_range(const ViewArgs& args, int64_t, int64_t) {
  if (args.out[0].dtype == DType::i64)
    count_up<int64_t>(args);
  else
    count_up<int32_t>(args);
  return {};
}

bool casts_from(DType t) {
  return t == DType::f32 || t == DType::f64 || t == DType::i32 || t == DType::i64 || t == DType::boolean ||
         t == DType::u8;
}

std::string_view accepts_cast(const Call& call) {
  const auto to = dtype_from_onnx(call.i("to"));
  const DType from = call.in(0).is_tensor() ? call.in(0).dtype : DType::undefined;
  if (!to || !casts_from(from) || !casts_from(*to)) return "not both types are out of f32, f64, i32, i64, u8, bool";
  if (is_float(from) && is_integer(*to)) return "floats to integers saturate";
  return {};
}

int64_t cast_tasks(const ViewArgs& args) { return tasks_for(args.out[0].count(), 2); }

template <class From, class To>
void cast(const View& in, const View& out, int64_t from, int64_t to, bool truth) {
  const From* x = in.as<const From>();
  To* y = out.as<To>();
  if (truth)
    for (int64_t i = from; i < to; ++i) y[i] = static_cast<To>(x[i] != From(0));
  else
    for (int64_t i = from; i < to; ++i) y[i] = static_cast<To>(x[i]);
}

template <class From>
void cast_from(const View& in, const View& out, int64_t from, int64_t to) {
  switch (out.dtype) {
    case DType::f32:
      return cast<From, float>(in, out, from, to, false);
    case DType::f64:
      return cast<From, double>(in, out, from, to, false);
    case DType::boolean:
      return cast<From, uint8_t>(in, out, from, to, true);
    default:
      break;
  }
  if constexpr (std::is_integral_v<From>) {
    if (out.dtype == DType::i32) cast<From, int32_t>(in, out, from, to, false);
    if (out.dtype == DType::i64) cast<From, int64_t>(in, out, from, to, false);
    if (out.dtype == DType::u8) cast<From, uint8_t>(in, out, from, to, false);
  }
}

Status run_cast(const ViewArgs& args, int64_t first, int64_t last) {
  const View &in = args.in[0], &out = args.out[0];
  const int64_t tasks = cast_tasks(args), count = out.count();
  const int64_t from = share_of(count, tasks, first).first, to = share_of(count, tasks, last - 1).last;
  switch (in.dtype) {
    case DType::f32:
      cast_from<float>(in, out, from, to);
      return {};
    case DType::f64:
      cast_from<double>(in, out, from, to);
      return {};
    case DType::i32:
      cast_from<int32_t>(in, out, from, to);
      return {};
    case DType::i64:
      cast_from<int64_t>(in, out, from, to);
      return {};
    default:
      cast_from<uint8_t>(in, out, from, to);
      return {};
  }
}

}  // namespace

constexpr EngineKernel kConstantOfShape = {.name = "fill",
                                           .accepts = accepts_fill,
                                           .prepare = prepare_fill,
                                           .tasks = fill_tasks,
                                           .run = run_fill,
                                           .on_host = 1};
constexpr EngineKernel kTrilu = {.name = "rows",
                                 .accepts = accepts_trilu,
                                 .prepare = prepare_trilu,
                                 .tasks = trilu_tasks,
                                 .run = run_trilu,
                                 .in_place = 1,
                                 .on_host = 2};
constexpr EngineKernel kRange = {.name = "count", .accepts = accepts_range, .run = run_range, .on_host = 7};
constexpr EngineKernel kCast = {.name = "numbers", .accepts = accepts_cast, .tasks = cast_tasks, .run = run_cast};

}  // namespace anyshape::cpu
