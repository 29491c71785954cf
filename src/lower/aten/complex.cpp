#include "lower/aten/complex.h"

#include <algorithm>
#include <cstring>

#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

uint64_t key_of(Ref ref) { return (uint64_t{ref.scope} << 32) | ref.id; }

// Every second number of a complex constant.
Ref half_of(Lowering& l, const Tensor& complex, size_t offset) {
  const DType dtype = part_type(complex.dtype());
  auto half = Tensor::allocate(dtype, complex.dims());
  if (!half) {
    l.fail(std::move(half).error());
    return {};
  }
  const size_t width = static_cast<size_t>(bits(dtype)) / 8;
  for (size_t i = 0; i < static_cast<size_t>(complex.count()); ++i)
    std::memcpy(half->data() + i * width, complex.bytes().data() + (2 * i + offset) * width, width);
  return l.constant(*std::move(half));
}

// Operators that treat every entry alike: the real and the imaginary parts go through them one by one.
constexpr std::string_view kLinear[] = {
    "_conj_copy",
    "_reshape_alias",
    "_unsafe_view",
    "alias",
    "cat",
    "chunk",
    "clone",
    "concat",
    "concatenate",
    "constant_pad_nd",
    "contiguous",
    "copy",
    "cumsum",
    "detach",
    "diagonal",
    "dim",
    "dropout",
    "empty_like",
    "expand",
    "expand_as",

    "flatten",
    "flip",
    "gather",
    "index",
    "index_select",
    "lift_fresh",
    "lift_fresh_copy",
    "masked_select",
    "mean",
    "moveaxis",
    "movedim",
    "narrow",
    "neg",
    "new_zeros",
    "numel",
    "pad",
    "permute",
    "ravel",
    "repeat",
    "repeat_interleave",
    "reshape",
    "reshape_as",
    "resolve_neg",
    "roll",
    "rot90",
    "select",
    "size",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "stack",
    "sum",
    "swapaxes",
    "swapdims",
    "sym_numel",
    "sym_size",
    "t",
    "take_along_dim",
    "tensor_split",
    "tile",
    "transpose",
    "tril",
    "triu",
    "unbind",
    "unflatten",
    "unfold",
    "unsafe_chunk",
    "unsafe_split",
    "unsqueeze",
    "view",
    "view_as",
    "zero",
    "zeros_like",
};

bool is_linear(std::string_view name) {
  return std::find(std::begin(kLinear), std::end(kLinear), name) != std::end(kLinear);
}

Arg part(Lowering& l, const Arg& arg, bool imaginary, bool mixed) {
  if (const auto* number = arg.get<std::complex<double>>()) return Arg(imaginary ? number->imag() : number->real());
  if (const auto* dtype = arg.get<DType>()) return Arg::of(part_type(*dtype));
  const auto* value = arg.get<Ref>();
  if (!value || !*value) return arg;
  if (!Lowering::is_complex(l.dtype(*value)) && !mixed) return arg;
  const auto [real, rest] = l.parts_of(*value);
  return imaginary ? rest : real;
}

Args part_of(Lowering& l, const Args& a, bool imaginary) {
  Args out = a;
  for (size_t i = 0; i < out.size(); ++i) {
    Arg& arg = out.arg_at(i);
    auto* items = std::get_if<Arguments>(&arg.value);
    if (!items) {
      arg = part(l, arg, imaginary, false);
      continue;
    }
    const bool mixed = std::any_of(items->begin(), items->end(), [&](const Arg& item) {
      return item.get<Ref>() && Lowering::is_complex(l.dtype(*item.get<Ref>()));
    });
    for (Arg& item : *items) item = part(l, item, imaginary, mixed);
  }
  return out;
}

const AtenOp* real_record(const Args& a) {
  std::string_view name = a.schema().name;
  if (name.ends_with('_') && !name.ends_with("__")) name.remove_suffix(1);
  return find_aten(name, a.schema().overload);
}

Arg joined(Lowering& l, const Arg& real, const Arg& imaginary) {
  if (const auto* many = real.get<Arguments>()) {
    Arguments out;
    const auto* others = imaginary.get<Arguments>();
    for (size_t i = 0; others && i < many->size() && i < others->size(); ++i)
      out.push_back(joined(l, (*many)[i], (*others)[i]));
    return out;
  }
  return real.get<Ref>() ? Arg(l.complex_of(l.ref(real), l.ref(imaginary))) : real;
}

Arg by_parts(Lowering& l, const Args& a) {
  const AtenOp* real = real_record(a);
  return joined(l, real->lower(l, part_of(l, a, false)), real->lower(l, part_of(l, a, true)));
}

Ref put_by_parts(Lowering& l, const Args& a, Ref self, Ref part_value, size_t index) {
  const AtenOp* real = real_record(a);
  const auto [self_real, self_rest] = l.parts_of(self);
  const auto [part_real, part_rest] = l.parts_of(part_value);
  return l.complex_of(real->put(l, part_of(l, a, false), self_real, part_real, index),
                      real->put(l, part_of(l, a, true), self_rest, part_rest, index));
}

constexpr AtenOp kByParts{.name = "", .lower = by_parts};
constexpr AtenOp kView{.name = "", .lower = by_parts, .put = put_by_parts};
constexpr AtenOp kReorderedView{.name = "", .lower = by_parts, .put = put_by_parts, .reorders = true};
constexpr AtenOp kCopyingView{.name = "", .lower = by_parts, .put = put_by_parts, .copies_reordered = true};

}  // namespace

DType part_type(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  return dtype == DType::c128 ? DType::f64 : dtype;
}

bool takes_complex(Lowering& l, const Args& args) {
  const auto one = [&](const Arg& arg) {
    if (arg.get<std::complex<double>>()) return true;
    if (const auto* dtype = arg.get<DType>()) return Lowering::is_complex(*dtype);
    return arg.is_tensor() && Lowering::is_complex(l.dtype(l.ref(arg)));
  };
  for (const Parameter& parameter : args.schema().parameters) {
    const Arg& arg = args.arg(parameter.name);
    if (const auto* items = arg.get<Arguments>()) {
      if (std::any_of(items->begin(), items->end(), one)) return true;
    } else if (one(arg)) {
      return true;
    }
  }
  return false;
}

const AtenOp* find_complex(std::string_view name, const AtenOp* real) {
  const auto own = complex_arithmetic();
  const auto it = std::find_if(own.begin(), own.end(), [&](const AtenOp& op) { return op.name == name; });
  if (it != own.end()) return &*it;
  if (name == "fft_fftshift" || name == "fft_ifftshift") return real ? &kByParts : nullptr;
  if (name.starts_with("fft_") || name.starts_with("_fft_") || name == "istft" || name == "stft") return real;
  if (!real || !is_linear(name)) return nullptr;
  if (!real->put) return &kByParts;
  return real->reorders ? &kReorderedView : real->copies_reordered ? &kCopyingView : &kView;
}

Lowering::Parts* Lowering::parts_behind(Ref complex) {
  const auto it = complex_.find(key_of(complex));
  if (it != complex_.end()) return &it->second;
  if (failed()) return nullptr;
  const Tensor* known = tensor(complex);
  if (!known || !is_complex(known->dtype())) {
    refuse("aten.complex", "a complex tensor comes from where its parts are not known");
    return nullptr;
  }
  const Tensor whole = *known;
  const Parts parts{{}, half_of(*this, whole, 0), half_of(*this, whole, 1)};
  return &complex_.emplace(key_of(complex), parts).first->second;
}

Ref Lowering::complex_of(Ref real, Ref imaginary) {
  if (failed()) return {};
  const DType dtype = this->dtype(real) == DType::f64 ? DType::c128 : DType::c64;
  const DType half = part_type(dtype);
  real = cast(real, half);
  imaginary = cast(imaginary, half);
  if (dims(real) != dims(imaginary)) {
    const Ref sum = op("Add", {real, imaginary});
    real = expand(real, dims(sum));
    imaginary = expand(imaginary, dims(sum));
  }
  if (failed()) return {};
  const Ref made = emit_opaque("", "Complex", {real, imaginary}, {}, {Fact::tensor(dtype, dims(real))}).front();
  if (made) complex_[key_of(made)] = Parts{{}, real, imaginary};
  return made;
}

Ref Lowering::complex_of_pairs(Ref pairs) {
  if (failed() || rank(pairs) == 0) return {};
  const DType dtype = this->dtype(pairs) == DType::f64 ? DType::c128 : DType::c64;
  pairs = cast(pairs, part_type(dtype));
  Dims sizes = dims(pairs);
  sizes.pop_back();
  const Ref made = emit_opaque("", "Complex", {pairs}, {}, {Fact::tensor(dtype, sizes)}).front();
  if (made) complex_[key_of(made)] = Parts{pairs, {}, {}};
  return made;
}

std::pair<Ref, Ref> Lowering::parts_of(Ref x) {
  if (failed() || !x) return {};
  if (!is_complex(dtype(x))) return {x, filled(*this, dims(x), 0, dtype(x))};
  const Parts* parts = parts_behind(x);
  if (!parts) return {};
  if (parts->real) return {parts->real, parts->imaginary};
  const int64_t last = static_cast<int64_t>(rank(parts->pairs)) - 1;
  const Ref pairs = parts->pairs;
  const Ref real = gather(pairs, number(int64_t{0}), last), imaginary = gather(pairs, number(int64_t{1}), last);
  // What is made inside a body is not there outside of it.
  if (real.scope == x.scope && imaginary.scope == x.scope) complex_[key_of(x)] = Parts{pairs, real, imaginary};
  return {real, imaginary};
}

Ref Lowering::pairs_of(Ref complex) {
  if (failed() || !complex) return {};
  const Parts* parts = parts_behind(complex);
  if (!parts) return {};
  if (parts->pairs) return parts->pairs;
  const Ref pairs = concat({unsqueeze(parts->real, {-1}), unsqueeze(parts->imaginary, {-1})}, -1);
  if (pairs.scope == complex.scope) complex_[key_of(complex)].pairs = pairs;
  return pairs;
}

Ref Lowering::input(std::string_view name, Fact fact) {
  if (!is_complex(fact.dtype) || !fact.dims) return Builder::input(name, std::move(fact));
  fact.dtype = part_type(fact.dtype);
  fact.dims->push_back(2);
  return complex_of_pairs(Builder::input(name, std::move(fact)));
}

Result<std::shared_ptr<Graph>> Lowering::finish(std::vector<std::pair<std::string, Ref>> outputs) {
  for (const auto& [name, value] : outputs)
    if (nested_mask(value)) refuse("aten.nested", "the output {:?} is a nested tensor, which ONNX has not", name);
  for (auto& [name, ref] : outputs)
    if (ref && is_complex(dtype(ref))) ref = pairs_of(ref);
  return Builder::finish(outputs);
}

}  // namespace anyshape::lower
