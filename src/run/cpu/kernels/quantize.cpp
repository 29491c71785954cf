#include "run/cpu/simd/quantize.h"

#include <algorithm>
#include <cmath>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/quantized_common.h"

// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear between f32 and 8 bits (and from 32).
namespace anyshape::cpu {
namespace {

using simd::Quantization;

struct QuantizePrepared {
  int64_t axis = 1;
};

std::string_view accepts_layout(const Call& call) {
  if (!is_f32(call, 1)) return "its scale is not f32";
  const auto* block = call.given<int64_t>("block_size");
  if (block && *block != 0) return "its scales are in blocks";
  if (call.has(2) && !call.in(2).dims) return "the rank of its zero point is not known";
  return call.in(0).dims && call.in(1).dims ? "" : "the rank of an input is not known";
}

std::string_view accepts_quantize(const Call& call) {
  if (!is_f32(call, 0)) return "its element type is not f32";
  if (call.has(2) && !is_byte(call, 2)) return "it does not give 8-bit integers";
  for (const char* name : {"output_dtype", "precision"}) {
    const auto* code = call.given<int64_t>(name);
    if (code && *code != 0 && *code != (name[0] == 'p' ? 1 : 2) && !(name[0] == 'o' && *code == 3))
      return "it computes in another type";
  }
  return accepts_layout(call);
}

std::string_view accepts_dequantize(const Call& call) {
  const bool wide = call.has(0) && call.in(0).is_tensor() && call.in(0).dtype == DType::i32;
  if (!is_byte(call, 0) && !wide) return "its input has neither 8 nor 32 bits";
  const auto* code = call.given<int64_t>("output_dtype");
  if (code && *code > 1) return "it does not give f32";
  return accepts_layout(call);
}

Result<std::shared_ptr<const void>> prepare_quantize(const Call& call) {
  auto p = std::make_shared<QuantizePrepared>();
  if (const auto* axis = call.given<int64_t>("axis")) p->axis = *axis;
  return p;
}

// The entries as rows of `row` that have one scale, or one per entry.
struct QuantizeRows {
  int64_t count = 0, row = 0, parameters = 1;  // row r has parameters from r % parameters on
  bool per_entry = false;
  int64_t tasks() const { return tasks_for(count, static_cast<double>(row) * 8); }
};

QuantizeRows rows_of_quantize(const ViewArgs& args) {
  const View& x = args.in[0];
  const int64_t scales = args.in[1].count(), n = x.count();
  if (n == 0) return {};
  if (scales == 1) {
    // Pieces of a whole; the last one is shorter.
    constexpr int64_t kPiece = 4096;
    return {(n + kPiece - 1) / kPiece, std::min(n, kPiece)};
  }
  const auto rank = static_cast<int64_t>(x.rank());
  int64_t axis = prepared_as<QuantizePrepared>(args).axis, inner = 1;
  if (rank == 1) axis = 0;
  if (axis < 0) axis += rank;
  for (auto i = static_cast<size_t>(axis + 1); i < x.rank(); ++i) inner *= x.dims[i];
  if (inner == 1) return {n / scales, scales, scales, true};
  return {n / inner, inner, scales};
}

int64_t scratch_quantize(const ViewArgs& args) {
  return args.in[1].count() == 1
             ? 0
             : args.in[1].count() * static_cast<int64_t>(sizeof(int32_t)) * rows_of_quantize(args).tasks();
}

// fn(first entry, how many, quantization) for the rows of tasks first..last - 1.
template <class Fn>
void for_rows(const ViewArgs& args, int64_t first, int64_t last, Fn fn) {
  const QuantizeRows rows = rows_of_quantize(args);
  if (rows.count == 0) return;
  const View zero = view_at(args.in, 2);
  const int64_t scales = args.in[1].count(), n = args.in[0].count();
  int32_t one = integer_at(zero, 0);
  int32_t* zeros = scales == 1 ? &one : reinterpret_cast<int32_t*>(args.scratch) + first * scales;
  for (int64_t i = 0; scales > 1 && i < scales; ++i) zeros[i] = integer_at(zero, zero && zero.count() == 1 ? 0 : i);
  const int64_t begin = share_of(rows.count, rows.tasks(), first).first;
  const int64_t end = share_of(rows.count, rows.tasks(), last - 1).last;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t at = rows.per_entry ? 0 : r % rows.parameters;
    fn(r * rows.row, std::min(rows.row, n - r * rows.row),
       Quantization{args.in[1].as<const float>() + at, zeros + at, rows.per_entry});
  }
}

Status run_quantize(const ViewArgs& args, int64_t first, int64_t last) {
  const bool is_signed = args.out[0].dtype == DType::i8;
  for_rows(args, first, last, [&](int64_t i, int64_t n, const Quantization& q) {
    simd::quantize_run(args.in[0].as<const float>() + i, n, q, is_signed, args.out[0].data + i);
  });
  return {};
}

Status run_dequantize(const ViewArgs& args, int64_t first, int64_t last) {
  const View &x = args.in[0], &y = args.out[0];
  for_rows(args, first, last, [&](int64_t i, int64_t n, const Quantization& q) {
    if (x.dtype == DType::i32)
      simd::dequantize_run(x.as<const int32_t>() + i, n, q, y.as<float>() + i);
    else
      simd::dequantize_run(x.data + i, n, q, x.dtype == DType::i8, y.as<float>() + i);
  });
  return {};
}

int64_t tasks_quantize(const ViewArgs& args) { return rows_of_quantize(args).tasks(); }

std::string_view accepts_dynamic(const Call& call) { return is_f32(call, 0) ? "" : "its element type is not f32"; }

int64_t tasks_dynamic(const ViewArgs& args) { return tasks_for(args.in[0].count(), 8); }

int64_t scratch_dynamic(const ViewArgs&) { return sizeof(simd::Range); }

Status begin_dynamic(const ViewArgs& args) {
  *reinterpret_cast<simd::Range*>(args.scratch) = simd::range_of(args.in[0].as<const float>(), args.in[0].count());
  return {};
}

Status run_dynamic(const ViewArgs& args, int64_t first, int64_t last) {
  const View& x = args.in[0];
  const int64_t n = x.count(), all = tasks_dynamic(args);
  const simd::Range range = *reinterpret_cast<const simd::Range*>(args.scratch);
  const float step = (range.low == range.high ? 1.0f : range.high - range.low) / 255.0f;
  const float shift = std::nearbyint(std::clamp(-range.low / step, 0.0f, 255.0f));
  const auto zero = static_cast<int32_t>(std::isnan(shift) ? 0 : shift);
  if (first == 0 && args.out.size() > 1 && args.out[1]) *args.out[1].as<float>() = step;
  if (first == 0 && args.out.size() > 2 && args.out[2]) *args.out[2].as<uint8_t>() = static_cast<uint8_t>(zero);
  const int64_t begin = share_of(n, all, first).first, end = share_of(n, all, last - 1).last;
  if (std::isnan(shift))
    std::fill(args.out[0].data + begin, args.out[0].data + end, std::byte{0});
  else
    simd::quantize_run(x.as<const float>() + begin, end - begin, {&step, &zero, false}, false,
                       args.out[0].data + begin);
  return {};
}

}  // namespace

constexpr EngineKernel kQuantizeLinear = {.name = "f32 to 8 bits",
                                          .accepts = accepts_quantize,
                                          .prepare = prepare_quantize,
                                          .scratch = scratch_quantize,
                                          .tasks = tasks_quantize,
                                          .run = run_quantize};
constexpr EngineKernel kDequantizeLinear = {.name = "integers to f32",
                                            .accepts = accepts_dequantize,
                                            .prepare = prepare_quantize,
                                            .scratch = scratch_quantize,
                                            .tasks = tasks_quantize,
                                            .run = run_dequantize};
constexpr EngineKernel kDynamicQuantizeLinear = {.name = "f32 to 8 bits",
                                                 .accepts = accepts_dynamic,
                                                 .scratch = scratch_dynamic,
                                                 .tasks = tasks_dynamic,
                                                 .begin = begin_dynamic,
                                                 .run = run_dynamic};

}  // namespace anyshape::cpu
