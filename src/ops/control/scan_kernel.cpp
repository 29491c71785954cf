#include <algorithm>

#include "kernels/join.h"
#include "ops/control/scan.h"

namespace anyshape::ops {
namespace {

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
  TRY(const ScanPlan plan, scan_plan_of(call, skipped));
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
  TRY_OK(check_scan_directions(call.ints("scan_input_directions"), job.inputs.size(), "scan_input_directions"));
  TRY_OK(check_scan_directions(call.ints("scan_output_directions"), scan_outputs, "scan_output_directions"));
  if ((in_axes && in_axes->size() != job.inputs.size()) || (out_axes && out_axes->size() != scan_outputs))
    return refuse("scan.axes", "there must be one axis per scan input and scan output");
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

}  // namespace

Status reference_scan9(const Call& call, KernelArgs& args) {
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

Status reference_scan8(const Call& call, KernelArgs& args) {
  TRY(Job whole, job_of(call, args, 1));
  const auto* directions = call.ints("directions");
  TRY_OK(check_scan_directions(directions, whole.inputs.size(), "directions"));
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

}  // namespace anyshape::ops
