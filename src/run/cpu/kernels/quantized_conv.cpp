#include "run/cpu/kernels/quantized_conv.h"

#include <algorithm>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/window_axes.h"
#include "run/cpu/simd/conv_bytes.h"

// ConvInteger and QLinearConv over one or two spatial axes, with constant weights.
namespace anyshape::cpu {
namespace {

using simd::ByteConv;
using simd::ByteConvOut;

struct QuantizedConvPrepared {
  ByteConv conv;  // all that does not depend on the input's sizes
  std::vector<int32_t, CacheAligned<int32_t>> weights, sums;
  WindowAxes window;
};

template <const ConvPorts& p>
std::string_view accepts_quantized_conv(const Call& call) {
  return has_channels_last(call) ? "its channels are last" : accepts_conv(call, p);
}

template <const ConvPorts& p>
Result<std::shared_ptr<const void>> prepare_quantized_conv(const Call& call) {
  auto out = std::make_shared<QuantizedConvPrepared>();
  const Tensor& w = *call.in(static_cast<size_t>(p.w)).constant;
  TRY(out->window, WindowAxes::read(call, std::span(w.dims()).subspan(2)));
  ByteConv& c = out->conv;
  set_filters(out->window, w.dims(), call.i("group"), c);
  out->weights.resize(static_cast<size_t>(simd::byte_conv_packed_size(c)));
  out->sums.resize(static_cast<size_t>(w.dims()[0]));
  simd::byte_conv_pack(c, w.bytes().data(), w.dtype() == DType::i8, out->weights.data(), out->sums.data());
  c.weights = out->weights.data();
  c.sums = out->sums.data();
  return out;
}

ByteConv conv_of_quantized_conv(const ViewArgs& args) {
  const QuantizedConvPrepared& p = prepared_as<QuantizedConvPrepared>(args);
  ByteConv c = p.conv;
  const View &in = args.in[0], &out = args.out[0];
  set_sizes(p.window, in.rank() == 4, in.dims, out.dims, c);
  c.in = in.data;
  c.out = out.data;
  c.in_signed = in.dtype == DType::i8;
  c.kind = out.dtype == DType::i32 ? ByteConvOut::i32 : out.dtype == DType::u8 ? ByteConvOut::u8 : ByteConvOut::i8;
  return c;
}

bool empty_quantized_conv(const ByteConv& c) { return c.batch * c.out_height * c.out_width == 0; }

int64_t tasks_of(const ByteConv& c) {
  if (empty_quantized_conv(c)) return 1;
  const int64_t items = simd::byte_conv_items(c);
  const double work = static_cast<double>(c.batch * c.groups * c.out_channels) *
                      static_cast<double>(c.out_height * c.out_width) * static_cast<double>(c.taps() + 4);
  return tasks_for(items, work / static_cast<double>(items), kMostTasks);
}

int64_t tasks_quantized_conv(const ViewArgs& args) { return tasks_of(conv_of_quantized_conv(args)); }

// Of a task: the parameters of all filters, then what the convolution needs.
int64_t parameters_of_quantized_conv(const ByteConv& c) { return round_up(c.groups * c.out_channels, 16); }
int64_t slot_of_quantized_conv(const ByteConv& c) {
  return 2 * parameters_of_quantized_conv(c) * static_cast<int64_t>(sizeof(float)) +
         round_up(simd::byte_conv_scratch(c), 64);
}

int64_t scratch_quantized_conv(const ViewArgs& args) {
  const ByteConv c = conv_of_quantized_conv(args);
  return empty_quantized_conv(c) ? 0 : tasks_of(c) * slot_of_quantized_conv(c);
}

// Scales, zero points and bias as they are in this run.
template <const ConvPorts& p>
void set_parameters(const ViewArgs& args, ByteConv& c, std::byte* slot) {
  auto* factors = reinterpret_cast<float*>(slot);
  auto* zeros = reinterpret_cast<int32_t*>(factors + parameters_of_quantized_conv(c));
  const View w_zero = view_at(args.in, p.w_zero), w_scale = view_at(args.in, p.w_scale);
  const int32_t shift = args.in[p.w].dtype == DType::i8 ? 0 : 128;
  float left = 1, divisor = 1;
  if (p.x_scale >= 0) left = *args.in[p.x_scale].template as<const float>();
  if (p.y_scale >= 0) divisor = *args.in[p.y_scale].template as<const float>();
  for (int64_t o = 0; o < c.groups * c.out_channels; ++o) {
    zeros[o] = integer_at(w_zero, w_zero && w_zero.count() > 1 ? o : 0) - shift;
    if (zeros[o] != 0) c.zeros = zeros;
    if (w_scale) factors[o] = left * w_scale.as<const float>()[w_scale.count() > 1 ? o : 0] / divisor;
  }
  c.factors = factors;
  c.in_zero = integer_at(view_at(args.in, p.x_zero), 0);
  c.out_zero = integer_at(view_at(args.in, p.y_zero), 0);
  if (const View bias = view_at(args.in, p.bias)) c.bias = bias.as<const int32_t>();
}

template <const ConvPorts& p>
Status run_quantized_conv(const ViewArgs& args, int64_t first, int64_t last) {
  ByteConv c = conv_of_quantized_conv(args);
  if (empty_quantized_conv(c)) return {};
  const int64_t all = tasks_of(c), items = simd::byte_conv_items(c);
  std::byte* slot = args.scratch + first * slot_of_quantized_conv(c);
  set_parameters<p>(args, c, slot);
  simd::byte_conv(c, share_of(items, all, first).first, share_of(items, all, last - 1).last,
                  slot + 2 * parameters_of_quantized_conv(c) * static_cast<int64_t>(sizeof(float)));
  return {};
}

template <const ConvPorts& p>
constexpr EngineKernel kQuantizedConvKernel = {.name = "8-bit packed",
                                               .accepts = accepts_quantized_conv<p>,
                                               .prepare = prepare_quantized_conv<p>,
                                               .scratch = scratch_quantized_conv,
                                               .tasks = tasks_quantized_conv,
                                               .run = run_quantized_conv<p>};

bool fits(const Call& call, int input, DType dtype) {
  const auto i = static_cast<size_t>(input);
  return input < 0 || !call.has(i) || call.in(i).dtype == dtype;
}

}  // namespace

bool has_channels_last(const Call& call) {
  const auto* last = call.given<int64_t>("channels_last");
  return last && *last != 0;
}

std::string_view accepts_conv(const Call& call, const ConvPorts& p) {
  const auto w = static_cast<size_t>(p.w);
  if (!is_byte(call, 0) || !is_byte(call, w)) return "its element types are not of 8-bit integers";
  if (!is_constant(call, w)) return "the weights are not constant";
  const auto& dims = call.in(w).constant->dims();
  if (dims.size() != 3 && dims.size() != 4) return "it has neither one nor two spatial axes";
  if (!fits(call, p.x_zero, call.in(0).dtype) || !fits(call, p.w_zero, call.in(w).dtype))
    return "a zero point has another type";
  if (!is_single(call, static_cast<size_t>(p.x_zero))) return "the input may have several zero points";
  if (element_count(dims).value_or(0) == 0) return "a filter is empty";
  if (p.x_scale < 0) return {};
  for (int i : {p.x_scale, p.w_scale, p.y_scale})
    if (!is_f32(call, static_cast<size_t>(i))) return "a scale is not f32";
  for (int i : {p.x_scale, p.y_scale, p.y_zero})
    if (!is_single(call, static_cast<size_t>(i))) return "input or output may have several scales";
  if (call.has(static_cast<size_t>(p.y_zero)) && !is_byte(call, static_cast<size_t>(p.y_zero)))
    return "it does not give 8-bit integers";
  if (!fits(call, p.bias, DType::i32)) return "its bias is not i32";
  return element_count(dims).value_or(0) / dims[0] > kMostProducts ? "its sums may need more than 32 bits" : "";
}

constexpr EngineKernel kConvInteger = kQuantizedConvKernel<kConvIntegerPorts>;
constexpr EngineKernel kQLinearConv = kQuantizedConvKernel<kQLinearConvPorts>;

}  // namespace anyshape::cpu
