#include "ops/nn/matmul.h"

#include "kernels/matmul.h"
#include "kernels/zero_point.h"
#include "ops/records.h"
#include "ops/shown.h"
#include "ops/wide.h"

// MatMul, MatMulInteger, QLinearMatMul.
namespace anyshape::ops {
namespace {

constexpr Port kMatmulIn[] = {{"A"}, {"B"}};
constexpr Port kIntegerIn[] = {{"A"}, {"B"}, {"a_zero_point", Port::optional}, {"b_zero_point", Port::optional}};
constexpr Port kQLinearIn[] = {{"a"},       {"a_scale"},      {"a_zero_point"}, {"b"},
                               {"b_scale"}, {"b_zero_point"}, {"y_scale"},      {"y_zero_point"}};
constexpr Port kMatmulOut[] = {{"Y"}};

Result<Facts> infer_matmul(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskNumber));
  TRY_OK(require_tensor(call, 1, kMaskNumber));
  TRY(const DType dtype, common_dtype(call, 0, 1));
  TRY(const Dims a, call.dims(0));
  TRY(const Dims b, call.dims(1));
  TRY(Dims dims, matmul_dims(context, a, b));
  return Facts{Fact::tensor(dtype, std::move(dims))};
}

// A scale or zero point of a matrix: one number, or one per row (of the left matrix) or column (of the right one).
Status require_parameter(const Call& call, InferContext& context, size_t input, const Dims& matrix, bool rows) {
  if (!call.has(input) || !call.in(input).dims) return {};
  const Dims& own = *call.in(input).dims;
  const Condition single = Condition::eq(product(own), 1);
  if (own.size() <= 1) {
    const bool vector = own.size() == 1 && !rows && matrix.size() >= 2;
    const bool row_vector = own.size() == 1 && rows && matrix.size() == 2;
    Condition legal = single;
    if (vector) legal = legal || Condition::eq(own[0], matrix.back());
    if (row_vector) legal = legal || Condition::eq(own[0], matrix[0]);
    return context.require(legal, "matmul.quantization", "the quantization parameter {} must fit the matrix {}",
                           shown(own), shown(matrix));
  }
  Dims expected = matrix;
  if (expected.size() >= 2) expected[expected.size() - (rows ? 1 : 2)] = 1;
  if (own.size() != expected.size())
    return refuse("matmul.quantization", "the quantization parameter {} must fit the matrix {}", shown(own),
                  shown(matrix));
  Condition equal = Condition::always();
  for (size_t i = 0; i < own.size(); ++i) equal = equal && Condition::eq(own[i], expected[i]);
  return context.require(single || equal, "matmul.quantization", "the quantization parameter {} must fit the matrix {}",
                         shown(own), shown(matrix));
}

Result<Facts> infer_integer(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskInt));
  TRY_OK(require_tensor(call, 1, kMaskInt));
  TRY(const Dims a, call.dims(0));
  TRY(const Dims b, call.dims(1));
  TRY(Dims dims, matmul_dims(context, a, b));
  TRY_OK(require_parameter(call, context, 2, a, true));
  TRY_OK(require_parameter(call, context, 3, b, false));
  return Facts{Fact::tensor(DType::i32, std::move(dims))};
}

Result<Facts> infer_qlinear(const Call& call, InferContext& context) {
  for (size_t i = 0; i < 8; ++i) TRY_OK(require_tensor(call, i, kMaskNumber | kMaskOther));
  TRY(const Dims a, call.dims(0));
  TRY(const Dims b, call.dims(3));
  TRY(Dims dims, matmul_dims(context, a, b));
  for (size_t i : {1u, 2u}) TRY_OK(require_parameter(call, context, i, a, true));
  for (size_t i : {4u, 5u}) TRY_OK(require_parameter(call, context, i, b, false));
  for (size_t i : {6u, 7u})
    if (call.in(i).dims)
      TRY_OK(context.require(Condition::eq(product(*call.in(i).dims), 1), "matmul.quantization",
                             "the quantization parameter {} of the output must be one number",
                             shown(*call.in(i).dims)));
  return Facts{Fact::tensor(call.in(7).dtype, std::move(dims))};
}

Status reference_matmul(const Call&, KernelArgs& args) {
  return run_wide(args, [](KernelArgs& wide) { return kernels::matmul(wide.in(0), wide.in(1), wide.out(0)); });
}

// The parameter of the left matrix: one number, or one per row.
kernels::Parameter row_parameter(const Tensor& tensor) {
  if (!tensor || tensor.count() == 1) return {tensor, {}};
  if (tensor.rank() == 1) return {tensor, {tensor.count(), 1}};
  return {tensor, temporary(tensor.dims())};
}

kernels::Parameter column_parameter(const Tensor& tensor) {
  if (!tensor || tensor.count() == 1) return {tensor, {}};
  return {tensor, temporary(tensor.dims())};
}

// a * b as f64 without their zero points.
Result<Tensor> centered_product(const Tensor& a, const Tensor& a_zero, const Tensor& b, const Tensor& b_zero,
                                const Tensor& out) {
  TRY(const Tensor left, kernels::centered(a, row_parameter(a_zero)));
  TRY(const Tensor right, kernels::centered(b, column_parameter(b_zero)));
  TRY(Tensor sums, Tensor::allocate(DType::f64, out.dims()));
  TRY_OK(kernels::matmul(left, right, sums));
  return sums;
}

Status reference_integer(const Call&, KernelArgs& args) {
  TRY(const Tensor sums, centered_product(args.in(0), args.in(2), args.in(1), args.in(3), args.out(0)));
  kernels::sums_to_i32(sums, args.out(0));
  return {};
}

Status reference_qlinear(const Call&, KernelArgs& args) {
  const Tensor &a = args.in(0), &b = args.in(3);
  TRY(const Tensor sums, centered_product(a, args.in(2), b, args.in(5), args.out(0)));
  kernels::Parameter left = row_parameter(args.in(1)), right = column_parameter(args.in(4));
  if (b.rank() == 1 && !left.dims.empty()) left.dims.pop_back();
  if (a.rank() == 1 && right.dims.size() > 1) right.dims.erase(right.dims.end() - 2);
  return kernels::requantize(sums, left, right, args.in(6), args.in(7), args.out(0));
}

constexpr Kernel kMatmulKernels[] = {{"reference", reference_matmul}};
constexpr Kernel kIntegerKernels[] = {{"reference", reference_integer}};
constexpr Kernel kQLinearKernels[] = {{"reference", reference_qlinear}};

}  // namespace

Result<Dims> matmul_dims(InferContext& context, const Dims& a, const Dims& b) {
  if (a.empty() || b.empty())
    return refuse("matmul.rank", "a matrix product of {} and {} needs at least one axis on each side", shown(a),
                  shown(b));
  const Dim inner_a = a.back(), inner_b = b.size() == 1 ? b[0] : b[b.size() - 2];
  TRY_OK(context.require(Condition::eq(inner_a, inner_b), "matmul.inner",
                         "the inner sizes of {} and {} must be equal: {} and {}", shown(a), shown(b), shown(inner_a),
                         shown(inner_b)));
  const auto leading = [](const Dims& dims) { return dims.size() < 2 ? Dims() : Dims(dims.begin(), dims.end() - 2); };
  const Dims batches[] = {leading(a), leading(b)};
  TRY(Dims dims, broadcast_dims(context, batches));
  if (a.size() > 1) dims.push_back(a[a.size() - 2]);
  if (b.size() > 1) dims.push_back(b.back());
  return dims;
}

constexpr OpDef kMatMul1{.name = "MatMul",
                         .since = 1,
                         .sig = {kMatmulIn, kMatmulOut, "matrix product"},
                         .infer = infer_matmul,
                         .kernels = kMatmulKernels};
constexpr OpDef kMatMulInteger10{.name = "MatMulInteger",
                                 .since = 10,
                                 .sig = {kIntegerIn, kMatmulOut, "matrix product of 8-bit integers, summed in 32 bits"},
                                 .infer = infer_integer,
                                 .kernels = kIntegerKernels};
constexpr OpDef kQLinearMatMul10{.name = "QLinearMatMul",
                                 .since = 10,
                                 .sig = {kQLinearIn, kMatmulOut, "matrix product of quantized matrices"},
                                 .infer = infer_qlinear,
                                 .kernels = kQLinearKernels};

}  // namespace anyshape::ops
