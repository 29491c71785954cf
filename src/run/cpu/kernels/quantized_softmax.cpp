#include <algorithm>
#include <bitset>
#include <cmath>
#include <new>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/byte_table.h"

// QLinearSoftmax over the last axis: a row has at most 256 different powers and results.
namespace anyshape::cpu {
namespace {

std::string_view accepts_quantized_softmax(const Call& call) {
  if (!is_byte(call, 0)) return "its element type has not 8 bits";
  if (const auto why = accepts_parameters(call, 1, 2); !why.empty()) return why;
  if (const auto why = accepts_parameters(call, 3, 4); !why.empty()) return why;
  if (!call.in(0).dims || call.in(0).rank() == 0) return "the rank of its input is not known";
  const int64_t axis = call.i("axis");
  return axis == -1 || axis + 1 == static_cast<int64_t>(call.in(0).rank()) ? "" : "its axis is not the last one";
}

// Of a task: what it knows of bytes, for the greatest number of the row it was last asked about.
struct Powers {
  double reals[256], powers[256];
  double top;
  std::bitset<256> known;

  void begin(double greatest) {
    if (top == greatest) return;
    top = greatest;
    known.reset();
  }
  double of(uint8_t byte) {
    if (!known[byte]) {
      powers[byte] = std::exp(reals[byte] - top);
      known[byte] = true;
    }
    return powers[byte];
  }
};

int64_t rows_of_quantized_softmax(const ViewArgs& args) {
  return args.in[0].dims.back() == 0 ? 0 : args.in[0].count() / args.in[0].dims.back();
}
int64_t tasks_quantized_softmax(const ViewArgs& args) {
  return tasks_for(rows_of_quantized_softmax(args), static_cast<double>(args.in[0].dims.back()) * 64);
}
int64_t slot() { return round_up(static_cast<int64_t>(sizeof(Powers)), 64); }
int64_t scratch_quantized_softmax(const ViewArgs& args) { return tasks_quantized_softmax(args) * slot(); }

void run_row(const uint8_t* x, int64_t n, const ByteParameters& to, bool is_signed, Powers& p, std::byte* out) {
  double top = p.reals[x[0]], sum = 0;
  for (int64_t i = 1; i < n; ++i) top = std::max(top, p.reals[x[i]]);
  p.begin(top);
  for (int64_t i = 0; i < n; ++i) sum += p.of(x[i]);
  std::byte results[256];
  std::bitset<256> known;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t byte = x[i];
    if (!known[byte]) results[byte] = to.byte(static_cast<float>(p.powers[byte] / sum), is_signed);
    known[byte] = true;
    out[i] = results[byte];
  }
}

Status run_quantized_softmax(const ViewArgs& args, int64_t first, int64_t last) {
  const int64_t n = args.in[0].dims.back(), rows = rows_of_quantized_softmax(args), all = tasks_quantized_softmax(args);
  if (rows == 0) return {};
  const ByteParameters from = parameters_at(args, 1, 2), to = parameters_at(args, 3, 4);
  const bool is_signed = args.in[0].dtype == DType::i8;
  auto& powers = *new (args.scratch + first * slot()) Powers;
  for (int32_t i = 0; i < 256; ++i)
    powers.reals[i] = static_cast<double>(from.real(is_signed ? static_cast<int8_t>(static_cast<uint8_t>(i)) : i));
  powers.top = std::nan("");
  const int64_t end = share_of(rows, all, last - 1).last;
  for (int64_t row = share_of(rows, all, first).first; row < end; ++row)
    run_row(reinterpret_cast<const uint8_t*>(args.in[0].data) + row * n, n, to, is_signed, powers,
            args.out[0].data + row * n);
  return {};
}

}  // namespace

constexpr EngineKernel kQLinearSoftmax = {.name = "8-bit rows",
                                          .accepts = accepts_quantized_softmax,
                                          .scratch = scratch_quantized_softmax,
                                          .tasks = tasks_quantized_softmax,
                                          .run = run_quantized_softmax};

}  // namespace anyshape::cpu
