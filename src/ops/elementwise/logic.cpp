#include "kernels/elementwise.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// Comparisons and logic: bool results.
namespace anyshape::ops {
namespace {

enum class Logic { equal, greater, less, greater_equal, less_equal, land, lor, lxor, lnot };

constexpr Port kLogicIn[] = {{"A"}, {"B"}};
constexpr Port kNotIn[] = {{"X"}};
constexpr Port kLogicOut[] = {{"C"}};

constexpr bool is_comparison(Logic op) { return op <= Logic::less_equal; }

constexpr unsigned mask_of_logic(Logic op) {
  if (!is_comparison(op)) return kMaskBool;
  return op == Logic::equal ? kMaskBool | kMaskNumber | kMaskString : kMaskNumber;
}

Condition comparison(Logic op, Dim a, Dim b) {
  switch (op) {
    case Logic::equal:
      return Condition::eq(a, b);
    case Logic::greater:
      return Condition::gt(a, b);
    case Logic::less:
      return Condition::lt(a, b);
    case Logic::greater_equal:
      return Condition::ge(a, b);
    default:
      return Condition::le(a, b);
  }
}

Dim entry_logic(Logic op, InferContext& context, std::span<const Ratio> in) {
  const Dim a = in[0].num, b = in.size() > 1 ? in[1].num : Dim(0);
  switch (op) {
    case Logic::land:
      return truth(context, Condition::eq(a, 1) && Condition::eq(b, 1));
    case Logic::lor:
      return truth(context, Condition::eq(a, 1) || Condition::eq(b, 1));
    case Logic::lxor:
      return truth(context, Condition::ne(a, b));
    case Logic::lnot:
      return Dim(1) - a;
    default:
      if (!exact(in[0]) || !exact(in[1])) return Dim::unknown();
      return truth(context, comparison(op, a * Dim(in[1].den), b * Dim(in[0].den)));
  }
}

// The answer where bounds decide it for every entry.
void decide_by_bounds(Logic op, const Call& call, InferContext& context, Fact& out) {
  const auto dims = out.numeric_dims();
  const int64_t count = dims ? element_count(*dims).value_or(-1) : -1;
  if (out.elements || !is_comparison(op) || count < 0 || count > static_cast<int64_t>(Fact::kMaxElements)) return;
  const auto a = bounds_of(call, 0), b = bounds_of(call, 1);
  if (!a || !b) return;
  const bool swapped = op == Logic::less || op == Logic::less_equal;
  const Bounds &x = swapped ? *b : *a, &y = swapped ? *a : *b;
  const bool strict = op == Logic::less || op == Logic::greater;
  const auto above = [&](Dim p, Dim q, bool strictly) {
    return context.proves(strictly ? Condition::gt(p, q) : Condition::ge(p, q));
  };
  std::optional<int> answer;
  if (op == Logic::equal) {
    if (above(x.lo, y.hi, true) || above(y.lo, x.hi, true)) answer = 0;
  } else if (above(x.lo, y.hi, strict)) {
    answer = 1;
  } else if (above(y.lo, x.hi, !strict)) {
    answer = 0;
  }
  if (answer) out.elements = std::make_shared<const Dims>(static_cast<size_t>(count), Dim(*answer));
}

template <Logic op>
Result<Facts> infer_logic(const Call& call, InferContext& context) {
  for (size_t i = 0; i < call.inputs(); ++i) TRY_OK(require_tensor(call, i, mask_of_logic(op)));
  TRY_OK(common_dtype(call, 0, 1));
  std::optional<Dims> dims = call.in(0).dims;
  if constexpr (op != Logic::lnot) {
    TRY(dims, elementwise_dims(call, context));
  }
  Fact out = typed(DType::boolean, std::move(dims));
  map_ratios(
      call, context, [&](std::span<const Ratio> in) { return Ratio{entry_logic(op, context, in)}; }, out);
  if constexpr (op != Logic::lnot) decide_by_bounds(op, call, context, out);
  return Facts{out};
}

template <Logic op, class T>
bool compute(T a, T b) {
  if constexpr (op == Logic::equal) return a == b;
  if constexpr (op == Logic::greater) return a > b;
  if constexpr (op == Logic::less) return a < b;
  if constexpr (op == Logic::greater_equal) return a >= b;
  if constexpr (op == Logic::less_equal) return a <= b;
  if constexpr (op == Logic::land) return a && b;
  if constexpr (op == Logic::lor) return a || b;
  if constexpr (op == Logic::lxor) return a != b;
}

Status equal_strings(const Tensor& a, const Tensor& b, Tensor& out) {
  if (!kernels::broadcasts(a.dims(), out.dims()) || !kernels::broadcasts(b.dims(), out.dims()))
    return refuse("kernel.shape", "the inputs do not broadcast to the output");
  kernels::BroadcastIndex ia(a.dims(), out.dims()), ib(b.dims(), out.dims());
  for (int64_t i = 0; i < out.count(); ++i, ia.next(), ib.next())
    out.set_int(i, a.strings()[static_cast<size_t>(ia.offset())] == b.strings()[static_cast<size_t>(ib.offset())]);
  return {};
}

template <Logic op>
Status reference_logic(const Call& call, KernelArgs& args) {
  const Tensor& a = args.in(0);
  const Tensor b = args.in(1).reshaped(legacy_dims(call, a.rank(), temporary(args.in(1).dims())));
  if (a.dtype() != b.dtype()) return unknown("dtype", "{} of {} and {}", call.type(), name(a.dtype()), name(b.dtype()));
  if (op == Logic::equal && a.dtype() == DType::string) return equal_strings(a, b, args.out(0));
  constexpr unsigned types = is_comparison(op) ? kernels::kAll : kernels::kBool;
  return kernels::visit_type<types>(a.dtype(), [&]<class T>(T) -> Status {
    return kernels::apply<T, T, bool>(a, b, args.out(0),
                                      [](T x, T y) { return compute<op>(kernels::widen(x), kernels::widen(y)); });
  });
}

Status reference_not(const Call&, KernelArgs& args) {
  for (int64_t i = 0; i < args.out(0).count(); ++i) args.out(0).set_int(i, args.in(0).int_at(i) == 0);
  return {};
}

template <Logic op>
constexpr Kernel kLogicKernels[] = {{"reference", reference_logic<op>}};
constexpr Kernel kNotKernels[] = {{"reference", reference_not}};

template <Logic op>
constexpr OpDef record_logic(std::string_view op_name, int since, std::string_view doc,
                             std::span<const AttributeDef> attributes = kOldBroadcast) {
  return {.name = op_name,
          .since = since,
          .sig = {kLogicIn, kLogicOut, doc, attributes},
          .infer = infer_logic<op>,
          .kernels = kLogicKernels<op>};
}

}  // namespace

constexpr OpDef kAnd1 = record_logic<Logic::land>("And", 1, "logical and");
constexpr OpDef kEqual1 = record_logic<Logic::equal>("Equal", 1, "a == b");
constexpr OpDef kGreater1 = record_logic<Logic::greater>("Greater", 1, "a > b");
constexpr OpDef kGreaterOrEqual12 = record_logic<Logic::greater_equal>("GreaterOrEqual", 12, "a >= b", {});
constexpr OpDef kLess1 = record_logic<Logic::less>("Less", 1, "a < b");
constexpr OpDef kLessOrEqual12 = record_logic<Logic::less_equal>("LessOrEqual", 12, "a <= b", {});
constexpr OpDef kNot1{.name = "Not",
                      .since = 1,
                      .sig = {kNotIn, kLogicOut, "logical not"},
                      .infer = infer_logic<Logic::lnot>,
                      .kernels = kNotKernels};
constexpr OpDef kOr1 = record_logic<Logic::lor>("Or", 1, "logical or");
constexpr OpDef kXor1 = record_logic<Logic::lxor>("Xor", 1, "logical exclusive or");

}  // namespace anyshape::ops
