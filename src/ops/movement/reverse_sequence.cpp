#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kReverseSequenceIn[] = {{"input"}, {"sequence_lens"}};
constexpr Port kReverseSequenceOut[] = {{"Y"}};
constexpr AttributeDef kReverseSequenceAttributes[] = {
    {"batch_axis", 1},
    {"time_axis", 0},
};
constexpr size_t kReverseSequenceData[] = {0};

struct Axes {
  size_t time = 0, batch = 1;
};

Result<Axes> axes_of_call(const Call& call, size_t rank) {
  const int64_t time = call.i("time_axis"), batch = call.i("batch_axis");
  if (rank < 2) return refuse("rank", "ReverseSequence takes input 0 of rank 2 or more, it has {}", rank);
  const bool ok = (time == 0 && batch == 1) || (time == 1 && batch == 0);
  if (!ok)
    return refuse("reversesequence.axes", "time_axis {} and batch_axis {} must be 0 and 1 in some order", time, batch);
  return Axes{static_cast<size_t>(time), static_cast<size_t>(batch)};
}

Status reference_reverse_sequence(const Call& call, KernelArgs& args) {
  const Tensor &data = args.in(0), &lengths = args.in(1);
  TRY(const Axes axes, axes_of_call(call, data.rank()));
  for (int64_t i = 0; i < lengths.count(); ++i)
    if (lengths.int_at(i) < 0 || lengths.int_at(i) > data.dims()[axes.time])
      return refuse("reversesequence.length", "sequence length {} is out of range for {} steps", lengths.int_at(i),
                    data.dims()[axes.time]);
  const auto strides = row_strides(data.dims());
  fill_by(args.out(0), data, [&](std::span<const int64_t> index) {
    const int64_t length = lengths.int_at(index[axes.batch]), step = index[axes.time];
    int64_t offset = ((step < length ? length - 1 - step : step) - step) * strides[axes.time];
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
    return offset;
  });
  return {};
}

constexpr Kernel kReverseSequenceKernels[] = {{"reference", reference_reverse_sequence}};

Result<Facts> infer_reverse_sequence(const Call& call, InferContext& context) {
  TRY(const Dims data, call.dims(0));
  TRY(const Axes axes, axes_of_call(call, data.size()));
  TRY_OK(require_integers(call, 1));
  if (call.in(1).dims)
    TRY_OK(require_same_dims(context, *call.in(1).dims, {data[axes.batch]}, "sequence_lens and the batch"));
  const auto bounds = call.in(1).value_bounds();
  const Dim steps = data[axes.time];
  if (bounds && bounds->attained)
    TRY_OK(context.require(
        Condition::eq(data[axes.batch], 0) || (Condition::ge(bounds->lo, 0) && Condition::le(bounds->hi, steps)),
        "reversesequence.length", "sequence lengths from {} to {} must be in 0..{}", print(bounds->lo),
        print(bounds->hi), print(steps)));
  else if (!bounds || !context.proves(Condition::ge(bounds->lo, 0) && Condition::le(bounds->hi, steps)))
    context.data_condition("reversesequence.length", "sequence lengths must be in 0..{}", print(steps));
  Facts out{call.in(0).type_only()};
  carry_all(call, kReverseSequenceKernels[0], kReverseSequenceData, out);
  return out;
}

}  // namespace

constexpr OpDef kReverseSequence10{
    .name = "ReverseSequence",
    .since = 10,
    .sig = {kReverseSequenceIn, kReverseSequenceOut, "the first entries of each sequence in reverse order",
            kReverseSequenceAttributes},
    .infer = infer_reverse_sequence,
    .kernels = kReverseSequenceKernels};

}  // namespace anyshape::ops
