#include <algorithm>

#include "ops/control/bodies.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kSequenceMapIn[] = {{"input_sequence", Port::value},
                                   {"additional_inputs", Port::optional | Port::variadic | Port::value}};
constexpr Port kSequenceMapOut[] = {{"out_sequence", Port::variadic}};
constexpr AttributeDef kSequenceMapAttributes[] = {
    {"body", AttributeDef::graph, AttributeDef::required},
};

constexpr size_t kMaxItems = 256;

bool is_sequence(const Fact& fact) { return fact.kind == Fact::Kind::sequence; }

// The body's inputs for item `index` of every sequence; nullopt: some sequence's items are not known one by one.
std::optional<Facts> inputs_at(const Call& call, size_t index) {
  Facts in;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const Fact& fact = call.in(i);
    if (is_sequence(fact) && (!fact.items || index >= fact.items->size())) return std::nullopt;
    in.push_back(is_sequence(fact) ? (*fact.items)[index] : fact);
  }
  return in;
}

Fact sequence_of(Fact item, std::optional<Dim> length, std::optional<Facts> items) {
  const bool from_shapes = item.from_shapes;
  Fact out = Fact::sequence(std::move(item));
  out.length = length;
  out.from_shapes = from_shapes;
  if (items) out.items = std::make_shared<const Facts>(*std::move(items));
  return out;
}

Result<Facts> map_known(const Call& call, InferContext& context, const Graph& body) {
  const size_t count = call.in(0).items->size();
  std::vector<Facts> items(body.outputs.size());
  for (size_t k = 0; k < count; ++k) {
    TRY(const Facts out, context.infer_body(body, *inputs_at(call, k)));
    assume_sizes(context, out);
    for (size_t i = 0; i < items.size(); ++i) items[i].push_back(out[i]);
  }
  Facts out;
  for (size_t i = 0; i < items.size(); ++i) {
    TRY(Fact item, common_item(context, items[i]));
    if (count == 0) item = declared_fact(body.values[body.outputs[i]], Dim::unknown());
    out.push_back(sequence_of(std::move(item), static_cast<int64_t>(count), std::move(items[i])));
  }
  return out;
}

// One item stands for all: sizes of the result that follow the item's own become unknown.
Result<Facts> map_any(const Call& call, InferContext& context, const Graph& body) {
  const auto length = call.in(0).length;
  Facts in;
  Dims own;
  for (size_t i = 0; i < call.inputs(); ++i) {
    const Fact& fact = call.in(i);
    if (is_sequence(fact) && !fact.item) return unknown("infer.type", "the items of input {} are not known", i);
    in.push_back(is_sequence(fact) ? any_item(context, *fact.item, counted_by_shapes(context, fact)) : fact);
    if (!is_sequence(fact) || !in.back().dims || !fact.item->dims) continue;
    for (size_t axis = 0; axis < in.back().dims->size(); ++axis)
      if ((*fact.item->dims)[axis].is_unknown()) own.push_back((*in.back().dims)[axis]);
  }
  const Condition some = length ? Condition::ge(*length, 1) : Condition::always();
  auto made = context.infer_body(body, in, some);
  if (!made) {
    if (!length) return made;
    TRY_OK(forbid(context, some, std::move(made).error()));
    Facts out;
    for (ValueId id : body.outputs) out.push_back(sequence_of(declared_fact(body.values[id], 0), length, Facts()));
    return out;
  }
  // Sizes made inside the body are others in a second run: they differ between items.
  const auto again = context.try_body(body, in, some);
  const Joiner blur{[](Dim, Dim) { return Dim::unknown(); }, std::nullopt};
  Facts out;
  for (size_t i = 0; i < made->size(); ++i) {
    Fact item = map_dims((*made)[i].type_only(), [&](Dim d) {
      const bool varies = std::any_of(own.begin(), own.end(), [&](Dim s) { return d.mentions(s); });
      return varies ? Dim::unknown() : d;
    });
    if (again) {
      TRY(item, join(context, item, (*again)[i].type_only(), blur));
    }
    out.push_back(sequence_of(std::move(item), length, std::nullopt));
  }
  return out;
}

Result<Facts> infer_sequence_map(const Call& call, InferContext& context) {
  const Graph* body = call.graph("body");
  if (!body) return refuse("sequencemap.body", "the body is missing");
  if (!is_sequence(call.in(0))) {
    if (call.in(0).kind == Fact::Kind::unknown) return unknown("infer.type", "input 0 is not known");
    return refuse("sequencemap.input", "input 0 must be a sequence, it is {}", print(call.in(0)));
  }
  if (call.outputs() > body->outputs.size())
    return refuse("sequencemap.outputs", "the node has {} outputs, its body gives {}", call.outputs(),
                  body->outputs.size());
  for (size_t i = 1; i < call.inputs(); ++i) {
    if (!call.has(i)) return refuse("sequencemap.input", "input {} is missing", i);
    if (is_sequence(call.in(i)) && call.in(0).length && call.in(i).length)
      TRY_OK(context.require(Condition::eq(*call.in(0).length, *call.in(i).length), "sequencemap.length",
                             "the sequences must be equally long: {} and {}", print(*call.in(0).length),
                             print(*call.in(i).length)));
  }
  const bool one_by_one = call.in(0).items && call.in(0).items->size() <= kMaxItems &&
                          (call.in(0).items->empty() || inputs_at(call, call.in(0).items->size() - 1));
  return one_by_one ? map_known(call, context, *body) : map_any(call, context, *body);
}

DType declared_dtype(const Value& value) { return value.declared ? value.declared->dtype : DType::undefined; }

Status reference_sequence_map(const Call& call, KernelArgs& args) {
  const Graph* body = call.graph("body");
  if (!body) return refuse("sequencemap.body", "the body is missing");
  if (call.outputs() > body->outputs.size())
    return refuse("sequencemap.outputs", "the node has {} outputs, its body gives {}", call.outputs(),
                  body->outputs.size());
  const auto is_list = [](const Datum& datum) { return datum.kind() == Datum::Kind::sequence; };
  if (args.inputs.empty() || !is_list(args.inputs[0])) return refuse("sequencemap.input", "input 0 must be a sequence");
  const size_t count = args.inputs[0].items().size();
  for (const Datum& datum : args.inputs)
    if (is_list(datum) && datum.items().size() != count)
      return refuse("sequencemap.length", "the sequences must be equally long: {} and {}", count, datum.items().size());
  std::vector<std::vector<Datum>> items(call.outputs());
  for (size_t k = 0; k < count; ++k) {
    std::vector<Datum> in;
    for (const Datum& datum : args.inputs) in.push_back(is_list(datum) ? datum.items()[k] : datum);
    TRY(std::vector<Datum> out, args.bodies->run(*body, std::move(in)));
    for (size_t i = 0; i < items.size(); ++i) items[i].push_back(std::move(out[i]));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const DType dtype = items[i].empty() ? declared_dtype(body->values[body->outputs[i]]) : items[i][0].dtype();
    args.outputs[i] = Datum::sequence(dtype, std::move(items[i]));
  }
  return {};
}

constexpr Kernel kSequenceMapKernels[] = {{"reference", reference_sequence_map}};

}  // namespace

constexpr OpDef kSequenceMap17{
    .name = "SequenceMap",
    .since = 17,
    .sig = {kSequenceMapIn, kSequenceMapOut, "a body over the items of sequences", kSequenceMapAttributes},
    .infer = infer_sequence_map,
    .kernels = kSequenceMapKernels};

}  // namespace anyshape::ops
