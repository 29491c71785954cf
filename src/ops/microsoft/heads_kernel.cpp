#include <algorithm>

#include "kernels/attention.h"
#include "kernels/copy.h"
#include "ops/microsoft/attention_parts.h"
#include "ops/microsoft/common.h"
#include "ops/microsoft/kernel.h"
#include "ops/wide.h"

namespace anyshape::ops {
namespace {

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
Result<Tensor> read_heads_heads_kernel(const Tensor& x, const Tensor& bias, int64_t start, int64_t heads) {
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
    TRY(out.q, read_heads_heads_kernel(q, bias, 0, heads));
    TRY(out.k, read_heads_heads_kernel(k, bias, hidden / 3, heads));
    TRY(out.v, read_heads_heads_kernel(v, bias, hidden / 3 * 2, heads));
    return out;
  }
  TRY(out.q, read_heads_heads_kernel(query, bias, 0, heads));
  if (key.rank() == 5) {
    TRY(out.k, packed_part(key, 2, 0));
    TRY(out.v, packed_part(key, 2, 1));
    return out;
  }
  TRY(out.k, read_heads_heads_kernel(key, bias, hidden, heads));
  TRY(out.v, read_heads_heads_kernel(value, bias, 2 * hidden, heads));
  return out;
}

Status put_present(const Call& call, const Tensor& k, const Tensor& v, KernelArgs& args) {
  if (call.has_output(1)) TRY_OK(put(k, args.out(1)));
  if (call.has_output(2)) TRY_OK(put(v, args.out(2)));
  return {};
}

}  // namespace

Status run_ms_multi_head_attention(const Call& call, KernelArgs& args) {
  const int64_t heads = call.i("num_heads");
  if (args.in(8) || args.in(9)) return unknown("attention.past", "a shared buffer of the past is not known");
  return run_wide(args, [&](KernelArgs& wide) -> Status {
    TRY(Heads h, read_inputs(wide, wide.in(3), heads));
    AttentionSizes sizes{h.q.dims()[0], h.q.dims()[2], 0, wide.in(6) ? wide.in(6).dims()[2] : 0};
    TRY(h.k, joined(wide.in(6), h.k));
    TRY(h.v, joined(wide.in(7), h.v));
    sizes.keys = h.k.dims()[2];
    const auto filter = static_cast<double>(call.f("mask_filter_value"));
    TRY(const Tensor mask,
        additive_mask(sizes, wide.in(4), wide.in(5), filter, call.i("unidirectional") != 0, h.q.dtype()));
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
  const int64_t heads = call.i("num_heads");
  if (args.in(9)) return unknown("attention.beams", "cache_indirection is not known");
  const bool shared = call.i("past_present_share_buffer") != 0;
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
    const auto filter = static_cast<double>(call.f("mask_filter_value"));
    TRY(const Tensor mask, additive_mask(sizes, wide.in(3), wide.in(4), filter, false, h.q.dtype()));
    if (!shared) TRY_OK(put_present(call, h.k, h.v, wide));
    Tensor* scores = call.has_output(3) ? &wide.out(3) : nullptr;
    return attend(h.q, h.k, h.v, scale_of(call, h.q.dims()[3]), mask, wide.out(0), scores);
  });
}

}  // namespace anyshape::ops
