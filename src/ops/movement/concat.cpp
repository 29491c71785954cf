#include <limits>
#include <numeric>

#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kConcatIn[] = {{"inputs", Port::variadic}};
constexpr Port kConcatOut[] = {{"concat_result"}};
constexpr AttributeDef kConcatAttributes[] = {
    {"axis", 1, {1, 3}},
    {"axis", AttributeDef::integer, AttributeDef::required, {4}},
};

// ONNX Runtime skips an input without elements whatever its other sizes are; the operator's text does not.
RuleCode code_for_concat(InferContext& context, const Dims& a, const Dims& b) {
  const auto empty = [&](const Dims& dims) { return context.proves(Condition::eq(product(dims), 0)); };
  return empty(a) || empty(b) ? lenient("lenient.concat") : RuleCode("concat.dims");
}

// What ONNX Runtime gives where it skips inputs: the sizes of the first input with elements, and all of them along the
// axis.
Dims certain_dims(const Call& call, InferContext& context, size_t axis, Dims joined) {
  if (!context.certain()) return joined;
  const Dims* filled = nullptr;
  for (size_t i = 0; i < call.inputs() && !filled; ++i)
    if (context.proves(Condition::ge(product(*call.in(i).dims), 1))) filled = &*call.in(i).dims;
  for (size_t k = 0; k < joined.size(); ++k) {
    if (k == axis) continue;
    if (filled) joined[k] = (*filled)[k];
    for (size_t i = 0; i < call.inputs() && !filled; ++i)
      joined[k] = context.only_if(Condition::eq(joined[k], (*call.in(i).dims)[k]), joined[k]);
  }
  return joined;
}

// A constant without entries along the axis, whatever the axes beside it are: it adds nothing.
bool adds_nothing(const Call& call, size_t input, size_t axis) {
  if (!call.has(input)) return false;
  const Fact& fact = call.in(input);
  return fact.constant && !fact.from_sizes && axis < fact.rank() && (*fact.dims)[axis] == Dim(0);
}

bool nothing_at_all(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i)
    if (!call.has(i) || !call.in(i).dims || !context.proves(Condition::eq(product(*call.in(i).dims), 0))) return false;
  return true;
}

// Beside this axis.
Condition same_sizes(const Dims& a, const Dims& b, size_t axis) {
  if (a.size() != b.size()) return Condition::never();
  Condition out;
  for (size_t k = 0; k < a.size(); ++k)
    if (k != axis) out = out && Condition::eq(a[k], b[k]);
  return out;
}

// The input whose sizes those of the result are made from: the first one, or with ONNX Runtime, where any input has
// entries, the first that is not skipped.
Result<size_t> leading_input(const Call& call, InferContext& context, size_t axis) {
  size_t leading = 0;
  if (context.strict() || nothing_at_all(call, context)) return leading;
  while (leading + 1 < call.inputs() && adds_nothing(call, leading, axis)) ++leading;
  if (leading == 0) return leading;
  TRY(const Dims first, call.dims(0));
  TRY(const Dims dims, call.dims(leading));
  TRY_OK(context.require(Condition::ge(product(dims), 1) || same_sizes(first, dims, axis), lenient("lenient.concat"),
                         "input {}, {}, must have entries, or the sizes of input 0, {}, beside axis {}: inputs before "
                         "it are skipped",
                         leading, text(dims), text(first), axis));
  return leading;
}

Result<Dims> joined_dims(const Call& call, InferContext& context) {
  TRY(Dims out, call.dims(0));
  TRY(const size_t axis, normalize_axis(call.i("axis"), out.size()));
  TRY(const size_t leading, leading_input(call, context, axis));
  TRY(out, call.dims(leading));
  const Dims first = out;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (i == leading) continue;
    if (!call.has(i)) return refuse("node.arity", "Concat needs its input {}", i);
    TRY(const Dims next, call.dims(i));
    if (next.size() != out.size())
      return refuse("concat.rank", "the ranks of inputs {} and {} must be equal: {} and {}", leading, i, text(first),
                    text(next));
    const bool skipped = !context.strict() && adds_nothing(call, i, axis);
    for (size_t k = 0; k < out.size(); ++k) {
      if (k == axis || out[k] == next[k]) continue;
      const Condition agree = Condition::eq(out[k], next[k]);
      const std::string sentence =
          fmt::format("inputs {} and {}, {} and {}, must agree in every axis but {}: axis {} is {} and {}", leading, i,
                      text(first), text(next), axis, k, print(out[k]), print(next[k]));
      TRY_OK(skipped
                 ? context.expect(context.proves(agree) ? agree : Condition::never(), "lenient.concat", "{}", sentence)
                 : context.require(agree, code_for_concat(context, first, next), "{}", sentence));
    }
    out[axis] = out[axis] + next[axis];
  }
  return certain_dims(call, context, axis, std::move(out));
}

Status require_one_dtype(const Call& call) {
  for (size_t i = 1; i < call.inputs(); ++i) TRY_OK(require_same_dtype(call, {0, i}));
  return {};
}

// One list of sizes put together from parts: an entry nothing is known of becomes a symbol of its own, so that the
// others keep what is known of them.
void carry_list(const Call& call, InferContext& context, Fact& out) {
  if (out.rank() != 1 || !is_integer(out.dtype) || !out.dims->front().is_constant()) return;
  if (*out.dims->front().constant() > 64) return;
  bool any = false;
  for (size_t i = 0; i < call.inputs(); ++i) {
    any |= call.in(i).elements && !call.in(i).elements->empty();
    // What follows from shapes and what does not are told apart entry by entry.
    any |= call.in(i).from_shapes != call.in(0).from_shapes;
    if (!call.in(i).dims->front().is_constant()) return;
  }
  if (!any) return;
  Dims values;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const Fact& part = call.in(i);
    if (part.elements) {
      values.insert(values.end(), part.elements->begin(), part.elements->end());
      continue;
    }
    const auto bounds = part.value_bounds();
    const Dim lo = bounds ? bounds->lo : Dim(-std::numeric_limits<int64_t>::max());
    const auto hi = bounds ? std::optional(bounds->hi) : std::nullopt;
    for (int64_t n = 0; n < *part.dims->front().constant(); ++n) values.push_back(context.fresh(part, "entry", lo, hi));
  }
  out.elements = std::make_shared<const Dims>(std::move(values));
}

Status reference_concat(const Call& call, KernelArgs& args) {
  Tensor& out = args.out(0);
  TRY(const size_t axis, normalize_axis(call.i("axis"), out.rank()));
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= out.dims()[i];
  for (size_t i = axis + 1; i < out.rank(); ++i) inner *= out.dims()[i];
  const int64_t row = out.dims()[axis] * inner;
  int64_t at = 0;
  for (const Datum& input : args.inputs) {
    const Tensor& part = input.tensor();
    const int64_t width = part.dims()[axis] * inner;
    for (int64_t o = 0; o < outer; ++o) kernels::copy_elements(out, o * row + at, part, o * width, width);
    at += width;
  }
  return {};
}

constexpr Kernel kConcatKernels[] = {{"reference", reference_concat}};

Result<Facts> infer_concat(const Call& call, InferContext& context) {
  if (call.version() >= 4 && !call.has_attr("axis")) return refuse("concat.axis", "the attribute axis is missing");
  TRY_OK(require_one_dtype(call));
  TRY(Dims dims, joined_dims(call, context));
  std::vector<size_t> data(call.inputs());
  std::iota(data.begin(), data.end(), 0);
  Facts out{Fact::tensor(call.in(0).dtype, std::move(dims))};
  carry_all(call, kConcatKernels[0], data, out);
  if (!out[0].elements) carry_list(call, context, out[0]);
  return out;
}

}  // namespace

constexpr OpDef kConcat1{.name = "Concat",
                         .since = 1,
                         .sig = {kConcatIn, kConcatOut, "tensors joined along one axis", kConcatAttributes},
                         .infer = infer_concat,
                         .kernels = kConcatKernels};

}  // namespace anyshape::ops
