#include <algorithm>
#include <cmath>
#include <limits>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/byte_table.h"
#include "run/cpu/simd/quantize.h"

// anyshape.Requantize: planes of one channel where others follow them, else rows of all channels.
namespace anyshape::cpu {
namespace {

struct RequantizePrepared {
  int64_t axis = 1;
  float least = -std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::infinity();
};

std::string_view accepts_requantize(const Call& call) {
  if (!is_byte(call, 0)) return "its element type has not 8 bits";
  for (size_t i : {size_t{1}, size_t{6}})
    if (const auto why = accepts_parameters(call, i, i + 1); !why.empty()) return why;
  for (size_t i : {size_t{3}, size_t{4}, size_t{5}})
    if (call.has(i) && !is_f32(call, i)) return "a number of a channel is not f32";
  return call.in(0).dims ? "" : "the rank of its input is not known";
}

Result<std::shared_ptr<const void>> prepare_requantize(const Call& call) {
  auto p = std::make_shared<RequantizePrepared>();
  p->axis = call.i("axis");
  if (const auto* least = call.given<float>("least")) p->least = *least;
  if (const auto* most = call.given<float>("most")) p->most = *most;
  return p;
}

struct RequantizeRows {
  int64_t count = 0, row = 0, channels = 1;
  bool per_entry = false;  // a row has an entry of each channel

  int64_t tasks() const { return tasks_for(count, static_cast<double>(row) * 4); }
};

RequantizeRows rows_of_requantize(const ViewArgs& args) {
  const auto dims = args.in[0].dims;
  const int64_t n = args.in[0].count();
  int64_t axis = prepared_as<RequantizePrepared>(args).axis, inner = 1;
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  for (auto i = static_cast<size_t>(axis) + 1; i < dims.size(); ++i) inner *= dims[i];
  if (n == 0) return {};
  const int64_t channels = dims[static_cast<size_t>(axis)];
  if (inner > 1) return {n / inner, inner, channels, false};
  return {n / channels, channels, channels, true};
}

// One shift, factor and bias for each channel.
int64_t list_of(const RequantizeRows& rows) { return round_up(rows.channels, 16); }
int64_t scratch_requantize(const ViewArgs& args) {
  return 3 * list_of(rows_of_requantize(args)) * static_cast<int64_t>(sizeof(float));
}

Status begin_requantize(const ViewArgs& args) {
  const RequantizeRows rows = rows_of_requantize(args);
  const auto fill = [&](const View& from, float absent, float* to) {
    if (!from || from.count() == 1)
      std::fill_n(to, rows.channels, from ? *from.as<const float>() : absent);
    else
      std::copy_n(from.as<const float>(), rows.channels, to);
  };
  auto* lists = reinterpret_cast<float*>(args.scratch);
  fill(args.in[3], 0, lists);
  fill(args.in[4], 1, lists + list_of(rows));
  fill(args.in[5], 0, lists + 2 * list_of(rows));
  return {};
}

int64_t tasks_requantize(const ViewArgs& args) { return rows_of_requantize(args).tasks(); }

Status run_requantize(const ViewArgs& args, int64_t first, int64_t last) {
  const RequantizeRows rows = rows_of_requantize(args);
  if (rows.count == 0) return {};
  const RequantizePrepared& p = prepared_as<RequantizePrepared>(args);
  const ByteParameters x = parameters_at(args, 1, 2), y = parameters_at(args, 6, 7);
  simd::Requantization how{x.scale, y.scale, p.least, p.most, x.zero, y.zero};
  how.in_signed = args.in[0].dtype == DType::i8, how.out_signed = args.out[0].dtype == DType::i8;
  how.shifts = reinterpret_cast<const float*>(args.scratch);
  how.factors = how.shifts + list_of(rows), how.biases = how.factors + list_of(rows);
  how.per_entry = rows.per_entry;
  const int64_t begin = share_of(rows.count, rows.tasks(), first).first;
  const int64_t end = share_of(rows.count, rows.tasks(), last - 1).last;
  const std::byte* in = args.in[0].data + begin * rows.row;
  std::byte* out = args.out[0].data + begin * rows.row;
  if (rows.per_entry) {
    simd::requantize_rows(in, end - begin, rows.row, how, out);
    return {};
  }
  for (int64_t r = begin; r < end; ++r, in += rows.row, out += rows.row) {
    simd::Requantization one = how;
    const int64_t channel = r % rows.channels;
    one.shifts += channel, one.factors += channel, one.biases += channel;
    simd::requantize_rows(in, 1, rows.row, one, out);
  }
  return {};
}

}  // namespace

constexpr EngineKernel kRequantize = {.name = "8-bit rows",
                                      .accepts = accepts_requantize,
                                      .prepare = prepare_requantize,
                                      .scratch = scratch_requantize,
                                      .tasks = tasks_requantize,
                                      .begin = begin_requantize,
                                      .run = run_requantize,
                                      .in_place = 1};

}  // namespace anyshape::cpu
