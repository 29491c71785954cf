#include <limits>

#include "lower/aten/families.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

Ref accumulated_scan(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const bool whole = l->dtype(x) == DType::boolean || is_integer(l->dtype(x));
  return l->cast(x, a.dtype("dtype").value_or(whole ? DType::i64 : l->dtype(x)));
}

Arg cumsum(Lowering& l, const Args& a) {
  const Ref x = accumulated_scan(l, a);
  if (l->rank(x) == 0) return x;
  return l.op("CumSum", {x, l->number(l.axis(x, a.i("dim")))});
}

struct Along {
  Ref x;
  int64_t axis = 0;
  Dims slice;  // the other axes
};

// bf16 is widened: Scan takes it from opset 16 on only, and its body would be full of casts.
Along along_scan(Lowering& l, Ref x, int64_t dim) {
  Along out{l->dtype(x) == DType::bf16 ? l->cast(x, DType::f32) : x, l.axis(x, dim), l->dims(x)};
  if (!out.slice.empty()) out.slice.erase(out.slice.begin() + out.axis);
  return out;
}

// Everywhere in a slice; `value` has one entry.
Ref start_with(Lowering& l, const Along& it, Ref value) {
  const Tensor* known = l->tensor(value);
  return known ? l->full(it.slice, *known) : Ref();
}

// Runs `body` over the axis: states and the slice in, new states out. What the states were is stacked along the axis.
template <class Body>
Refs scanned(Lowering& l, const Along& it, const Refs& states, size_t stacked, Body body) {
  std::vector<std::pair<std::string, Fact>> inputs;
  for (Ref state : states) inputs.emplace_back("state", Fact::tensor(l->dtype(state), l->dims(state)));
  inputs.emplace_back("slice", Fact::tensor(l->dtype(it.x), it.slice));
  if (l->failed()) return Refs(stacked);
  l->begin_body("scan", inputs);
  Refs now;
  for (size_t i = 0; i < states.size(); ++i) now.push_back(l->body_input(i));
  const Refs next = body(now, l->body_input(states.size()));
  Refs given = next;
  given.insert(given.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(stacked));
  auto graph = l->end_body(given);
  Refs in = states;
  in.push_back(it.x);
  const Refs out = l->emit("Scan", in,
                           {attr("body", std::move(graph)), attr("num_scan_inputs", 1),
                            attr("scan_input_axes", std::vector<int64_t>{it.axis}),
                            attr("scan_output_axes", std::vector<int64_t>(stacked, it.axis))},
                           states.size() + stacked);
  return {out.begin() + static_cast<std::ptrdiff_t>(states.size()), out.end()};
}

Arg cumprod(Lowering& l, const Args& a) {
  const Ref x = accumulated_scan(l, a);
  if (l->rank(x) == 0) return x;
  const Along it = along_scan(l, x, a.i("dim"));
  const Refs out = scanned(l, it, {start_with(l, it, like(l, it.x, 1))}, 1, [&](const Refs& state, Ref slice) {
    return Refs{l.op("Mul", {state[0], slice})};
  });
  return l->cast(out[0], l->dtype(x));
}

// A value that no entry of the type beats.
Ref worst(Lowering& l, DType dtype, bool largest) {
  if (is_float(dtype)) return l->number((largest ? -1 : 1) * std::numeric_limits<double>::infinity(), dtype);
  if (!is_signed_integer(dtype)) return l->integer(largest ? 0 : -1, dtype);
  const int width = bits(dtype) - 1;
  const int64_t top = width == 63 ? INT64_MAX : (int64_t{1} << width) - 1;
  return l->integer(largest ? -top - 1 : top, dtype);
}

template <bool Largest>
Arg cumulative_extreme(Lowering& l, const Args& a) {
  const Ref given = a.self();
  if (l->rank(given) == 0) return Refs{given, l->number(int64_t{0})};
  const DType dtype = l->dtype(given);
  const Along it = along_scan(l, dtype == DType::boolean ? l->cast(given, DType::i32) : given, a.i("dim"));
  const Ref best = start_with(l, it, worst(l, l->dtype(it.x), Largest));
  const Ref place = start_with(l, it, l->number(int64_t{0}));
  const Refs out = scanned(l, it, {best, place, l->number(int64_t{0})}, 2, [&](const Refs& state, Ref slice) {
    Ref taken = Largest ? at_least(l, slice, state[0]) : at_most(l, slice, state[0]);
    if (is_float(dtype)) taken = l.op("Or", {taken, l.op("IsNaN", {slice})});
    return Refs{choose(l, taken, slice, state[0]), l.op("Where", {taken, state[2], state[1]}),
                l.op("Add", {state[2], l->number(int64_t{1})})};
  });
  return Refs{l->cast(out[0], dtype), out[1]};
}

Arg logcumsumexp(Lowering& l, const Args& a) {
  const Ref x = l.as_float(a.self());
  if (l->rank(x) == 0) return x;
  const Along it = along_scan(l, x, a.i("dim"));
  const Ref nothing = like(l, it.x, -std::numeric_limits<double>::infinity());
  const Refs out = scanned(l, it, {start_with(l, it, nothing)}, 1,
                           [&](const Refs& state, Ref slice) { return Refs{log_sum(l, state[0], slice)}; });
  return l->cast(out[0], l->dtype(x));
}

Arg diff(Lowering& l, const Args& a) {
  Ref x = a.self();
  if (!l.need_rank(x, 1, 64)) return {};
  const int64_t axis = l.axis(x, a.i("dim", -1));
  Refs parts;
  for (const Ref part : {a.tensor("prepend"), x, a.tensor("append")})
    if (part) parts.push_back(part);
  x = l->concat(parts, axis);
  for (int64_t i = 0; i < a.i("n", 1); ++i) {
    const Dim size = l->dim(x, static_cast<size_t>(axis));
    const Ref later = l->slice(x, axis, 1, size), earlier = l->slice(x, axis, 0, size - 1);
    x = l->dtype(x) == DType::boolean ? l.op("Xor", {later, earlier}) : l.op("Sub", {later, earlier});
  }
  return x;
}

// The area under lines from entry to entry, which are `dx` apart, or at the places `x`.
Arg trapezoid(Lowering& l, const Args& a) {
  const Ref y = l.as_float(a.tensor("y")), places = a.tensor("x");
  if (!l.need_rank(y, 1, 64)) return {};
  const int64_t axis = l.axis(y, a.i("dim", -1));
  const auto neighbours = [&](Ref x, int64_t along_axis) {
    const Dim size = l->dim(x, static_cast<size_t>(along_axis));
    return std::pair(l->slice(x, along_axis, 0, size - 1), l->slice(x, along_axis, 1, size));
  };
  const auto [left, right] = neighbours(y, axis);
  Ref areas = l.op("Mul", {l.op("Add", {left, right}), like(l, y, 0.5)});
  if (places) {
    Ref x = l->cast(places, l->dtype(y));
    if (l->rank(x) == 1 && axis + 1 < static_cast<int64_t>(l->rank(y)))
      for (int64_t i = axis + 1; i < static_cast<int64_t>(l->rank(y)); ++i) x = l->unsqueeze(x, {-1});
    const auto [from, to] = neighbours(x, static_cast<int64_t>(l->rank(x)) - static_cast<int64_t>(l->rank(y)) + axis);
    areas = l.op("Mul", {areas, l.op("Sub", {to, from})});
  }
  const Ref sum = l.reduce("ReduceSum", areas, {axis}, false);
  return places || !a.arg("dx").is_number() ? sum : l.op("Mul", {sum, like(l, y, a.f("dx", 1))});
}

constexpr AtenOp kScanOps[] = {
    {"cummax", cumulative_extreme<true>},
    {"cummin", cumulative_extreme<false>},
    {"cumprod", cumprod},
    {"cumsum", cumsum},
    {"diff", diff},
    {"logcumsumexp", logcumsumexp},
    {"trapezoid", trapezoid},
    {"trapz", trapezoid},
};

}  // namespace

std::span<const AtenOp> scan_ops() { return kScanOps; }

}  // namespace anyshape::lower
