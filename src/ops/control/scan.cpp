#include "ops/control/scan.h"

#include <algorithm>

#include "ops/control/iterate.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn8[] = {{"sequence_lens", Port::optional | Port::value},
                         {"initial_state_and_scan_inputs", Port::variadic | Port::value}};
constexpr Port kIn9[] = {{"initial_state_and_scan_inputs", Port::variadic | Port::value}};
constexpr Port kScanOut[] = {{"final_state_and_scan_outputs", Port::variadic}};
constexpr AttributeDef kScan8Attributes[] = {
    {"body", AttributeDef::graph, AttributeDef::required},
    {"directions", AttributeDef::integers},
    {"num_scan_inputs", AttributeDef::integer, AttributeDef::required},
};
constexpr AttributeDef kScan9Attributes[] = {
    {"body", AttributeDef::graph, AttributeDef::required},
    {"num_scan_inputs", AttributeDef::integer, AttributeDef::required},
    {"scan_input_axes", AttributeDef::integers},
    {"scan_input_directions", AttributeDef::integers},
    {"scan_output_axes", AttributeDef::integers},
    {"scan_output_directions", AttributeDef::integers},
};

// The length of all scan inputs along their axes.
Result<Dim> common_length(InferContext& context, const ScanPlan& plan) {
  std::optional<Dim> length;
  for (const ScanInput& in : plan.inputs) {
    if (!in.fact->dims) continue;
    const Dim d = (*in.fact->dims)[in.axis];
    if (!length) {
      length = d;
      continue;
    }
    TRY_OK(context.require(Condition::eq(*length, d), "scan.length",
                           "the scan inputs must be equally long along their scan axes: {} and {}", print(*length),
                           print(d)));
  }
  if (!length) return unknown("infer.rank", "the rank of the scan inputs is not known");
  return *length;
}

// The entries at one position of an axis.
void pick_entries(const Fact& whole, size_t axis, int64_t index, Fact& out) {
  const auto dims = whole.numeric_dims();
  if (!whole.elements || !dims || index < 0 || index >= (*dims)[axis]) return;
  size_t inner = 1, outer = 1;
  for (size_t i = axis + 1; i < dims->size(); ++i) inner *= static_cast<size_t>((*dims)[i]);
  for (size_t i = 0; i < axis; ++i) outer *= static_cast<size_t>((*dims)[i]);
  const auto size = static_cast<size_t>((*dims)[axis]);
  if (outer * size * inner != whole.elements->size()) return;
  Dims values;
  for (size_t o = 0; o < outer; ++o)
    for (size_t k = 0; k < inner; ++k)
      values.push_back((*whole.elements)[(o * size + static_cast<size_t>(index)) * inner + k]);
  out.elements = std::make_shared<const Dims>(std::move(values));
  out.denominator = whole.denominator;
}

Fact element_at(const ScanInput& in, Dim number, Dim length) {
  Fact out = in.fact->type_only();
  if (const auto bounds = in.fact->value_bounds()) out.bounds = Bounds{bounds->lo, bounds->hi};
  if (out.dims) out.dims->erase(out.dims->begin() + static_cast<ptrdiff_t>(in.axis));
  const Dim index = in.backwards ? length - 1 - number : number;
  if (out.dims && index.is_constant()) pick_entries(*in.fact, in.axis, *index.constant(), out);
  if (out.elements) out.bounds.reset();
  return out;
}

bool carries_values(const ScanPlan& plan) {
  const auto known = [](const Fact& f) { return f.elements || f.constant; };
  return std::any_of(plan.initial.begin(), plan.initial.end(), known) ||
         std::any_of(plan.inputs.begin(), plan.inputs.end(), [&](const ScanInput& in) { return known(*in.fact); });
}

Result<Iterated> walk(InferContext& context, const ScanPlan& plan) {
  Iteration iteration;
  iteration.body = plan.body;
  iteration.carried = plan.states;
  iteration.fixed_dims = true;
  iteration.code = "scan";
  iteration.inputs = [&plan](Dim number, const Facts& carried) {
    Facts in = carried;
    for (const ScanInput& scan : plan.inputs) in.push_back(element_at(scan, number, plan.length));
    return in;
  };
  iteration.goes_on = [](const Facts&) { return Tri::yes; };
  const auto count = plan.length.constant();
  if (context.numeric() && count && *count <= context.loop_limit() && carries_values(plan)) {
    TRY(auto known, iterate_known(context, iteration, plan.initial, count, *count));
    if (known) return *std::move(known);
  }
  return iterate_any(context, iteration, plan.initial, Trips{plan.length, Condition::always(), true});
}

Result<Facts> infer9(const Call& call, InferContext& context) {
  TRY(ScanPlan plan, scan_plan_of(call, 0));
  const auto *axes = call.ints("scan_input_axes"), *directions = call.ints("scan_input_directions");
  const auto* out_axes = call.ints("scan_output_axes");
  TRY_OK(check_scan_directions(directions, plan.inputs.size(), "scan_input_directions"));
  TRY_OK(check_scan_directions(call.ints("scan_output_directions"), plan.scan_outputs, "scan_output_directions"));
  if (axes && axes->size() != plan.inputs.size())
    return refuse("scan.axes", "scan_input_axes has {} entries for {} scan inputs", axes->size(), plan.inputs.size());
  if (out_axes && out_axes->size() != plan.scan_outputs)
    return refuse("scan.axes", "scan_output_axes has {} entries for {} scan outputs", out_axes->size(),
                  plan.scan_outputs);
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    ScanInput& in = plan.inputs[i];
    in.backwards = directions && (*directions)[i] == 1;
    if (!in.fact->dims) continue;
    TRY(in.axis, normalize_axis(axes ? (*axes)[i] : 0, in.fact->dims->size()));
  }
  TRY(plan.length, common_length(context, plan));
  TRY(Iterated done, walk(context, plan));
  Facts out = std::move(done.carried);
  for (size_t i = 0; i < done.scans.size(); ++i) {
    Fact scan = done.scans[i];
    const int64_t asked = out_axes ? (*out_axes)[i] : 0;
    if (done.stacked && asked == 0) {
      out.push_back(std::move(scan));
      continue;
    }
    scan = scan.type_only();
    if (scan.dims) {
      if (done.stacked) scan.dims->erase(scan.dims->begin());
      TRY(const size_t axis, normalize_axis(asked, scan.dims->size() + 1));
      scan.dims->insert(scan.dims->begin() + static_cast<ptrdiff_t>(axis), done.count);
    }
    out.push_back(std::move(scan));
  }
  return out;
}

// Takes the batch axis off a value; all values must have the same.
Status drop_batch(InferContext& context, Fact& fact, std::optional<Dim>& batch) {
  fact = fact.type_only();
  if (!fact.dims) return {};
  if (fact.dims->empty()) return refuse("scan.batch", "a value of Scan needs a batch axis, one is a scalar");
  const Dim d = fact.dims->front();
  fact.dims->erase(fact.dims->begin());
  if (!batch) {
    batch = d;
    return {};
  }
  return context.require(Condition::eq(*batch, d), "scan.batch", "the batch sizes must be equal: {} and {}",
                         print(*batch), print(d));
}

Result<Facts> infer8(const Call& call, InferContext& context) {
  TRY(ScanPlan plan, scan_plan_of(call, 1));
  const auto* directions = call.ints("directions");
  TRY_OK(check_scan_directions(directions, plan.inputs.size(), "directions"));
  for (Fact& state : plan.initial) TRY_OK(drop_batch(context, state, plan.batch));
  Facts sliced;
  sliced.reserve(plan.inputs.size());
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    sliced.push_back(*plan.inputs[i].fact);
    TRY_OK(drop_batch(context, sliced.back(), plan.batch));
    if (sliced.back().dims && sliced.back().dims->empty())
      return refuse("scan.axes", "scan input {} has no sequence axis: {}", i, print(*plan.inputs[i].fact));
    plan.inputs[i] = {&sliced.back(), 0, directions && (*directions)[i] == 1};
  }
  TRY(plan.length, common_length(context, plan));
  if (!plan.batch) return unknown("infer.rank", "the batch size is not known");
  if (call.has(0) && call.in(0).dims)
    TRY_OK(require_same_dims(context, *call.in(0).dims, {*plan.batch}, "sequence_lens has one entry per batch entry"));
  TRY(Iterated done, walk(context, plan));
  Facts out;
  for (const Fact& state : done.carried) out.push_back(state.type_only());
  for (const Fact& scan : done.scans) {
    out.push_back(scan.type_only());
    if (!done.stacked && out.back().dims) out.back().dims->insert(out.back().dims->begin(), done.count);
  }
  for (Fact& fact : out) {
    if (fact.dims) fact.dims->insert(fact.dims->begin(), *plan.batch);
    fact.from_shapes = false;
  }
  return out;
}

constexpr Kernel kKernels8[] = {{"reference", reference_scan8}};
constexpr Kernel kKernels9[] = {{"reference", reference_scan9}};

}  // namespace

Result<ScanPlan> scan_plan_of(const Call& call, size_t skipped) {
  ScanPlan plan;
  plan.body = call.graph("body");
  if (!plan.body) return refuse("scan.body", "the body is missing");
  const int64_t scans = call.i("num_scan_inputs");
  const size_t given = call.inputs() - skipped;
  if (scans < 1 || static_cast<size_t>(scans) > given)
    return refuse("scan.inputs", "num_scan_inputs is {}, the node has {} inputs", scans, given);
  plan.states = given - static_cast<size_t>(scans);
  if (plan.body->required_inputs().size() != given)
    return refuse("scan.inputs", "the body takes {} inputs, the node has {}", plan.body->required_inputs().size(),
                  given);
  if (plan.body->outputs.size() < plan.states)
    return refuse("scan.outputs", "the body gives {} outputs for {} states", plan.body->outputs.size(), plan.states);
  plan.scan_outputs = plan.body->outputs.size() - plan.states;
  if (call.outputs() > plan.body->outputs.size())
    return refuse("scan.outputs", "the node has {} outputs, its body gives {}", call.outputs(),
                  plan.body->outputs.size());
  for (size_t i = 0; i < given; ++i) {
    if (!call.has(skipped + i)) return refuse("scan.inputs", "input {} is missing", skipped + i);
    if (i < plan.states)
      plan.initial.push_back(call.in(skipped + i));
    else
      plan.inputs.push_back({&call.in(skipped + i)});
  }
  return plan;
}

Status check_scan_directions(const std::vector<int64_t>* directions, size_t count, std::string_view name) {
  if (!directions) return {};
  if (directions->size() != count)
    return refuse("scan.directions", "{} has {} entries for {} values", name, directions->size(), count);
  const bool legal = std::all_of(directions->begin(), directions->end(), [](int64_t d) { return d == 0 || d == 1; });
  return legal ? Status() : refuse("scan.directions", "{} may hold 0 and 1 only", name);
}

constexpr OpDef kScan8{.name = "Scan",
                       .since = 8,
                       .sig = {kIn8, kScanOut, "a body over the entries of sequences, by batch", kScan8Attributes},
                       .infer = infer8,
                       .kernels = kKernels8};
constexpr OpDef kScan9{.name = "Scan",
                       .since = 9,
                       .sig = {kIn9, kScanOut, "a body over the entries of tensors", kScan9Attributes},
                       .infer = infer9,
                       .kernels = kKernels9};

}  // namespace anyshape::ops
