#include "base/effort.h"
#include "ops/control/bodies.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kSequence[] = {{"input_sequence"}};
constexpr Port kAt[] = {{"input_sequence"}, {"position", Port::value | Port::settled}};
constexpr Port kErase[] = {{"input_sequence"}, {"position", Port::optional | Port::value | Port::settled}};
constexpr Port kInsert[] = {{"input_sequence"}, {"tensor"}, {"position", Port::optional | Port::value | Port::settled}};
constexpr Port kInputs[] = {{"inputs", Port::variadic}};
constexpr Port kTensorOut[] = {{"tensor"}};
constexpr Port kSequenceOut[] = {{"output_sequence"}};
constexpr Port kLengthOut[] = {{"length"}};
constexpr AttributeDef kSequenceAttributes[] = {
    {"dtype", 1},
};

Status check_sequence(const Call& call) {
  const Fact& fact = call.in(0);
  if (fact.kind == Fact::Kind::sequence) return {};
  if (fact.kind == Fact::Kind::unknown) return unknown("infer.type", "input 0 is not known");
  return refuse("sequence.input", "{} takes a sequence, input 0 is {}", call.type(), print(fact));
}

Dim length_of_sequence(const Fact& sequence, InferContext& context) {
  return sequence.length ? *sequence.length : context.fresh(sequence, "length");
}

// `item`: what all of them have in common.
Fact of_items(Facts items, Fact item) {
  Fact out = Fact::sequence(std::move(item));
  out.length = static_cast<int64_t>(items.size());
  out.items = std::make_shared<const Facts>(std::move(items));
  return out;
}

Fact of_items(InferContext& context, Facts items, const Fact& fallback) {
  auto item = common_item(context, items);
  const bool known = item && !items.empty();
  return of_items(std::move(items), known ? *std::move(item) : fallback);
}

struct Position {
  std::optional<int64_t> number;  // counted from the front
};

// -length <= position < length (or <= with `past_end`), where anything is known of it.
Result<Position> position_of(const Call& call, InferContext& context, size_t input, bool past_end) {
  const Fact& sequence = call.in(0);
  if (!call.has(input)) {
    Position last;
    if (sequence.items) last.number = static_cast<int64_t>(sequence.items->size()) - (past_end ? 0 : 1);
    return last;
  }
  const Fact& fact = call.in(input);
  if (fact.dims)
    TRY_OK(context.require(Condition::eq(product(*fact.dims), 1), "sequence.position",
                           "the position must be one entry, it is {}", print(fact)));
  const auto bounds = fact.value_bounds();
  if (!bounds || !sequence.length) {
    context.data_condition("sequence.position", "the position must lie inside the sequence");
    return Position{};
  }
  const Dim length = *sequence.length;
  const Condition inside =
      Condition::ge(bounds->lo, -length) && Condition::lt(bounds->hi, past_end ? length + 1 : length);
  if (!bounds->attained && context.assumptions().prove(inside) != Tri::yes) {
    context.data_condition("sequence.position", "the position must lie inside a sequence of {} items", print(length));
    return Position{};
  }
  TRY_OK(context.require(inside, "sequence.position", "position {} must lie inside a sequence of {} items",
                         print(bounds->hi), print(length)));
  const auto entry = fact.single();
  const auto number = entry ? context.simplify(*entry).constant() : std::nullopt;
  if (!number || !sequence.items) return Position{};
  return Position{*number < 0 ? *number + static_cast<int64_t>(sequence.items->size()) : *number};
}

Result<Facts> infer_at(const Call& call, InferContext& context) {
  TRY_OK(check_sequence(call));
  TRY(const Position at, position_of(call, context, 1, false));
  const Fact& sequence = call.in(0);
  if (at.number && static_cast<size_t>(*at.number) < sequence.items->size())
    return Facts{(*sequence.items)[static_cast<size_t>(*at.number)]};
  if (!sequence.item) return unknown("infer.type", "the items of the sequence are not known");
  // Which item it is follows from the shapes when the number of items and the position do.
  const bool from_shapes = sequence.from_shapes || (counted_by_shapes(context, sequence) && call.in(1).from_shapes);
  return Facts{any_item(context, *sequence.item, from_shapes)};
}

Result<Facts> infer_construct(const Call& call, InferContext& context) {
  Facts items;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) return refuse("sequence.input", "input {} is missing", i);
    const Fact& fact = call.in(i);
    const bool typed = fact.dtype != DType::undefined && call.in(0).dtype != DType::undefined;
    if (fact.is_tensor() && call.in(0).is_tensor() && typed && fact.dtype != call.in(0).dtype)
      return refuse("sequence.type", "the items of a sequence must have one type: {} and {}", print(call.in(0)),
                    print(fact));
    items.push_back(fact);
  }
  return Facts{of_items(context, std::move(items), Fact())};
}

Result<Facts> infer_empty(const Call& call, InferContext& context) {
  const auto dtype = dtype_from_onnx(call.i("dtype"));
  if (!dtype) return refuse("sequence.type", "dtype {} is no element type", call.i("dtype"));
  return Facts{of_items(context, {}, Fact::tensor_of_unknown_rank(*dtype))};
}

// They are many in loops that collect.
Facts copied_items(const Fact& sequence) {
  Effort::step(1 + static_cast<int64_t>(sequence.items->size() / 4));
  return *sequence.items;
}

// The sequence with another length whose items are not known one by one.
Fact resized(const Fact& sequence, std::shared_ptr<const Fact> item, Dim change) {
  Fact out = sequence;
  out.items = nullptr;
  out.item = std::move(item);
  if (out.length) out.length = *out.length + change;
  return out;
}

Result<Facts> infer_erase(const Call& call, InferContext& context) {
  TRY_OK(check_sequence(call));
  const Fact& sequence = call.in(0);
  if (sequence.length)
    TRY_OK(context.require(Condition::ge(*sequence.length, 1), "sequence.position",
                           "a sequence to erase from must not be empty"));
  TRY(const Position at, position_of(call, context, 1, false));
  if (!at.number || !sequence.items) return Facts{resized(sequence, sequence.item, -1)};
  Facts items = copied_items(sequence);
  items.erase(items.begin() + *at.number);
  return Facts{of_items(context, std::move(items), sequence.item ? *sequence.item : Fact())};
}

Result<Facts> infer_insert(const Call& call, InferContext& context) {
  TRY_OK(check_sequence(call));
  const Fact &sequence = call.in(0), &added = call.in(1);
  const bool typed = sequence.item && sequence.item->is_tensor() && added.is_tensor() &&
                     sequence.item->dtype != DType::undefined && added.dtype != DType::undefined;
  if (typed && sequence.item->dtype != added.dtype)
    return refuse("sequence.type", "{} does not fit into {}", print(added), print(sequence));
  TRY(const Position at, position_of(call, context, 2, true));
  if (at.number && sequence.items && sequence.items->size() < Fact::kMaxElements) {
    const auto item = common_item(context, sequence.items->empty() ? Facts{added} : Facts{*sequence.item, added});
    Facts items = copied_items(sequence);
    items.insert(items.begin() + *at.number, added);
    return Facts{of_items(std::move(items), item ? *item : Fact())};
  }
  Fact one = of_items(context, {added}, Fact());
  if (sequence.items && sequence.items->empty()) return Facts{one};
  if (!sequence.item) return Facts{resized(sequence, nullptr, 1)};
  TRY(Fact item, common_item(context, {*sequence.item, added}));
  return Facts{resized(sequence, std::make_shared<const Fact>(std::move(item)), 1)};
}

Result<Facts> infer_length(const Call& call, InferContext& context) {
  TRY_OK(check_sequence(call));
  return Facts{Fact::of_elements(DType::i64, {}, {length_of_sequence(call.in(0), context)})};
}

Result<const std::vector<Datum>*> items_of(const KernelArgs& args) {
  if (args.inputs.empty() || args.inputs[0].kind() != Datum::Kind::sequence)
    return refuse("sequence.input", "input 0 must be a sequence");
  return &args.inputs[0].items();
}

// Counted from the front, below `limit`; `fallback` when absent.
Result<size_t> position_in(const KernelArgs& args, size_t input, size_t length, size_t limit, size_t fallback) {
  const Tensor& position = args.in(input);
  if (!position) {
    if (fallback < limit) return fallback;
    return refuse("sequence.position", "the sequence is empty");
  }
  if (position.count() != 1 || !is_integer(position.dtype()))
    return refuse("sequence.position", "the position must be one integer");
  int64_t at = position.int_at(0);
  if (at < 0) at += static_cast<int64_t>(length);
  if (at < 0 || static_cast<size_t>(at) >= limit)
    return refuse("sequence.position", "position {} must lie inside a sequence of {} items", position.int_at(0),
                  length);
  return static_cast<size_t>(at);
}

Status run_at(const Call&, KernelArgs& args) {
  TRY(const auto* items, items_of(args));
  TRY(const size_t at, position_in(args, 1, items->size(), items->size(), items->size()));
  args.outputs[0] = (*items)[at];
  return {};
}

Status run_construct(const Call&, KernelArgs& args) {
  for (const Datum& datum : args.inputs)
    if (!datum || datum.dtype() != args.inputs[0].dtype())
      return refuse("sequence.type", "the items of a sequence must have one type");
  std::vector<Datum> items(args.inputs.begin(), args.inputs.end());
  const DType dtype = items.empty() ? DType::undefined : items[0].dtype();
  args.outputs[0] = Datum::sequence(dtype, std::move(items));
  return {};
}

Status run_empty(const Call& call, KernelArgs& args) {
  const auto dtype = dtype_from_onnx(call.i("dtype"));
  if (!dtype) return refuse("sequence.type", "dtype {} is no element type", call.i("dtype"));
  args.outputs[0] = Datum::sequence(*dtype, {});
  return {};
}

Status run_erase(const Call&, KernelArgs& args) {
  TRY(const auto* items, items_of(args));
  TRY(const size_t at, position_in(args, 1, items->size(), items->size(), items->size() - 1));
  std::vector<Datum> left = *items;
  left.erase(left.begin() + static_cast<ptrdiff_t>(at));
  args.outputs[0] = Datum::sequence(args.inputs[0].dtype(), std::move(left));
  return {};
}

Status run_insert(const Call&, KernelArgs& args) {
  TRY(const auto* items, items_of(args));
  TRY(const size_t at, position_in(args, 2, items->size(), items->size() + 1, items->size()));
  const DType dtype = args.inputs[0].dtype(), added = args.inputs[1].dtype();
  if (!args.inputs[1] || (dtype != DType::undefined && dtype != added))
    return refuse("sequence.type", "an item of type {} does not fit into a sequence of {}", name(added), name(dtype));
  std::vector<Datum> all = *items;
  all.insert(all.begin() + static_cast<ptrdiff_t>(at), args.inputs[1]);
  args.outputs[0] = Datum::sequence(added, std::move(all));
  return {};
}

Status run_length(const Call&, KernelArgs& args) {
  TRY(const auto* items, items_of(args));
  args.out(0) = Tensor::scalar(static_cast<int64_t>(items->size()));
  return {};
}

constexpr Kernel kAtKernels[] = {{"reference", run_at}};
constexpr Kernel kConstructKernels[] = {{"reference", run_construct}};
constexpr Kernel kEmptyKernels[] = {{"reference", run_empty}};
constexpr Kernel kEraseKernels[] = {{"reference", run_erase}};
constexpr Kernel kInsertKernels[] = {{"reference", run_insert}};
constexpr Kernel kLengthKernels[] = {{"reference", run_length}};

}  // namespace

constexpr OpDef kSequenceAt11{.name = "SequenceAt",
                              .since = 11,
                              .sig = {kAt, kTensorOut, "one item of a sequence"},
                              .infer = infer_at,
                              .kernels = kAtKernels};
constexpr OpDef kSequenceConstruct11{.name = "SequenceConstruct",
                                     .since = 11,
                                     .sig = {kInputs, kSequenceOut, "a sequence of its inputs"},
                                     .infer = infer_construct,
                                     .kernels = kConstructKernels};
constexpr OpDef kSequenceEmpty11{.name = "SequenceEmpty",
                                 .since = 11,
                                 .sig = {{}, kSequenceOut, "a sequence without items", kSequenceAttributes},
                                 .infer = infer_empty,
                                 .kernels = kEmptyKernels};
constexpr OpDef kSequenceErase11{.name = "SequenceErase",
                                 .since = 11,
                                 .sig = {kErase, kSequenceOut, "a sequence with one item less"},
                                 .infer = infer_erase,
                                 .kernels = kEraseKernels};
constexpr OpDef kSequenceInsert11{.name = "SequenceInsert",
                                  .since = 11,
                                  .sig = {kInsert, kSequenceOut, "a sequence with one item more"},
                                  .infer = infer_insert,
                                  .kernels = kInsertKernels};
constexpr OpDef kSequenceLength11{.name = "SequenceLength",
                                  .since = 11,
                                  .sig = {kSequence, kLengthOut, "the number of items of a sequence"},
                                  .infer = infer_length,
                                  .kernels = kLengthKernels};

}  // namespace anyshape::ops
