#include <algorithm>
#include <limits>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/byte_table.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/pool_bytes.h"

// NhwcMaxPool of bytes, and QLinearGlobalAveragePool with the channels last.
namespace anyshape::cpu {
namespace {

using kernels::PoolAxis;

std::string_view accepts_max_quantized_pool_last(const Call& call) {
  if (!is_byte(call, 0)) return "its element type has not 8 bits";
  const auto* kernel = call.ints("kernel_shape");
  return kernel && (kernel->size() == 1 || kernel->size() == 2) ? "" : "it has neither one nor two spatial axes";
}

Result<std::shared_ptr<const void>> prepare_max(const Call& call) {
  TRY(const auto kernel, ops::axis_ints(call, "kernel_shape", call.ints("kernel_shape")->size(), 0, 1));
  TRY(WindowAxes window, WindowAxes::read(call, std::vector<int64_t>(kernel.begin(), kernel.end())));
  return std::make_shared<WindowAxes>(window);
}

struct Maxima {
  int64_t batch = 0, channels = 0;
  PoolAxis y, x;

  int64_t rows() const { return batch * y.out; }
  int64_t tasks() const {
    return tasks_for(rows(), static_cast<double>(x.out * y.kernel * x.kernel) * static_cast<double>(channels + 16) / 8);
  }
};

Maxima maxima_of(const ViewArgs& args) {
  const auto& window = prepared_as<WindowAxes>(args);
  const auto in = args.in[0].dims, out = args.out[0].dims;
  const bool two = in.size() == 4;
  Maxima m{in[0], in.back(), {}, {}};
  m.x = pool_axis(window, window.x, in[two ? 2 : 1], out[two ? 2 : 1]);
  m.y = pool_axis(window, window.y, two ? in[1] : 1, two ? out[1] : 1);
  return m;
}

int64_t tasks_max(const ViewArgs& args) { return args.out[0].count() == 0 ? 1 : maxima_of(args).tasks(); }

// Row y of the output of an image. Windows without a cell inside have the least value.
template <class Byte>
void max_row(const Maxima& m, const Byte* image, int64_t y, Byte* out) {
  std::fill_n(out, m.x.out * m.channels, std::numeric_limits<Byte>::lowest());
  for (int64_t ky = 0; ky < m.y.kernel; ++ky) {
    const int64_t row = m.y.cell(y, ky);
    if (row < 0 || row >= m.y.in) continue;
    for (int64_t kx = 0; kx < m.x.kernel; ++kx)
      for (int64_t x = m.x.first(kx); x < m.x.last(kx); ++x)
        kernels::max_into(image + (row * m.x.in + m.x.cell(x, kx)) * m.channels, m.channels, out + x * m.channels);
  }
}

template <class Byte>
void max_rows(const ViewArgs& args, const Maxima& m, int64_t first, int64_t last) {
  const auto* in = args.in[0].as<const Byte>();
  auto* out = args.out[0].as<Byte>();
  for (int64_t r = first; r < last; ++r)
    max_row(m, in + r / m.y.out * m.y.in * m.x.in * m.channels, r % m.y.out, out + r * m.x.out * m.channels);
}

Status run_max_quantized_pool_last(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const Maxima m = maxima_of(args);
  const int64_t all = m.tasks(), begin = share_of(m.rows(), all, first).first;
  const int64_t end = share_of(m.rows(), all, last - 1).last;
  if (args.in[0].dtype == DType::i8)
    max_rows<int8_t>(args, m, begin, end);
  else
    max_rows<uint8_t>(args, m, begin, end);
  return {};
}

std::string_view accepts_mean_quantized_pool_last(const Call& call) {
  if (call.i("channels_last") == 0) return "its channels are not last";
  if (!is_byte(call, 0)) return "its element type has not 8 bits";
  if (const auto why = accepts_parameters(call, 1, 2); !why.empty()) return why;
  if (const auto why = accepts_parameters(call, 3, 4); !why.empty()) return why;
  return call.in(0).dims && call.in(0).rank() >= 3 ? "" : "it has no spatial axes";
}

struct Means {
  int64_t batch = 0, cells = 1, channels = 0;
};

Means means_of(const ViewArgs& args) {
  const auto dims = args.in[0].dims;
  Means m{dims[0], 1, dims.back()};
  for (int64_t size : dims.subspan(1, dims.size() - 2)) m.cells *= size;
  return m;
}

// The numbers of all bytes; then of each task the sums of the channels. The bits of the numbers lie within 32: they add
// up exactly in any order, but for more of them than there are in memory.
int64_t sums_of(const Means& m) { return round_up(m.channels, 8); }
int64_t tasks_mean(const ViewArgs& args) {
  const Means m = means_of(args);
  return tasks_for(m.batch, static_cast<double>(m.cells) * static_cast<double>(m.channels) * 2);
}
int64_t scratch_mean(const ViewArgs& args) {
  return (kByteTable + tasks_mean(args) * sums_of(means_of(args))) * static_cast<int64_t>(sizeof(double));
}

Status begin_mean(const ViewArgs& args) {
  const ByteParameters x = parameters_at(args, 1, 2);
  const bool is_signed = args.in[0].dtype == DType::i8;
  auto* reals = reinterpret_cast<double*>(args.scratch);
  for (int32_t i = 0; i < 256; ++i)
    reals[i] = static_cast<double>(x.real(is_signed ? static_cast<int8_t>(static_cast<uint8_t>(i)) : i));
  return {};
}

Status run_mean(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const Means m = means_of(args);
  const ByteParameters y = parameters_at(args, 3, 4);
  const bool is_signed = args.in[0].dtype == DType::i8;
  const auto* reals = reinterpret_cast<const double*>(args.scratch);
  auto* sums = reinterpret_cast<double*>(args.scratch) + kByteTable + first * sums_of(m);
  const int64_t all = tasks_mean(args), end = share_of(m.batch, all, last - 1).last;
  for (int64_t image = share_of(m.batch, all, first).first; image < end; ++image) {
    std::fill_n(sums, m.channels, 0.0);
    const auto* at = reinterpret_cast<const uint8_t*>(args.in[0].data) + image * m.cells * m.channels;
    for (int64_t cell = 0; cell < m.cells; ++cell, at += m.channels)
      for (int64_t c = 0; c < m.channels; ++c) sums[c] += reals[at[c]];
    for (int64_t c = 0; c < m.channels; ++c)
      args.out[0].data[image * m.channels + c] =
          y.byte(static_cast<float>(sums[c] / static_cast<double>(m.cells)), is_signed);
  }
  return {};
}

}  // namespace

constexpr EngineKernel kMaxPoolBytesLast = {.name = "8-bit places",
                                            .accepts = accepts_max_quantized_pool_last,
                                            .prepare = prepare_max,
                                            .tasks = tasks_max,
                                            .run = run_max_quantized_pool_last};
constexpr EngineKernel kQLinearGlobalPoolLast = {.name = "8-bit places",
                                                 .accepts = accepts_mean_quantized_pool_last,
                                                 .scratch = scratch_mean,
                                                 .tasks = tasks_mean,
                                                 .begin = begin_mean,
                                                 .run = run_mean};

}  // namespace anyshape::cpu
