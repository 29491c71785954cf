#pragma once

#include <initializer_list>

#include "ops/common.h"

// The domain com.microsoft: operators that ONNX Runtime's optimiser and quantiser write into files.
namespace anyshape::ops {

inline constexpr std::string_view kMs = "com.microsoft";

// The rule of another operator, as of that version, for these inputs of the node. An input the node lacks is absent.
inline Result<Facts> rule_of(const OpDef& op, int64_t version, const Call& call, InferContext& context,
                             std::initializer_list<size_t> inputs) {
  std::vector<const Fact*> in;
  for (size_t i : inputs) in.push_back(call.has(i) ? &call.in(i) : nullptr);
  while (!in.empty() && !in.back()) in.pop_back();
  return op.infer(Call(call, version, in), context);
}

inline Fact like(const Fact& fact, DType dtype) {
  return fact.dims ? Fact::tensor(dtype, *fact.dims) : Fact::tensor_of_unknown_rank(dtype);
}
inline Fact like(const Fact& fact) { return like(fact, fact.dtype); }

// Input i, where it is there and its rank is known, is a vector of `size` entries.
inline Status require_entries(const Call& call, InferContext& context, size_t input, Dim size, std::string_view code) {
  if (!call.has(input) || !call.in(input).dims) return {};
  TRY_OK(require_rank(call, input, 1));
  const Dim actual = call.in(input).dims->front();
  return context.require(Condition::eq(actual, size), code, "input {} has {} entries, it needs {}", input,
                         print(actual), print(size));
}

}  // namespace anyshape::ops
