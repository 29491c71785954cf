#include "ops/bodies.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kSequence[] = {{"input_sequence"}};
constexpr Port kAt[] = {{"input_sequence"}, {"position", Port::value}};
constexpr Port kErase[] = {{"input_sequence"}, {"position", Port::optional | Port::value}};
constexpr Port kInsert[] = {{"input_sequence"}, {"tensor"}, {"position", Port::optional | Port::value}};
constexpr Port kInputs[] = {{"inputs", Port::variadic}};
constexpr Port kTensorOut[] = {{"tensor"}};
constexpr Port kSequenceOut[] = {{"output_sequence"}};
constexpr Port kLengthOut[] = {{"length"}};

Status check_sequence(const Call& call) {
  const Fact& fact = call.in(0);
  if (fact.kind == Fact::Kind::sequence) return {};
  if (fact.kind == Fact::Kind::unknown) return unknown("infer.type", "input 0 is not known");
  return refuse("sequence.input", "{} takes a sequence, input 0 is {}", call.type(), print(fact));
}

Dim length_of(const Fact& sequence, InferContext& context) {
  return sequence.length ? *sequence.length : context.fresh(sequence, "length");
}

Fact of_items(InferContext& context, Facts items, const Fact& fallback) {
  auto item = common_item(context, items);
  Fact out = Fact::sequence(item && !items.empty() ? *std::move(item) : fallback);
  out.length = static_cast<int64_t>(items.size());
  out.items = std::make_shared<const Facts>(std::move(items));
  return out;
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
  TRY_OK(context.require(inside, "sequence.position", "position {} lies outside a sequence of {} items",
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
  const bool from_shapes =
      sequence.from_shapes || (sequence.length && !context.on_data(*sequence.length) && call.in(1).from_shapes);
  return Facts{any_item(context, *sequence.item, from_shapes)};
}

Result<Facts> infer_construct(const Call& call, InferContext& context) {
  Facts items;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) return refuse("sequence.input", "input {} is missing", i);
    const Fact& fact = call.in(i);
    if (fact.is_tensor() && call.in(0).is_tensor() && fact.dtype != call.in(0).dtype)
      return refuse("sequence.type", "the items of a sequence must have one type: {} and {}", print(call.in(0)),
                    print(fact));
    items.push_back(fact);
  }
  return Facts{of_items(context, std::move(items), Fact())};
}

Result<Facts> infer_empty(const Call& call, InferContext& context) {
  const auto dtype = dtype_from_onnx(call.i("dtype", 1));
  if (!dtype) return refuse("sequence.type", "dtype {} is no element type", call.i("dtype", 1));
  return Facts{of_items(context, {}, Fact::tensor_of_unknown_rank(*dtype))};
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
                           "nothing can be erased from an empty sequence"));
  TRY(const Position at, position_of(call, context, 1, false));
  if (!at.number || !sequence.items) return Facts{resized(sequence, sequence.item, -1)};
  Facts items = *sequence.items;
  items.erase(items.begin() + *at.number);
  return Facts{of_items(context, std::move(items), sequence.item ? *sequence.item : Fact())};
}

Result<Facts> infer_insert(const Call& call, InferContext& context) {
  TRY_OK(check_sequence(call));
  const Fact &sequence = call.in(0), &added = call.in(1);
  const bool typed = sequence.item && sequence.item->is_tensor() && added.is_tensor();
  if (typed && sequence.item->dtype != added.dtype && added.dtype != DType::undefined)
    return refuse("sequence.type", "{} does not fit into {}", print(added), print(sequence));
  TRY(const Position at, position_of(call, context, 2, true));
  if (at.number && sequence.items && sequence.items->size() < Fact::kMaxElements) {
    Facts items = *sequence.items;
    items.insert(items.begin() + *at.number, added);
    return Facts{of_items(context, std::move(items), Fact())};
  }
  Fact one = of_items(context, {added}, Fact());
  if (sequence.items && sequence.items->empty()) return Facts{one};
  if (!sequence.item) return Facts{resized(sequence, nullptr, 1)};
  TRY(Fact item, common_item(context, {*sequence.item, added}));
  return Facts{resized(sequence, std::make_shared<const Fact>(std::move(item)), 1)};
}

Result<Facts> infer_length(const Call& call, InferContext& context) {
  TRY_OK(check_sequence(call));
  return Facts{Fact::of_elements(DType::i64, {}, {length_of(call.in(0), context)})};
}

}  // namespace

constexpr OpDef kSequenceAt11{
    .name = "SequenceAt", .since = 11, .sig = {kAt, kTensorOut, "one item of a sequence"}, .infer = infer_at};
constexpr OpDef kSequenceConstruct11{.name = "SequenceConstruct",
                                     .since = 11,
                                     .sig = {kInputs, kSequenceOut, "a sequence of its inputs"},
                                     .infer = infer_construct};
constexpr OpDef kSequenceEmpty11{
    .name = "SequenceEmpty", .since = 11, .sig = {{}, kSequenceOut, "a sequence without items"}, .infer = infer_empty};
constexpr OpDef kSequenceErase11{.name = "SequenceErase",
                                 .since = 11,
                                 .sig = {kErase, kSequenceOut, "a sequence with one item less"},
                                 .infer = infer_erase};
constexpr OpDef kSequenceInsert11{.name = "SequenceInsert",
                                  .since = 11,
                                  .sig = {kInsert, kSequenceOut, "a sequence with one item more"},
                                  .infer = infer_insert};
constexpr OpDef kSequenceLength11{.name = "SequenceLength",
                                  .since = 11,
                                  .sig = {kSequence, kLengthOut, "the number of items of a sequence"},
                                  .infer = infer_length};

}  // namespace anyshape::ops
