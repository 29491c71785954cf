#include "ops/control/iterate.h"

#include <algorithm>

#include "ops/control/invariant.h"

namespace anyshape::ops {
namespace {

Facts scans_of(const Iteration& iteration, const Facts& outputs) {
  return Facts(outputs.begin() + static_cast<ptrdiff_t>(iteration.carried_at + iteration.carried), outputs.end());
}

// `ran` where it is not certain. To be asked outside of the scope in which an iteration is assumed to take place.
Condition unless_certain(const InferContext& context, const Condition& ran) {
  return context.proves(ran) ? Condition::always() : ran;
}

// `ran`: the iteration that turns `before` into `after` takes place.
Status check_carried(InferContext& context, const Iteration& iteration, const Facts& before, const Facts& after,
                     const Condition& ran) {
  for (size_t i = 0; i < before.size(); ++i) {
    const Fact &a = before[i], &b = after[i];
    if (a.kind == Fact::Kind::unknown || b.kind == Fact::Kind::unknown) continue;
    const bool clash = a.dtype != b.dtype && a.dtype != DType::undefined && b.dtype != DType::undefined;
    // An optional may start empty and hold a value from then on, and the value stand in its place.
    if (a.kind != b.kind && (a.kind == Fact::Kind::optional || b.kind == Fact::Kind::optional)) continue;
    if (a.kind != b.kind || clash)
      return refuse(fmt::format("{}.type", iteration.code), "carried value {} starts as {} and becomes {}", i, print(a),
                    print(b));
    if (!iteration.fixed_dims || !a.dims || !b.dims) continue;
    if (a.dims->size() != b.dims->size())
      return refuse(fmt::format("{}.state", iteration.code), "state {} starts as {} and becomes {}", i, text(*a.dims),
                    text(*b.dims));
    for (size_t axis = 0; axis < a.dims->size(); ++axis)
      TRY_OK(context.require(
          !ran || Condition::eq((*a.dims)[axis], (*b.dims)[axis]), fmt::format("{}.state", iteration.code),
          "state {} starts as {} and becomes {}: its shape must stay", i, text(*a.dims), text(*b.dims)));
  }
  return {};
}

bool mentions_data(const InferContext& context, const Facts& facts) {
  const auto on_data = [&](Dim d) { return !d.is_unknown() && context.on_data(d); };
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    return (fact.dims && std::any_of(fact.dims->begin(), fact.dims->end(), on_data)) ||
           (fact.length && on_data(*fact.length));
  });
}

// The sizes of a scan output that has those of the body, or those that the file declares: without a declared rank, not
// even their number is known.
void blur(InferContext& context, const Value& value, const Fact& source, Fact& scan) {
  if (!declared_fact(value, 0).dims) return scan.dims.reset();
  for (Dim& d : *scan.dims)
    if (d != Dim(0)) d = context.fresh(source, "scan");
}

// No iteration at all: a scan output looks as the file declares it; where that does not give every size, as the body
// would make it; where the body refuses, sizes without a number are 0, and an output of no declared rank has no axes.
Facts empty_scans(InferContext& context, const Iteration& iteration, const Facts& initial) {
  Facts out;
  const Graph& body = *iteration.body;
  bool conditional = false;
  const auto inferred = context.try_body(body, iteration.inputs(0, initial), Condition::always(), &conditional);
  for (size_t i = iteration.carried_at + iteration.carried; i < body.outputs.size(); ++i) {
    const Value& value = body.values[body.outputs[i]];
    Fact fact = declared_fact(value, 0);
    if (!declared_fact(value, Dim::unknown()).numeric_dims() && inferred && (*inferred)[i].dims) {
      fact = (*inferred)[i].type_only();
      // Whether the body could have run is not known here.
      if (conditional) blur(context, value, source_of_sizes(true), fact);
    } else if (!fact.dims && !inferred && inferred.error().kind == Error::Kind::refused) {
      fact.dims.emplace();
    }
    out.push_back(std::move(fact));
  }
  return out;
}

// Dims of a scan output must be the same in every iteration.
Status settle_scans(InferContext& context, const Iteration& iteration, const Facts& first, Facts& general,
                    const Condition& ran) {
  for (size_t i = 0; i < general.size(); ++i) {
    Fact& fact = general[i];
    const Fact& start = first[i];
    if (!fact.dims || !start.dims) {
      fact = fact.type_only();
      fact.dims.reset();
      continue;
    }
    if (fact.dims->size() != start.dims->size())
      return refuse(fmt::format("{}.scan", iteration.code), "iterations give {} and {}", print(start), print(fact));
    for (size_t axis = 0; axis < fact.dims->size(); ++axis)
      TRY_OK(context.require(!ran || Condition::eq((*fact.dims)[axis], (*start.dims)[axis]),
                             fmt::format("{}.scan", iteration.code),
                             "iterations give {} and {}: axis {} must be the same in all of them", text(*start.dims),
                             text(*fact.dims), axis));
    fact = fact.type_only();
    fact.dims = start.dims;
  }
  return {};
}

// When the body's outputs say that another iteration follows, where they say it in terms of sizes.
std::optional<Condition> goes_on_where(const InferContext& context, const Fact& ends) {
  const auto entry = ends.single();
  const Dim truth = entry ? context.simplify(*entry) : Dim::unknown();
  if (truth.is_unknown()) return std::nullopt;
  const Condition out = Condition::ne(truth, 0);
  return out.is_opaque() ? std::nullopt : std::optional(out);
}

// How many iterations the relation lets be where it loses the same with each: one more than follow those of which it
// holds, which begin with number -1.
std::optional<Dim> count_by(const Relation& relation, Dim number) {
  if (relation.kind != Relation::Kind::ge) return std::nullopt;
  const auto loss = (relation.expr - substitute(relation.expr, {{number, number + 1}})).constant();
  if (!loss || *loss <= 0) return std::nullopt;
  return floordiv(substitute(relation.expr, {{number, 0}}), *loss) + 2;
}

// What the number of iterations comes to where counters decide it. `from_start`: the first one is entered by the same
// condition as others.
Dim total(InferContext& context, const Trips& trips, Dim counted, bool from_start) {
  const Dim count = context.simplify(from_start ? max(counted, 0) : select(trips.starts, max(counted, 1), 0));
  if (!trips.limit) return count;
  const auto most = trips.limit->constant();
  return most && context.fits(count, 0, *most) ? count : context.simplify(min(count, *trips.limit));
}

// Counts the iterations of a body that ends by comparing values which change by the same amount every time.
std::optional<Trips> counted(InferContext& context, const Iteration& iteration, const Trips& trips,
                             const Facts& initial, const Facts& first) {
  const auto after_first = iteration.ends_by ? goes_on_where(context, first[*iteration.ends_by]) : std::nullopt;
  if (!after_first) return std::nullopt;
  const bool from_shapes = trips.from_shapes && first[*iteration.ends_by].from_shapes;
  Assumptions::Scope scope(context.assumptions());
  const Dim number = context.fresh(source_of_sizes(from_shapes), "i", 1);
  Invariant invariant(context, iteration, initial, carried_of(iteration, first), number, true);
  const auto general = invariant.settle(trips.at_least(2));
  const auto after = general ? goes_on_where(context, (*general)[*iteration.ends_by]) : std::nullopt;
  if (!after || after->any_of().size() != 1) return std::nullopt;
  const auto at = [&](int64_t n) { return substitute(*after, {{number, Dim(n)}}); };
  if (!(at(0) == *after_first)) return std::nullopt;
  std::optional<Dim> least;
  for (const Relation& relation : after->any_of()[0]) {
    const auto one = count_by(relation, number);
    if (!one || invariant.mentions_free(*one)) return std::nullopt;
    least = least ? min(*least, *one) : *one;
  }
  if (!least) return std::nullopt;
  const Dim count = total(context, trips, *least, at(-1) == trips.starts);
  if (count.is_unknown()) return std::nullopt;
  return Trips{count, Condition::always(), from_shapes};
}

struct Count {
  Dim value;
  bool exact = false;  // it is the limit, not something below it
};

// `source`: what says how often the body runs.
Count count_of(InferContext& context, const Trips& trips, const Fact& source, bool to_the_end) {
  if (to_the_end && trips.limit) return {context.simplify(select(trips.starts, *trips.limit, 0)), true};
  const Dim lo = context.proves(trips.at_least(1)) ? 1 : 0;
  return {context.fresh(source, "trips", lo, trips.limit), false};
}

Iterated after_one(InferContext& context, const Iteration& iteration, const Trips& trips, const Facts& initial,
                   const Facts& first) {
  Iterated out{carried_of(iteration, first), scans_of(iteration, first), false, 1};
  const Condition ran = trips.at_least(1);
  if (context.proves(ran)) return out;
  const JoinDim choose = [&](Dim a, Dim b) { return select(ran, a, b); };
  for (size_t i = 0; i < initial.size(); ++i) {
    auto joined = join(context, out.carried[i], initial[i], {choose, choose});
    out.carried[i] = joined ? *std::move(joined) : Fact();
    out.carried[i].from_shapes = out.carried[i].from_shapes && trips.from_shapes;
  }
  out.count = context.simplify(select(ran, 1, 0));
  return out;
}

// The iterations after the first, all at once.
class Rest {
 public:
  // `makes_data`: the body makes sizes that depend on data.
  Rest(InferContext& context, const Iteration& iteration, const Trips& trips, const Facts& initial, const Facts& first,
       bool makes_data)
      : context_(context), iteration_(iteration), trips_(trips), initial_(initial), first_(first) {
    counted_by_shapes_ = trips.from_shapes && (!iteration.ends_by || first[*iteration.ends_by].from_shapes);
    by_shapes_ =
        counted_by_shapes_ && !makes_data && !mentions_data(context, initial) && !mentions_data(context, first);
  }

  Result<Iterated> walk() {
    bool to_the_end = false;
    Dim number;
    std::optional<Invariant> invariant;
    {
      Assumptions::Scope scope(context_.assumptions());
      number =
          trips_.limit ? context_.iteration(1, *trips_.limit - 1) : context_.fresh(source_of_sizes(by_shapes_), "i", 1);
      // What a loop can make of a size is not told by bounds, however often it runs: only numbers tell.
      invariant.emplace(context_, iteration_, initial_, carried_of(iteration_, first_), number,
                        by_shapes_ || !context_.numeric());
      const auto general = invariant->settle(trips_.at_least(2));
      to_the_end = general && iteration_.goes_on(first_) == Tri::yes && iteration_.goes_on(*general) == Tri::yes;
    }
    const Count count = count_of(context_, trips_, counted_by(), to_the_end);
    const Condition ran = unless_certain(context_, count.exact ? trips_.at_least(2) : Condition::ge(count.value, 2));
    auto scans = walk_for_real(*invariant, number, count.exact, ran);
    if (!scans) {
      TRY_OK(forbid(context_, ran, std::move(scans).error()));
      scans = scans_of(iteration_, first_);
    }
    assume_sizes(context_, *scans);
    return Iterated{invariant->after(count.value), *std::move(scans), false, count.value,
                    count.exact && invariant->exact()};
  }

 private:
  Fact counted_by() const {
    Fact source = source_of_sizes(counted_by_shapes_);
    const Fact* ends =
        iteration_.ends_by && iteration_.goes_on(first_) == Tri::unknown ? &first_[*iteration_.ends_by] : nullptr;
    source.from_sizes = trips_.from_sizes || (ends && (ends->from_shapes || ends->from_sizes));
    return source;
  }

  // An error: no second iteration may take place.
  Result<Facts> walk_for_real(const Invariant& invariant, Dim number, bool exact, const Condition& ran) {
    Assumptions::Scope scope(context_.assumptions());
    Assumptions& known = context_.assumptions();
    invariant.assume_free();
    // Where the count is not known, the last number may never come: a requirement holds for some number only.
    if (!exact) {
      const Dim some = context_.fresh(source_of_sizes(by_shapes_), "i", 1);
      return walk_at(invariant, number, some, ran);
    }
    known.assume(Condition::ge(number, 1));
    known.assume(Condition::lt(number, *trips_.limit));
    return walk_at(invariant, number, number, ran);
  }

  Result<Facts> walk_at(const Invariant& invariant, Dim number, Dim at, const Condition& ran) {
    if (trips_.limit) context_.assumptions().assume(Condition::lt(at, *trips_.limit));
    Facts state;
    for (const Fact& fact : invariant.state())
      state.push_back(map_dims(fact, [&](Dim d) { return substitute(d, {{number, at}}); }));
    TRY(const Facts outputs, context_.infer_body(*iteration_.body, iteration_.inputs(at, state), ran));
    assume_sizes(context_, outputs);
    if (iteration_.fixed_dims)
      TRY_OK(check_carried(context_, iteration_, initial_, carried_of(iteration_, outputs), ran));
    Facts scans = scans_of(iteration_, outputs);
    TRY_OK(settle_scans(context_, iteration_, scans_of(iteration_, first_), scans, ran));
    return scans;
  }

  InferContext& context_;
  const Iteration& iteration_;
  const Trips& trips_;
  const Facts &initial_, &first_;
  bool counted_by_shapes_;  // how often the body runs follows from the input shapes
  bool by_shapes_;          // and so do all sizes it makes
};

// Sizes of scan outputs where there may be no iteration: what the body makes of them may hold in an iteration only.
void join_empty(InferContext& context, const Trips& trips, const Facts& empty, Facts& scans) {
  Fact source = source_of_sizes(trips.from_shapes);
  source.from_sizes = true;
  for (size_t i = 0; i < scans.size(); ++i) {
    std::optional<Dims>& dims = scans[i].dims;
    const std::optional<Dims>& none = empty[i].dims;
    if (!dims || !none || dims->size() != none->size()) {
      dims.reset();
      continue;
    }
    for (size_t axis = 0; axis < dims->size(); ++axis) {
      Dim& size = (*dims)[axis];
      if (size == (*none)[axis]) continue;
      size = trips.from_shapes ? select(trips.at_least(1), size, (*none)[axis]) : Dim::unknown();
      if (size.is_unknown()) size = context.fresh(source, "scan");
    }
  }
}

}  // namespace

Result<std::optional<Iterated>> iterate_known(InferContext& context, const Iteration& iteration, Facts carried,
                                              std::optional<int64_t> limit, int64_t budget) {
  const size_t scans = iteration.body->outputs.size() - iteration.carried_at - iteration.carried;
  std::vector<Facts> parts(scans);
  int64_t number = 0;
  for (bool more = true; more && (!limit || number < *limit); ++number) {
    if (number >= budget) return std::optional<Iterated>();
    TRY(const Facts outputs, context.infer_body(*iteration.body, iteration.inputs(number, carried)));
    assume_sizes(context, outputs);
    const Facts next = carried_of(iteration, outputs);
    TRY_OK(check_carried(context, iteration, carried, next, Condition::always()));
    const Tri goes_on = iteration.goes_on(outputs);
    const bool last = limit && number + 1 >= *limit;
    if (goes_on == Tri::unknown && !last) return std::optional<Iterated>();
    more = goes_on == Tri::yes;
    const Facts now = scans_of(iteration, outputs);
    for (size_t i = 0; i < scans; ++i) parts[i].push_back(now[i]);
    carried = next;
  }
  Iterated out{std::move(carried), {}, true, number};
  if (number == 0) {
    out.scans = empty_scans(context, iteration, out.carried);
    out.stacked = false;
    return std::optional(std::move(out));
  }
  for (const Facts& part : parts) {
    TRY(Fact stacked, stack(context, part, 0, fmt::format("{}.scan", iteration.code)));
    out.scans.push_back(std::move(stacked));
  }
  return std::optional(std::move(out));
}

Result<Iterated> iterate_any(InferContext& context, Iteration iteration, const Facts& initial, Trips trips) {
  const auto none = [&] { return Iterated{initial, empty_scans(context, iteration, initial), false, 0}; };
  const Condition enters = trips.at_least(1);
  if (context.assumptions().prove(enters) == Tri::no) return none();
  const size_t data_dims = context.data_dims();
  auto first = context.infer_body(*iteration.body, iteration.inputs(0, initial), enters);
  if (!first) {
    TRY_OK(forbid(context, enters, std::move(first).error()));
    return none();
  }
  assume_sizes(context, *first);
  TRY_OK(check_carried(context, iteration, initial, carried_of(iteration, *first), unless_certain(context, enters)));
  const Tri goes_on = iteration.goes_on(*first);
  // A limit that is meant as one ends the loop, if the condition is always true.
  constexpr int64_t kNoLimit = (int64_t{1} << 31) - 1;
  const bool unlimited = !trips.limit || (trips.limit->is_constant() && *trips.limit->constant() >= kNoLimit);
  if (goes_on == Tri::unknown || (goes_on == Tri::yes && unlimited)) {
    if (auto known = counted(context, iteration, trips, initial, *first)) {
      trips = *std::move(known);
      const auto few = trips.limit->constant();
      if (few && *few <= kUnrolled) {
        TRY(auto all, iterate_known(context, iteration, initial, *few, kUnrolled));
        if (all) return *std::move(all);
      }
      iteration.goes_on = [](const Facts&) { return Tri::yes; };
    }
  }
  const bool single = iteration.goes_on(*first) == Tri::no || context.assumptions().prove(trips.at_least(2)) == Tri::no;
  const bool makes_data = context.data_dims() != data_dims;
  auto out = single ? Result<Iterated>(after_one(context, iteration, trips, initial, *first))
                    : Rest(context, iteration, trips, initial, *first, makes_data).walk();
  if (out && !out->scans.empty() && !context.proves(enters)) {
    Assumptions::Scope scope(context.assumptions());
    context.assumptions().assume(!enters);
    join_empty(context, trips, empty_scans(context, iteration, initial), out->scans);
  }
  return out;
}

}  // namespace anyshape::ops
