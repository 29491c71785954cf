#include <algorithm>
#include <array>
#include <limits>

#include "base/temporary.h"
#include "kernels/attention.h"
#include "kernels/copy.h"
#include "kernels/reals.h"
#include "ops/microsoft/attention_parts.h"
#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

// Positions [batch, length]: as given, or counted from `start` of each batch on.
Result<Tensor> positions_of(const Tensor& given, int64_t batch, int64_t length, int64_t start) {
  if (given && given.count() == batch * length) return given.reshaped({batch, length});
  if (given && given.count() != 1) return refuse("rotary.positions", "there are {} positions", given.count());
  if (given) start = given.int_at(0);
  TRY(Tensor out, Tensor::allocate(DType::i64, {batch, length}));
  for (int64_t i = 0; i < out.count(); ++i) out.set_int(i, start + i % length);
  return out;
}

Status rotate(const Call& call, std::string_view interleaved, const Tensor& cos, const Tensor& sin,
              const Tensor& positions, Tensor& x) {
  kernels::Rotary how{2 * cos.dims()[1], call.i(interleaved) != 0};
  if (how.rotated > x.dims()[3]) return refuse("rotary.size", "{} entries of {} are turned", how.rotated, x.dims()[3]);
  TRY(Tensor out, Tensor::allocate(x.dtype(), x.dims()));
  TRY_OK(kernels::rotary_embedding(how, x, cos, sin, positions, out));
  x = std::move(out);
  return {};
}

}  // namespace

Status run_ms_rotary(const Call& call, KernelArgs& args) {
  if (!is_integer(args.in(1).dtype())) return refuse("dtype", "positions are {}", name(args.in(1).dtype()));
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    const Tensor &x = wide.in(0), &cos = wide.in(2);
    Tensor heads = x;
    if (x.rank() == 3) {
      const int64_t given = call.i("num_heads"), size = 2 * cos.dims()[1];
      const int64_t count = given > 0 ? given : size > 0 ? x.dims()[2] / size : 0;
      if (count < 1) return refuse("rotary.heads", "{} features have no heads of {}", x.dims()[2], size);
      TRY(heads, kernels::split_heads(x, count));
    }
    TRY(const Tensor positions, positions_of(wide.in(1), heads.dims()[0], heads.dims()[2], 0));
    TRY_OK(rotate(call, "interleaved", cos, wide.in(3), positions, heads));
    if (x.rank() == 3) return kernels::merge_heads(heads, wide.out(0));
    return put(heads, wide.out(0));
  });
}

namespace {

struct Grouped {
  int64_t heads = 0, shared = 0, window = -1;
  double scale = 1;
  bool smooth = false, causal = true;
};

// One row of a batch, [1, heads, length, size].
Result<Tensor> row_of_group_kernel(const Tensor& x, int64_t b) {
  auto dims = temporary(x.dims());
  dims[0] = 1;
  TRY(Tensor out, Tensor::allocate(x.dtype(), dims));
  kernels::copy_elements(out, 0, x, b * out.count(), out.count());
  return out;
}

// A key whose score is `sink` (one per head) and whose value is 0 takes its share of the softmax.
Status add_sink(const Tensor& sink, int64_t heads, Tensor& k, Tensor& v, Tensor& mask) {
  const auto with_zero = [](const Tensor& x) -> Result<Tensor> {
    TRY(const Tensor zero, Tensor::allocate(x.dtype(), {x.dims()[0], x.dims()[1], 1, x.dims()[3]}));
    return joined(x, zero);
  };
  TRY(k, with_zero(k));
  TRY(v, with_zero(v));
  const int64_t queries = mask.dims()[2], keys = mask.dims()[3], given = mask.dims()[1];
  if (given != 1 && given != heads) return refuse("attention.bias", "attention_bias has {} heads of {}", given, heads);
  TRY(Tensor out, Tensor::allocate(mask.dtype(), {1, heads, queries, keys + 1}));
  TRY(const auto from, kernels::to_reals(mask));
  Temporary<double> sinks(static_cast<size_t>(heads)), values;
  values.reserve(static_cast<size_t>(out.count()));
  if (sink) {
    TRY(sinks, kernels::to_reals(sink));
  }
  if (static_cast<int64_t>(sinks.size()) != heads) return refuse("attention.sink", "there are {} sinks", sinks.size());
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t s = 0; s < queries; ++s) {
      const auto start = from.begin() + static_cast<ptrdiff_t>(((given == 1 ? 0 : h) * queries + s) * keys);
      values.insert(values.end(), start, start + static_cast<ptrdiff_t>(keys));
      values.push_back(sinks[static_cast<size_t>(h)]);
    }
  mask = std::move(out);
  return kernels::from_reals(values, mask);
}

// Keys after the query and those before the window are hidden.
Result<Tensor> window_mask(const Grouped& how, const AttentionSizes& sizes, const Tensor& bias, DType dtype) {
  Tensor cut;
  if (bias) {
    if (bias.rank() != 4 || bias.dims()[2] != sizes.queries || bias.dims()[3] < sizes.keys)
      return refuse("attention.bias", "attention_bias does not fit");
    TRY(cut, columns(bias, 0, sizes.keys));
  }
  TRY(Tensor mask, additive_mask(sizes, {}, cut, 0, how.causal, dtype));
  if (how.window <= 0) return mask;
  TRY(auto values, kernels::to_reals(mask));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (at % sizes.keys <= sizes.past + at / sizes.keys % sizes.queries - how.window)
      values[i] = static_cast<double>(std::numeric_limits<float>::lowest());
  }
  TRY_OK(kernels::from_reals(values, mask));
  return mask;
}

Result<Heads> grouped_inputs(const Grouped& how, const KernelArgs& args) {
  Heads out;
  const Tensor &query = args.in(0), &key = args.in(1);
  if (key) {
    TRY(out.q, kernels::split_heads(query, how.heads));
    TRY(out.k, kernels::split_heads(key, how.shared));
    TRY(out.v, kernels::split_heads(args.in(2), how.shared));
    return out;
  }
  const int64_t size = query.dims()[2] / (how.heads + 2 * how.shared);
  TRY(const Tensor q, columns(query, 0, size * how.heads));
  TRY(const Tensor k, columns(query, size * how.heads, size * how.shared));
  TRY(const Tensor v, columns(query, size * (how.heads + how.shared), size * how.shared));
  TRY(out.q, kernels::split_heads(q, how.heads));
  TRY(out.k, kernels::split_heads(k, how.shared));
  TRY(out.v, kernels::split_heads(v, how.shared));
  return out;
}

class GroupedRun {
 public:
  GroupedRun(const Call& call, Grouped how, KernelArgs& args) : call_(call), how_(how), args_(args) {}

  Status run() {
    TRY(const Heads all, grouped_inputs(how_, args_));
    const int64_t batch = all.q.dims()[0], queries = all.q.dims()[2], keys = most_keys(queries);
    TRY_OK(take_room(all, keys));
    if (args_.in(6) && (!is_integer(args_.in(6).dtype()) || args_.in(6).count() != 1))
      return refuse("attention.length", "total_sequence_length must be one integer");
    const int64_t total = args_.in(6) ? args_.in(6).int_at(0) : queries;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = args_.in(5) ? args_.in(5).int_at(b) + 1 : total;
      const int64_t past = queries == total ? 0 : length - queries;
      if (past < 0) return refuse("attention.length", "{} keys for {} queries", length, queries);
      if (past > keys - queries) return refuse("attention.past", "{} steps of {}", past, keys - queries);
      TRY_OK(run_row(all, b, past));
    }
    return {};
  }

 private:
  // Of a row, whatever its length: the past is no longer than its cache and fits the present with the queries.
  int64_t most_keys(int64_t queries) const {
    const Tensor& cache = args_.in(3);
    int64_t past = cache && cache.rank() == 4 ? cache.dims()[2] : 0;
    for (size_t i : {size_t{1}, size_t{2}})
      if (call_.has_output(i) && args_.out(i) && args_.out(i).rank() == 4)
        past = std::min(past, std::max<int64_t>(args_.out(i).dims()[2] - queries, 0));
    return past + queries;
  }

  // Takes and gives back the memory that a row of that many keys needs: the lengths are entries of an input, and a run
  // with longer rows than the one before must find its memory there.
  Status take_room(const Heads& all, int64_t keys) const {
    if (!TemporaryMemory::in_scope()) return {};
    const double bytes = row_bytes(all, static_cast<double>(keys));
    if (bytes > 0x1p62) return system_error("tensor.memory", "out of memory: {} keys in a row", keys);
    TemporaryMemory::give(TemporaryMemory::take(static_cast<size_t>(bytes)));
    std::array<Tensor, kRowTensors> lists;
    for (Tensor& list : lists) list = all.q;
    return {};
  }

  // At least what run_row() takes, by the tensors it makes: each element counts where it is made.
  double row_bytes(const Heads& all, double keys) const {
    const auto &q = all.q.dims(), &k = all.k.dims(), &v = all.v.dims();
    const Tensor& bias = args_.in(10);
    const bool sink = how_.smooth || args_.in(11);
    const auto element = static_cast<double>(bits(all.q.dtype()) / 8), real = static_cast<double>(sizeof(double));
    const auto heads = static_cast<double>(how_.heads), shared = static_cast<double>(how_.shared);
    const auto queries = static_cast<double>(q[2]), size = static_cast<double>(std::max({q[3], k[3], v[3]}));
    const double query = heads * queries * size, key = shared * (keys + 1) * size, now = shared * queries * size;
    const double given = bias && bias.rank() == 4 ? static_cast<double>(bias.dims()[1]) : 1;
    const double mask = std::max(given, sink ? heads : 1) * queries * (keys + 1);
    const double biases = bias && bias.rank() == 4 ? given * queries * static_cast<double>(bias.dims()[3]) : 0;
    // The row, turned, with the past, with the sink; the packed keys of one head.
    double total = element * (2 * query + 4 * now + (sink ? 4 : 2) * key + (keys + 1) * size);
    // The bias, cut, and the mask with it; two at a time as doubles, and the scores of one head.
    total += element * (biases + 2 * mask) + real * (2 * mask + (queries + 1) * (keys + 1));
    if (sink) total += element * mask + real * (2 * mask + 2 * heads);
    // The result, its heads merged, the sums of one head; positions.
    total += element * 2 * query + real * (queries * size + 3 * queries);
    return total + static_cast<double>(kRowTensors * kPieceBytes);
  }

  Status run_row(const Heads& all, int64_t b, int64_t past) {
    TRY(Tensor q, row_of_group_kernel(all.q, b));
    TRY(Tensor k, row_of_group_kernel(all.k, b));
    TRY(Tensor v, row_of_group_kernel(all.v, b));
    const int64_t queries = q.dims()[2];
    if (call_.i("do_rotary") != 0) TRY_OK(turn(b, past, q, k));
    TRY(k, with_past(args_.in(3), b, past, k));
    TRY(v, with_past(args_.in(4), b, past, v));
    TRY_OK(put_row(k, b, 1));
    TRY_OK(put_row(v, b, 2));
    Tensor bias = args_.in(10);
    if (bias && bias.rank() == 4 && bias.dims()[0] != 1) {
      TRY(bias, row_of_group_kernel(bias, b));
    }
    TRY(Tensor mask, window_mask(how_, {1, queries, past + queries, past}, bias, q.dtype()));
    if (how_.smooth || args_.in(11)) TRY_OK(add_sink(args_.in(11), how_.heads, k, v, mask));
    TRY(Tensor y, Tensor::allocate(q.dtype(), {1, how_.heads, queries, v.dims()[3]}));
    kernels::Attention how;
    how.scale = how_.scale;
    how.softcap = static_cast<double>(call_.f("softcap"));
    Tensor none;
    TRY_OK(kernels::attention(how, {q, k, v, mask, {}}, y, none));
    TRY(Tensor merged, Tensor::allocate(q.dtype(), {1, queries, how_.heads * v.dims()[3]}));
    TRY_OK(kernels::merge_heads(y, merged));
    kernels::copy_elements(args_.out(0), b * merged.count(), merged, 0, merged.count());
    return {};
  }

  Status turn(int64_t b, int64_t past, Tensor& q, Tensor& k) const {
    const Tensor &cos = args_.in(7), &sin = args_.in(8);
    if (!cos || !sin || cos.rank() != 2 || sin.rank() != 2) return refuse("rotary.cache", "the caches are missing");
    Tensor given;
    if (args_.in(9)) {
      const int64_t queries = q.dims()[2];
      if (args_.in(9).dtype() != DType::i64 || args_.in(9).count() < (b + 1) * queries)
        return refuse("rotary.positions", "there are {} positions", args_.in(9).count());
      TRY(given, Tensor::allocate(DType::i64, {1, queries}));
      kernels::copy_elements(given, 0, args_.in(9), b * queries, queries);
    }
    TRY(const Tensor positions, positions_of(given, 1, q.dims()[2], past));
    TRY_OK(rotate(call_, "rotary_interleaved", cos, sin, positions, q));
    return rotate(call_, "rotary_interleaved", cos, sin, positions, k);
  }

  // The first `past` steps of row b of the cache, then those of now.
  static Result<Tensor> with_past(const Tensor& cache, int64_t b, int64_t past, const Tensor& now) {
    if (past == 0) return now;
    if (!cache || cache.rank() != 4) return refuse("attention.past", "{} steps of the past are missing", past);
    const auto &from = cache.dims(), &to = now.dims();
    if (past > from[2]) return refuse("attention.past", "{} steps of {}", past, from[2]);
    if (b >= from[0] || from[1] != to[1] || from[3] != to[3] || cache.dtype() != now.dtype())
      return refuse("attention.past", "the past does not fit the present");
    const int64_t size = to[3], steps = past + to[2];
    TRY(Tensor out, Tensor::allocate(now.dtype(), {1, to[1], steps, size}));
    for (int64_t h = 0; h < to[1]; ++h) {
      kernels::copy_elements(out, h * steps * size, cache, (b * to[1] + h) * from[2] * size, past * size);
      kernels::copy_elements(out, (h * steps + past) * size, now, h * to[2] * size, to[2] * size);
    }
    return out;
  }

  // The present holds the steps so far, then what the past had there.
  Status put_row(const Tensor& steps, int64_t b, size_t output) {
    if (!call_.has_output(output)) return {};
    Tensor& present = args_.out(output);
    if (!present) return unknown("attention.length", "the length of the present is not known");
    if (present.dims()[2] < steps.dims()[2] || present.dims()[1] != steps.dims()[1] ||
        present.dims()[3] != steps.dims()[3] || present.dtype() != steps.dtype())
      return refuse("attention.past", "the present has no room");
    const int64_t size = steps.dims()[3], length = steps.dims()[2], room = present.dims()[2];
    for (int64_t h = 0; h < steps.dims()[1]; ++h)
      kernels::copy_elements(present, (b * steps.dims()[1] + h) * room * size, steps, h * length * size, length * size);
    return {};
  }

  // More than there are tensors and lists in a row, and what each needs beside its elements.
  static constexpr size_t kRowTensors = 48, kPieceBytes = 256;

  const Call& call_;
  Grouped how_;
  KernelArgs& args_;
};

}  // namespace

Status run_ms_group_query_attention(const Call& call, KernelArgs& args) {
  Grouped how;
  how.heads = call.i("num_heads");
  how.shared = call.i("kv_num_heads");
  how.window = call.i("local_window_size");
  how.smooth = call.i("smooth_softmax") == 1;
  how.causal = call.i("causal") != 0;
  if (args.in(12) || args.in(13)) return unknown("attention.cache", "a quantised cache is not known");
  if (args.in(5) && (args.in(5).dtype() != DType::i32 || args.in(5).count() != args.in(0).dims()[0]))
    return refuse("attention.length", "seqlens_k must have one number per batch");
  if (how.heads < 1 || how.shared < 1)
    return refuse("attention.heads", "there are {} and {} heads", how.heads, how.shared);
  const int64_t hidden = args.in(0).dims()[2];
  how.scale = scale_of(call, args.in(1) ? hidden / how.heads : hidden / (how.heads + 2 * how.shared));
  return run_wide(args, [&](KernelArgs& wide) { return GroupedRun(call, how, wide).run(); });
}

}  // namespace anyshape::ops
