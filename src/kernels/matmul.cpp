#include "kernels/matmul.h"

#include <cmath>

#include "base/temporary.h"
#include "kernels/elementwise.h"
#include "kernels/multiply.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

struct Shapes {
  int64_t m = 1, n = 1, k = 1;
  Temporary<int64_t> a, b, out;  // leading axes
};

Result<Shapes> shapes_of(const Tensor& a, const Tensor& b, const Tensor& out) {
  if (a.rank() == 0 || b.rank() == 0) return refuse("kernel.shape", "a matrix product needs at least one axis");
  Shapes s;
  const auto &da = a.dims(), &db = b.dims(), &dout = out.dims();
  s.k = da.back();
  if (a.rank() > 1) s.m = da[da.size() - 2];
  if (b.rank() > 1) s.n = db.back();
  const size_t matrix_axes = (a.rank() > 1) + (b.rank() > 1);
  if (s.k != (b.rank() > 1 ? db[db.size() - 2] : db[0]) || dout.size() < matrix_axes)
    return refuse("kernel.shape", "the inner sizes of a matrix product must be equal");
  if (a.rank() > 2) s.a.assign(da.begin(), da.end() - 2);
  if (b.rank() > 2) s.b.assign(db.begin(), db.end() - 2);
  s.out.assign(dout.begin(), dout.end() - static_cast<ptrdiff_t>(matrix_axes));
  const auto batches = element_count(s.out);
  if (!broadcasts(s.a, s.out) || !broadcasts(s.b, s.out) || out.count() != *batches * s.m * s.n)
    return refuse("kernel.shape", "the factors do not fit the product");
  return s;
}

template <class T>
void multiply_all(const Shapes& s, const Tensor& a, const Tensor& b, Tensor& out) {
  const T *pa = a.as<T>().data(), *pb = b.as<T>().data();
  T* to = out.as_mutable<T>().data();
  Temporary<Sum<T>> sums(static_cast<size_t>(s.m * s.n));
  BroadcastIndex ia(s.a, s.out), ib(s.b, s.out);
  for (int64_t done = 0; done < out.count(); done += s.m * s.n, ia.next(), ib.next()) {
    std::fill(sums.begin(), sums.end(), Sum<T>{});
    const Matrix<T> left{pa + ia.offset() * s.m * s.k, s.k, 1}, right{pb + ib.offset() * s.k * s.n, s.n, 1};
    multiply_add(left, right, s.m, s.n, s.k, sums.data());
    for (int64_t i = 0; i < s.m * s.n; ++i) to[done + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
  }
}

template <class T>
T scaled_sum(const Gemm& gemm, Sum<T> product, T c) {
  if constexpr (std::is_floating_point_v<T>) {
    const double bias = gemm.beta == 0 ? 0.0 : gemm.beta * static_cast<double>(c);
    return static_cast<T>(gemm.alpha * product + bias);
  } else {
    const auto wide = static_cast<Sum<T>>(c);
    if (gemm.alpha == 1 && (gemm.beta == 1 || gemm.beta == 0))
      return static_cast<T>(product + (gemm.beta == 1 ? wide : 0));
    const auto real = [](Sum<T> x) { return static_cast<double>(static_cast<T>(x)); };
    return static_cast<T>(truncate_to_int64(gemm.alpha * real(product) + gemm.beta * real(wide)));
  }
}

template <class T>
Status run_gemm(const Gemm& gemm, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& out) {
  const int64_t m = out.dims()[0], n = out.dims()[1], k = a.dims()[gemm.transpose_a ? 0 : 1];
  const auto matrix = [](const Tensor& t, bool transposed) {
    const int64_t width = t.dims()[1];
    return transposed ? Matrix<T>{t.as<T>().data(), 1, width} : Matrix<T>{t.as<T>().data(), width, 1};
  };
  Temporary<Sum<T>> sums(static_cast<size_t>(out.count()));
  multiply_add(matrix(a, gemm.transpose_a), matrix(b, gemm.transpose_b), m, n, k, sums.data());
  auto to = out.as_mutable<T>();
  BroadcastIndex bias(c ? std::span<const int64_t>(c.dims()) : std::span<const int64_t>(), out.dims());
  for (size_t i = 0; i < to.size(); ++i, bias.next())
    to[i] = scaled_sum<T>(gemm, sums[i], c ? c.as<T>()[static_cast<size_t>(bias.offset())] : T{});
  return {};
}

double determinant(Temporary<double> m, size_t n) {
  double product = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < n; ++row)
      if (std::abs(m[row * n + column]) > std::abs(m[pivot * n + column])) pivot = row;
    const double head = m[pivot * n + column];
    if (head == 0) return 0;
    if (pivot != column) {
      std::swap_ranges(&m[pivot * n], &m[pivot * n] + n, &m[column * n]);
      product = -product;
    }
    product *= head;
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = m[row * n + column] / head;
      for (size_t j = column; j < n; ++j) m[row * n + j] -= factor * m[column * n + j];
    }
  }
  return product;
}

}  // namespace

Status matmul(const Tensor& a, const Tensor& b, Tensor& out) {
  TRY_OK(require_one_type({&a, &b, &out}));
  TRY(const Shapes s, shapes_of(a, b, out));
  const auto run = [&]<class T>(T) -> Status {
    multiply_all<T>(s, a, b, out);
    return {};
  };
  return is_float(out.dtype()) ? visit_real(out.dtype(), run) : visit_type<kInts>(out.dtype(), run);
}

Status gemm(const Gemm& gemm, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& out) {
  TRY_OK(require_one_type({&a, &b, &c, &out}));
  if (a.rank() != 2 || b.rank() != 2 || out.rank() != 2) return refuse("kernel.shape", "Gemm takes matrices");
  if (a.dims()[gemm.transpose_a ? 0 : 1] != b.dims()[gemm.transpose_b ? 1 : 0] ||
      a.dims()[gemm.transpose_a ? 1 : 0] != out.dims()[0] || b.dims()[gemm.transpose_b ? 0 : 1] != out.dims()[1] ||
      (c && !broadcasts(c.dims(), out.dims())))
    return refuse("kernel.shape", "the factors do not fit the product");
  const auto run = [&]<class T>(T) { return run_gemm<T>(gemm, a, b, c, out); };
  return is_float(out.dtype()) ? visit_real(out.dtype(), run) : visit_type<kInts>(out.dtype(), run);
}

Status determinants(const Tensor& matrices, Tensor& out) {
  if (matrices.rank() < 2 || matrices.dims().back() != matrices.dims()[matrices.rank() - 2])
    return refuse("kernel.shape", "the matrices are not square");
  const auto n = static_cast<size_t>(matrices.dims().back());
  return visit_real(matrices.dtype(), [&]<class T>(T) -> Status {
    auto to = out.as_mutable<T>();
    const auto from = matrices.as<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      const auto first = from.begin() + static_cast<ptrdiff_t>(i * n * n);
      to[i] = static_cast<T>(determinant(Temporary<double>(first, first + static_cast<ptrdiff_t>(n * n)), n));
    }
    return {};
  });
}

}  // namespace anyshape::kernels
