#include "ops/microsoft/kernel.h"
#include "ops/nn/matmul.h"
#include "ops/records.h"

// anyshape.IntegerMatMul: MatMulInteger, Cast to f32, the product with scales and the sum with a bias as one node; each
// step rounds to f32. Made by passes, never in files.
namespace anyshape::ops {
namespace {

constexpr Port kIntegerMatmulIn[] = {{"A"},
                                     {"B"},
                                     {"a_scale"},
                                     {"b_scale", Port::optional},
                                     {"a_zero_point", Port::optional},
                                     {"b_zero_point", Port::optional},
                                     {"bias", Port::optional}};
constexpr Port kIntegerMatmulOut[] = {{"Y"}};

Result<Facts> infer_integer_matmul(const Call& call, InferContext& context) {
  TRY(const Dims a, call.dims(0));
  TRY(const Dims b, call.dims(1));
  TRY(Dims dims, matmul_dims(context, a, b));
  return Facts{Fact::tensor(DType::f32, std::move(dims))};
}

// One number, or one per column.
Result<float> entry(const Tensor& tensor, int64_t column, int64_t columns) {
  if (tensor.dtype() != DType::f32 || (tensor.count() != 1 && tensor.count() != columns))
    return refuse("kernel.shape", "there are {} scales or biases for {} columns", tensor.count(), columns);
  return tensor.at<float>(tensor.count() == 1 ? 0 : column);
}

Status reference_integer_matmul(const Call& call, KernelArgs& args) {
  TRY(Tensor sums, Tensor::allocate(DType::i32, args.out(0).dims()));
  TRY_OK(run_as(kMatMulInteger10, 10, call, {args.in(0), args.in(1), args.in(4), args.in(5)}, sums));
  const int64_t columns = sums.rank() == 0 ? 1 : sums.dims().back();
  auto to = args.out(0).as_mutable<float>();
  for (int64_t i = 0; i < sums.count(); ++i) {
    TRY(float factor, entry(args.in(2), 0, 1));
    if (args.in(3)) {
      TRY(const float scale, entry(args.in(3), i % columns, columns));
      factor *= scale;
    }
    float y = static_cast<float>(sums.at<int32_t>(i)) * factor;
    if (args.in(6)) {
      TRY(const float bias, entry(args.in(6), i % columns, columns));
      y += bias;
    }
    to[static_cast<size_t>(i)] = y;
  }
  return {};
}

constexpr Kernel kIntegerMatmulKernels[] = {{"reference", reference_integer_matmul}};

}  // namespace

constexpr OpDef kIntegerMatMul1{
    .name = "IntegerMatMul",
    .since = 1,
    .domain = "anyshape",
    .sig = {kIntegerMatmulIn, kIntegerMatmulOut, "matrix product of 8-bit integers, scaled and with a bias in f32"},
    .infer = infer_integer_matmul,
    .kernels = kIntegerMatmulKernels};

}  // namespace anyshape::ops
