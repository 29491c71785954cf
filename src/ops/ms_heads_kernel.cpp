#include <algorithm>
#include <cmath>

#include "kernels/attention.h"
#include "kernels/copy.h"
#include "ops/ms_attention_parts.h"
#include "ops/ms_common.h"
#include "ops/ms_kernel.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

struct Heads {
  Tensor q, k, v;  // [batch, heads, length, size]
};

// Part i of an input [batch, length, heads, parts, size].
Result<Tensor> packed_part(const Tensor& packed, int64_t parts, int64_t i) {
  const auto& d = packed.dims();
  if (d.size() != 5 || d[3] != parts)
    return refuse("attention.packed", "a packed input must be [B, L, N, {}, H]", parts);
  TRY(Tensor out, Tensor::allocate(packed.dtype(), {d[0], d[1], d[2], d[4]}));
  for (int64_t row = 0; row < d[0] * d[1] * d[2]; ++row)
    kernels::copy_elements(out, row * d[4], packed, (row * parts + i) * d[4], d[4]);
  return permuted(out, {0, 2, 1, 3});
}

// [batch, length, heads * size] plus its part of the bias, or [batch, heads, length, size] as it is.
Result<Tensor> read_heads(const Tensor& x, const Tensor& bias, int64_t start, int64_t heads) {
  if (x.rank() == 4) return x;
  Tensor sum = x;
  if (bias) {
    TRY(sum, Tensor::allocate(x.dtype(), x.dims()));
    TRY(const Tensor part, columns(bias, start, x.dims().back()));
    TRY_OK(add_to(sum, x));
    TRY_OK(add_to(sum, part));
  }
  return kernels::split_heads(sum, heads);
}

Result<Heads> read_inputs(const KernelArgs& args, const Tensor& bias, int64_t heads) {
  const Tensor &query = args.in(0), &key = args.in(1), &value = args.in(2);
  Heads out;
  if (query.rank() == 5) {
    TRY(out.q, packed_part(query, 3, 0));
    TRY(out.k, packed_part(query, 3, 1));
    TRY(out.v, packed_part(query, 3, 2));
    return out;
  }
  const int64_t hidden = query.dims().back();
  if (!key) {
    TRY(const Tensor q, columns(query, 0, hidden / 3));
    TRY(const Tensor k, columns(query, hidden / 3, hidden / 3));
    TRY(const Tensor v, columns(query, hidden / 3 * 2, hidden / 3));
    TRY(out.q, read_heads(q, bias, 0, heads));
    TRY(out.k, read_heads(k, bias, hidden / 3, heads));
    TRY(out.v, read_heads(v, bias, hidden / 3 * 2, heads));
    return out;
  }
  TRY(out.q, read_heads(query, bias, 0, heads));
  if (key.rank() == 5) {
    TRY(out.k, packed_part(key, 2, 0));
    TRY(out.v, packed_part(key, 2, 1));
    return out;
  }
  TRY(out.k, read_heads(key, bias, hidden, heads));
  TRY(out.v, read_heads(value, bias, 2 * hidden, heads));
  return out;
}

Status put_present(const Call& call, const Tensor& k, const Tensor& v, KernelArgs& args) {
  if (call.has_output(1)) TRY_OK(put(k, args.out(1)));
  if (call.has_output(2)) TRY_OK(put(v, args.out(2)));
  return {};
}

}  // namespace

Status run_ms_multi_head_attention(const Call& call, KernelArgs& args) {
  const int64_t heads = call.i("num_heads", 0);
  if (args.in(8) || args.in(9)) return unknown("attention.past", "a shared buffer of the past is not known");
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    TRY(Heads h, read_inputs(wide, wide.in(3), heads));
    AttentionSizes sizes{h.q.dims()[0], h.q.dims()[2], 0, wide.in(6) ? wide.in(6).dims()[2] : 0};
    TRY(h.k, joined(wide.in(6), h.k));
    TRY(h.v, joined(wide.in(7), h.v));
    sizes.keys = h.k.dims()[2];
    const auto filter = static_cast<double>(call.f("mask_filter_value", -10000.0f));
    TRY(const Tensor mask,
        additive_mask(sizes, wide.in(4), wide.in(5), filter, call.i("unidirectional", 0) != 0, h.q.dtype()));
    TRY_OK(put_present(call, h.k, h.v, wide));
    Tensor* scores = call.has_output(3) ? &wide.out(3) : nullptr;
    return attend(h.q, h.k, h.v, scale_of(call, h.q.dims()[3]), mask, wide.out(0), scores);
  });
}

namespace {

// The first `count` steps of [batch, heads, length, size].
Result<Tensor> first_steps(const Tensor& x, int64_t count) {
  if (count < 0 || count > x.dims()[2]) return refuse("attention.past", "{} steps of {}", count, x.dims()[2]);
  TRY(Tensor out, Tensor::allocate(x.dtype(), {x.dims()[0], x.dims()[1], count, x.dims()[3]}));
  const int64_t from = x.dims()[2] * x.dims()[3], to = count * x.dims()[3];
  for (int64_t i = 0; i < x.dims()[0] * x.dims()[1]; ++i) kernels::copy_elements(out, i * to, x, i * from, to);
  return out;
}

// The steps of `from` into those of `to` from `start` on.
Status put_steps(const Tensor& from, int64_t start, Tensor& to) {
  if (from.rank() != 4 || to.rank() != 4 || from.dims()[0] != to.dims()[0] || from.dims()[1] != to.dims()[1] ||
      from.dims()[3] != to.dims()[3] || from.dtype() != to.dtype() || start > to.dims()[2])
    return refuse("attention.past", "the present does not fit the past");
  const int64_t size = from.dims()[3], length = std::min(from.dims()[2], to.dims()[2] - start);
  for (int64_t i = 0; i < from.dims()[0] * from.dims()[1]; ++i)
    kernels::copy_elements(to, (i * to.dims()[2] + start) * size, from, i * from.dims()[2] * size, length * size);
  return {};
}

}  // namespace

Status run_ms_masked_attention(const Call& call, KernelArgs& args) {
  const int64_t heads = call.i("num_heads", 0);
  if (args.in(9)) return unknown("attention.beams", "cache_indirection is not known");
  const bool shared = call.i("past_present_share_buffer", 0) != 0;
  if (shared && (!args.in(7) || args.in(7).dtype() != DType::i32 || args.in(7).count() != 1))
    return refuse("attention.past", "past_sequence_length is missing");
  const int64_t steps = shared ? args.in(7).int_at(0) : 0;
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    TRY(Heads h, read_inputs(wide, wide.in(10), heads));
    Tensor past_k = wide.in(5), past_v = wide.in(6);
    if (shared) {
      for (size_t i : {size_t{1}, size_t{2}})
        if (call.has_output(i)) TRY_OK(put(wide.in(4 + i), wide.out(i)));
      if (!past_k || steps + h.k.dims()[2] > past_k.dims()[2]) return refuse("attention.past", "the past has no room");
      TRY(past_k, first_steps(past_k, steps));
      TRY(past_v, first_steps(past_v, steps));
      for (size_t i : {size_t{1}, size_t{2}})
        if (call.has_output(i)) TRY_OK(put_steps(i == 1 ? h.k : h.v, steps, wide.out(i)));
    }
    AttentionSizes sizes{h.q.dims()[0], h.q.dims()[2], 0, past_k ? past_k.dims()[2] : 0};
    TRY(h.k, joined(past_k, h.k));
    TRY(h.v, joined(past_v, h.v));
    sizes.keys = h.k.dims()[2];
    const auto filter = static_cast<double>(call.f("mask_filter_value", -10000.0f));
    TRY(const Tensor mask, additive_mask(sizes, wide.in(3), wide.in(4), filter, false, h.q.dtype()));
    if (!shared) TRY_OK(put_present(call, h.k, h.v, wide));
    Tensor* scores = call.has_output(3) ? &wide.out(3) : nullptr;
    return attend(h.q, h.k, h.v, scale_of(call, h.q.dims()[3]), mask, wide.out(0), scores);
  });
}

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
  kernels::Rotary how{2 * cos.dims()[1], call.i(interleaved, 0) != 0};
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
      const int64_t given = call.i("num_heads", 0), size = 2 * cos.dims()[1];
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
Result<Tensor> row_of(const Tensor& x, int64_t b) {
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
    const int64_t batch = all.q.dims()[0], queries = all.q.dims()[2];
    if (args_.in(6) && (!is_integer(args_.in(6).dtype()) || args_.in(6).count() != 1))
      return refuse("attention.length", "total_sequence_length must be one integer");
    const int64_t total = args_.in(6) ? args_.in(6).int_at(0) : queries;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = args_.in(5) ? args_.in(5).int_at(b) + 1 : total;
      const int64_t past = queries == total ? 0 : length - queries;
      if (past < 0) return refuse("attention.length", "{} keys for {} queries", length, queries);
      TRY_OK(run_row(all, b, past));
    }
    return {};
  }

 private:
  Status run_row(const Heads& all, int64_t b, int64_t past) {
    TRY(Tensor q, row_of(all.q, b));
    TRY(Tensor k, row_of(all.k, b));
    TRY(Tensor v, row_of(all.v, b));
    const int64_t queries = q.dims()[2];
    if (call_.i("do_rotary", 0) != 0) TRY_OK(turn(b, past, q, k));
    TRY(k, with_past(args_.in(3), b, past, k));
    TRY(v, with_past(args_.in(4), b, past, v));
    TRY_OK(put_row(k, b, 1));
    TRY_OK(put_row(v, b, 2));
    Tensor bias = args_.in(10);
    if (bias && bias.rank() == 4 && bias.dims()[0] != 1) {
      TRY(bias, row_of(bias, b));
    }
    TRY(Tensor mask, window_mask(how_, {1, queries, past + queries, past}, bias, q.dtype()));
    if (how_.smooth || args_.in(11)) TRY_OK(add_sink(args_.in(11), how_.heads, k, v, mask));
    TRY(Tensor y, Tensor::allocate(q.dtype(), {1, how_.heads, queries, v.dims()[3]}));
    kernels::Attention how;
    how.scale = how_.scale;
    how.softcap = static_cast<double>(call_.f("softcap", 0));
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

  static Result<Tensor> with_past(const Tensor& cache, int64_t b, int64_t past, const Tensor& now) {
    if (past == 0) return now;
    if (!cache || cache.rank() != 4) return refuse("attention.past", "{} steps of the past are missing", past);
    TRY(const Tensor row, row_of(cache, b));
    TRY(const Tensor steps, first_steps(row, past));
    return joined(steps, now);
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

  const Call& call_;
  Grouped how_;
  KernelArgs& args_;
};

}  // namespace

Status run_ms_group_query_attention(const Call& call, KernelArgs& args) {
  Grouped how;
  how.heads = call.i("num_heads", 0);
  how.shared = call.i("kv_num_heads", 0);
  how.window = call.i("local_window_size", -1);
  how.smooth = call.i("smooth_softmax", 0) == 1;
  how.causal = call.i("causal", 1) != 0;
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
