#include <algorithm>
#include <cstring>
#include <new>
#include <optional>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"

// MatMul and Gemm of f32.
namespace anyshape::cpu {
namespace {

using simd::Addend;
using simd::Gemm;
using simd::GemmTiles;

// B packed where it is a constant, all matrices of its leading axes one after the other.
struct MatmulPrepared {
  RawFloats b;
  bool packed = false;
  std::vector<int64_t> b_dims;
  int64_t one = 0;  // floats of one packed matrix
  simd::ActivationSpec activation;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 1;
};

std::string_view accepts_f32(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && !is_f32(call, i)) return "its element type is not f32";
  return {};
}

void pack_constant(const Call& call, MatmulPrepared& p) {
  const Tensor& b = *call.in(1).constant;
  p.b_dims = b.dims();
  if (p.b_dims.empty()) return;
  p.packed = true;
  const bool vector = p.b_dims.size() == 1;
  int64_t k = vector ? p.b_dims[0] : p.b_dims[p.b_dims.size() - 2], n = vector ? 1 : p.b_dims.back();
  int64_t row = n, column = 1;
  if (p.transpose_b) std::swap(k, n), std::swap(row, column);
  p.one = simd::gemm_packed_size(k, n);
  const int64_t matrices = k * n == 0 ? 0 : b.count() / (k * n);
  p.b = RawFloats(static_cast<size_t>(p.one * matrices));
  for (int64_t i = 0; i < matrices; ++i)
    simd::gemm_pack(b.bytes().data() + static_cast<size_t>(i * k * n) * sizeof(float), k, n, row, column, p.alpha,
                    p.b.data() + i * p.one);
}

Result<std::shared_ptr<const void>> prepare_matmul(const Call& call) {
  auto p = std::make_shared<MatmulPrepared>();
  TRY(p->activation, read_activation(call));
  if (const auto* alpha = call.given<float>("alpha")) p->alpha = *alpha;
  if (is_constant(call, 1)) pack_constant(call, *p);
  return p;
}

Result<std::shared_ptr<const void>> prepare_gemm(const Call& call) {
  auto p = std::make_shared<MatmulPrepared>();
  TRY(p->activation, read_activation(call));
  p->transpose_a = call.i("transA") != 0;
  p->transpose_b = call.i("transB") != 0;
  p->alpha = call.f("alpha");
  p->beta = call.f("beta");
  if (is_constant(call, 1)) pack_constant(call, *p);
  return p;
}

// One product for each index of the leading axes of the output.
struct Products {
  Gemm g;  // of the first one
  int64_t batches = 1;
  GemmTiles tiles;
  int64_t slot = 0;  // floats of scratch per task
  int64_t tasks = 1;

  int64_t items() const { return batches * tiles.count(); }
  double cost() const { return simd::gemm_cost(tiles.rows, tiles.columns, g.k); }
  void finish() {
    // One row or one step of k: the stride of that axis means nothing.
    if (g.k <= 1) g.a_column = 1;
    if (g.m <= 1 && g.a_column != 1) g.a_row = 1;
    tiles = simd::gemm_tiles(g.m, g.n, g.k, g.b_packed);
    slot = round_up(simd::gemm_scratch(g), 16);
    tasks = g.m == 0 || g.n == 0 ? 1 : tasks_for(items(), cost());
  }
};

int64_t size_of(const View& v, size_t from_back, int64_t fallback) {
  return v.rank() < from_back ? fallback : v.dims[v.rank() - from_back];
}
int64_t stride_of(const View& v, size_t from_back) {
  return v.rank() < from_back ? 0 : v.strides[v.rank() - from_back];
}

// How far the rows of A lie apart where they do so evenly, whatever axes they are spread over; else nothing.
std::optional<int64_t> row_step(const View& a) {
  int64_t step = 0, rows = 1;
  for (size_t i = a.rank() - 1; i-- > 0;) {
    if (a.dims[i] == 1) continue;
    if (rows == 1) step = a.strides[i];
    if (a.strides[i] != step * rows) return std::nullopt;
    rows *= a.dims[i];
  }
  return step;
}

// Where matrix `batch` of the output finds its A or B.
struct Leading {
  std::span<const int64_t> dims, strides;  // strides empty: dense matrices of `one` elements
  int64_t one = 0;
};

int64_t offset_of(const Leading& v, std::span<const int64_t> out, int64_t batch) {
  int64_t offset = 0, dense = v.one;
  for (size_t i = 0; i < v.dims.size(); ++i) {
    const int64_t size = out[out.size() - 1 - i], index = batch % size;
    batch /= size;
    const size_t axis = v.dims.size() - 1 - i;
    if (v.dims[axis] != 1) offset += index * (v.strides.empty() ? dense : v.strides[axis]);
    dense *= v.dims[axis];
  }
  return offset;
}

std::span<const int64_t> leading_of(std::span<const int64_t> dims) {
  return dims.size() < 2 ? std::span<const int64_t>() : dims.first(dims.size() - 2);
}

bool b_is_vector(const ViewArgs& args) {
  const MatmulPrepared& p = prepared_as<MatmulPrepared>(args);
  return p.packed ? p.b_dims.size() == 1 : args.in[1].rank() == 1;
}

std::span<const int64_t> out_leading(const ViewArgs& args) {
  const size_t own = (args.in[0].rank() > 1) + !b_is_vector(args);
  return args.out[0].dims.first(args.out[0].rank() - std::min(own, args.out[0].rank()));
}

void point_matmul(const ViewArgs& args, Gemm& g) {
  const MatmulPrepared& p = prepared_as<MatmulPrepared>(args);
  g.a = args.in[0].as<const float>();
  g.b = p.packed ? p.b.data() : args.in[1].as<const float>();
  g.c = args.out[0].as<float>();
}

Products matmul_of(const ViewArgs& args) {
  const MatmulPrepared& p = prepared_as<MatmulPrepared>(args);
  const View &a = args.in[0], &b = args.in[1];
  Products x;
  Gemm& g = x.g;
  g.k = size_of(a, 1, 1);
  g.m = a.rank() < 2 ? 1 : a.dims[a.rank() - 2];
  const std::span<const int64_t> b_dims = p.packed ? std::span<const int64_t>(p.b_dims) : b.dims;
  g.n = b_dims.size() == 1 ? 1 : b_dims.back();
  point_matmul(args, g);
  g.a_row = a.rank() < 2 ? g.k : stride_of(a, 2);
  g.a_column = stride_of(a, 1);
  g.b_packed = p.packed;
  if (!p.packed) {
    g.b_row = b.rank() == 1 ? stride_of(b, 1) : stride_of(b, 2);
    g.b_column = b.rank() == 1 ? 1 : stride_of(b, 1);
    if (g.n == 1 && g.b_row != 1) g.b_column = 1;
    g.b_scale = p.alpha;
  }
  g.c_row = g.n;
  g.epilogue.activation = p.activation;
  for (int64_t d : out_leading(args)) x.batches *= d;
  bool single_b = true;
  for (int64_t d : leading_of(b_dims)) single_b = single_b && d == 1;
  const bool same_leading = leading_of(a.dims).size() == out_leading(args).size();
  if (const auto step = single_b && a.rank() >= 2 && same_leading ? row_step(a) : std::nullopt) {
    g.m *= x.batches;
    g.a_row = *step;
    x.batches = 1;
  }
  x.finish();
  return x;
}

// The optional bias (input 2) and residual (input 3) of fused products, laid under an output of n columns.
void add_operands(const ViewArgs& args, Gemm& g, int64_t first_row) {
  if (args.in.size() > 2 && args.in[2]) g.epilogue.bias = Addend::per_column(args.in[2].as<const float>());
  if (args.in.size() > 3 && args.in[3]) g.epilogue.residual = {args.in[3].as<const float>() + first_row * g.n, g.n, 1};
}

void run_item(const Products& x, Gemm g, int64_t tile, float* scratch) {
  const int64_t i = tile % x.tiles.down * x.tiles.rows, j = tile / x.tiles.down * x.tiles.columns;
  simd::gemm_tile(g, i, std::min(g.m, i + x.tiles.rows), j, std::min(g.n, j + x.tiles.columns), scratch);
}

float* slot_of_matmul(const ViewArgs& args, const Products& x, int64_t task) {
  return reinterpret_cast<float*>(args.scratch) + task * x.slot;
}

// What is the same in all runs of a shape, and where the operands are in this one.
template <Products (*of)(const ViewArgs&), void (*point)(const ViewArgs&, Gemm&)>
Products products_of(const ViewArgs& args) {
  if (!args.bound) return of(args);
  Products x = *static_cast<const Products*>(args.bound);
  point(args, x.g);
  return x;
}

template <Products (*of)(const ViewArgs&)>
void bind(const ViewArgs& args, std::byte* to) {
  new (to) Products(of(args));
}

Status run_matmul(const ViewArgs& args, int64_t first, int64_t last) {
  const MatmulPrepared& p = prepared_as<MatmulPrepared>(args);
  const Products x = products_of<matmul_of, point_matmul>(args);
  const int64_t tasks = x.tasks, count = x.tiles.count();
  if (x.batches == 0) return {};
  const Leading a{leading_of(args.in[0].dims), leading_of(args.in[0].strides)};
  const Leading b = p.packed ? Leading{leading_of(p.b_dims), {}, p.one}
                             : Leading{leading_of(args.in[1].dims), leading_of(args.in[1].strides)};
  for (int64_t t = first; t < last; ++t) {
    const Share share = share_of(x.items(), tasks, t);
    for (int64_t item = share.first; item < share.last; ++item) {
      const int64_t batch = item / count;
      Gemm g = x.g;
      if (x.batches > 1) {
        g.a += offset_of(a, out_leading(args), batch);
        g.b += offset_of(b, out_leading(args), batch);
        g.c += batch * g.m * g.n;
      }
      add_operands(args, g, batch * g.m);
      run_item(x, g, item % count, slot_of_matmul(args, x, t));
    }
  }
  return {};
}

// C under an output of m x n: whatever its rank, each axis is 1 or that of the output.
Addend c_of(const View& c, int64_t m, int64_t n, float beta) {
  if (!c) return {};
  Addend add{c.as<const float>(), 0, 0, beta};
  if (size_of(c, 1, 1) == n && n != 1) add.column = 1;
  if (size_of(c, 2, 1) == m && m != 1) add.row = size_of(c, 1, 1);
  return add;
}

void point_gemm(const ViewArgs& args, Gemm& g) {
  const MatmulPrepared& p = prepared_as<MatmulPrepared>(args);
  point_matmul(args, g);
  if (args.in.size() > 2 && p.beta != 0) g.epilogue.bias.data = args.in[2].as<const float>();
  if (args.in.size() > 3) g.epilogue.residual.data = args.in[3].as<const float>();
}

Products gemm_of_matmul(const ViewArgs& args) {
  const MatmulPrepared& p = prepared_as<MatmulPrepared>(args);
  const View &a = args.in[0], &b = args.in[1];
  Products x;
  Gemm& g = x.g;
  g.m = a.dims[p.transpose_a ? 1 : 0];
  g.k = a.dims[p.transpose_a ? 0 : 1];
  g.n = args.out[0].dims[1];
  g.a_row = a.strides[p.transpose_a ? 1 : 0];
  g.a_column = a.strides[p.transpose_a ? 0 : 1];
  g.b_packed = p.packed;
  if (!p.packed) {
    g.b_row = b.strides[p.transpose_b ? 1 : 0];
    g.b_column = b.strides[p.transpose_b ? 0 : 1];
    g.b_scale = p.alpha;
  }
  g.c_row = g.n;
  g.epilogue.activation = p.activation;
  if (args.in.size() > 2 && p.beta != 0) g.epilogue.bias = c_of(args.in[2], g.m, g.n, p.beta);
  g.epilogue.residual = {nullptr, g.n, 1};
  point_gemm(args, g);
  x.finish();
  return x;
}

Status run_gemm(const ViewArgs& args, int64_t first, int64_t last) {
  const Products x = products_of<gemm_of_matmul, point_gemm>(args);
  const int64_t tasks = x.tasks;
  for (int64_t t = first; t < last; ++t) {
    const Share share = share_of(x.items(), tasks, t);
    for (int64_t item = share.first; item < share.last; ++item) run_item(x, x.g, item, slot_of_matmul(args, x, t));
  }
  return {};
}

template <Products (*of)(const ViewArgs&)>
int64_t tasks_matmul(const ViewArgs& args) {
  return of(args).tasks;
}

template <Products (*of)(const ViewArgs&)>
int64_t scratch_matmul(const ViewArgs& args) {
  const Products x = of(args);
  return x.slot * x.tasks * static_cast<int64_t>(sizeof(float));
}

}  // namespace

constexpr EngineKernel kMatMul = {.name = "f32 packed",
                                  .accepts = accepts_f32,
                                  .prepare = prepare_matmul,
                                  .scratch = scratch_matmul<matmul_of>,
                                  .tasks = tasks_matmul<matmul_of>,
                                  .bind = bind<matmul_of>,
                                  .bound_bytes = sizeof(Products),
                                  .run = run_matmul,
                                  .strided = 0b11,
                                  .in_place = 0b1000,
                                  .packed = 0b10};
constexpr EngineKernel kGemm = {.name = "f32 packed",
                                .accepts = accepts_f32,
                                .prepare = prepare_gemm,
                                .scratch = scratch_matmul<gemm_of_matmul>,
                                .tasks = tasks_matmul<gemm_of_matmul>,
                                .bind = bind<gemm_of_matmul>,
                                .bound_bytes = sizeof(Products),
                                .run = run_gemm,
                                .strided = 0b11,
                                .in_place = 0b1000,
                                .packed = 0b10};

}  // namespace anyshape::cpu
