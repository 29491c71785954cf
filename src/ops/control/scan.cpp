#include <algorithm>

#include "kernels/join.h"
#include "ops/control/iterate.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kIn8[] = {{"sequence_lens", Port::optional | Port::value},
                         {"initial_state_and_scan_inputs", Port::variadic | Port::value}};
constexpr Port kIn9[] = {{"initial_state_and_scan_inputs", Port::variadic | Port::value}};
constexpr Port kOut[] = {{"final_state_and_scan_outputs", Port::variadic}};
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

struct ScanInput {
  const Fact* fact;
  size_t axis = 0;
  bool backwards = false;
};

struct Plan {
  const Graph* body = nullptr;
  size_t states = 0, scan_outputs = 0;
  std::vector<ScanInput> inputs;
  Facts initial;
  Dim length = 0;
  std::optional<Dim> batch;  // Scan 8
};

Status check_directions(const std::vector<int64_t>* directions, size_t count, std::string_view name) {
  if (!directions) return {};
  if (directions->size() != count)
    return refuse("scan.directions", "{} has {} entries for {} values", name, directions->size(), count);
  const bool legal = std::all_of(directions->begin(), directions->end(), [](int64_t d) { return d == 0 || d == 1; });
  return legal ? Status() : refuse("scan.directions", "{} may hold 0 and 1 only", name);
}

Result<Plan> plan_of(const Call& call, size_t skipped) {
  Plan plan;
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

// The length of all scan inputs along their axes.
Result<Dim> common_length(InferContext& context, const Plan& plan) {
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

bool carries_values(const Plan& plan) {
  const auto known = [](const Fact& f) { return f.elements || f.constant; };
  return std::any_of(plan.initial.begin(), plan.initial.end(), known) ||
         std::any_of(plan.inputs.begin(), plan.inputs.end(), [&](const ScanInput& in) { return known(*in.fact); });
}

Result<Iterated> walk(InferContext& context, const Plan& plan) {
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
  TRY(Plan plan, plan_of(call, 0));
  const auto *axes = call.ints("scan_input_axes"), *directions = call.ints("scan_input_directions");
  const auto* out_axes = call.ints("scan_output_axes");
  TRY_OK(check_directions(directions, plan.inputs.size(), "scan_input_directions"));
  TRY_OK(check_directions(call.ints("scan_output_directions"), plan.scan_outputs, "scan_output_directions"));
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
  TRY(Plan plan, plan_of(call, 1));
  const auto* directions = call.ints("directions");
  TRY_OK(check_directions(directions, plan.inputs.size(), "directions"));
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

// One scan over tensors.
struct Job {
  struct Input {
    Tensor tensor;
    size_t axis = 0;
    bool backwards = false;

    // Its entries along the axis are whole pieces of its memory.
    bool in_place() const {
      return axis == 0 && tensor.dtype() != DType::string && bits(tensor.dtype()) >= 8 && tensor.count() > 0;
    }
    // Keeps what the whole keeps. REQUIRES: in_place(), index is there.
    Tensor window(int64_t index) const {
      const std::span<const int64_t> dims(tensor.dims());
      const int64_t bytes = static_cast<int64_t>(tensor.bytes().size()) / dims[0];
      Tensor one = tensor;
      one.point_at(tensor.dtype(), dims.subspan(1), tensor.bytes().data() + index * bytes, keeper(tensor));
      return one;
    }
    static std::shared_ptr<const void> keeper(const Tensor& whole) {
      return whole.owned() ? std::make_shared<const Tensor>(whole) : nullptr;
    }
  };
  const Graph* body = nullptr;
  std::vector<Datum> states;
  std::vector<Input> inputs;
  int64_t length = 0;

  Result<std::vector<Datum>> body_inputs(int64_t number) const {
    std::vector<Datum> in = states;
    for (const Input& scan : inputs) {
      const int64_t index = scan.backwards ? length - 1 - number : number;
      if (scan.in_place()) {
        in.emplace_back(scan.window(index));
        continue;
      }
      std::vector<int64_t> dims = scan.tensor.dims();
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(scan.axis));
      TRY(Tensor one,
          length == 0 ? Tensor::allocate(scan.tensor.dtype(), dims) : kernels::part(scan.tensor, scan.axis, index, 1));
      in.emplace_back(one.reshaped(std::move(dims)));
    }
    return in;
  }
};

Status check_states(const std::vector<Datum>& before, const std::vector<Datum>& after) {
  for (size_t i = 0; i < before.size(); ++i) {
    if (!before[i].is_tensor() || !after[i].is_tensor()) continue;
    const auto &from = before[i].tensor().dims(), &to = after[i].tensor().dims();
    if (from != to)
      return refuse("scan.state", "state {} starts as [{}] and becomes [{}]: its shape must stay", i,
                    fmt::join(from, ", "), fmt::join(to, ", "));
  }
  return {};
}

// The states end up in `job`, the scan outputs in the answer.
Result<ScanParts> run_job(BodyRunner& bodies, Job& job) {
  ScanParts scans(*job.body, job.states.size(), job.length);
  for (int64_t number = 0; number < job.length; ++number) {
    TRY(std::vector<Datum> in, job.body_inputs(number));
    TRY(std::vector<Datum> out, bodies.run(*job.body, std::move(in)));
    TRY_OK(scans.add(out));
    TRY_OK(check_states(job.states, out));
    std::move(out.begin(), out.begin() + static_cast<ptrdiff_t>(job.states.size()), job.states.begin());
  }
  return scans;
}

// The scan outputs before they are put together: types only where nothing ran.
Result<std::vector<TensorType>> types_of_none(BodyRunner& bodies, const Job& job, const ScanParts& scans) {
  TRY(std::vector<Datum> in, job.body_inputs(0));
  return scans.none(bodies, std::move(in));
}

Result<Tensor> gather_scan(ScanParts& scans, size_t k, const TensorType* none, int64_t asked, bool backwards) {
  if (!none && asked == 0 && !backwards) return scans.stacked(k);
  Temporary<Tensor> parts = none ? Temporary<Tensor>() : scans.parts(k);
  TRY(const size_t axis, normalize_axis(asked, (none ? none->dims.size() : parts[0].rank()) + 1));
  if (none) return no_parts(*none, axis);
  if (backwards) std::reverse(parts.begin(), parts.end());
  return kernels::stack(parts, axis);
}

Result<Job> job_of(const Call& call, KernelArgs& args, size_t skipped) {
  TRY(const Plan plan, plan_of(call, skipped));
  Job job;
  job.body = plan.body;
  for (size_t i = 0; i < plan.states + plan.inputs.size(); ++i) {
    const Datum& datum = args.inputs[skipped + i];
    if (!datum.is_tensor()) return refuse("scan.inputs", "input {} is no tensor", skipped + i);
    if (i < plan.states)
      job.states.push_back(datum);
    else
      job.inputs.push_back({datum.tensor()});
  }
  return job;
}

Status settle_length(Job& job) {
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const int64_t size = job.inputs[i].tensor.dims()[job.inputs[i].axis];
    if (i == 0) job.length = size;
    if (size != job.length)
      return refuse("scan.length", "the scan inputs must be equally long along their scan axes: {} and {}", job.length,
                    size);
  }
  return {};
}

Status check_axes(const Call& call, const Job& job, size_t scan_outputs) {
  const auto *in_axes = call.ints("scan_input_axes"), *out_axes = call.ints("scan_output_axes");
  TRY_OK(check_directions(call.ints("scan_input_directions"), job.inputs.size(), "scan_input_directions"));
  TRY_OK(check_directions(call.ints("scan_output_directions"), scan_outputs, "scan_output_directions"));
  if ((in_axes && in_axes->size() != job.inputs.size()) || (out_axes && out_axes->size() != scan_outputs))
    return refuse("scan.axes", "there must be one axis per scan input and scan output");
  return {};
}

Status reference9(const Call& call, KernelArgs& args) {
  TRY(Job job, job_of(call, args, 0));
  TRY_OK(check_axes(call, job, job.body->outputs.size() - job.states.size()));
  const auto *axes = call.ints("scan_input_axes"), *directions = call.ints("scan_input_directions");
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    TRY(job.inputs[i].axis, normalize_axis(axes ? (*axes)[i] : 0, job.inputs[i].tensor.rank()));
    job.inputs[i].backwards = directions && (*directions)[i] == 1;
  }
  TRY_OK(settle_length(job));
  TRY(ScanParts scans, run_job(*args.bodies, job));
  std::vector<TensorType> none;
  if (job.length == 0) {
    TRY(none, types_of_none(*args.bodies, job, scans));
  }
  const auto *out_axes = call.ints("scan_output_axes"), *out_directions = call.ints("scan_output_directions");
  for (size_t i = 0; i < call.outputs(); ++i) {
    if (i < job.states.size()) {
      args.outputs[i] = job.states[i];
      continue;
    }
    const size_t k = i - job.states.size();
    TRY(Tensor out, gather_scan(scans, k, none.empty() ? nullptr : &none[k], out_axes ? (*out_axes)[k] : 0,
                                out_directions && (*out_directions)[k] == 1));
    args.outputs[i] = std::move(out);
  }
  return {};
}

// One entry of the batch axis of all values.
Result<Job> batch_entry(const Job& whole, int64_t batch, int64_t entry) {
  const auto pick = [&](const Tensor& tensor) -> Result<Tensor> {
    if (tensor.rank() == 0 || tensor.dims()[0] != batch)
      return refuse("scan.batch", "all values of Scan need the same batch axis");
    TRY(const Tensor one, kernels::part(tensor, 0, entry, 1));
    return one.reshaped({tensor.dims().begin() + 1, tensor.dims().end()});
  };
  Job job = whole;
  for (Datum& state : job.states) {
    TRY(Tensor one, pick(state.tensor()));
    state = std::move(one);
  }
  for (Job::Input& in : job.inputs) {
    TRY(in.tensor, pick(in.tensor));
    if (in.tensor.rank() == 0) return refuse("scan.axes", "a scan input has no sequence axis");
  }
  TRY_OK(settle_length(job));
  return job;
}

// The scan outputs of one batch entry, zeros after its own length.
Result<std::vector<Tensor>> padded_scans(BodyRunner& bodies, const Job& job, ScanParts& scans, int64_t longest) {
  std::vector<TensorType> types;
  if (job.length == 0) {
    TRY(types, types_of_none(bodies, job, scans));
  }
  std::vector<Tensor> out;
  for (size_t k = 0; k < scans.count(); ++k) {
    Temporary<Tensor> parts = scans.parts(k);
    const TensorType type = job.length == 0 ? types[k] : TensorType{parts[0].dtype(), parts[0].dims()};
    if (longest == 0) {
      TRY(Tensor none, no_parts(type, 0));
      out.push_back(std::move(none));
      continue;
    }
    TRY(const Tensor zeros, Tensor::allocate(type.dtype, type.dims));
    parts.resize(static_cast<size_t>(longest), zeros);
    TRY(Tensor stacked, kernels::stack(parts, 0));
    out.push_back(std::move(stacked));
  }
  return out;
}

Result<int64_t> own_length(const Tensor& lengths, int64_t batch, int64_t entry, int64_t longest) {
  if (!lengths) return longest;
  if (!is_integer(lengths.dtype()) || lengths.count() != batch)
    return refuse("scan.lengths", "sequence_lens has {} entries for a batch of {}", lengths.count(), batch);
  const int64_t length = lengths.int_at(entry);
  if (length < 0 || length > longest) return refuse("scan.lengths", "the length {} is not in 0..{}", length, longest);
  return length;
}

Status reference8(const Call& call, KernelArgs& args) {
  TRY(Job whole, job_of(call, args, 1));
  const auto* directions = call.ints("directions");
  TRY_OK(check_directions(directions, whole.inputs.size(), "directions"));
  for (size_t i = 0; i < whole.inputs.size(); ++i) whole.inputs[i].backwards = directions && (*directions)[i] == 1;
  const Tensor& first = whole.inputs[0].tensor;
  if (first.rank() == 0) return refuse("scan.batch", "a value of Scan needs a batch axis, one is a scalar");
  const int64_t batch = first.dims()[0];
  if (batch == 0) return unknown("scan.batch", "Scan over an empty batch");
  std::vector<std::vector<Tensor>> parts(whole.body->outputs.size());
  for (int64_t entry = 0; entry < batch; ++entry) {
    TRY(Job job, batch_entry(whole, batch, entry));
    const int64_t longest = job.length;
    TRY(job.length, own_length(args.in(0), batch, entry, longest));
    // A backward scan of a shorter sequence starts at the sequence's own end: body_inputs counts from job.length.
    TRY(ScanParts scans, run_job(*args.bodies, job));
    TRY(const std::vector<Tensor> stacked, padded_scans(*args.bodies, job, scans, longest));
    for (size_t i = 0; i < job.states.size(); ++i) parts[i].push_back(job.states[i].tensor());
    for (size_t k = 0; k < stacked.size(); ++k) parts[job.states.size() + k].push_back(stacked[k]);
  }
  for (size_t i = 0; i < call.outputs(); ++i) {
    TRY(Tensor out, kernels::stack(parts[i], 0));
    args.outputs[i] = std::move(out);
  }
  return {};
}

constexpr Kernel kKernels8[] = {{"reference", reference8}};
constexpr Kernel kKernels9[] = {{"reference", reference9}};

}  // namespace

constexpr OpDef kScan8{.name = "Scan",
                       .since = 8,
                       .sig = {kIn8, kOut, "a body over the entries of sequences, by batch", kScan8Attributes},
                       .infer = infer8,
                       .kernels = kKernels8};
constexpr OpDef kScan9{.name = "Scan",
                       .since = 9,
                       .sig = {kIn9, kOut, "a body over the entries of tensors", kScan9Attributes},
                       .infer = infer9,
                       .kernels = kKernels9};

}  // namespace anyshape::ops
