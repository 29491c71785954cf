#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/quantized_conv.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/depthwise_bytes.h"
#include "run/cpu/simd/gemm_bytes.h"

// QLinearConv with the channels last: a product of bytes whose rows are the windows, in the input itself where no
// padding is needed, else in a copy of the rows at hand with their padding. Filters of one channel each go their own
// way.
namespace anyshape::cpu {
namespace {

using simd::ByteDepthwise;
using simd::ByteGemm;
using simd::ByteProduct;

constexpr const ConvPorts& kPorts = kQLinearConvPorts;

struct Conv {
  int64_t groups = 1, in_channels = 0, out_channels = 0;  // channels of one group
  int64_t kernel_height = 1, kernel_width = 1, stride_y = 1, stride_x = 1, dilation_y = 1, dilation_x = 1;
  int64_t batch = 0, in_height = 1, in_width = 0, out_height = 1, out_width = 0, pad_top = 0, pad_left = 0;

  int64_t filters() const { return groups * out_channels; }
  bool depthwise() const { return groups > 1 && in_channels == 1 && out_channels == 1; }
  // Parameters of filters come in lists, of one group each, or of all of them.
  int64_t lists() const { return depthwise() ? 1 : groups; }
  int64_t of_list() const { return depthwise() ? filters() : out_channels; }
  int64_t place() const { return groups * in_channels; }  // bytes of one place
  // Of one group neighbours in a row of the window are neighbours in memory.
  bool joins_row() const { return groups == 1 && dilation_x == 1; }
  int64_t run() const { return joins_row() ? kernel_width * in_channels : in_channels; }
  int64_t runs() const { return joins_row() ? kernel_height : kernel_height * kernel_width; }
  int64_t depth() const { return run() * runs(); }
  int64_t rows_for(int64_t rows) const { return (rows - 1) * stride_y + (kernel_height - 1) * dilation_y + 1; }
  int64_t width_needed() const { return (out_width - 1) * stride_x + (kernel_width - 1) * dilation_x + 1; }
  bool reads_past() const {
    return pad_top != 0 || pad_left != 0 || rows_for(out_height) > in_height || width_needed() > in_width;
  }
};

struct QuantizedConvLastPrepared {
  Conv conv;  // all that does not depend on the input's sizes
  std::vector<int8_t, CacheAligned<int8_t>> weights;
  std::vector<int32_t, CacheAligned<int32_t>> sums;
  WindowAxes window;

  // Room for the parameters of a list.
  int64_t columns() const {
    return conv.depthwise() ? round_up(conv.filters(), 16) : simd::byte_columns(conv.out_channels);
  }
};
// The bias is added to the sums, in 32 bits.
bool fits_sums(const Call& call, int64_t depth) {
  if (!call.has(8)) return true;
  const Tensor* bias = call.in(8).constant.get();
  if (!bias) return false;
  const int64_t most = (int64_t{1} << 31) - 255 * 255 * depth;
  for (int64_t i = 0; i < bias->count(); ++i)
    if (std::abs(bias->int_at(i)) >= most) return false;
  return true;
}

std::string_view accepts_quantized_conv_last(const Call& call) {
  if (!has_channels_last(call)) return "its channels are not last";
  if (const auto why = accepts_conv(call, kPorts); !why.empty()) return why;
  const auto& dims = call.in(3).constant->dims();
  const int64_t groups = call.i("group");
  if (groups > 1 && dims[1] < 4 && (dims[1] > 1 || dims[0] != groups)) return "its groups have few channels";
  return fits_sums(call, element_count(dims).value_or(0) / dims[0]) ? "" : "its sums may need more than 32 bits";
}

// The weights of a group with a row for each entry of its runs, which begin at multiples of four.
std::vector<std::byte> matrix_of_quantized_conv_last(const Tensor& w, const Conv& c, int64_t group) {
  const int64_t run = c.run(), padded = (run + 3) / 4 * 4, cells = c.kernel_height * c.kernel_width;
  const std::byte nothing = w.dtype() == DType::i8 ? std::byte{0} : std::byte{128};
  std::vector<std::byte> out(static_cast<size_t>(padded * c.runs() * c.out_channels), nothing);
  for (int64_t o = 0; o < c.out_channels; ++o)
    for (int64_t channel = 0; channel < c.in_channels; ++channel)
      for (int64_t cell = 0; cell < cells; ++cell) {
        const int64_t y = cell / c.kernel_width, x = cell % c.kernel_width;
        const int64_t k = c.joins_row() ? y * padded + x * c.in_channels + channel : cell * padded + channel;
        const int64_t from = ((group * c.out_channels + o) * c.in_channels + channel) * cells + cell;
        out[static_cast<size_t>(k * c.out_channels + o)] = w.bytes()[static_cast<size_t>(from)];
      }
  return out;
}

Result<std::shared_ptr<const void>> prepare_quantized_conv_last(const Call& call) {
  auto out = std::make_shared<QuantizedConvLastPrepared>();
  const Tensor& w = *call.in(3).constant;
  TRY(out->window, WindowAxes::read(call, std::span(w.dims()).subspan(2)));
  Conv& c = out->conv;
  set_filters(out->window, w.dims(), call.i("group"), c);
  const int64_t columns = out->columns();
  out->sums.resize(static_cast<size_t>(columns * c.lists()));
  if (c.depthwise()) {
    const ByteDepthwise d{c.filters(), c.kernel_height, c.kernel_width};
    out->weights.resize(static_cast<size_t>(4 * simd::byte_depthwise_packed_size(d)));
    simd::byte_depthwise_pack(d, w.bytes().data(), w.dtype() == DType::i8,
                              reinterpret_cast<int32_t*>(out->weights.data()), out->sums.data());
    return out;
  }
  const int64_t depth = (c.run() + 3) / 4 * 4 * c.runs();
  const int64_t size = simd::byte_packed_size(depth, c.out_channels);
  out->weights.resize(static_cast<size_t>(size * c.groups));
  for (int64_t g = 0; g < c.groups; ++g)
    simd::byte_pack(matrix_of_quantized_conv_last(w, c, g).data(), w.dtype() == DType::i8, depth, c.out_channels,
                    c.out_channels, 1, out->weights.data() + g * size, out->sums.data() + g * columns);
  return out;
}

Conv conv_of_quantized_conv_last(const ViewArgs& args) {
  const QuantizedConvLastPrepared& p = prepared_as<QuantizedConvLastPrepared>(args);
  Conv c = p.conv;
  const View &in = args.in[0], &out = args.out[0];
  const bool two = in.rank() == 4;
  const auto front = [&](const View& view) {
    return std::array<int64_t, 4>{view.dims[0], view.dims.back(), view.dims[1], two ? view.dims[2] : 1};
  };
  set_sizes(p.window, two, front(in), front(out), c);
  return c;
}

bool empty_quantized_conv_last(const Conv& c) { return c.batch * c.out_height * c.out_width == 0; }

// How the output is shared out: bands of rows, and parts of the filters.
struct Cut {
  int64_t rows = 0, bands = 0, parts = 1, columns = 0;  // columns: of a part
  int64_t tasks = 1;
  bool copies = false;
  int64_t image = 0, more = 0, slot = 0;  // bytes: of a copied row of places; in front of the copy; of a task's scratch

  int64_t items(const Conv& c) const { return c.batch * bands * parts; }
};

ByteDepthwise depthwise_of(const Conv& c) {
  ByteDepthwise d{c.filters(), c.kernel_height, c.kernel_width, c.stride_x, c.dilation_x};
  d.in_width = c.width_needed(), d.out_width = c.out_width, d.row_step = c.dilation_y * d.in_width * d.channels;
  return d;
}

// Channels that are not last in memory are put there in the copy.
Cut cut_of(const Conv& c, const View& in) {
  constexpr double kLeast = 1 << 18;
  constexpr int64_t kPlaces = 24, kCache = 192 << 10;
  Cut cut;
  constexpr int64_t kDepthwise = 64;  // what a filter of one channel costs, in products of bytes
  const double work = static_cast<double>(c.batch * c.out_height * c.out_width) *
                      static_cast<double>(c.filters() * (c.depthwise() ? kDepthwise : c.depth()));
  const auto wanted = static_cast<int64_t>(std::min(work / kLeast, 2.0 * kMostTasks)) / c.batch + 1;
  const int64_t most = std::max<int64_t>(c.out_height * c.out_width / kPlaces, 1);
  cut.copies = c.reads_past() || c.depthwise() || !in.dense();
  cut.image = c.width_needed() * c.place();
  const int64_t fit = std::max<int64_t>(kCache / (cut.image * c.stride_y), 1);
  cut.bands = std::max(std::min({wanted, most, c.out_height}), (c.out_height + fit - 1) / fit);
  cut.rows = (c.out_height + cut.bands - 1) / cut.bands;
  cut.bands = (c.out_height + cut.rows - 1) / cut.rows;
  const int64_t panel = simd::byte_panel(), panels = (c.out_channels + panel - 1) / panel;
  const int64_t parts = c.groups > 1 ? 1 : std::clamp<int64_t>(wanted / cut.bands, 1, panels);
  cut.columns = (panels + parts - 1) / parts * panel;
  cut.parts = (c.out_channels + cut.columns - 1) / cut.columns;
  cut.tasks = tasks_for(cut.items(c), work / 4 / static_cast<double>(cut.items(c)) + static_cast<double>(cut.image));
  cut.more = c.depthwise() ? simd::byte_depthwise_scratch(depthwise_of(c))
                           : round_up(cut.rows * c.out_width * static_cast<int64_t>(sizeof(int64_t)), 64);
  cut.slot = cut.more + (cut.copies ? round_up(c.rows_for(cut.rows) * cut.image + 64, 64) : 0);
  return cut;
}

int64_t tasks_quantized_conv_last(const ViewArgs& args) {
  const Conv c = conv_of_quantized_conv_last(args);
  return empty_quantized_conv_last(c) ? 1 : cut_of(c, args.in[0]).tasks;
}

// What all tasks read, in front of their own scratch.
struct QuantizedConvLastParameters {
  float* factors;
  int32_t *zeros, *offsets;
  int64_t* runs;
  bool* any_zero;
  std::byte* rest;
};

QuantizedConvLastParameters parameters_of_quantized_conv_last(const ViewArgs& args, const Conv& c) {
  const int64_t columns = prepared_as<QuantizedConvLastPrepared>(args).columns() * c.lists();
  auto* factors = reinterpret_cast<float*>(args.scratch);
  auto* zeros = reinterpret_cast<int32_t*>(factors + columns);
  auto* runs = reinterpret_cast<int64_t*>(args.scratch + round_up(3 * columns * 4, 64));
  std::byte* end = reinterpret_cast<std::byte*>(runs) + round_up(c.runs() * 8, 64) + 64;
  return {factors, zeros, zeros + columns, runs, reinterpret_cast<bool*>(end - 64), end};
}

int64_t scratch_quantized_conv_last(const ViewArgs& args) {
  const Conv c = conv_of_quantized_conv_last(args);
  if (empty_quantized_conv_last(c)) return 0;
  const Cut cut = cut_of(c, args.in[0]);
  const int64_t columns = prepared_as<QuantizedConvLastPrepared>(args).columns() * c.lists();
  return round_up(3 * columns * 4, 64) + round_up(c.runs() * 8, 64) + 64 + cut.tasks * cut.slot;
}

// Scales, zero points and bias as they are in this run, and where the runs of a window begin.
Status begin_quantized_conv_last(const ViewArgs& args) {
  const Conv c = conv_of_quantized_conv_last(args);
  if (empty_quantized_conv_last(c)) return {};
  const QuantizedConvLastParameters to = parameters_of_quantized_conv_last(args, c);
  const View w_zero = view_at(args.in, kPorts.w_zero), w_scale = args.in[4], bias = view_at(args.in, kPorts.bias);
  const int32_t shift = args.in[3].dtype == DType::i8 ? 0 : 128;
  const float left = *args.in[1].as<const float>(), divisor = *args.in[6].as<const float>();
  const int64_t columns = prepared_as<QuantizedConvLastPrepared>(args).columns();
  *to.any_zero = false;
  for (int64_t at = 0; at < columns * c.lists(); ++at) {
    const int64_t j = at % columns, o = at / columns * c.of_list() + j;
    const bool inside = j < c.of_list();
    to.zeros[at] = inside ? integer_at(w_zero, w_zero && w_zero.count() > 1 ? o : 0) - shift : 0;
    to.offsets[at] = inside && bias ? bias.as<const int32_t>()[o] : 0;
    to.factors[at] = inside ? left * w_scale.as<const float>()[w_scale.count() > 1 ? o : 0] / divisor : 0;
    *to.any_zero |= to.zeros[at] != 0;
  }
  const int64_t row = (cut_of(c, args.in[0]).copies ? c.width_needed() : c.in_width) * c.place();
  for (int64_t r = 0; r < c.runs(); ++r) {
    const int64_t y = c.joins_row() ? r : r / c.kernel_width, x = c.joins_row() ? 0 : r % c.kernel_width;
    to.runs[r] = y * c.dilation_y * row + x * c.dilation_x * c.place();
  }
  return {};
}

// n neighbouring places of a row of the input.
void copy_places(const View& in, const std::byte* from, int64_t n, int64_t channels, std::byte* to) {
  const int64_t step = in.strides[in.rank() - 2], far = in.strides.back();
  if (far == 1 && step == channels) {
    std::memcpy(to, from, static_cast<size_t>(n * channels));
    return;
  }
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t x = 0; x < n; ++x) to[x * channels + c] = from[c * far + x * step];
}

// Rows first.. of the input of an image with their padding.
void copy_rows(const Conv& c, const View& in, const std::byte* image, std::byte pad, int64_t first, int64_t rows,
               std::byte* to) {
  const int64_t width = c.width_needed(), place = c.place(), step = in.strides[in.rank() - 2];
  const int64_t left = std::clamp<int64_t>(c.pad_left, 0, width), skip = std::max<int64_t>(-c.pad_left, 0);
  const int64_t there = std::clamp<int64_t>(c.in_width - skip, 0, width - left);
  const auto fill = [&](std::byte* at, int64_t n) {
    std::memset(at, static_cast<int>(pad), static_cast<size_t>(n * place));
  };
  for (int64_t y = first; y < first + rows; ++y, to += width * place) {
    if (y < 0 || y >= c.in_height) {
      fill(to, width);
      continue;
    }
    fill(to, left);
    copy_places(in, image + (in.rank() == 4 ? y * in.strides[1] : 0) + skip * step, there, place, to + left * place);
    fill(to + (left + there) * place, width - left - there);
  }
}

struct Work {
  const ViewArgs& args;
  const Conv c;
  const Cut cut;
  const QuantizedConvLastParameters parameters;
  ByteGemm gemm;
};

Work work_of(const ViewArgs& args, const Conv& c) {
  Work w{args, c, cut_of(c, args.in[0]), parameters_of_quantized_conv_last(args, c), {}};
  const View &in = args.in[0], &out = args.out[0];
  ByteGemm& g = w.gemm;
  g.n = c.out_channels, g.k = c.run(), g.runs = w.parameters.runs, g.run_count = c.runs(), g.c_row = c.filters();
  g.a_signed = in.dtype == DType::i8;
  g.a_zero = integer_at(view_at(args.in, kPorts.x_zero), 0) + (g.a_signed ? 128 : 0);
  g.kind = out.dtype == DType::u8 ? ByteProduct::u8 : ByteProduct::i8;
  g.zero = integer_at(view_at(args.in, kPorts.y_zero), 0);
  g.slack = w.cut.copies;
  return w;
}

// All groups of a band, whose first window begins at `a`.
void multiply(Work& w, const std::byte* a, int64_t places, std::byte* to, int64_t first, int64_t last) {
  const QuantizedConvLastPrepared& p = prepared_as<QuantizedConvLastPrepared>(w.args);
  ByteGemm& g = w.gemm;
  const int64_t size = static_cast<int64_t>(p.weights.size()) / w.c.groups, columns = p.columns();
  g.m = places;
  for (int64_t group = 0; group < w.c.groups; ++group) {
    g.a = a + group * w.c.in_channels;
    g.b = p.weights.data() + group * size;
    g.b_sums = p.sums.data() + group * columns;
    g.b_zeros = *w.parameters.any_zero ? w.parameters.zeros + group * columns : nullptr;
    g.offsets = w.parameters.offsets + group * columns;
    g.factors = w.parameters.factors + group * columns;
    g.c = to + group * w.c.out_channels;
    simd::byte_gemm(g, 0, places, first, last);
  }
}

// The rows of a band whose first window begins at `in`.
void multiply_depthwise(const Work& w, const std::byte* in, int64_t rows, std::byte* scratch, std::byte* to) {
  const QuantizedConvLastPrepared& p = prepared_as<QuantizedConvLastPrepared>(w.args);
  ByteDepthwise d = depthwise_of(w.c);
  d.in_signed = w.gemm.a_signed, d.in_zero = w.gemm.a_zero;
  d.out_signed = w.gemm.kind == ByteProduct::i8, d.out_zero = w.gemm.zero;
  d.weights = reinterpret_cast<const int32_t*>(p.weights.data()), d.sums = p.sums.data();
  d.zeros = *w.parameters.any_zero ? w.parameters.zeros : nullptr;
  d.offsets = w.parameters.offsets, d.factors = w.parameters.factors;
  for (int64_t y = 0; y < rows; ++y)
    simd::byte_depthwise_row(d, in + y * w.c.stride_y * w.cut.image, scratch, to + y * w.c.out_width * d.channels);
}

// `copied`: an item before it has copied its rows, for a part of the same band.
void run_item(Work& w, int64_t item, bool copied, std::byte* slot) {
  std::byte* image = slot + w.cut.more;
  const Conv& c = w.c;
  const int64_t part = item % w.cut.parts, band = item / w.cut.parts % w.cut.bands;
  const int64_t batch = item / w.cut.parts / w.cut.bands, row = band * w.cut.rows;
  const int64_t rows = std::min(w.cut.rows, c.out_height - row), first = part * w.cut.columns;
  const View& x = w.args.in[0];
  const std::byte* in = x.data + batch * x.strides[0];
  const auto pad = static_cast<std::byte>(integer_at(view_at(w.args.in, kPorts.x_zero), 0) & 255);
  if (w.cut.copies && (part == 0 || !copied))
    copy_rows(c, x, in, pad, row * c.stride_y - c.pad_top, c.rows_for(rows), image);
  std::byte* out = w.args.out[0].data + (batch * c.out_height + row) * c.out_width * c.filters();
  if (c.depthwise()) return multiply_depthwise(w, image, rows, slot, out);
  multiply(w, w.cut.copies ? image : in + row * c.stride_y * c.in_width * c.place(), rows * c.out_width, out, first,
           std::min(first + w.cut.columns, c.out_channels));
}

// Where the windows of a band begin.
void set_rows(Work& w, int64_t* rows) {
  const Conv& c = w.c;
  const int64_t width = w.cut.copies ? c.width_needed() : c.in_width;
  for (int64_t y = 0; y < w.cut.rows; ++y)
    for (int64_t x = 0; x < c.out_width; ++x)
      rows[y * c.out_width + x] = (y * c.stride_y * width + x * c.stride_x) * c.place();
  w.gemm.rows = rows;
}

Status run_quantized_conv_last(const ViewArgs& args, int64_t first, int64_t last) {
  const Conv c = conv_of_quantized_conv_last(args);
  if (empty_quantized_conv_last(c)) return {};
  Work w = work_of(args, c);
  std::byte* slot = w.parameters.rest + first * w.cut.slot;
  if (!c.depthwise()) set_rows(w, reinterpret_cast<int64_t*>(slot));
  const int64_t items = w.cut.items(c), all = w.cut.tasks;
  const int64_t begin = share_of(items, all, first).first, end = share_of(items, all, last - 1).last;
  for (int64_t i = begin; i < end; ++i) run_item(w, i, i > begin, slot);
  return {};
}

}  // namespace

constexpr EngineKernel kQLinearConvLast = {.name = "8-bit windows",
                                           .accepts = accepts_quantized_conv_last,
                                           .prepare = prepare_quantized_conv_last,
                                           .scratch = scratch_quantized_conv_last,
                                           .tasks = tasks_quantized_conv_last,
                                           .begin = begin_quantized_conv_last,
                                           .run = run_quantized_conv_last,
                                           .strided = 1};

}  // namespace anyshape::cpu
