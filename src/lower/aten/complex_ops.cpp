#include <algorithm>

#include "lower/aten/complex.h"
#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

// An imaginary part that is absent is 0.
struct Pair {
  Ref real, imaginary;
};

Pair pair_of(Lowering& l, const Arg& arg, DType half) {
  if (const auto* number = arg.get<std::complex<double>>())
    return {l->number(number->real(), half), l->number(number->imag(), half)};
  if (!arg.is_tensor()) return {l.operand(arg, half), {}};
  const Ref value = l.ref(arg);
  if (!Lowering::is_complex(l->dtype(value))) return {l->cast(value, half), {}};
  const auto [real, imaginary] = l.complex().parts(value);
  return {l->cast(real, half), l->cast(imaginary, half)};
}

struct Operands {
  Pair x, y;
};

Operands operands(Lowering& l, const Args& a, std::string_view left = "self", std::string_view right = "other") {
  const Arg &x = a.arg(left), &y = a.arg(right);
  const DType half = part_type(l.common_type({&x, &y}));
  return {pair_of(l, x, half), pair_of(l, y, half)};
}

Pair self_of(Lowering& l, const Args& a) {
  const auto [real, imaginary] = l.complex().parts(a.self());
  return {real, imaginary};
}

Ref zero_complex_ops(Lowering& l, Ref like) { return l->number(0.0, l->dtype(like)); }

Ref whole(Lowering& l, const Pair& p) {
  return l.complex().of(p.real, p.imaginary ? p.imaginary : zero_complex_ops(l, p.real));
}

Ref sum(Lowering& l, Ref x, Ref y) { return !x ? y : !y ? x : l.op("Add", {x, y}); }
Ref difference(Lowering& l, Ref x, Ref y) { return !y ? x : !x ? l.op("Neg", {y}) : l.op("Sub", {x, y}); }
Ref complex_product(Lowering& l, Ref x, Ref y) { return x && y ? l.op("Mul", {x, y}) : Ref(); }

Pair multiplied_complex_ops(Lowering& l, const Pair& x, const Pair& y) {
  return {difference(l, complex_product(l, x.real, y.real), complex_product(l, x.imaginary, y.imaginary)),
          sum(l, complex_product(l, x.real, y.imaginary), complex_product(l, x.imaginary, y.real))};
}

Ref squared_size(Lowering& l, const Pair& x) {
  return sum(l, complex_product(l, x.real, x.real), complex_product(l, x.imaginary, x.imaginary));
}

Ref size_of(Lowering& l, const Pair& x) { return l.op("Sqrt", {squared_size(l, x)}); }

Pair conjugate(Lowering& l, const Pair& x) { return {x.real, x.imaginary ? l.op("Neg", {x.imaginary}) : Ref()}; }

Pair divided(Lowering& l, const Pair& x, const Pair& y) {
  const auto over = [&](Ref part, Ref by) { return part ? l.op("Div", {part, by}) : part; };
  if (!y.imaginary) return {over(x.real, y.real), over(x.imaginary, y.real)};
  const Pair top = multiplied_complex_ops(l, x, conjugate(l, y));
  const Ref bottom = squared_size(l, y);
  return {over(top.real, bottom), over(top.imaginary, bottom)};
}

Ref angle_of(Lowering& l, const Pair& x) { return l.ref(l.call("atan2", "", {Arg(x.imaginary), Arg(x.real)})); }

Pair from_polar(Lowering& l, Ref size, Ref angle) {
  return {l.op("Mul", {size, l.op("Cos", {angle})}), l.op("Mul", {size, l.op("Sin", {angle})})};
}

Pair alpha_scaled(Lowering& l, const Args& a, const Pair& y) {
  if (!a.has("alpha") || (a.arg("alpha").get<Dim>() && a.i("alpha", 1) == 1)) return y;
  return multiplied_complex_ops(l, y, pair_of(l, a.arg("alpha"), l->dtype(y.real)));
}

Arg add(Lowering& l, const Args& a) {
  const Operands o = operands(l, a);
  const Pair y = alpha_scaled(l, a, o.y);
  return whole(l, {sum(l, o.x.real, y.real), sum(l, o.x.imaginary, y.imaginary)});
}

Pair subtracted(Lowering& l, const Pair& x, const Pair& y) {
  return {difference(l, x.real, y.real), difference(l, x.imaginary, y.imaginary)};
}

Arg sub(Lowering& l, const Args& a) {
  const Operands o = operands(l, a);
  return whole(l, subtracted(l, o.x, alpha_scaled(l, a, o.y)));
}

Arg rsub(Lowering& l, const Args& a) {
  const Operands o = operands(l, a);
  return whole(l, subtracted(l, o.y, alpha_scaled(l, a, o.x)));
}

Arg mul(Lowering& l, const Args& a) {
  const Operands o = operands(l, a);
  return whole(l, multiplied_complex_ops(l, o.x, o.y));
}

Arg div(Lowering& l, const Args& a) {
  const Operands o = operands(l, a);
  return whole(l, divided(l, o.x, o.y));
}

Arg equal_complex_ops(Lowering& l, const Args& a) {
  Operands o = operands(l, a);
  if (!o.x.imaginary) o.x.imaginary = zero_complex_ops(l, o.x.real);
  if (!o.y.imaginary) o.y.imaginary = zero_complex_ops(l, o.y.real);
  return l.op("And", {l.op("Equal", {o.x.real, o.y.real}), l.op("Equal", {o.x.imaginary, o.y.imaginary})});
}

Arg not_equal(Lowering& l, const Args& a) { return l.op("Not", {l.ref(equal_complex_ops(l, a))}); }

Arg reciprocal(Lowering& l, const Args& a) {
  const Pair x = self_of(l, a);
  return whole(l, divided(l, {l->number(1.0, l->dtype(x.real)), {}}, x));
}

Arg square(Lowering& l, const Args& a) {
  const Pair x = self_of(l, a);
  return whole(l, multiplied_complex_ops(l, x, x));
}

Arg absolute(Lowering& l, const Args& a) { return size_of(l, self_of(l, a)); }
Arg angle(Lowering& l, const Args& a) { return angle_of(l, self_of(l, a)); }
Arg real(Lowering& l, const Args& a) { return self_of(l, a).real; }
Arg imaginary(Lowering& l, const Args& a) { return self_of(l, a).imaginary; }
Arg conjugated(Lowering& l, const Args& a) { return whole(l, conjugate(l, self_of(l, a))); }
Arg same_complex_ops(Lowering&, const Args& a) { return a.self(); }
Arg as_real(Lowering& l, const Args& a) { return l.complex().pairs(a.self()); }

Arg exponential(Lowering& l, const Args& a) {
  const Pair x = self_of(l, a);
  return whole(l, from_polar(l, l.op("Exp", {x.real}), x.imaginary));
}

Arg logarithm(Lowering& l, const Args& a) {
  const Pair x = self_of(l, a);
  return whole(l, {l.op("Log", {size_of(l, x)}), angle_of(l, x)});
}

Pair powered(Lowering& l, const Pair& x, double power) {
  const DType half = l->dtype(x.real);
  return from_polar(l, l.op("Pow", {size_of(l, x), l->number(power, half)}), times(l, angle_of(l, x), power));
}

Arg square_root(Lowering& l, const Args& a) { return whole(l, powered(l, self_of(l, a), 0.5)); }

Arg power(Lowering& l, const Args& a) {
  if (!a.is_tensor("self") || a.is_tensor("exponent") || a.arg("exponent").get<std::complex<double>>()) {
    l->refuse("aten.complex", "a complex number can be raised to the power of a real number only");
    return {};
  }
  const Pair x = self_of(l, a);
  const double by = a.f("exponent", 1);
  if (by == 2) return whole(l, multiplied_complex_ops(l, x, x));
  return by == 1 ? Arg(a.self()) : Arg(whole(l, powered(l, x, by)));
}

// x / |x|, and 0 at 0.
Arg direction(Lowering& l, const Args& a) {
  const Pair x = self_of(l, a);
  const Ref size = size_of(l, x), none = zero_complex_ops(l, size);
  const Ref nothing = l.op("Equal", {size, none});
  const auto part = [&](Ref p) { return l.op("Where", {nothing, none, l.op("Div", {p, size})}); };
  return whole(l, {part(x.real), part(x.imaginary)});
}

Arg where_complex_ops(Lowering& l, const Args& a) {
  const Operands o = operands(l, a);
  const auto chosen = [&](Ref x, Ref y) {
    return l.op("Where",
                {a.tensor("condition"), x ? x : zero_complex_ops(l, o.x.real), y ? y : zero_complex_ops(l, o.x.real)});
  };
  return whole(l, {chosen(o.x.real, o.y.real), chosen(o.x.imaginary, o.y.imaginary)});
}

Arg masked_fill_complex_ops(Lowering& l, const Args& a) {
  const Operands o = operands(l, a, "self", "value");
  const auto chosen = [&](Ref x, Ref y) {
    return l.op("Where",
                {a.tensor("mask"), y ? y : zero_complex_ops(l, o.x.real), x ? x : zero_complex_ops(l, o.x.real)});
  };
  return whole(l, {chosen(o.x.real, o.y.real), chosen(o.x.imaginary, o.y.imaginary)});
}

// Where the wanted type is real the imaginary part is dropped.
Arg converted(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const DType given = l->dtype(x),
              wanted = a.is_tensor("other") ? l->dtype(a.tensor("other")) : a.dtype("dtype").value_or(given);
  const auto [real_part, rest] = l.complex().parts(x);
  const DType half = part_type(wanted);
  if (!Lowering::is_complex(wanted)) return l->cast(real_part, wanted);
  return given == wanted ? x : l.complex().of(l->cast(real_part, half), l->cast(rest, half));
}

// zeros, ones, full, ... of a complex type.
template <int Value>
Arg created(Lowering& l, const Args& a) {
  const bool like = a.is_tensor("self");
  const DType wanted = a.dtype("dtype").value_or(like ? l->dtype(a.self()) : DType::c64), half = part_type(wanted);
  const Dims sizes = a.has("size") ? a.dims("size") : l->dims(a.self());
  if (!Lowering::is_complex(wanted)) return filled(l, sizes, Value, wanted);
  if (Value >= 0) return l.complex().of(filled(l, sizes, Value, half), filled(l, sizes, 0, half));
  const Pair value = pair_of(l, a.arg("fill_value"), half);
  return l.complex().of(l->expand(value.real, sizes),
                        value.imaginary ? l->expand(value.imaginary, sizes) : filled(l, sizes, 0, half));
}

// f(x, y) linear in both tensors: (a + bi)(c + di) with f as the product.
Arg bilinear(Lowering& l, const Args& a) {
  const AtenOp* record = find_aten(a.schema().name, a.schema().overload);
  Args scratch = a;
  std::vector<Arg*> places;
  for (size_t i = 0; i < scratch.size(); ++i) {
    Arg& arg = scratch.arg_at(i);
    if (auto* items = std::get_if<Arguments>(&arg.value))
      for (Arg& item : *items) places.push_back(item.is_tensor() ? &item : nullptr);
    else if (arg.get<Ref>())
      places.push_back(&arg);
  }
  places.erase(std::remove(places.begin(), places.end(), nullptr), places.end());
  if (places.size() != 2 || !record) {
    l->refuse("aten.complex", "aten::{} of complex numbers takes two tensors", a.schema().name);
    return {};
  }
  const auto [p, q] = l.complex().parts(l.ref(*places[0]));
  const auto [r, s] = l.complex().parts(l.ref(*places[1]));
  const auto value = [&](Ref x, Ref y) {
    *places[0] = x;
    *places[1] = y;
    return l.ref(record->lower(l, scratch));
  };
  return l.complex().of(l.op("Sub", {value(p, r), value(q, s)}), l.op("Add", {value(p, s), value(q, r)}));
}

// A norm sees the sizes only.
Arg of_sizes(Lowering& l, const Args& a) {
  const AtenOp* record = find_aten(a.schema().name, a.schema().overload);
  return record ? record->lower(l, a.with_self(size_of(l, self_of(l, a)))) : Arg();
}

Arg yes(Lowering&, const Args&) { return Arg(true); }

Ref put_pairs(Lowering& l, const Args&, Ref, Ref part, size_t) { return l.complex().of_pairs(part); }
Ref put_complex(Lowering& l, const Args&, Ref, Ref part, size_t) { return l.complex().pairs(part); }
Ref put_real(Lowering& l, const Args&, Ref self, Ref part, size_t) {
  return l.complex().of(part, l.complex().parts(self).second);
}
Ref put_imaginary(Lowering& l, const Args&, Ref self, Ref part, size_t) {
  return l.complex().of(l.complex().parts(self).first, part);
}

constexpr AtenOp kArithmetic[] = {
    {"_conj", conjugated},
    {"_to_copy", converted},
    {"abs", absolute},
    {"add", add},
    {"angle", angle},
    {"bmm", bilinear},
    {"conj", conjugated},
    {"conj_physical", conjugated},
    {"div", div},
    {"divide", div},
    {"dot", bilinear},
    {"einsum", bilinear},
    {"empty", created<0>},
    {"eq", equal_complex_ops},
    {"exp", exponential},
    {"full", created<-1>},
    {"full_like", created<-1>},
    {.name = "imag", .lower = imaginary, .put = put_imaginary, .reorders = true},
    {"is_complex", yes},
    {"linalg_vector_norm", of_sizes},
    {"log", logarithm},
    {"masked_fill", masked_fill_complex_ops},
    {"matmul", bilinear},
    {"mm", bilinear},
    {"mul", mul},
    {"multiply", mul},
    {"mv", bilinear},
    {"ne", not_equal},
    {"norm", of_sizes},
    {"ones", created<1>},
    {"ones_like", created<1>},
    {"outer", bilinear},
    {"pow", power},
    {.name = "real", .lower = real, .put = put_real, .reorders = true},
    {"reciprocal", reciprocal},
    {"resolve_conj", same_complex_ops},
    {"rsub", rsub},
    {"sgn", direction},
    {"sqrt", square_root},
    {"square", square},
    {"sub", sub},
    {"subtract", sub},
    {"to", converted},
    {"true_divide", div},
    {"type_as", converted},
    {.name = "view_as_real", .lower = as_real, .put = put_pairs},
    {"where", where_complex_ops},
    {"zeros", created<0>},
};

Arg make_complex(Lowering& l, const Args& a) { return l.complex().of(a.tensor("real"), a.tensor("imag")); }

Arg as_complex(Lowering& l, const Args& a) { return l.complex().of_pairs(a.self()); }

Arg polar(Lowering& l, const Args& a) { return whole(l, from_polar(l, a.tensor("abs"), a.tensor("angle"))); }

Arg no(Lowering&, const Args&) { return Arg(false); }

constexpr AtenOp kComplexOps[] = {
    {.name = "_conj", .lower = same_complex_ops, .put = put_whole},
    {"complex", make_complex},
    {.name = "conj", .lower = same_complex_ops, .put = put_whole},
    {"conj_physical", same_complex_ops},
    {"is_complex", no},
    {"polar", polar},
    {.name = "real", .lower = same_complex_ops, .put = put_whole},
    {.name = "resolve_conj", .lower = same_complex_ops, .put = put_whole},
    {.name = "resolve_neg", .lower = same_complex_ops, .put = put_whole},
    {.name = "view_as_complex", .lower = as_complex, .put = put_complex},
};

}  // namespace

std::span<const AtenOp> complex_arithmetic() { return kArithmetic; }

std::span<const AtenOp> complex_ops() { return kComplexOps; }

}  // namespace anyshape::lower
