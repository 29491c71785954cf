#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/quantized_common.h"
#include "run/cpu/simd/gemm_bytes.h"

// Matrix products of 8-bit integers: MatMulInteger, QLinearMatMul, and those that give f32.
namespace anyshape::cpu {
namespace {

using simd::ByteGemm;
using simd::ByteProduct;

// Where an operator has its operands; -1: nowhere.
struct Ports {
  int a, a_scale, a_zero, b, b_scale, b_zero, y_scale = -1, y_zero = -1, bias = -1, offset = -1;
  bool wide = true;  // f32 are computed in double
};
constexpr Ports kInteger{0, -1, 2, 1, -1, 3};
constexpr Ports kQLinear{0, 1, 2, 3, 4, 5, 6, 7};
constexpr Ports kToFloat{0, 2, 4, 1, 3, 5, -1, -1, 6};
constexpr Ports kScaled{0, 2, 4, 1, 3, 5, -1, -1, 6, -1, false};
constexpr Ports kQGemm{0, 1, 2, 3, 4, 5, 7, 8, -1, 6, false};

struct QuantizedMatmulPrepared {
  bool packed = false, turned = false;
  float alpha = 1;
  std::vector<int64_t> b_dims;
  std::vector<int8_t, CacheAligned<int8_t>> b;
  std::vector<int32_t, CacheAligned<int32_t>> sums;
};
// One number, or one per column: all axes but the last are 1.
bool is_row(const Call& call, int input) {
  if (input < 0 || !call.has(static_cast<size_t>(input))) return true;
  const auto& dims = call.in(static_cast<size_t>(input)).dims;
  return dims && std::all_of(dims->begin(), dims->end() - (dims->empty() ? 0 : 1), [](Dim d) { return d == Dim(1); });
}

// QLinearMatMul looks at each shape, and sums of MatMulInteger wrap.
template <const Ports& p>
bool few_products(const Call& call) {
  const Dim depth = call.in(static_cast<size_t>(p.a)).dims->back();
  if (p.a_scale < 0 || &p == &kScaled || &p == &kQLinear) return true;
  return depth.is_constant() && depth.constant() <= kMostProducts;
}

std::string_view accepts_operand(const Call& call, int tensor, int scale, int zero) {
  const auto t = static_cast<size_t>(tensor);
  if (!is_byte(call, t)) return "its element types are not of 8-bit integers";
  if (!call.in(t).dims || call.in(t).rank() < 2) return "an operand is no matrix";
  if (const auto s = static_cast<size_t>(scale); scale >= 0 && call.has(s) && !is_f32(call, s))
    return "a scale is not f32";
  const auto z = static_cast<size_t>(zero);
  return zero < 0 || !call.has(z) || call.in(z).dtype == call.in(t).dtype ? "" : "a zero point has another type";
}

// QGemm: the constant bias is added to the sums, in 32 bits.
std::string_view accepts_gemm(const Call& call) {
  if (call.i("transA") != 0) return "A is transposed";
  if (call.i("transB") != 0 && !is_constant(call, 3)) return "a B that is not constant is transposed";
  if (!call.has(6)) return {};
  const Tensor* bias = call.in(6).constant.get();
  if (!bias || bias->dtype() != DType::i32 || !is_row(call, 6)) return "its bias is not one constant i32 per column";
  const int64_t most = (int64_t{1} << 31) - 255 * 255 * call.in(0).dims->back().constant().value_or(0);
  for (int64_t i = 0; i < bias->count(); ++i)
    if (std::abs(bias->int_at(i)) >= most) return "its sums may need more than 32 bits";
  return {};
}

template <const Ports& p>
std::string_view accepts_quantized_matmul(const Call& call) {
  if (const auto why = accepts_operand(call, p.a, p.a_scale, p.a_zero); !why.empty()) return why;
  if (const auto why = accepts_operand(call, p.b, p.b_scale, p.b_zero); !why.empty()) return why;
  for (int i : {p.a_scale, p.a_zero})
    if (i >= 0 && !is_single(call, static_cast<size_t>(i))) return "A may have several scales or zero points";
  if (!is_row(call, p.b_scale) || !is_row(call, p.b_zero)) return "B has scales or zero points for each matrix";
  if (!few_products<p>(call)) return "its sums may need more than 32 bits";
  const auto y_scale = static_cast<size_t>(p.y_scale), y_zero = static_cast<size_t>(p.y_zero);
  const bool to_f32 = p.offset >= 0 && !call.has(y_scale) && !call.has(y_zero);
  if (p.y_scale >= 0 && !to_f32 && (!is_f32(call, y_scale) || !is_byte(call, y_zero)))
    return "it does not give 8-bit integers by a scale of f32";
  if (p.bias >= 0 && call.has(static_cast<size_t>(p.bias)) &&
      (!is_f32(call, static_cast<size_t>(p.bias)) || !is_row(call, p.bias)))
    return "its bias is not one f32 per column";
  return p.offset >= 0 ? accepts_gemm(call) : "";
}

template <const Ports& p>
Result<std::shared_ptr<const void>> prepare_quantized_matmul(const Call& call) {
  auto out = std::make_shared<QuantizedMatmulPrepared>();
  const auto at = static_cast<size_t>(p.b);
  if constexpr (p.offset >= 0) out->alpha = call.f("alpha");
  if (!is_constant(call, at)) return out;
  const Tensor& b = *call.in(at).constant;
  out->packed = true;
  out->b_dims = b.dims();
  if constexpr (p.offset >= 0) {
    out->turned = call.i("transB") != 0;
    if (out->turned) std::swap(out->b_dims[0], out->b_dims[1]);
  }
  const int64_t k = out->b_dims[b.rank() - 2], n = out->b_dims.back();
  const int64_t one = simd::byte_packed_size(k, n), columns = simd::byte_columns(n);
  const int64_t matrices = k * n == 0 ? 1 : b.count() / (k * n);
  out->b.resize(static_cast<size_t>(one * matrices));
  out->sums.resize(static_cast<size_t>(columns * matrices));
  for (int64_t i = 0; i < matrices; ++i)
    simd::byte_pack(b.bytes().data() + i * k * n, b.dtype() == DType::i8, k, n, out->turned ? 1 : n,
                    out->turned ? k : 1, out->b.data() + i * one, out->sums.data() + i * columns);
  return out;
}

// One product for each index of the leading axes of the output.
struct Products {
  int64_t batches = 1, m = 0, n = 0, k = 0;
  bool packed = false, one_b = true;
  int64_t rows = 0, columns = 0, down = 1, across = 1;  // of tiles
  int64_t floats = 0, bytes = 0;                        // of one parameter of all columns; of a task's scratch

  int64_t items() const { return batches * down * across; }
  int64_t tasks() const {
    if (m * n * batches == 0) return 1;
    // A B that is not constant is packed by each task.
    const double cost = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(k + 16) / 4;
    return tasks_for(packed ? items() : batches, cost, kMostTasks);
  }
};

void cut(Products& x) {
  constexpr int64_t kRows = 6;
  constexpr double kLeast = 1 << 18;
  const int64_t width = simd::byte_panel();
  x.rows = x.m, x.columns = x.n;
  if (!x.packed || x.m * x.n == 0) return;
  const double work = static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k);
  const auto wanted = std::clamp<int64_t>(static_cast<int64_t>(std::min(work / kLeast, 1e6)), 1, kMostTasks);
  const auto parts = [&](int64_t size, int64_t unit, int64_t most, int64_t& each) {
    const int64_t units = (size + unit - 1) / unit;
    each = (units + most - 1) / most * unit;
    return (size + each - 1) / each;
  };
  // Few rows are multiplied by all tasks, many are shared out.
  if (x.m > 256) {
    x.down = parts(x.m, kRows, wanted, x.rows);
    return;
  }
  x.across = parts(x.n, width, wanted, x.columns);
  x.down = parts(x.m, kRows, std::max<int64_t>(wanted / x.across, 1), x.rows);
}

std::span<const int64_t> leading_of(std::span<const int64_t> dims) { return dims.first(dims.size() - 2); }

int64_t product_of(std::span<const int64_t> dims) {
  int64_t all = 1;
  for (int64_t d : dims) all *= d;
  return all;
}

template <const Ports& p>
Products products_of(const ViewArgs& args) {
  const QuantizedMatmulPrepared& prepared = prepared_as<QuantizedMatmulPrepared>(args);
  const View& a = args.in[p.a];
  const auto b = prepared.packed ? std::span<const int64_t>(prepared.b_dims) : args.in[p.b].dims;
  Products x;
  x.packed = prepared.packed;
  x.m = a.dims[a.rank() - 2], x.k = a.dims.back(), x.n = b.back();
  x.batches = product_of(leading_of(args.out[0].dims));
  x.one_b = product_of(leading_of(b)) == 1;
  if (x.one_b && product_of(leading_of(a.dims)) == x.batches) x.m *= x.batches, x.batches = 1;
  cut(x);
  const int64_t columns = simd::byte_columns(x.n);
  x.floats = round_up(columns, 16);
  if (!x.packed)
    x.bytes = x.floats * static_cast<int64_t>(sizeof(int32_t)) + round_up(simd::byte_packed_size(x.k, x.n), 64);
  return x;
}

// Which matrix of an operand with these leading axes belongs to that one of the output.
int64_t matrix_of_quantized_matmul(std::span<const int64_t> dims, std::span<const int64_t> out, int64_t batch) {
  int64_t at = 0, step = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = out[out.size() - 1 - i], index = batch % size, own = dims[dims.size() - 1 - i];
    batch /= size;
    if (own != 1) at += index * step;
    step *= own;
  }
  return at;
}

// What all tasks read, in front of their own scratch.
struct QuantizedMatmulParameters {
  float *factors, *bias;
  int32_t *zeros, *offsets;
  bool* any_zero;
  std::byte* rest;
};

int64_t bytes_of_parameters(const Products& x) { return 4 * x.floats * static_cast<int64_t>(sizeof(float)) + 64; }

QuantizedMatmulParameters parameters_of_quantized_matmul(const ViewArgs& args, const Products& x) {
  auto* floats = reinterpret_cast<float*>(args.scratch);
  auto* integers = reinterpret_cast<int32_t*>(floats + 2 * x.floats);
  std::byte* end = args.scratch + bytes_of_parameters(x);
  return {floats, floats + x.floats, integers, integers + x.floats, reinterpret_cast<bool*>(end - 64), end};
}

// One entry for each of n columns, and `beyond` up to a whole panel.
template <class T, class Entry>
void fill_columns(const View& view, int64_t n, int64_t all, T beyond, T* to, Entry entry) {
  if (!view || view.count() == 1)
    std::fill_n(to, n, view ? entry(0) : beyond);
  else
    for (int64_t j = 0; j < n; ++j) to[j] = entry(j);
  std::fill(to + n, to + all, beyond);
}

void fill_floats(const View& view, int64_t n, int64_t all, float beyond, float* to) {
  fill_columns(view, n, all, beyond, to, [&](int64_t j) { return view.as<const float>()[j]; });
}

void fill_integers(const View& view, int64_t n, int64_t all, int32_t* to) {
  fill_columns(view, n, all, 0, to, [&](int64_t j) { return integer_at(view, j); });
}

template <const Ports& p>
float left_scale(const ViewArgs& args) {
  if constexpr (p.a_scale < 0) return 1;
  return prepared_as<QuantizedMatmulPrepared>(args).alpha *
         *args.in[static_cast<size_t>(p.a_scale)].template as<const float>();
}

// The parameters of all columns as they are in this run.
template <const Ports& p>
Status begin_quantized_matmul(const ViewArgs& args) {
  const Products x = products_of<p>(args);
  if (x.m * x.n * x.batches == 0) return {};
  const QuantizedMatmulParameters to = parameters_of_quantized_matmul(args, x);
  const View y_scale = view_at(args.in, p.y_scale);
  const float left = left_scale<p>(args), divisor = y_scale ? *y_scale.template as<const float>() : 1;
  fill_floats(view_at(args.in, p.b_scale), x.n, x.floats, 1, to.factors);
  if (!p.wide || y_scale)
    for (int64_t j = 0; j < x.n; ++j) to.factors[j] = to.factors[j] * left / divisor;
  if (const View bias = view_at(args.in, p.bias)) fill_floats(bias, x.n, x.floats, 0, to.bias);
  if (const View offset = view_at(args.in, p.offset)) fill_integers(offset, x.n, x.floats, to.offsets);
  fill_integers(view_at(args.in, p.b_zero), x.n, x.floats, to.zeros);
  const int32_t shift = args.in[p.b].dtype == DType::i8 ? 0 : 128;
  for (int64_t j = 0; j < x.n; ++j) to.zeros[j] -= shift;
  *to.any_zero = std::any_of(to.zeros, to.zeros + x.n, [](int32_t zero) { return zero != 0; });
  return {};
}

// What is the same for all tiles.
template <const Ports& p>
ByteGemm gemm_of(const ViewArgs& args, const Products& x) {
  const QuantizedMatmulParameters from = parameters_of_quantized_matmul(args, x);
  const View &a = args.in[p.a], out = args.out[0];
  ByteGemm g{.m = x.m, .n = x.n, .k = x.k, .a_row = x.k, .a_signed = a.dtype == DType::i8, .c_row = x.n};
  g.a_zero = integer_at(view_at(args.in, p.a_zero), 0) + (g.a_signed ? 128 : 0);
  if (*from.any_zero) g.b_zeros = from.zeros;
  g.factors = from.factors;
  if (view_at(args.in, p.bias)) g.bias = from.bias;
  if (view_at(args.in, p.offset)) g.offsets = from.offsets;
  if (p.wide && !view_at(args.in, p.y_scale)) g.scale = static_cast<double>(left_scale<p>(args));
  g.zero = integer_at(view_at(args.in, p.y_zero), 0);
  g.kind = out.dtype == DType::i32  ? ByteProduct::i32
           : out.dtype == DType::u8 ? ByteProduct::u8
           : out.dtype == DType::i8 ? ByteProduct::i8
           : p.wide                 ? ByteProduct::f32_wide
                                    : ByteProduct::f32;
  return g;
}

// Points at the B of matrix `batch`, which is packed first where it is not constant.
template <const Ports& p>
void set_b(const ViewArgs& args, const Products& x, int64_t slot, int64_t batch, ByteGemm& g) {
  const QuantizedMatmulPrepared& prepared = prepared_as<QuantizedMatmulPrepared>(args);
  const auto dims = prepared.packed ? std::span<const int64_t>(prepared.b_dims) : args.in[p.b].dims;
  const int64_t at = x.one_b ? 0 : matrix_of_quantized_matmul(leading_of(dims), leading_of(args.out[0].dims), batch);
  if (x.packed) {
    g.b = prepared.b.data() + at * simd::byte_packed_size(x.k, x.n);
    g.b_sums = prepared.sums.data() + at * simd::byte_columns(x.n);
    return;
  }
  auto* sums = reinterpret_cast<int32_t*>(parameters_of_quantized_matmul(args, x).rest + slot * x.bytes);
  auto* packed = reinterpret_cast<int8_t*>(sums + x.floats);
  simd::byte_pack(args.in[p.b].data + at * x.k * x.n, args.in[p.b].dtype == DType::i8, x.k, x.n, x.n, 1, packed, sums);
  g.b = packed, g.b_sums = sums;
}

// Sums that may need more than 32 bits, entry by entry.
template <const Ports& p>
void run_wide(const ViewArgs& args, const Products& x, int64_t first, int64_t last) {
  const View &a = args.in[p.a], &b = args.in[p.b], &out = args.out[0], b_zero = view_at(args.in, p.b_zero);
  const QuantizedMatmulParameters from = parameters_of_quantized_matmul(args, x);
  const int64_t a_zero = integer_at(view_at(args.in, p.a_zero), 0), zero = integer_at(view_at(args.in, p.y_zero), 0);
  const double least = out.dtype == DType::i8 ? -128 : 0;
  for (int64_t row = share_of(x.batches * x.m, x.tasks(), first).first;
       row < share_of(x.batches * x.m, x.tasks(), last - 1).last; ++row) {
    const int64_t batch = row / x.m, i = row % x.m;
    const auto start = [&](const View& of) {
      return matrix_of_quantized_matmul(leading_of(of.dims), leading_of(out.dims), batch);
    };
    const int64_t a_at = (x.batches == 1 ? i : start(a) * x.m + i) * x.k, b_at = x.one_b ? 0 : start(b) * x.k * x.n;
    for (int64_t j = 0; j < x.n; ++j) {
      const int64_t right_zero = b_zero ? integer_at(b_zero, b_zero.count() == 1 ? 0 : j) : 0;
      int64_t sum = 0;
      for (int64_t k = 0; k < x.k; ++k)
        sum += (integer_at(a, a_at + k) - a_zero) * (integer_at(b, b_at + k * x.n + j) - right_zero);
      const double y = std::nearbyint(static_cast<float>(sum) * from.factors[j]) + static_cast<double>(zero);
      const double byte = std::isnan(y) ? least : std::clamp(y, least, least + 255);
      out.data[row * x.n + j] = static_cast<std::byte>(static_cast<int32_t>(byte) & 255);
    }
  }
}

template <const Ports& p>
Status run_quantized_matmul(const ViewArgs& args, int64_t first, int64_t last) {
  const Products x = products_of<p>(args);
  if (x.m * x.n * x.batches == 0) return {};
  if (&p == &kQLinear && x.k > kMostProducts) return run_wide<p>(args, x, first, last), Status();
  ByteGemm g = gemm_of<p>(args, x);
  const int64_t tiles = x.down * x.across, tasks = x.tasks(), size = bits(args.out[0].dtype) / 8;
  const int64_t units = x.packed ? x.items() : x.batches;
  int64_t there = -1;
  for (int64_t item = share_of(units, tasks, first).first; item < share_of(units, tasks, last - 1).last; ++item) {
    const int64_t batch = item / tiles, tile = item % tiles;
    if (batch != there) set_b<p>(args, x, first, batch, g);
    there = batch;
    g.a = args.in[p.a].data + (x.batches == 1 ? 0
                                              : matrix_of_quantized_matmul(leading_of(args.in[p.a].dims),
                                                                           leading_of(args.out[0].dims), batch)) *
                                  x.m * x.k;
    g.c = args.out[0].data + batch * x.m * x.n * size;
    const int64_t i = tile % x.down * x.rows, j = tile / x.down * x.columns;
    simd::byte_gemm(g, i, std::min(x.m, i + x.rows), j, std::min(x.n, j + x.columns));
  }
  return {};
}

template <const Ports& p>
int64_t tasks_quantized_matmul(const ViewArgs& args) {
  return products_of<p>(args).tasks();
}

template <const Ports& p>
int64_t scratch_quantized_matmul(const ViewArgs& args) {
  const Products x = products_of<p>(args);
  return bytes_of_parameters(x) + x.tasks() * x.bytes;
}

template <const Ports& p>
constexpr EngineKernel kQuantizedMatmulKernel = {.name = "8-bit packed",
                                                 .accepts = accepts_quantized_matmul<p>,
                                                 .prepare = prepare_quantized_matmul<p>,
                                                 .scratch = scratch_quantized_matmul<p>,
                                                 .tasks = tasks_quantized_matmul<p>,
                                                 .begin = begin_quantized_matmul<p>,
                                                 .run = run_quantized_matmul<p>};

}  // namespace

constexpr EngineKernel kIntegerMatMul = kQuantizedMatmulKernel<kScaled>;
constexpr EngineKernel kMatMulInteger = kQuantizedMatmulKernel<kInteger>;
constexpr EngineKernel kQuantizedGemm = kQuantizedMatmulKernel<kQGemm>;
constexpr EngineKernel kQLinearMatMul = kQuantizedMatmulKernel<kQLinear>;
constexpr EngineKernel kMatMulToFloat = kQuantizedMatmulKernel<kToFloat>;

}  // namespace anyshape::cpu
