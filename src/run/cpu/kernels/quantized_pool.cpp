#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/byte_table.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/pool_bytes.h"
#include "run/cpu/simd/quantize.h"

// MaxPool of bytes, QLinearAveragePool and QLinearGlobalAveragePool.
namespace anyshape::cpu {
namespace {

using kernels::PlanePool;

struct QuantizedPoolPrepared {
  WindowAxes window;
  bool count_padding = false;
};

std::string_view accepts_window(const Call& call) {
  if (!is_byte(call, 0)) return "its element type has not 8 bits";
  const auto* kernel = call.ints("kernel_shape");
  return kernel && (kernel->size() == 1 || kernel->size() == 2) ? "" : "it has neither one nor two spatial axes";
}

std::string_view accepts_max_quantized_pool(const Call& call) {
  return call.has_output(1) ? "it gives the places of the maxima" : accepts_window(call);
}

std::string_view accepts_mean_quantized_pool(const Call& call) {
  if (!is_byte(call, 0)) return "its element type has not 8 bits";
  if (call.i("channels_last") != 0) return "its channels are last";
  if (const auto why = accepts_parameters(call, 1, 2); !why.empty()) return why;
  return accepts_parameters(call, 3, 4);
}

std::string_view accepts_average(const Call& call) {
  const auto why = accepts_mean_quantized_pool(call);
  return why.empty() ? accepts_window(call) : why;
}

Result<std::shared_ptr<const void>> prepare_quantized_pool(const Call& call) {
  auto p = std::make_shared<QuantizedPoolPrepared>();
  TRY(const auto kernel, ops::axis_ints(call, "kernel_shape", call.ints("kernel_shape")->size(), 0, 1));
  const std::vector<int64_t> sizes(kernel.begin(), kernel.end());
  TRY(p->window, WindowAxes::read(call, sizes));
  p->count_padding = call.type() == "QLinearAveragePool" && call.i("count_include_pad") != 0;
  return p;
}

PlanePool pool_of(const ViewArgs& args) {
  const QuantizedPoolPrepared& p = prepared_as<QuantizedPoolPrepared>(args);
  const auto in = args.in[0].dims, out = args.out[0].dims;
  PlanePool pool;
  pool.count_padding = p.count_padding;
  pool.x = pool_axis(p.window, p.window.x, in.back(), out.back());
  if (in.size() == 4) pool.y = pool_axis(p.window, p.window.y, in[2], out[2]);
  return pool;
}

int64_t planes_of(const ViewArgs& args) { return args.out[0].dims[0] * args.out[0].dims[1]; }

int64_t tasks_quantized_pool(const ViewArgs& args) {
  const PlanePool pool = pool_of(args);
  return tasks_for(planes_of(args), static_cast<double>(pool.y.out) * static_cast<double>(pool.y.kernel) *
                                        static_cast<double>(pool.x.in + pool.x.out * pool.x.kernel));
}

// fn(plane) for the planes of tasks first..last - 1 of `all`.
template <class Fn>
void for_planes(const ViewArgs& args, int64_t all, int64_t first, int64_t last, Fn fn) {
  const int64_t end = share_of(planes_of(args), all, last - 1).last;
  for (int64_t plane = share_of(planes_of(args), all, first).first; plane < end; ++plane) fn(plane);
}

int64_t row_of(const ViewArgs& args) { return round_up(args.in[0].dims.back(), 64); }
int64_t scratch_max(const ViewArgs& args) { return tasks_quantized_pool(args) * row_of(args); }

template <class Byte>
void run_max_of(const ViewArgs& args, int64_t first, int64_t last) {
  const PlanePool pool = pool_of(args);
  auto* row = reinterpret_cast<Byte*>(args.scratch + first * row_of(args));
  for_planes(args, tasks_quantized_pool(args), first, last, [&](int64_t plane) {
    kernels::max_pool_plane(pool, args.in[0].as<const Byte>() + plane * pool.y.in * pool.x.in, row,
                            args.out[0].as<Byte>() + plane * pool.y.out * pool.x.out);
  });
}

Status run_max_quantized_pool(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  if (args.in[0].dtype == DType::i8)
    run_max_of<int8_t>(args, first, last);
  else
    run_max_of<uint8_t>(args, first, last);
  return {};
}

// Of a task: a plane of the input and one of the output as f32, and a row of sums.
struct Slot {
  int64_t in, out, bytes;
};
Slot slot_of_quantized_pool(const PlanePool& pool) {
  Slot s{round_up(pool.y.in * pool.x.in, 16), round_up(pool.y.out * pool.x.out, 16), 0};
  s.bytes = (s.in + s.out) * static_cast<int64_t>(sizeof(float)) +
            round_up(pool.x.out, 8) * static_cast<int64_t>(sizeof(double));
  return s;
}

int64_t scratch_average(const ViewArgs& args) {
  return tasks_quantized_pool(args) * slot_of_quantized_pool(pool_of(args)).bytes;
}

Status run_average(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const PlanePool pool = pool_of(args);
  const Slot slot = slot_of_quantized_pool(pool);
  const int64_t from = pool.y.in * pool.x.in, to = pool.y.out * pool.x.out;
  auto* in = reinterpret_cast<float*>(args.scratch + first * slot.bytes);
  float* out = in + slot.in;
  auto* sums = reinterpret_cast<double*>(out + slot.out);
  const ByteParameters x = parameters_at(args, 1, 2), y = parameters_at(args, 3, 4);
  const bool is_signed = args.in[0].dtype == DType::i8;
  for_planes(args, tasks_quantized_pool(args), first, last, [&](int64_t plane) {
    simd::dequantize_run(args.in[0].data + plane * from, from, {&x.scale, &x.zero}, is_signed, in);
    kernels::average_pool_plane(pool, in, out, sums);
    simd::quantize_run(out, to, {&y.scale, &y.zero}, is_signed, args.out[0].data + plane * to);
  });
  return {};
}

int64_t plane_of(const ViewArgs& args) {
  int64_t cells = 1;
  for (int64_t size : args.in[0].dims.subspan(2)) cells *= size;
  return cells;
}

int64_t tasks_global(const ViewArgs& args) {
  return tasks_for(planes_of(args), static_cast<double>(plane_of(args)) * 2);
}

int64_t scratch_global(const ViewArgs&) { return kByteTable * static_cast<int64_t>(sizeof(double)); }

Status begin_global(const ViewArgs& args) {
  const ByteParameters x = parameters_at(args, 1, 2);
  const bool is_signed = args.in[0].dtype == DType::i8;
  auto* reals = reinterpret_cast<double*>(args.scratch);
  for (int32_t i = 0; i < 256; ++i)
    reals[i] = static_cast<double>(x.real(is_signed ? static_cast<int8_t>(static_cast<uint8_t>(i)) : i));
  return {};
}

// The bits of the numbers of all bytes lie within 32; up to this many of them add up exactly in any order.
constexpr int64_t kMostExact = int64_t{1} << 21;

double sum_of(const double* reals, const uint8_t* x, int64_t n) {
  double sums[4] = {};
  int64_t i = 0;
  for (; n <= kMostExact && i + 4 <= n; i += 4)
    for (int64_t u = 0; u < 4; ++u) sums[u] += reals[x[i + u]];
  for (; i < n; ++i) sums[0] += reals[x[i]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

Status run_global(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const ByteParameters y = parameters_at(args, 3, 4);
  const int64_t cells = plane_of(args);
  const bool is_signed = args.in[0].dtype == DType::i8;
  const auto* reals = reinterpret_cast<const double*>(args.scratch);
  for_planes(args, tasks_global(args), first, last, [&](int64_t plane) {
    const double sum = sum_of(reals, reinterpret_cast<const uint8_t*>(args.in[0].data) + plane * cells, cells);
    args.out[0].data[plane] = y.byte(static_cast<float>(sum / static_cast<double>(cells)), is_signed);
  });
  return {};
}

}  // namespace

constexpr EngineKernel kMaxPoolBytes = {.name = "8-bit planes",
                                        .accepts = accepts_max_quantized_pool,
                                        .prepare = prepare_quantized_pool,
                                        .scratch = scratch_max,
                                        .tasks = tasks_quantized_pool,
                                        .run = run_max_quantized_pool};
constexpr EngineKernel kQLinearAveragePool = {.name = "8-bit planes",
                                              .accepts = accepts_average,
                                              .prepare = prepare_quantized_pool,
                                              .scratch = scratch_average,
                                              .tasks = tasks_quantized_pool,
                                              .run = run_average};
constexpr EngineKernel kQLinearGlobalPool = {.name = "8-bit planes",
                                             .accepts = accepts_mean_quantized_pool,
                                             .scratch = scratch_global,
                                             .tasks = tasks_global,
                                             .begin = begin_global,
                                             .run = run_global};

}  // namespace anyshape::cpu
