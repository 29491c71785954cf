#include "lower/aten/complex.h"

#include <algorithm>

#include "lower/aten/families.h"
#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

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
  if (!Lowering::is_complex(l->dtype(*value)) && !mixed) return arg;
  const auto [real, rest] = l.complex().parts(*value);
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
      return item.get<Ref>() && Lowering::is_complex(l->dtype(*item.get<Ref>()));
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

Arg joined_complex(Lowering& l, const Arg& real, const Arg& imaginary) {
  if (const auto* many = real.get<Arguments>()) {
    Arguments out;
    const auto* others = imaginary.get<Arguments>();
    for (size_t i = 0; others && i < many->size() && i < others->size(); ++i)
      out.push_back(joined_complex(l, (*many)[i], (*others)[i]));
    return out;
  }
  return real.get<Ref>() ? Arg(l.complex().of(l.ref(real), l.ref(imaginary))) : real;
}

Arg by_parts(Lowering& l, const Args& a) {
  const AtenOp* real = real_record(a);
  return joined_complex(l, real->lower(l, part_of(l, a, false)), real->lower(l, part_of(l, a, true)));
}

Ref put_by_parts(Lowering& l, const Args& a, Ref self, Ref part_value, size_t index) {
  const AtenOp* real = real_record(a);
  const auto [self_real, self_rest] = l.complex().parts(self);
  const auto [part_real, part_rest] = l.complex().parts(part_value);
  return l.complex().of(real->put(l, part_of(l, a, false), self_real, part_real, index),
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
    return arg.is_tensor() && Lowering::is_complex(l->dtype(l.ref(arg)));
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
  if (is_of(fft_ops(), name) || name == "istft" || name == "stft") return real;
  if (!real || !is_linear(name)) return nullptr;
  if (!real->put) return &kByParts;
  return real->reorders ? &kReorderedView : real->copies_reordered ? &kCopyingView : &kView;
}

}  // namespace anyshape::lower
