#include <numeric>

#include "lower/aten/families.h"
#include "lower/aten/move.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

// Rows of matrices that are solved step by step: each step is about twenty nodes.
constexpr int64_t kMostRows = 64;

// The matrices at the end of a tensor, and how many rows they have: a number.
struct Square {
  Ref matrix;
  int64_t rows = 0;
};

Square square_of(Lowering& l, Ref matrix) {
  if (!l.need_rank(matrix, 2, 64)) return {};
  const size_t rank = l->rank(matrix);
  const Dim rows = l->assumptions().simplify(l->dim(matrix, rank - 2));
  const Dim columns = l->assumptions().simplify(l->dim(matrix, rank - 1));
  if (rows != columns || rows.constant().value_or(0) < 1)
    l->refuse("aten.symbolic", "matrices of {} x {}: they must be square, of a number of rows", print(rows),
              print(columns));
  else if (!is_float(l->dtype(matrix)))
    l->refuse("aten.type", "a matrix whose entries are no floats");
  else
    return {matrix, *rows.constant()};
  return {};
}

// Refused where they have too many rows for a stretch of nodes for each.
bool go_stepwise(Lowering& l, const Square& it) {
  if (it.rows > kMostRows)
    l->refuse("aten.linalg", "matrices of {} rows; up to {} can be solved step by step", it.rows, kMostRows);
  return it.rows > 0 && it.rows <= kMostRows;
}

Ref turned(Lowering& l, Ref matrix) {
  std::vector<int64_t> order = all_axes(l->rank(matrix));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return l->transpose(matrix, order);
}

Ref part_of(Lowering& l, Ref matrix, int64_t axis_from_end, int64_t first, int64_t end) {
  return l->slice(matrix, static_cast<int64_t>(l->rank(matrix)) - axis_from_end, first, end);
}

Ref row_of(Lowering& l, Ref matrix, int64_t k) { return part_of(l, matrix, 2, k, k + 1); }
Ref column_of(Lowering& l, Ref matrix, int64_t k) { return part_of(l, matrix, 1, k, k + 1); }

// 0 to n - 1 as a column.
Ref row_numbers(Lowering& l, int64_t n) { return l->unsqueeze(iota(l, n), {1}); }

Ref identity_matrix(Lowering& l, int64_t n, DType dtype) {
  return l->cast(l.op("Equal", {row_numbers(l, n), iota(l, n)}), dtype);
}

// The matrix that changes row k with the row from k on whose entry in column k is the largest.
Ref exchange(Lowering& l, Ref matrix, int64_t n, int64_t k) {
  const Ref below = part_of(l, column_of(l, matrix, k), 2, k, n);
  const Ref largest = l.op("ArgMax", {l.op("Abs", {below})}, {attr("axis", -2), attr("keepdims", 1)});
  const Ref other = l.op("Add", {largest, l->number(k)}), rows = row_numbers(l, n);
  const Ref taken = l.op("Where", {l.op("Equal", {rows, l->number(k)}), other,
                                   l.op("Where", {l.op("Equal", {rows, other}), l->number(k), rows})});
  return l->cast(l.op("Equal", {taken, iota(l, n)}), l->dtype(matrix));
}

// What `right` becomes where the steps that make the matrices the identity are taken with it: Gauss and Jordan, with
// the largest entry of a column in front.
Ref eliminated(Lowering& l, const Square& left, Ref right) {
  if (!go_stepwise(l, left)) return Ref();
  Ref matrix = left.matrix;
  for (int64_t k = 0; k < left.rows && !l->failed(); ++k) {
    if (k + 1 < left.rows) {
      const Ref order = exchange(l, matrix, left.rows, k);
      matrix = l.op("MatMul", {order, matrix});
      right = l.op("MatMul", {order, right});
    }
    const Ref row = row_of(l, matrix, k), pivot = column_of(l, row, k);
    const Ref factors = column_of(l, matrix, k), own = l.op("Equal", {row_numbers(l, left.rows), l->number(k)});
    const auto step = [&](Ref x, Ref its_row) {
      const Ref scaled = l.op("Div", {its_row, pivot});
      return l.op("Where", {own, scaled, l.op("Sub", {x, l.op("Mul", {factors, scaled})})});
    };
    right = step(right, row_of(l, right, k));
    if (k + 1 < left.rows) matrix = step(matrix, row);
  }
  return right;
}

Ref inverse_of(Lowering& l, Ref matrix) {
  const Square it = square_of(l, matrix);
  return it.rows ? eliminated(l, it, identity_matrix(l, it.rows, l->dtype(matrix))) : Ref();
}

// No errors: an i32 for each matrix.
Ref no_errors(Lowering& l, Ref matrix) {
  Dims batch = l->dims(matrix);
  batch.resize(batch.size() - 2);
  return l->full(batch, *l->tensor(l->integer(0, DType::i32)));
}

Ref matrix_argument(Lowering&, const Args& a) {
  for (const std::string_view name : {"A", "self", "input"})
    if (a.has(name)) return a.tensor(name);
  return Ref();
}

Arg inverted(Lowering& l, const Args& a) { return inverse_of(l, matrix_argument(l, a)); }

Arg inverse_checked(Lowering& l, const Args& a) {
  const Ref matrix = matrix_argument(l, a), out = inverse_of(l, matrix);
  if (l->failed()) return {};
  return Refs{out, no_errors(l, matrix)};
}

// A batch of vectors has all sizes of the matrices but the last.
bool holds_vectors(Lowering& l, Ref matrix, Ref right) {
  if (l->rank(right) == 1) return true;
  Dims sizes = l->dims(matrix);
  sizes.pop_back();
  return l->dims(right) == sizes;
}

Ref solution(Lowering& l, Ref matrix, Ref right, bool from_left) {
  const Square it = square_of(l, from_left ? matrix : turned(l, matrix));
  if (!it.rows || !l.need_rank(right, 1, 64)) return Ref();
  const bool vectors = holds_vectors(l, matrix, right);
  if (vectors) right = l->unsqueeze(right, {-1});
  if (!from_left && !vectors) right = turned(l, right);
  const Ref out = eliminated(l, it, right);
  if (l->failed()) return Ref();
  if (vectors) return l->squeeze(out, {-1});
  return from_left ? out : turned(l, out);
}

Arg solve(Lowering& l, const Args& a) { return solution(l, a.tensor("A"), a.tensor("B"), a.flag("left", true)); }

Arg solve_checked(Lowering& l, const Args& a) {
  const Ref matrix = a.tensor("A"), out = solution(l, matrix, a.tensor("B"), a.flag("left", true));
  if (l->failed()) return {};
  return Refs{out, no_errors(l, matrix)};
}

// One triangle of the matrices; ones on the diagonal where it is not read.
Ref triangle(Lowering& l, Ref matrix, bool upper, bool ones) {
  const Square it = square_of(l, matrix);
  if (!it.rows) return Ref();
  const Ref rows = row_numbers(l, it.rows), columns = iota(l, it.rows);
  const Ref beside = upper ? l.op("Less", {rows, columns}) : l.op("Less", {columns, rows});
  const Ref diagonal = l.op("Equal", {rows, columns});
  const Ref kept = ones ? beside : l.op("Or", {beside, diagonal});
  return l.op("Where", {kept, matrix, ones ? l->cast(diagonal, l->dtype(matrix)) : like(l, matrix, 0)});
}

Arg solve_triangular(Lowering& l, const Args& a) {
  const Ref matrix = triangle(l, a.self(), a.flag("upper"), a.flag("unitriangular", false));
  return l->failed() ? Arg() : Arg(solution(l, matrix, a.tensor("B"), a.flag("left", true)));
}

// The lower factors, column by column.
Ref lower_factor(Lowering& l, Ref matrix) {
  const Square it = square_of(l, matrix);
  Ref out;
  if (!go_stepwise(l, it)) return out;
  for (int64_t k = 0; k < it.rows && !l->failed(); ++k) {
    Ref column = column_of(l, matrix, k);
    if (k > 0) column = l.op("Sub", {column, l.op("MatMul", {out, turned(l, row_of(l, out, k))})});
    const Ref scaled = l.op("Div", {column, l.op("Sqrt", {row_of(l, column, k)})});
    const Ref kept = l.op("Where", {l.op("Less", {row_numbers(l, it.rows), l->number(k)}), like(l, matrix, 0), scaled});
    out = k == 0 ? kept : l->concat({out, kept}, static_cast<int64_t>(l->rank(matrix)) - 1);
  }
  return out;
}

Ref cholesky_of(Lowering& l, const Args& a) {
  const Ref out = lower_factor(l, a.self());
  return !l->failed() && a.flag("upper", false) ? turned(l, out) : out;
}

Arg cholesky(Lowering& l, const Args& a) { return cholesky_of(l, a); }

Arg cholesky_checked(Lowering& l, const Args& a) {
  const Ref out = cholesky_of(l, a);
  if (l->failed()) return {};
  return Refs{out, no_errors(l, out)};
}

// The matrices whose factors these are.
Ref squared(Lowering& l, Ref factor, bool upper) {
  const Ref kept = triangle(l, factor, upper, false);
  if (l->failed()) return Ref();
  return upper ? l.op("MatMul", {turned(l, kept), kept}) : l.op("MatMul", {kept, turned(l, kept)});
}

Arg cholesky_solve(Lowering& l, const Args& a) {
  const Ref matrix = squared(l, a.tensor("input2"), a.flag("upper", false));
  return l->failed() ? Arg() : Arg(solution(l, matrix, a.self(), true));
}

Arg cholesky_inverse(Lowering& l, const Args& a) {
  const Ref matrix = squared(l, a.self(), a.flag("upper", false));
  return l->failed() ? Arg() : Arg(inverse_of(l, matrix));
}

Ref determinant_of(Lowering& l, Ref matrix) { return l.need_rank(matrix, 2, 64) ? l.op("Det", {matrix}) : Ref(); }

Arg determinant(Lowering& l, const Args& a) { return determinant_of(l, matrix_argument(l, a)); }

Arg sign_and_logarithm(Lowering& l, const Args& a) {
  const Ref it = determinant_of(l, matrix_argument(l, a));
  if (l->failed()) return {};
  return Refs{l.op("Sign", {it}), l.op("Log", {l.op("Abs", {it})})};
}

Arg log_determinant(Lowering& l, const Args& a) {
  const Ref it = determinant_of(l, matrix_argument(l, a));
  return l->failed() ? Arg() : Arg(l.op("Log", {it}));
}

Arg power(Lowering& l, const Args& a) {
  Ref base = a.self(), out;
  int64_t left = a.i("n");
  if (left < 0) base = inverse_of(l, base);
  const Square it = left == 0 ? square_of(l, base) : Square{};
  if (l->failed()) return {};
  if (left == 0) return l->expand(identity_matrix(l, it.rows, l->dtype(base)), l->dims(base));
  for (left = left < 0 ? -left : left; left > 0 && !l->failed(); left /= 2) {
    if (left % 2) out = out ? l.op("MatMul", {out, base}) : base;
    if (left > 1) base = l.op("MatMul", {base, base});
  }
  return out;
}

// By its series for the matrix over 2^halvings, squared as often; in f64, since squares double the error.
Arg exponential(Lowering& l, const Args& a) {
  constexpr int64_t kHalvings = 12, kTerms = 10;
  const Square it = square_of(l, a.self());
  if (!it.rows) return {};
  const Ref matrix = l->cast(it.matrix, DType::f64);
  const Ref small = l.op("Div", {matrix, like(l, matrix, static_cast<double>(int64_t{1} << kHalvings))});
  const Ref one = identity_matrix(l, it.rows, DType::f64);
  Ref out = one;
  for (int64_t term = kTerms; term > 0; --term) {
    const Ref next = l.op("Div", {l.op("MatMul", {small, out}), like(l, matrix, static_cast<double>(term))});
    out = l.op("Add", {one, next});
  }
  for (int64_t i = 0; i < kHalvings; ++i) out = l.op("MatMul", {out, out});
  return l->cast(out, l->dtype(it.matrix));
}

// Variables are rows, observations columns; a vector is one variable.
Ref covariance_of(Lowering& l, Ref x, double correction) {
  const bool one = l->rank(x) < 2;
  if (one) x = l->unsqueeze(l->rank(x) == 0 ? l->unsqueeze(x, {0}) : x, {0});
  const Ref apart = l.op("Sub", {x, l.reduce("ReduceMean", x, {1}, true)});
  const Ref count = l.op("Sub", {count_along(l, x, {1}, l->dtype(x)), like(l, x, correction)});
  const Ref out = l.op("Div", {l.op("MatMul", {apart, turned(l, apart)}), l.op("Max", {count, like(l, x, 0)})});
  return one ? l->reshape(out, {}) : out;
}

Arg covariance(Lowering& l, const Args& a) {
  if (!l.need_rank(a.self(), 0, 2)) return {};
  if (a.tensor("fweights") || a.tensor("aweights")) {
    l->refuse("aten.arguments", "a covariance with weights");
    return {};
  }
  return covariance_of(l, l.as_float(a.self()), static_cast<double>(a.i("correction", 1)));
}

Arg correlation(Lowering& l, const Args& a) {
  if (!l.need_rank(a.self(), 0, 2)) return {};
  const Ref x = l.as_float(a.self()), c = covariance_of(l, x, 1);
  if (l->rank(c) == 0) return l.op("Div", {c, c});
  const Ref spread = l.op("Sqrt", {take_diagonal(l, c, 0, 0, 1)});
  const Ref out = l.op("Div", {l.op("Div", {c, l->unsqueeze(spread, {1})}), spread});
  return l.clip(out, like(l, x, -1), like(l, x, 1));
}

Arg checked(Lowering&, const Args&) { return {}; }

constexpr AtenOp kLinalgOps[] = {
    {"_linalg_check_errors", checked},
    {"cholesky", cholesky},
    {"cholesky_inverse", cholesky_inverse},
    {"cholesky_solve", cholesky_solve},
    {"corrcoef", correlation},
    {"cov", covariance},
    {"det", determinant},
    {"inverse", inverted},
    {"linalg_cholesky", cholesky},
    {"linalg_cholesky_ex", cholesky_checked},
    {"linalg_det", determinant},
    {"linalg_inv", inverted},
    {"linalg_inv_ex", inverse_checked},
    {"linalg_matrix_exp", exponential},
    {"linalg_matrix_power", power},
    {"linalg_slogdet", sign_and_logarithm},
    {"linalg_solve", solve},
    {"linalg_solve_ex", solve_checked},
    {"linalg_solve_triangular", solve_triangular},
    {"logdet", log_determinant},
    {"matrix_exp", exponential},
    {"matrix_power", power},
    {"slogdet", sign_and_logarithm},
};

}  // namespace

std::span<const AtenOp> linalg_ops() { return kLinalgOps; }

}  // namespace anyshape::lower
