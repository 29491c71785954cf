#include <algorithm>

#include "ops/control/iterate.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kLoopIn[] = {{"M", Port::optional | Port::value},
                            {"cond", Port::optional | Port::value},
                            {"v_initial", Port::optional | Port::variadic | Port::value}};
constexpr Port kLoopOut[] = {{"v_final_and_scan_outputs", Port::variadic}};
constexpr AttributeDef kLoopAttributes[] = {
    {"body", AttributeDef::graph, AttributeDef::required},
};

Tri is_true(const InferContext& context, const Fact& fact) {
  const auto entry = fact.single();
  const auto number = entry ? context.simplify(*entry).constant() : std::nullopt;
  if (!number) return Tri::unknown;
  return *number != 0 ? Tri::yes : Tri::no;
}

Status check_body(const Call& call, const Graph& body, size_t carried) {
  if (body.required_inputs().size() != carried + 2)
    return refuse("loop.inputs", "the body takes {} inputs, it gets the iteration number, the condition and {} values",
                  body.required_inputs().size(), carried);
  if (body.outputs.size() < carried + 1)
    return refuse("loop.outputs", "the body gives {} outputs, it must give the condition and {} values",
                  body.outputs.size(), carried);
  if (call.outputs() > body.outputs.size() - 1)
    return refuse("loop.outputs", "the node has {} outputs, its body gives {}", call.outputs(),
                  body.outputs.size() - 1);
  return {};
}

Status check_single(const Call& call, InferContext& context, size_t input, std::string_view what) {
  if (!call.has(input) || !call.in(input).dims) return {};
  return context.require(Condition::eq(product(*call.in(input).dims), 1), "loop.scalar",
                         "{} must be one entry, it is {}", what, print(call.in(input)));
}

// The iteration number and the condition are scalars, or lists of one entry where the body declares them so.
bool takes_list(const Graph& body, size_t input) {
  const auto& declared = body.values[body.required_inputs()[input]].declared;
  return declared && declared->dims && declared->dims->size() == 1;
}

// A value in the place of an optional.
Fact as_optional(const Fact& value) {
  Fact out = Fact::optional(value.type_only());
  out.items = std::make_shared<const Facts>(Facts{value});
  out.length = 1;
  out.from_shapes = value.from_shapes;
  return out;
}

Iteration iteration_of(InferContext& context, const Graph& body, const Facts& initial) {
  Iteration out;
  out.body = &body;
  out.carried_at = 1;
  out.carried = initial.size();
  out.code = "loop";
  out.ends_by = 0;
  const Dims number_dims(takes_list(body, 0) ? 1 : 0, Dim(1)), cond_dims(takes_list(body, 1) ? 1 : 0, Dim(1));
  out.inputs = [&initial, number_dims, cond_dims](Dim number, const Facts& values) {
    Facts in{Fact::of_elements(DType::i64, number_dims, {number}), Fact::of_elements(DType::boolean, cond_dims, {1})};
    in[0].from_shapes = in[1].from_shapes = true;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool wrapped = initial[i].kind == Fact::Kind::optional && values[i].kind != Fact::Kind::unknown &&
                           values[i].kind != Fact::Kind::optional;
      in.push_back(wrapped ? as_optional(values[i]) : values[i]);
    }
    return in;
  };
  out.goes_on = [&context](const Facts& outputs) { return is_true(context, outputs[0]); };
  return out;
}

Trips trips_of(const Call& call, InferContext& context) {
  Trips out;
  if (call.has(0)) {
    const Fact& m = call.in(0);
    const auto entry = m.single();
    out.limit = entry ? context.simplify(max(*entry, 0)) : context.fresh(m, "trips");
    out.from_shapes = m.from_shapes;
    out.from_sizes = m.from_sizes;
  }
  if (!call.has(1)) return out;
  const Fact& cond = call.in(1);
  out.from_shapes = out.from_shapes && cond.from_shapes;
  const auto entry = cond.single();
  if (entry) out.starts = Condition::ne(context.simplify(*entry), 0);
  if (!entry || out.starts.is_opaque()) out.starts = Condition::eq(context.fresh(cond, "cond", 0, 1), 1);
  return out;
}

// Walks the iterations one by one where how many there are is known.
Result<std::optional<Iterated>> unroll(InferContext& context, const Iteration& iteration, const Facts& initial,
                                       const Trips& trips, int64_t budget) {
  const Tri starts = context.assumptions().prove(trips.starts);
  const auto limit = trips.limit ? trips.limit->constant() : std::nullopt;
  if (starts == Tri::no) return iterate_known(context, iteration, initial, 0, 0);
  if (starts != Tri::yes || (trips.limit && !limit)) return std::optional<Iterated>();
  if (!context.numeric() && (!limit || *limit > budget)) return std::optional<Iterated>();
  return iterate_known(context, iteration, initial, limit, budget);
}

// All iterations at once. Where they are too many for one after the other, that must tell every size of a concrete
// shape.
Result<Iterated> generalise(InferContext& context, const Iteration& iteration, const Facts& initial, const Trips& trips,
                            int64_t budget) {
  const bool starts = context.assumptions().prove(trips.starts) == Tri::yes;
  const auto limit = trips.limit ? trips.limit->constant() : std::nullopt;
  const bool too_long =
      context.numeric() && starts && trips.from_shapes && (!trips.limit || (limit && *limit > budget));
  TRY(auto out, iterate_any(context, iteration, initial, trips));
  if (too_long && !out.exact)
    context.undecided("loop.budget", "the loop runs {} times, more than {} are not followed one by one",
                      limit ? fmt::format("{}", *limit) : "an unknown number of", budget);
  return out;
}

Result<Facts> infer_loop(const Call& call, InferContext& context) {
  const Graph* body = call.graph("body");
  if (!body) return refuse("loop.body", "the body is missing");
  const size_t carried = call.inputs() > 2 ? call.inputs() - 2 : 0;
  TRY_OK(check_body(call, *body, carried));
  TRY_OK(check_single(call, context, 0, "the trip count"));
  TRY_OK(check_single(call, context, 1, "the condition"));
  Facts initial;
  for (size_t i = 0; i < carried; ++i) {
    if (!call.has(i + 2)) return refuse("loop.inputs", "carried value {} is missing", i);
    initial.push_back(call.in(i + 2));
  }
  const Iteration iteration = iteration_of(context, *body, initial);
  const Trips trips = trips_of(call, context);
  const int64_t budget = context.numeric() ? context.loop_limit() : kUnrolled;
  TRY(auto known, unroll(context, iteration, initial, trips, budget));
  if (!known) {
    TRY(known, generalise(context, iteration, initial, trips, budget));
  }
  Facts out = std::move(known->carried);
  for (Fact& scan : known->scans) {
    if (!known->stacked) {
      scan = scan.type_only();
      if (scan.dims) scan.dims->insert(scan.dims->begin(), known->count);
    }
    out.push_back(std::move(scan));
  }
  for (Fact& fact : out) fact.from_shapes = fact.from_shapes && trips.from_shapes;
  return out;
}

Result<std::optional<int64_t>> trip_limit(const Tensor& m) {
  if (!m) return std::optional<int64_t>();
  if (m.count() != 1 || !is_integer(m.dtype()))
    return refuse("loop.scalar", "the trip count must be one integer, it is {}", print(Fact::of(m).type_only()));
  return std::optional(m.int_at(0));
}

// The state of a loop between two iterations.
struct Running {
  Datum cond;
  std::vector<int64_t> number_dims, cond_dims;  // as the body takes them
  std::vector<Datum> carried;
  std::vector<bool> optional;  // carried values that started as optionals

  std::vector<Datum> inputs(int64_t number) const {
    std::vector<Datum> in{Tensor::scalar(number).reshaped(number_dims), cond.tensor().reshaped(cond_dims)};
    for (size_t i = 0; i < carried.size(); ++i) {
      const bool wrapped = optional[i] && carried[i] && carried[i].kind() != Datum::Kind::optional;
      in.push_back(wrapped ? Datum::optional(carried[i]) : carried[i]);
    }
    return in;
  }
};

Result<Running> start(KernelArgs& args) {
  Running now;
  now.cond = args.in(1);
  if (!now.cond) {
    TRY(Tensor yes, Tensor::allocate(DType::boolean, {}));
    yes.set_int(0, 1);
    now.cond = std::move(yes);
  }
  for (size_t i = 2; i < args.inputs.size(); ++i) {
    if (!args.inputs[i]) return refuse("loop.inputs", "carried value {} is missing", i - 2);
    now.carried.push_back(args.inputs[i]);
    now.optional.push_back(args.inputs[i].kind() == Datum::Kind::optional);
  }
  return now;
}

Status give_outputs(const Call& call, KernelArgs& args, const Running& end, ScanParts& scans, int64_t trips) {
  const size_t carried = end.carried.size();
  std::vector<TensorType> none;
  if (trips == 0 && call.outputs() > carried) {
    TRY(none, scans.none(*args.bodies, end.inputs(0)));
  }
  for (size_t i = 0; i < call.outputs(); ++i) {
    if (i < carried) {
      args.outputs[i] = end.carried[i];
      continue;
    }
    TRY(Tensor out, trips == 0 ? no_parts(none[i - carried], 0) : scans.stacked(i - carried));
    args.outputs[i] = std::move(out);
  }
  return {};
}

Status reference_loop(const Call& call, KernelArgs& args) {
  const Graph* body = call.graph("body");
  if (!body) return refuse("loop.body", "the body is missing");
  TRY(Running now, start(args));
  TRY_OK(check_body(call, *body, now.carried.size()));
  now.number_dims.assign(takes_list(*body, 0) ? 1 : 0, 1);
  now.cond_dims.assign(takes_list(*body, 1) ? 1 : 0, 1);
  TRY(const auto limit, trip_limit(args.in(0)));
  TRY(bool more, single_bool(now.cond.tensor(), "loop.cond"));
  ScanParts scans(*body, now.carried.size() + 1, limit.value_or(0));
  int64_t number = 0;
  for (; more && (!limit || number < *limit); ++number) {
    TRY(std::vector<Datum> out, args.bodies->run(*body, now.inputs(number)));
    TRY(more, single_bool(out[0].tensor(), "loop.cond"));
    TRY_OK(scans.add(out));
    now.cond = std::move(out[0]);
    for (size_t i = 0; i < now.carried.size(); ++i) now.carried[i] = std::move(out[i + 1]);
  }
  return give_outputs(call, args, now, scans, number);
}

constexpr Kernel kLoopKernels[] = {{"reference", reference_loop}};

}  // namespace

constexpr OpDef kLoop1{.name = "Loop",
                       .since = 1,
                       .sig = {kLoopIn, kLoopOut, "a body repeated by count and condition", kLoopAttributes},
                       .infer = infer_loop,
                       .kernels = kLoopKernels};

}  // namespace anyshape::ops
