#include "kernels/dispatch.h"
#include "kernels/elementwise.h"
#include "kernels/program_scalar.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/program_of.h"
#include "ops/records.h"

// anyshape.Elementwise: a chain of elementwise operators as one node. Made by passes, never in files.
namespace anyshape::ops {
namespace {

constexpr Port kFusedElementwiseIn[] = {{"inputs", Port::variadic}};
constexpr Port kFusedElementwiseOut[] = {{"output"}};
constexpr AttributeDef kAttributes[] = {{"code", AttributeDef::integers, AttributeDef::required},
                                        {"constants", AttributeDef::reals}};

Result<DType> type_of(const Call& call, const ElementwiseProgram& program) {
  std::vector<DType> types;
  for (size_t i = 0; i < call.inputs(); ++i) types.push_back(call.has(i) ? call.in(i).dtype : DType::undefined);
  const DType type = compute_type(program, types);
  if (type == DType::undefined) return refuse("elementwise.dtype", "the program does not run on inputs of these types");
  return type;
}

Result<Facts> infer_fused_elementwise(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i) TRY_OK(require_tensor(call, i, kMaskBool | kMaskNumber));
  TRY(const auto program, program_of(call));
  TRY(const DType type, type_of(call, program));
  std::vector<Dims> shapes;
  for (size_t i = 0; i < call.inputs(); ++i) {
    TRY(shapes.emplace_back(), call.dims(i));
  }
  TRY(Dims dims, broadcast_dims(context, shapes));
  return Facts{Fact::tensor(program.gives_bool() ? DType::boolean : type, std::move(dims))};
}

template <class T>
T read(const Tensor& tensor, int64_t i) {
  return tensor.dtype() == DType::boolean ? static_cast<T>(tensor.int_at(i) != 0) : tensor.at<T>(i);
}

template <class T>
void interpret(const ElementwiseProgram& p, KernelArgs& args) {
  Tensor& out = args.out(0);
  Temporary<kernels::BroadcastIndex> index;
  for (const Datum& input : args.inputs) index.emplace_back(input.tensor().dims(), out.dims());
  Temporary<T> r(static_cast<size_t>(p.registers()));
  for (size_t i = 0; i < p.constants.size(); ++i) r[static_cast<size_t>(p.inputs) + i] = static_cast<T>(p.constants[i]);
  for (int64_t i = 0; i < out.count(); ++i) {
    for (size_t k = 0; k < index.size(); ++k, index[k - 1].next()) r[k] = read<T>(args.in(k), index[k].offset());
    size_t to = r.size() - p.code.size();
    for (const auto& x : p.code)
      r[to++] = kernels::scalar<T>(x.op, r[static_cast<size_t>(x.a)], r[static_cast<size_t>(x.b)],
                                   r[static_cast<size_t>(x.c)]);
    if (out.dtype() == DType::boolean)
      out.set_int(i, r.back() != T(0));
    else
      out.as_mutable<T>()[static_cast<size_t>(i)] = r.back();
  }
}

Status reference_fused_elementwise(const Call& call, KernelArgs& args) {
  TRY(const auto program, program_of(call));
  for (const Datum& input : args.inputs)
    if (!kernels::broadcasts(input.tensor().dims(), args.out(0).dims()))
      return refuse("kernel.shape", "the inputs do not broadcast to the output");
  TRY(const DType type, type_of(call, program));
  switch (type) {
    case DType::f32:
      interpret<float>(program, args);
      return {};
    case DType::f64:
      interpret<double>(program, args);
      return {};
    case DType::i32:
      interpret<int32_t>(program, args);
      return {};
    default:
      interpret<int64_t>(program, args);
      return {};
  }
}

constexpr Kernel kFusedElementwiseKernels[] = {{"reference", reference_fused_elementwise}};

}  // namespace

constexpr OpDef kFusedElementwise1{
    .name = "Elementwise",
    .since = 1,
    .domain = "anyshape",
    .sig = {kFusedElementwiseIn, kFusedElementwiseOut, "a chain of elementwise operators in one pass", kAttributes},
    .infer = infer_fused_elementwise,
    .kernels = kFusedElementwiseKernels};

}  // namespace anyshape::ops
