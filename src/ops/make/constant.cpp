#include <cstring>

#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kConstantOut[] = {{"output"}};
constexpr Port kConstantOfShapeIn[] = {{"input", Port::value}};
constexpr AttributeDef kConstantAttributes[] = {
    {"sparse_value", AttributeDef::sparse_tensor, {11}},
    {"value", AttributeDef::tensor, AttributeDef::required, {1, 10}},
    {"value", AttributeDef::tensor, {11}},
    {"value_float", AttributeDef::real, {12}},
    {"value_floats", AttributeDef::reals, {12}},
    {"value_int", AttributeDef::integer, {12}},
    {"value_ints", AttributeDef::integers, {12}},
    {"value_string", AttributeDef::string, {12}},
    {"value_strings", AttributeDef::strings, {12}},
};
constexpr AttributeDef kConstantOfShapeAttributes[] = {
    {"value", AttributeDef::tensor},
};
constexpr int64_t kDenseLimit = int64_t{1} << 20;

Tensor of_floats(std::vector<int64_t> dims, std::span<const float> values) {
  auto tensor = Tensor::allocate(DType::f32, std::move(dims));
  if (!tensor) return {};
  if (!values.empty()) std::memcpy(tensor->data(), values.data(), values.size_bytes());
  return *std::move(tensor);
}

// The position of sparse entry n in the dense tensor; indices are [NNZ] linear or [NNZ, rank].
Result<int64_t> dense_position(const SparseTensor& sparse, int64_t n, int64_t count) {
  const Tensor& indices = sparse.indices;
  int64_t position = 0;
  if (indices.rank() == 1) {
    position = indices.int_at(n);
  } else {
    const auto strides = row_strides(sparse.dims);
    const auto rank = static_cast<int64_t>(sparse.dims.size());
    for (int64_t axis = 0; axis < rank; ++axis) {
      TRY(const int64_t index,
          checked_index(indices.int_at(n * rank + axis), sparse.dims[static_cast<size_t>(axis)], "constant.sparse"));
      position += index * strides[static_cast<size_t>(axis)];
    }
  }
  if (position < 0 || position >= count)
    return refuse("constant.sparse", "sparse index {} is out of range for {} elements", position, count);
  return position;
}

Status check_sparse(const SparseTensor& sparse) {
  const int64_t stored = sparse.values.count();
  const bool linear = sparse.indices.rank() == 1;
  int64_t wanted = 0;
  const bool too_many = __builtin_mul_overflow(stored, linear ? 1 : static_cast<int64_t>(sparse.dims.size()), &wanted);
  const bool fits = !too_many && (stored == 0 || sparse.indices.dtype() == DType::i64) &&
                    sparse.indices.count() == wanted && sparse.indices.rank() <= 2;
  if (fits) return {};
  return refuse("constant.sparse", "{} sparse indices do not fit {} values", sparse.indices.count(), stored);
}

Result<Tensor> dense(const SparseTensor& sparse) {
  if (!sparse.values) return refuse("constant.sparse", "the sparse tensor has no values");
  TRY_OK(check_sparse(sparse));
  TRY(Tensor out, Tensor::allocate(sparse.values.dtype(), sparse.dims));
  for (int64_t n = 0; n < sparse.values.count(); ++n) {
    TRY(const int64_t position, dense_position(sparse, n, out.count()));
    kernels::copy_elements(out, position, sparse.values, n, 1);
  }
  return out;
}

Result<Tensor> value_of(const Call& call) {
  if (const auto* value = call.tensor("value"); value && *value) return *value;
  if (const auto* sparse = call.sparse("sparse_value")) return dense(*sparse);
  if (call.has_attr("value_int")) return Tensor::scalar(call.i("value_int"));
  if (const auto* ints = call.ints("value_ints")) return Tensor::of_ints({static_cast<int64_t>(ints->size())}, *ints);
  if (call.has_attr("value_float")) {
    const float value = call.f("value_float");
    return of_floats({}, {&value, 1});
  }
  if (const auto* floats = call.floats("value_floats"))
    return of_floats({static_cast<int64_t>(floats->size())}, *floats);
  if (call.has_attr("value_string")) return Tensor::of_strings({}, {std::string(call.s("value_string"))});
  if (const auto* strings = call.strings("value_strings"))
    return Tensor::of_strings({static_cast<int64_t>(strings->size())}, *strings);
  return refuse("constant.value", "Constant has no value");
}

Result<Facts> infer_constant(const Call& call, InferContext&) {
  const bool plain = call.tensor("value") && *call.tensor("value");
  if (const auto* sparse = plain ? nullptr : call.sparse("sparse_value")) {
    const auto count = element_count(sparse->dims);
    if (!count)
      return refuse("constant.sparse", "the sizes [{}] do not describe a tensor", fmt::join(sparse->dims, ", "));
    if (*count > kDenseLimit || !sparse->values || sparse->values.dtype() == DType::string)
      return Facts{Fact::tensor(sparse->values.dtype(), Dims(sparse->dims.begin(), sparse->dims.end()))};
  }
  TRY(Tensor value, value_of(call));
  return Facts{Fact::of_constant(std::move(value))};
}

Status reference_constant(const Call& call, KernelArgs& args) {
  TRY(const Tensor value, value_of(call));
  TRY(args.out(0), value.aligned());
  return {};
}

constexpr Kernel kConstantKernels[] = {{"reference", reference_constant}};

// The fill value: attribute `value`, one element; a float 0 when absent.
Result<Tensor> fill_value(const Call& call) {
  const Tensor* value = call.tensor("value");
  if (!value || !*value) return Tensor::allocate(DType::f32, {});
  if (value->count() != 1)
    return refuse("constantofshape.value", "the fill value has {} elements, one is wanted", value->count());
  return *value;
}

Result<Facts> infer_filled(const Call& call, InferContext& context) {
  TRY(const Tensor value, fill_value(call));
  if (call.in(0).dims && call.in(0).rank() != 1)
    return refuse("constantofshape.shape", "the shape must be a list, it is {}", print(call.in(0)));
  auto dims = sizes_from(call, context, 0, "filled");
  if (!dims && dims.error().kind == Error::Kind::unknown) return Facts{Fact::tensor_of_unknown_rank(value.dtype())};
  if (!dims) return tl::unexpected(std::move(dims).error());
  for (size_t i = 0; i < dims->size(); ++i)
    TRY_OK(context.require(Condition::ge((*dims)[i], 0), "constantofshape.shape", "axis {} of {} must not be negative",
                           i, text(*dims)));
  Fact out = Fact::tensor(value.dtype(), *std::move(dims));
  const auto one = rationals_of(Fact::of_constant(value));
  const auto sizes = out.numeric_dims();
  const auto count = sizes ? element_count(*sizes) : std::nullopt;
  if (one && count && *count <= static_cast<int64_t>(Fact::kMaxElements))
    return Facts{Fact::of_elements(out.dtype, *out.dims, Dims(static_cast<size_t>(*count), one->numerators[0]),
                                   one->denominator)};
  if (one && !is_float(out.dtype)) out.bounds = Bounds{one->numerators[0], one->numerators[0], true};
  return Facts{out};
}

Status reference_filled(const Call& call, KernelArgs& args) {
  TRY(const Tensor value, fill_value(call));
  for (int64_t i = 0; i < args.out(0).count(); ++i) kernels::copy_elements(args.out(0), i, value, 0, 1);
  return {};
}

constexpr Kernel kFilledKernels[] = {{"reference", reference_filled}};

}  // namespace

constexpr OpDef kConstant1{.name = "Constant",
                           .since = 1,
                           .sig = {{}, kConstantOut, "a value kept in the model", kConstantAttributes},
                           .infer = infer_constant,
                           .kernels = kConstantKernels};
constexpr OpDef kConstantOfShape9{
    .name = "ConstantOfShape",
    .since = 9,
    .sig = {kConstantOfShapeIn, kConstantOut, "one value at every position of a shape", kConstantOfShapeAttributes},
    .infer = infer_filled,
    .kernels = kFilledKernels};

}  // namespace anyshape::ops
