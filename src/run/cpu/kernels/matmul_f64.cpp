#include <algorithm>
#include <cstring>

#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/places.h"
#include "run/cpu/simd/gemm_f64.h"

// MatMul and Gemm of f64.
namespace anyshape::cpu {
namespace {

using simd::GemmF64;

struct Prepared {
  bool gemm = false;
  std::vector<double> b;  // turned: of a Gemm that reads it so
  double alpha = 1, beta = 1;
};

const Prepared& prepared_of(const ViewArgs& args) { return *static_cast<const Prepared*>(args.prepared); }

std::string_view accepts(const Call& call) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (call.has(i) && (!call.in(i).is_tensor() || call.in(i).dtype != DType::f64))
      return "its element type is not f64";
  if (call.type() != "Gemm") return "";
  if (call.i("transA") != 0) return "its rows are columns";
  return call.i("transB") == 0 || is_constant(call, 1) ? "" : "its columns are rows, and not constant";
}

Result<std::shared_ptr<const void>> prepare(const Call& call) {
  auto p = std::make_shared<Prepared>();
  if (call.type() != "Gemm") return p;
  p->gemm = true;
  p->alpha = static_cast<double>(call.f("alpha"));
  p->beta = static_cast<double>(call.f("beta"));
  if (call.i("transB") == 0) return p;
  TRY(const Tensor b, call.in(1).constant->aligned());
  const int64_t n = b.dims()[0], k = b.dims()[1];
  p->b.resize(static_cast<size_t>(n * k));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < k; ++i) p->b[static_cast<size_t>(i * n + j)] = b.at<double>(j * k + i);
  return p;
}

// Matrices of the leading axes of the output, all of the same sizes.
struct Products {
  GemmF64 g;  // without addresses
  int64_t m = 1, batches = 1;
};

Products products_of(const ViewArgs& args) {
  const View &a = args.in[0], &b = args.in[1], &out = args.out[0];
  Products p;
  p.g.k = a.dims.back();
  p.m = a.rank() > 1 ? a.dims[a.rank() - 2] : 1;
  const bool turned = !prepared_of(args).b.empty();
  p.g.n = turned ? b.dims[0] : b.rank() > 1 ? b.dims.back() : 1;
  p.g.a_row = p.g.k;
  p.g.c_row = p.g.n;
  p.batches = p.m * p.g.n == 0 ? 0 : out.count() / (p.m * p.g.n);
  return p;
}

// How many matrices of a dense operand lie before the one for matrix `batch` of the output, with those leading axes.
int64_t matrix_of(std::span<const int64_t> dims, std::span<const int64_t> leading, int64_t batch) {
  int64_t at = 0, dense = 1;
  for (size_t i = 3; i <= dims.size(); ++i) {
    const int64_t wanted = leading[leading.size() + 2 - i], size = dims[dims.size() - i];
    if (size != 1) at += batch % wanted * dense;
    batch /= wanted;
    dense *= size;
  }
  return at;
}

GemmF64 product_of(const ViewArgs& args, const Products& p, int64_t batch) {
  const View &a = args.in[0], &b = args.in[1], &out = args.out[0];
  GemmF64 g = p.g;
  const std::span<const int64_t> leading =
      out.dims.first(out.rank() - static_cast<size_t>((a.rank() > 1) + (b.rank() > 1)));
  g.a = a.as<const double>() + matrix_of(a.dims, leading, batch) * p.m * g.k;
  g.b = prepared_of(args).b.empty() ? b.as<const double>() + matrix_of(b.dims, leading, batch) * g.k * g.n
                                    : prepared_of(args).b.data();
  g.c = out.as<double>() + batch * p.m * g.n;
  g.alpha = prepared_of(args).alpha;
  if (!prepared_of(args).gemm || args.in.size() < 3 || !args.in[2]) return g;
  const View& c = args.in[2];
  g.addend = c.as<const double>();
  g.beta = prepared_of(args).beta;
  g.addend_column = c.rank() == 0 || c.dims.back() == 1 ? 0 : 1;
  g.addend_row = c.rank() < 2 || c.dims[0] == 1 ? 0 : c.dims[1];
  return g;
}

// Rows that are worked on together.
constexpr int64_t kRows = 8;

int64_t pieces_of(const Products& p) { return p.batches * ((p.m + kRows - 1) / kRows); }

int64_t tasks_of(const Products& p) {
  return tasks_for(pieces_of(p), 2.0 * static_cast<double>(std::min(p.m, kRows) * p.g.n) * static_cast<double>(p.g.k));
}

int64_t tasks(const ViewArgs& args) { return tasks_of(products_of(args)); }

Status run(const ViewArgs& args, int64_t first, int64_t last) {
  if (args.out[0].count() == 0) return {};
  const Products p = products_of(args);
  const int64_t each = (p.m + kRows - 1) / kRows, all = tasks_of(p);
  const int64_t end = share_of(pieces_of(p), all, last - 1).last;
  for (int64_t piece = share_of(pieces_of(p), all, first).first; piece < end; ++piece) {
    const int64_t row = piece % each * kRows;
    simd::gemm_f64_rows(product_of(args, p, piece / each), row, std::min(p.m, row + kRows));
  }
  return {};
}

}  // namespace

constexpr EngineKernel kMatMulF64 = {
    .name = "f64 rows", .accepts = accepts, .prepare = prepare, .tasks = tasks, .run = run};

}  // namespace anyshape::cpu
