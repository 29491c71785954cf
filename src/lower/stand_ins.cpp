#include "lower/stand_ins.h"

#include <algorithm>
#include <cstring>

#include "lower/aten/complex.h"
#include "lower/aten/families.h"
#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

uint64_t key_of(Ref ref) { return (uint64_t{ref.scope} << 32) | ref.id; }

// Every second number of a complex constant.
Ref half_of(Lowering& l, const Tensor& complex, size_t offset) {
  const DType dtype = part_type(complex.dtype());
  auto half = Tensor::allocate(dtype, complex.dims());
  if (!half) {
    l->fail(std::move(half).error());
    return {};
  }
  const size_t width = static_cast<size_t>(bits(dtype)) / 8;
  for (size_t i = 0; i < static_cast<size_t>(complex.count()); ++i)
    std::memcpy(half->data() + i * width, complex.bytes().data() + (2 * i + offset) * width, width);
  return l->constant(*std::move(half));
}

}  // namespace

ComplexTensors::Parts* ComplexTensors::behind(Ref complex) {
  const auto it = known_.find(key_of(complex));
  if (it != known_.end()) return &it->second;
  if (l_->failed()) return nullptr;
  const Tensor* known = l_->tensor(complex);
  if (!known || !Lowering::is_complex(known->dtype())) {
    l_->refuse("aten.complex", "a complex tensor comes from where its parts are not known");
    return nullptr;
  }
  const Tensor whole = *known;
  const Parts parts{{}, half_of(l_, whole, 0), half_of(l_, whole, 1)};
  return &known_.emplace(key_of(complex), parts).first->second;
}

Ref ComplexTensors::of(Ref real, Ref imaginary) {
  if (l_->failed()) return {};
  const DType dtype = l_->dtype(real) == DType::f64 ? DType::c128 : DType::c64;
  const DType half = part_type(dtype);
  real = l_->cast(real, half);
  imaginary = l_->cast(imaginary, half);
  if (l_->dims(real) != l_->dims(imaginary)) {
    const Ref sum = l_.op("Add", {real, imaginary});
    real = l_->expand(real, l_->dims(sum));
    imaginary = l_->expand(imaginary, l_->dims(sum));
  }
  if (l_->failed()) return {};
  const Ref made = l_->emit_opaque("", "Complex", {real, imaginary}, {}, {Fact::tensor(dtype, l_->dims(real))}).front();
  if (made) known_[key_of(made)] = Parts{{}, real, imaginary};
  return made;
}

Ref ComplexTensors::of_pairs(Ref pairs) {
  if (l_->failed() || l_->rank(pairs) == 0) return {};
  const DType dtype = l_->dtype(pairs) == DType::f64 ? DType::c128 : DType::c64;
  pairs = l_->cast(pairs, part_type(dtype));
  Dims sizes = l_->dims(pairs);
  sizes.pop_back();
  const Ref made = l_->emit_opaque("", "Complex", {pairs}, {}, {Fact::tensor(dtype, sizes)}).front();
  if (made) known_[key_of(made)] = Parts{pairs, {}, {}};
  return made;
}

std::pair<Ref, Ref> ComplexTensors::parts(Ref x) {
  if (l_->failed() || !x) return {};
  if (!Lowering::is_complex(l_->dtype(x))) return {x, filled(l_, l_->dims(x), 0, l_->dtype(x))};
  const Parts* parts = behind(x);
  if (!parts) return {};
  if (parts->real) return {parts->real, parts->imaginary};
  const int64_t last = static_cast<int64_t>(l_->rank(parts->pairs)) - 1;
  const Ref pairs = parts->pairs;
  const Ref real = l_->gather(pairs, l_->number(int64_t{0}), last),
            imaginary = l_->gather(pairs, l_->number(int64_t{1}), last);
  // What is made inside a body is not there outside of it.
  if (real.scope == x.scope && imaginary.scope == x.scope) known_[key_of(x)] = Parts{pairs, real, imaginary};
  return {real, imaginary};
}

Ref ComplexTensors::pairs(Ref complex) {
  if (l_->failed() || !complex) return {};
  const Parts* parts = behind(complex);
  if (!parts) return {};
  if (parts->pairs) return parts->pairs;
  const Ref pairs = l_->concat({l_->unsqueeze(parts->real, {-1}), l_->unsqueeze(parts->imaginary, {-1})}, -1);
  if (pairs.scope == complex.scope) known_[key_of(complex)].pairs = pairs;
  return pairs;
}

Ref NestedTensors::of(Ref padded, Ref entries) {
  if (padded && !mask(padded)) known_.emplace_back(padded, entries);
  return padded;
}

Ref NestedTensors::mask(Ref x) const {
  const auto it = std::find_if(known_.begin(), known_.end(), [&](const auto& one) { return one.first == x; });
  return it == known_.end() ? Ref() : it->second;
}

bool NestedTensors::among(Lowering& lowering, const Args& args) const {
  if (known_.empty()) return false;
  const auto one = [&](const Arg& arg) { return arg.is_tensor() && mask(lowering.ref(arg)); };
  for (const Parameter& parameter : args.schema().parameters) {
    const Arg& arg = args.arg(parameter.name);
    const auto* items = arg.get<Arguments>();
    if (items ? std::any_of(items->begin(), items->end(), one) : one(arg)) return true;
  }
  return false;
}

Ref QuantizedTensors::of(Ref integers, const Scheme& scheme) {
  std::vector<Attribute> attributes;
  if (l_->failed()) return {};
  if (l_->rank(scheme.scale) > 0) attributes.push_back(attr("axis", scheme.axis));
  const Ref made = l_->op("DequantizeLinear", {integers, scheme.scale, scheme.zero_point}, std::move(attributes));
  if (made) known_[key_of(made)] = {integers, scheme};
  return made;
}

Ref QuantizedTensors::quantize(Ref x, const Scheme& scheme) {
  std::vector<Attribute> attributes;
  if (l_->failed()) return {};
  if (l_->rank(scheme.scale) > 0) attributes.push_back(attr("axis", scheme.axis));
  return of(l_->op("QuantizeLinear", {x, scheme.scale, scheme.zero_point}, std::move(attributes)), scheme);
}

QuantizedTensors::Scheme QuantizedTensors::scheme(const Arg& scale, const Arg& zero_point, DType dtype, int64_t axis) {
  const auto plain = [&](Ref x) { return l_->rank(x) == 1 && l_->dim(x, 0) == Dim(1) ? l_->reshape(x, {}) : x; };
  const Ref step = l_.operand(scale, DType::f32), zero = l_.operand(zero_point, dtype);
  return {plain(step), plain(zero), axis};
}

const QuantizedTensors::Quantized* QuantizedTensors::behind(Ref x) const {
  const auto it = known_.find(key_of(x));
  return it == known_.end() ? nullptr : &it->second;
}

QuantizedTensors::Quantized QuantizedTensors::parts(Ref x) {
  const Quantized* known = behind(x);
  if (!known) {
    if (!l_->failed()) l_->refuse("aten.quantized", "a quantised tensor comes from where its scale is not known");
    return {};
  }
  if (known->integers) return *known;
  const Scheme scheme = known->scheme;
  return *behind(quantize(x, scheme));
}

Ref QuantizedTensors::inherited_one(const AtenOp& op, std::string_view name, Ref result, const Scheme& scheme) {
  static constexpr std::string_view kExact[] = {
      "cat",        "clone",      "contiguous",          "dropout", "flip", "index", "index_select",      "max_pool1d",
      "max_pool2d", "max_pool3d", "adaptive_max_pool2d", "relu",    "roll", "stack", "upsample_nearest2d"};
  if (l_->failed() || l_->dtype(result) != DType::f32 || behind(result)) return result;
  const bool exact = op.put || std::find(std::begin(kExact), std::end(kExact), name) != std::end(kExact);
  if (!exact) return quantize(result, scheme);
  known_[key_of(result)] = {{}, scheme};
  return result;
}

Arg QuantizedTensors::inherited(const AtenOp& op, std::string_view name, const Args& args, Arg result) {
  if (known_.empty() || args.size() == 0 || l_->failed()) return result;
  if (is_of(quantize_ops(), name) || is_of(quantized_ops(), name)) return result;
  const std::string& first = args.schema().parameters[0].name;
  const Refs list = args.arg(first).get<Arguments>() ? args.tensors(first) : Refs();
  const Ref self = list.empty() ? args.is_tensor(first) ? args.tensor(first) : Ref() : list[0];
  const Quantized* given = self ? behind(self) : nullptr;
  if (!given || l_->rank(given->scheme.scale) > 0) return result;
  const Scheme scheme = given->scheme;
  if (const Ref* one = result.get<Ref>()) return inherited_one(op, name, *one, scheme);
  if (auto* many = std::get_if<Arguments>(&result.value))
    for (Arg& item : *many)
      if (const Ref* one = item.get<Ref>()) item = inherited_one(op, name, *one, scheme);
  return result;
}

const PackedSequences::Steps* PackedSequences::steps(Ref counts) const {
  const auto it = std::find_if(steps_.begin(), steps_.end(), [&](const Steps& one) { return one.counts == counts; });
  return it == steps_.end() ? nullptr : &*it;
}

Ref PackedSequences::padded(Ref entries) const {
  const auto it = std::find_if(padded_.begin(), padded_.end(), [&](const auto& one) { return one.first == entries; });
  return it == padded_.end() ? Ref() : it->second;
}

std::optional<Dim> PackedSequences::first_count(const Builder& builder, Ref tensor) const {
  const Node* made = steps_.empty() ? nullptr : builder.producer(tensor);
  if (!made || made->type != "Gather") return std::nullopt;
  const Steps* all = steps({tensor.scope, made->in[0]});
  const auto place = builder.fact({tensor.scope, made->in[1]}).single();
  return all && place == Dim(0) ? std::optional(all->batch) : std::nullopt;
}

}  // namespace anyshape::lower
