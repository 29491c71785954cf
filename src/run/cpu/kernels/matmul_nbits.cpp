#include <algorithm>
#include <cmath>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/quantize.h"

// com.microsoft MatMulNBits of f32: a task widens the weights of some columns to f32, and multiplies all rows by them.
namespace anyshape::cpu {
namespace {

// The weights in panels of gemm_panel() columns; in a panel block after block, in a block row after row, two rows in
// one byte where numbers have 4 bits. Scales and zero points of a panel are rows, too, one for each block.
struct MatmulNbitsPrepared {
  int64_t n = 0, k = 0, block = 0, blocks = 0, panel = 0;
  bool nibbles = false;
  std::vector<uint8_t, CacheAligned<uint8_t>> values;
  Floats scales, zeros;

  int64_t panels() const { return (n + panel - 1) / panel; }
  int64_t block_bytes() const { return (nibbles ? (block + 1) / 2 : block) * panel; }
};
std::string_view accepts_matmul_nbits(const Call& call) {
  if (!is_f32(call, 0) || !is_f32(call, 2)) return "it does not compute in f32";
  for (size_t i : {size_t{1}, size_t{2}})
    if (!is_constant(call, i)) return "the weights are not constant";
  if (call.has(3) && (!is_constant(call, 3) || (call.in(3).dtype != DType::u8 && !is_f32(call, 3))))
    return "its zero points are not constant";
  if (call.has(4)) return "it has an index of groups";
  if (call.has(5) && !is_f32(call, 5)) return "its bias is not f32";
  const int64_t n = call.i("N"), k = call.i("K"), block = call.i("block_size"), bits = call.i("bits");
  if ((bits != 2 && bits != 4 && bits != 8) || block < 1 || n < 1 || k < 1) return "its numbers are not understood";
  const int64_t blocks = (k - 1) / block + 1, blob = (block * bits + 7) / 8, row = (blocks * bits + 7) / 8;
  const auto holds = [&](size_t i, int64_t each) { return call.in(i).constant->count() == n * each; };
  if (call.in(1).dtype != DType::u8 || !holds(1, blocks * blob) || !holds(2, blocks)) return "its sizes do not fit";
  if (call.has(3) && !holds(3, call.in(3).dtype == DType::u8 ? row : blocks)) return "its zero points do not fit";
  return "";
}

// Number i of those packed from the low bits on.
int number_at(const Tensor& packed, int64_t start, int64_t i, int64_t bits) {
  return packed.at<uint8_t>(start + i * bits / 8) >> (i * bits % 8) & ((1 << bits) - 1);
}

void pack_column(const Call& call, int64_t j, MatmulNbitsPrepared& p) {
  const Tensor &values = *call.in(1).constant, &scales = *call.in(2).constant;
  const Tensor* zeros = call.has(3) ? call.in(3).constant.get() : nullptr;
  const int64_t bits = call.i("bits"), blob = (p.block * bits + 7) / 8, zero_row = (p.blocks * bits + 7) / 8;
  for (int64_t b = 0; b < p.blocks; ++b) {
    const int64_t row = j / p.panel * p.blocks + b, at = j * p.blocks + b;
    const auto parameter = static_cast<size_t>(row * p.panel + j % p.panel);
    p.scales[parameter] = scales.at<float>(at);
    p.zeros[parameter] = std::ldexp(1.0f, static_cast<int>(bits) - 1);
    if (zeros)
      p.zeros[parameter] = zeros->dtype() == DType::u8 ? static_cast<float>(number_at(*zeros, j * zero_row, b, bits))
                                                       : zeros->at<float>(at);
    uint8_t* to = p.values.data() + row * p.block_bytes() + j % p.panel;
    for (int64_t i = 0; i < p.block; ++i) {
      const int value = number_at(values, at * blob, i, bits);
      uint8_t& byte = to[(p.nibbles ? i / 2 : i) * p.panel];
      byte = static_cast<uint8_t>(byte | (p.nibbles && i % 2 != 0 ? value << 4 : value));
    }
  }
}

Result<std::shared_ptr<const void>> prepare_matmul_nbits(const Call& call) {
  auto p = std::make_shared<MatmulNbitsPrepared>();
  p->n = call.i("N"), p->k = call.i("K"), p->block = call.i("block_size"), p->nibbles = call.i("bits") == 4;
  p->blocks = (p->k - 1) / p->block + 1, p->panel = simd::gemm_panel();
  const int64_t rows = p->panels() * p->blocks;
  p->values.resize(static_cast<size_t>(rows * p->block_bytes()));
  p->scales.resize(static_cast<size_t>(rows * p->panel));
  p->zeros.resize(static_cast<size_t>(rows * p->panel));
  for (int64_t j = 0; j < p->n; ++j) pack_column(call, j, *p);
  return p;
}

int64_t rows_of_matmul_nbits(const ViewArgs& args) {
  return args.in[0].count() / std::max<int64_t>(args.in[0].dims.back(), 1);
}

// The columns of one panel, whose weights are at `b`.
simd::Gemm gemm_of_matmul_nbits(const ViewArgs& args, int64_t panel, const float* b) {
  const MatmulNbitsPrepared& p = prepared_as<MatmulNbitsPrepared>(args);
  const int64_t j = panel * p.panel;
  simd::Gemm g{.m = rows_of_matmul_nbits(args), .n = std::min(p.panel, p.n - j), .k = p.k};
  g.a = args.in[0].as<const float>(), g.a_row = p.k, g.b = b;
  g.c = args.out[0].as<float>() + j, g.c_row = p.n;
  if (args.in.size() > 5 && args.in[5]) g.epilogue.bias = simd::Addend::per_column(args.in[5].as<const float>() + j);
  return g;
}

int64_t tasks_matmul_nbits(const ViewArgs& args) {
  const MatmulNbitsPrepared& p = prepared_as<MatmulNbitsPrepared>(args);
  const auto entries = static_cast<double>(p.k) * static_cast<double>(p.panel);
  return tasks_for(p.panels(), entries * (static_cast<double>(rows_of_matmul_nbits(args)) / 4 + 2));
}

int64_t weights_of(const MatmulNbitsPrepared& p) { return round_up(p.k * p.panel, 16); }
int64_t slot_of_matmul_nbits(const ViewArgs& args) {
  const simd::Gemm g{.m = rows_of_matmul_nbits(args),
                     .n = prepared_as<MatmulNbitsPrepared>(args).panel,
                     .k = prepared_as<MatmulNbitsPrepared>(args).k,
                     .a_row = 1};
  return weights_of(prepared_as<MatmulNbitsPrepared>(args)) + round_up(simd::gemm_scratch(g), 16);
}
int64_t scratch_matmul_nbits(const ViewArgs& args) {
  return tasks_matmul_nbits(args) * slot_of_matmul_nbits(args) * static_cast<int64_t>(sizeof(float));
}

void widen(const MatmulNbitsPrepared& p, int64_t panel, float* to) {
  for (int64_t b = 0; b < p.blocks; ++b) {
    const int64_t row = panel * p.blocks + b, rows = std::min(p.block, p.k - b * p.block);
    simd::widen_rows(p.values.data() + row * p.block_bytes(), p.nibbles, p.scales.data() + row * p.panel,
                     p.zeros.data() + row * p.panel, rows, p.panel, to + b * p.block * p.panel);
  }
}

Status run_matmul_nbits(const ViewArgs& args, int64_t first, int64_t last) {
  const MatmulNbitsPrepared& p = prepared_as<MatmulNbitsPrepared>(args);
  const int64_t m = rows_of_matmul_nbits(args), all = tasks_matmul_nbits(args);
  if (m == 0) return {};
  float* weights = reinterpret_cast<float*>(args.scratch) + first * slot_of_matmul_nbits(args);
  const int64_t end = share_of(p.panels(), all, last - 1).last;
  for (int64_t panel = share_of(p.panels(), all, first).first; panel < end; ++panel) {
    widen(p, panel, weights);
    const simd::Gemm g = gemm_of_matmul_nbits(args, panel, weights);
    simd::gemm_tile(g, 0, m, 0, g.n, weights + weights_of(p));
  }
  return {};
}

}  // namespace

constexpr EngineKernel kMatMulNBits = {.name = "f32 of few bits",
                                       .accepts = accepts_matmul_nbits,
                                       .prepare = prepare_matmul_nbits,
                                       .scratch = scratch_matmul_nbits,
                                       .tasks = tasks_matmul_nbits,
                                       .run = run_matmul_nbits,
                                       .packed = 0b1110};

}  // namespace anyshape::cpu
