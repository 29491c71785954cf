#include <cmath>
#include <numeric>

#include "lower/aten/move.h"
#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

// The types MatMul has kernels for; narrow integers are multiplied as i32 and cut back.
DType product_type(DType dtype) {
  if (dtype == DType::boolean || (is_integer(dtype) && bits(dtype) < 32)) return DType::i32;
  return dtype;
}

Ref matrix_product(Lowering& l, Ref a, Ref b) {
  const DType given = l->dtype(a), wide = product_type(given);
  return l->cast(l.op("MatMul", {l->cast(a, wide), l->cast(b, wide)}), given);
}

bool gemm_takes(DType dtype) { return is_float(dtype); }

// A weight is turned round once, at export; Gemm turns it by itself.
Arg linear(Lowering& l, const Args& a) {
  const Ref x = a.tensor("input"), weight = a.tensor("weight"), bias = a.tensor("bias");
  if (!l.need_rank(weight, 1, 2)) return {};
  if (l->rank(x) == 2 && l->rank(weight) == 2 && gemm_takes(l->dtype(x)))
    return l.op("Gemm", {x, weight, bias}, {attr("transB", 1)});
  const Ref turned = l->rank(weight) == 2 ? l->transpose(weight, {1, 0}) : weight;
  const Ref result = matrix_product(l, x, turned);
  return bias ? l.op("Add", {result, bias}) : result;
}

Arg matmul(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", a.has("mat2") ? "mat2" : a.has("vec") ? "vec" : "other");
  if (!l.need_rank(x, 1, 64) || !l.need_rank(y, 1, 64)) return {};
  if (const auto wanted = a.dtype("out_dtype")) return matrix_product(l, l->cast(x, *wanted), l->cast(y, *wanted));
  return matrix_product(l, x, y);
}

Arg dot(Lowering& l, const Args& a) {
  return matrix_product(l, a.self(), a.tensor(a.has("other") ? "other" : "tensor"));
}

// beta * self + alpha * value; where beta is 0, self does not count, not even its NaNs.
Ref combined(Lowering& l, const Args& a, Ref value) {
  const DType dtype = l->dtype(value);
  const auto scaled = [&](Ref x, std::string_view name) {
    const Arg& factor = a.arg(name);
    if (!factor.is_number() || a.f(name, 1) == 1) return x;
    return l.op("Mul", {x, l.operand(factor, dtype)});
  };
  value = scaled(value, "alpha");
  if (a.arg("beta").is_number() && a.f("beta", 1) == 0) return value;
  return l.op("Add", {value, scaled(l->cast(a.self(), dtype), "beta")});
}

// Gemm holds its factors as f32.
bool exact_in_f32(double value, DType dtype) { return dtype != DType::f64 || static_cast<float>(value) == value; }

Arg addmm(Lowering& l, const Args& a) {
  const Ref self = a.self(), left = a.tensor("mat1"), right = a.tensor("mat2");
  const DType dtype = l->dtype(left);
  const double alpha = a.f("alpha", 1), beta = a.f("beta", 1);
  const bool broadcasts = l->rank(self) <= 2;
  if (gemm_takes(dtype) && l->dtype(self) == dtype && !a.dtype("out_dtype") && broadcasts &&
      exact_in_f32(alpha, dtype) && exact_in_f32(beta, dtype)) {
    std::vector<Attribute> factors;
    if (alpha != 1) factors.push_back(attr("alpha", alpha));
    if (beta == 0) return l.op("Gemm", {left, right}, std::move(factors));
    if (beta != 1) factors.push_back(attr("beta", beta));
    return l.op("Gemm", {left, right, self}, std::move(factors));
  }
  return combined(l, a, matrix_product(l, left, right));
}

Arg addmv(Lowering& l, const Args& a) { return combined(l, a, matrix_product(l, a.tensor("mat"), a.tensor("vec"))); }

Arg baddbmm(Lowering& l, const Args& a) {
  return combined(l, a, matrix_product(l, a.tensor("batch1"), a.tensor("batch2")));
}

Arg addbmm(Lowering& l, const Args& a) {
  const Ref all = matrix_product(l, a.tensor("batch1"), a.tensor("batch2"));
  return combined(l, a, l.reduce("ReduceSum", all, {0}, false));
}

Ref outer_of(Lowering& l, Ref x, Ref y) { return l.op("Mul", {l->unsqueeze(x, {1}), l->unsqueeze(y, {0})}); }

Arg outer(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "vec2");
  return outer_of(l, x, y);
}

Arg addr(Lowering& l, const Args& a) { return combined(l, a, outer_of(l, a.tensor("vec1"), a.tensor("vec2"))); }

// The last axes of both are summed; those of the second come after those of the first.
Arg inner(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  if (l->rank(x) == 0 || l->rank(y) == 0) return l.op("Mul", {x, y});
  if (l->rank(y) <= 2) return matrix_product(l, x, swap_last(l, y));
  const Dims left = l->dims(x), right = l->dims(y);
  const Dims rows(right.begin(), right.end() - 1);
  const Ref flat = l->reshape(y, {anyshape::product(rows), right.back()});
  Dims out(left.begin(), left.end() - 1);
  out.insert(out.end(), rows.begin(), rows.end());
  return l->reshape(matrix_product(l, x, swap_last(l, flat)), out);
}

Arg bilinear(Lowering& l, const Args& a) {
  const Ref x = a.tensor("input1"), y = a.tensor("input2"), weight = a.tensor("weight"), bias = a.tensor("bias");
  if (!l.need_rank(weight, 3, 3)) return {};
  // out[..., o] = sum_ij x[..., i] W[o, i, j] y[..., j]: x times W as [i, o*j], then y over the last axis.
  const Dims w = l->dims(weight);
  const Ref turned = l->reshape(l->transpose(weight, {1, 0, 2}), {w[1], w[0] * w[2]});
  Dims shape = l->dims(x);
  if (shape.empty()) return {};
  shape.back() = w[0];
  shape.push_back(w[2]);
  const Ref rows = l->reshape(matrix_product(l, x, turned), shape);
  const int64_t last = static_cast<int64_t>(shape.size()) - 1;
  const Ref result = l->squeeze(matrix_product(l, rows, l->unsqueeze(y, {last})), {last});
  return bias ? l.op("Add", {result, bias}) : result;
}

Arg chain(Lowering& l, const Args& a) {
  const Refs all = a.tensors(a.has("matrices") ? "matrices" : "tensors");
  Ref result;
  for (Ref one : all) result = result ? matrix_product(l, result, one) : one;
  return result;
}

// kron(a, b)[i*m + j] = a[i] * b[j] in every axis.
Arg kron(Lowering& l, const Args& a) {
  auto [x, y] = l.promoted(a, "self", "other");
  const size_t rank = std::max(l->rank(x), l->rank(y));
  const auto padded = [&](Ref t) {
    std::vector<int64_t> front(rank - l->rank(t));
    std::iota(front.begin(), front.end(), 0);
    return l->unsqueeze(t, front);
  };
  x = padded(x);
  y = padded(y);
  std::vector<int64_t> odd, even;
  Dims out;
  for (size_t i = 0; i < rank; ++i) {
    even.push_back(static_cast<int64_t>(2 * i));
    odd.push_back(static_cast<int64_t>(2 * i + 1));
    out.push_back(l->dim(x, i) * l->dim(y, i));
  }
  return l->reshape(l.op("Mul", {l->unsqueeze(x, odd), l->unsqueeze(y, even)}), out);
}

Arg tensordot(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  const auto summed_x = a.ints("dims_self").empty() ? std::vector<int64_t>() : l.axes(x, a.ints("dims_self"));
  const auto summed_y = a.ints("dims_other").empty() ? std::vector<int64_t>() : l.axes(y, a.ints("dims_other"));
  const auto free_of = [&](Ref t, const std::vector<int64_t>& summed) {
    std::vector<int64_t> free;
    for (int64_t i = 0; i < static_cast<int64_t>(l->rank(t)); ++i)
      if (std::find(summed.begin(), summed.end(), i) == summed.end()) free.push_back(i);
    return free;
  };
  const auto free_x = free_of(x, summed_x), free_y = free_of(y, summed_y);
  const auto sizes = [&](Ref t, const std::vector<int64_t>& axes) {
    Dims out;
    for (int64_t axis : axes) out.push_back(l->dim(t, static_cast<size_t>(axis)));
    return out;
  };
  std::vector<int64_t> order_x = free_x, order_y = summed_y;
  order_x.insert(order_x.end(), summed_x.begin(), summed_x.end());
  order_y.insert(order_y.end(), free_y.begin(), free_y.end());
  Dims out = sizes(x, free_x), right = sizes(y, free_y);
  const Dim inner_size = anyshape::product(sizes(x, summed_x));
  const Ref flat_x = l->reshape(l->transpose(x, order_x), {anyshape::product(out), inner_size});
  const Ref flat_y = l->reshape(l->transpose(y, order_y), {inner_size, anyshape::product(right)});
  out.insert(out.end(), right.begin(), right.end());
  return l->reshape(matrix_product(l, flat_x, flat_y), out);
}

Arg cross(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "self", "other");
  int64_t dim = -1;
  if (a.has("dim")) {
    dim = l.axis(x, a.i("dim", -1));
  } else {
    for (size_t i = l->rank(x); i-- > 0;)
      if (l->dim(x, i) == Dim(3)) dim = static_cast<int64_t>(i);
  }
  if (dim < 0) {
    l->refuse("aten.axis", "cross needs an axis of size 3");
    return {};
  }
  const auto turned = [&](Ref t, std::vector<int64_t> order) { return l->gather(t, l->ints(std::move(order)), dim); };
  return l.op("Sub", {l.op("Mul", {turned(x, {1, 2, 0}), turned(y, {2, 0, 1})}),
                      l.op("Mul", {turned(x, {2, 0, 1}), turned(y, {1, 2, 0})})});
}

Arg vecdot(Lowering& l, const Args& a) {
  const auto [x, y] = l.promoted(a, "x", "y");
  const Ref product_of_entries = l.op("Mul", {x, y});
  return l.reduce("ReduceSum", product_of_entries, {l.axis(product_of_entries, a.i("dim", -1))}, false);
}

// Rows in groups, one matrix for each: group g ends before row offs[g], rows beyond the last are 0. Where a group ends
// is known when the model runs only, so every matrix meets all rows, and each row takes what is its own.
Arg grouped_mm(Lowering& l, const Args& a) {
  const Ref x = a.self(), weight = a.tensor("mat2"), ends = a.tensor("offs");
  if (!l.need_rank(weight, 3, 3) || !l.need_rank(x, 2, 3)) return {};
  if (l->rank(x) == 3 || !ends) return matrix_product(l, x, weight);
  const Ref rows = l->cast(iota(l, l->dim(x, 0)), l->dtype(ends)), last = l->unsqueeze(ends, {1});
  const Ref first =
      l.op("Concat", {l->unsqueeze(l->integer(0, l->dtype(ends)), {0}), l->slice(ends, 0, 0, l->dim(ends, 0) - 1)},
           {attr("axis", 0)});
  const Ref own =
      l.op("And", {l.op("Less", {rows, last}), l.op("Not", {l.op("Less", {rows, l->unsqueeze(first, {1})})})});
  const Ref all = matrix_product(l, l->unsqueeze(x, {0}), weight);
  const Ref kept = l.op("Where", {l->unsqueeze(own, {2}), all, l->number(0.0, l->dtype(all))});
  return l.reduce("ReduceSum", kept, {0}, false);
}

constexpr AtenOp kLinearOps[] = {
    {"_grouped_mm", grouped_mm},
    {"addbmm", addbmm},
    {"addmm", addmm},
    {"addmv", addmv},
    {"addr", addr},
    {"baddbmm", baddbmm},
    {"bilinear", bilinear},
    {"bmm", matmul},
    {"chain_matmul", chain},
    {"cross", cross},
    {"dot", dot},
    {"ger", outer},
    {"inner", inner},
    {"kron", kron},
    {"linalg_cross", cross},
    {"linalg_matmul", matmul},
    {"linalg_multi_dot", chain},
    {"linalg_vecdot", vecdot},
    {"linear", linear},
    {"matmul", matmul},
    {"mm", matmul},
    {"mv", matmul},
    {"outer", outer},
    {"tensordot", tensordot},
    {"vdot", dot},
};

}  // namespace

std::span<const AtenOp> linear_ops() { return kLinearOps; }

}  // namespace anyshape::lower
