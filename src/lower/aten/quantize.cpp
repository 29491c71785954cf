#include "lower/aten/quantize.h"

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

using Scheme = QuantizedTensors::Scheme;

DType type_of_integers(Lowering& l, const Args& a) {
  const DType dtype = a.dtype("dtype").value_or(DType::undefined);
  if (dtype != DType::i8 && dtype != DType::u8 && !l->failed())
    l->refuse("aten.quantized", "a tensor is quantised to {}: only 8-bit integers can be exported", name(dtype));
  return dtype;
}

Arg quantize_per_tensor(Lowering& l, const Args& a) {
  const DType dtype = type_of_integers(l, a);
  return l.quantized().quantize(a.self(), l.quantized().scheme(a.arg("scale"), a.arg("zero_point"), dtype));
}

Arg quantize_per_channel(Lowering& l, const Args& a) {
  const DType dtype = type_of_integers(l, a);
  const int64_t axis = l.axis(a.self(), a.i("axis"));
  return l.quantized().quantize(a.self(), l.quantized().scheme(a.arg("scales"), a.arg("zero_points"), dtype, axis));
}

Arg quantize_dynamic(Lowering& l, const Args& a) {
  const DType dtype = type_of_integers(l, a);
  const int64_t half = a.flag("reduce_range") ? 2 : 1, shift = dtype == DType::i8 ? 128 : 0;
  const DynamicRange range = dynamic_range(l, a.self(), -shift / half, (255 - shift) / half, dtype);
  return l.quantized().quantize(a.self(), {range.scale, range.zero_point, 0});
}

Arg dequantize(Lowering& l, const Args& a) {
  if (a.size() > 0 && a.schema().parameters[0].list) return a.tensors(a.schema().parameters[0].name);
  // A tensor of its own: what reads it no longer sees a quantised one.
  return l.quantized().behind(a.self()) ? l->op("Identity", {a.self()}) : a.self();
}

Arg int_repr(Lowering& l, const Args& a) { return l.quantized().parts(a.self()).integers; }
Arg q_scale(Lowering& l, const Args& a) { return l.quantized().parts(a.self()).scheme.scale; }
Arg q_zero_point(Lowering& l, const Args& a) {
  return l->cast(l.quantized().parts(a.self()).scheme.zero_point, DType::i64);
}

// The 8-bit type with exactly these bounds.
std::optional<DType> byte_type(int64_t lo, int64_t hi) {
  if (lo == 0 && hi == 255) return DType::u8;
  return lo == -128 && hi == 127 ? std::optional(DType::i8) : std::nullopt;
}

// A vector along `axis` of a tensor of that rank.
Ref along_quantize(Lowering& l, Ref vector, size_t axis, size_t rank) {
  return l->rank(vector) == 1 && rank > 0 ? with_trailing_ones(l, vector, rank - 1 - std::min(axis, rank - 1)) : vector;
}

struct QuantizeSteps {
  Ref scale, zero_point;  // f32, as they meet x
  int64_t lo, hi;
};

// round(x / scale) + zero_point within the bounds, as a float.
Ref rounded(Lowering& l, Ref x, const QuantizeSteps& s) {
  const Ref inverse = l.op("Div", {l->number(1.0, DType::f32), s.scale});
  const Ref places = l.op("Add", {l.op("Round", {l.op("Mul", {x, inverse})}), s.zero_point});
  return l.clip(places, l->number(static_cast<double>(s.lo), DType::f32),
                l->number(static_cast<double>(s.hi), DType::f32));
}

Ref meant(Lowering& l, Ref integers, const QuantizeSteps& s) {
  return l.op("Mul", {l.op("Sub", {l->cast(integers, DType::f32), s.zero_point}), s.scale});
}

QuantizeSteps steps_of_quantize(Lowering& l, const Args& a, const Scheme& scheme, size_t rank) {
  const auto place = [&](Ref one) {
    return along_quantize(l, l->cast(one, DType::f32), static_cast<size_t>(scheme.axis), rank);
  };
  return {place(scheme.scale), place(scheme.zero_point), a.i("quant_min"), a.i("quant_max")};
}

Ref faked(Lowering& l, const Args& a, const Arg& scale, const Arg& zero_point, int64_t axis) {
  const Ref x = a.self();
  if (l->failed()) return {};
  const auto bytes = byte_type(a.i("quant_min"), a.i("quant_max"));
  const Scheme scheme = l.quantized().scheme(scale, zero_point, bytes.value_or(DType::f32), axis);
  const Ref real = l->cast(x, DType::f32);
  if (bytes && l->opset() >= (l->rank(scheme.scale) > 0 ? 13 : 10)) {
    std::vector<Attribute> attributes;
    if (l->rank(scheme.scale) > 0) attributes.push_back(attr("axis", axis));
    const Ref integers = l.op("QuantizeLinear", {real, scheme.scale, scheme.zero_point}, attributes);
    return l->cast(l.op("DequantizeLinear", {integers, scheme.scale, scheme.zero_point}, attributes), l->dtype(x));
  }
  const QuantizeSteps steps = steps_of_quantize(l, a, scheme, l->rank(x));
  return l->cast(meant(l, rounded(l, real, steps), steps), l->dtype(x));
}

Arg fake_per_tensor(Lowering& l, const Args& a) { return faked(l, a, a.arg("scale"), a.arg("zero_point"), 0); }
Arg fake_per_channel(Lowering& l, const Args& a) {
  return faked(l, a, a.arg("scale"), a.arg("zero_point"), l.axis(a.self(), a.i("axis")));
}

// The second result says which entries gradients pass.
template <Arg Fake(Lowering&, const Args&)>
Arg fake_and_mask(Lowering& l, const Args& a) {
  const Arg made = Fake(l, a);
  if (l->failed()) return {};
  return Arguments{made, filled(l, l->dims(a.self()), 1, DType::boolean)};
}

Arg fake_if_enabled(Lowering& l, const Args& a) {
  const Arg made = fake_per_tensor(l, a);
  if (l->failed()) return {};
  const Ref enabled = l->cast(a.tensor("fake_quant_enabled"), DType::boolean);
  return Arguments{l.op("Where", {enabled, l.ref(made), a.self()}), filled(l, l->dims(a.self()), 1, DType::boolean)};
}

// What trains a quantised model. Observing changes its buffers with every batch, which no file does.
Arg observed(Lowering& l, const Args& a) {
  const Tensor* observes = l->tensor(a.tensor("observer_on"));
  const Tensor* fakes = l->tensor(a.tensor("fake_quant_on"));
  if (l->failed()) return {};
  if (!observes || !fakes || observes->int_at(0) != 0) {
    l->refuse("aten.quantized",
              "a fake quantisation that observes its input cannot be exported; call "
              "model.apply(torch.ao.quantization.disable_observer) before");
    return {};
  }
  if (fakes->int_at(0) == 0) return a.self();
  const int64_t axis = a.flag("per_row_fake_quant") ? l.axis(a.self(), a.i("ch_axis")) : 0;
  return faked(l, a, a.arg("scale"), a.arg("zero_point"), axis);
}

// torch.ao's operators: their results are ordinary tensors of integers.
Ref quantize_to(Lowering& l, const Args& a, const Arg& scale, const Arg& zero_point, int64_t axis) {
  const Ref x = l->cast(a.self(), DType::f32);
  const DType dtype = a.dtype("dtype").value_or(DType::i8);
  if (l->failed()) return {};
  const bool whole = byte_type(a.i("quant_min"), a.i("quant_max")) == dtype;
  const Scheme scheme = l.quantized().scheme(scale, zero_point, whole ? dtype : DType::f32, axis);
  if (!whole) return l->cast(rounded(l, x, steps_of_quantize(l, a, scheme, l->rank(x))), dtype);
  std::vector<Attribute> attributes;
  if (l->rank(scheme.scale) > 0) attributes.push_back(attr("axis", axis));
  return l.op("QuantizeLinear", {x, scheme.scale, scheme.zero_point}, std::move(attributes));
}

Ref meaning_of(Lowering& l, const Args& a, const Arg& scale, const Arg& zero_point, int64_t axis) {
  const Ref x = a.self();
  if (l->failed()) return {};
  const DType dtype = l->dtype(x);
  const bool bytes = dtype == DType::i8 || dtype == DType::u8;
  const Arg zero = zero_point.is_none() ? Arg(Dim(0)) : zero_point;
  Scheme scheme = l.quantized().scheme(scale, zero, bytes ? dtype : DType::f32, axis);
  const DType wanted = a.dtype("out_dtype").value_or(DType::f32);
  if (!bytes) return l->cast(meant(l, x, steps_of_quantize(l, a, scheme, l->rank(x))), wanted);
  if (l->rank(scheme.scale) > 0 && l->rank(scheme.zero_point) == 0)
    scheme.zero_point = l->expand(scheme.zero_point, l->dims(scheme.scale));
  std::vector<Attribute> attributes;
  if (l->rank(scheme.scale) > 0) attributes.push_back(attr("axis", axis));
  return l->cast(l.op("DequantizeLinear", {x, scheme.scale, scheme.zero_point}, std::move(attributes)), wanted);
}

Arg to_integers(Lowering& l, const Args& a) { return quantize_to(l, a, a.arg("scale"), a.arg("zero_point"), 0); }
Arg to_integers_by_channel(Lowering& l, const Args& a) {
  return quantize_to(l, a, a.arg("scales"), a.arg("zero_points"), l.axis(a.self(), a.i("axis")));
}
Arg from_integers(Lowering& l, const Args& a) { return meaning_of(l, a, a.arg("scale"), a.arg("zero_point"), 0); }
Arg from_integers_by_channel(Lowering& l, const Args& a) {
  return meaning_of(l, a, a.arg("scales"), a.arg("zero_points"), l.axis(a.self(), a.i("axis")));
}

Arg choose(Lowering& l, const Args& a) {
  const DynamicRange range = dynamic_range(l, a.self(), a.i("quant_min"), a.i("quant_max"), DType::i64, a.f("eps"));
  return Arguments{l->cast(range.exact_scale, DType::f64), range.zero_point};
}

constexpr AtenOp kQuantizeOps[] = {
    {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", fake_if_enabled},
    {"dequantize", dequantize},
    {"fake_quantize_per_channel_affine", fake_per_channel},
    {"fake_quantize_per_channel_affine_cachemask", fake_and_mask<fake_per_channel>},
    {"fake_quantize_per_tensor_affine", fake_per_tensor},
    {"fake_quantize_per_tensor_affine_cachemask", fake_and_mask<fake_per_tensor>},
    {"fused_moving_avg_obs_fake_quant", observed},
    {"int_repr", int_repr},
    {"q_scale", q_scale},
    {"q_zero_point", q_zero_point},
    {"quantize_per_channel", quantize_per_channel},
    {"quantize_per_tensor", quantize_per_tensor},
    {"quantize_per_tensor_dynamic", quantize_dynamic},
    {"quantized_decomposed::choose_qparams", choose},
    {"quantized_decomposed::dequantize_per_channel", from_integers_by_channel},
    {"quantized_decomposed::dequantize_per_tensor", from_integers},
    {"quantized_decomposed::quantize_per_channel", to_integers_by_channel},
    {"quantized_decomposed::quantize_per_tensor", to_integers},
};

}  // namespace

// PyTorch's way, in f64 as there: the scale from the range with 0 in it, the zero point from its lower end.
DynamicRange dynamic_range(Lowering& l, Ref x, int64_t lo, int64_t hi, DType dtype, double least) {
  const auto real = [&](double value) { return l->number(value, DType::f64); };
  const Ref low = l.op("Min", {l->cast(l->reduce("ReduceMin", x, {}, false), DType::f64), real(0)});
  const Ref high = l.op("Max", {l->cast(l->reduce("ReduceMax", x, {}, false), DType::f64), real(0)});
  const Ref step = l.op("Div", {l.op("Sub", {high, low}), real(static_cast<double>(hi - lo))});
  const Ref flat = l.op("Equal", {step, real(0)});
  // Beneath the least step the range is widened on both sides alike, which leaves the zero point where it is.
  const Ref scale =
      l.op("Where", {flat, real(least > 0 ? least : 0.1), l.op("Max", {step, real(least > 0 ? least : 6.1e-5)})});
  const Ref divisor = least > 0 ? scale : l.op("Where", {flat, real(1), step});
  const Ref place = l.op("Sub", {real(static_cast<double>(lo)), l.op("Div", {low, divisor})});
  const Ref zero = l.clip(l.op("Round", {place}), real(static_cast<double>(lo)), real(static_cast<double>(hi)));
  return {l->cast(scale, DType::f32), l->cast(zero, dtype), scale};
}

std::span<const AtenOp> quantize_ops() { return kQuantizeOps; }

}  // namespace anyshape::lower
