#include <algorithm>

#include "lower/aten/families.h"
#include "lower/aten/move.h"

namespace anyshape::lower {
namespace {

// PyTorch counts pairs from the last axis; ONNX wants all that comes before, then all that comes after.
std::optional<Dims> onnx_order(Lowering& l, Ref x, const Dims& pads) {
  const size_t rank = l->rank(x), named = pads.size() / 2;
  if (pads.size() % 2 != 0 || named > rank) {
    if (!l->failed()) l->refuse("aten.arguments", "{} numbers for padding a tensor of {} axes", pads.size(), rank);
    return std::nullopt;
  }
  Dims out(2 * rank, Dim(0));
  for (size_t i = 0; i < named; ++i) {
    out[rank - 1 - i] = pads[2 * i];
    out[2 * rank - 1 - i] = pads[2 * i + 1];
  }
  return out;
}

bool is_nothing_pad(const Dims& pads) {
  return std::all_of(pads.begin(), pads.end(), [](Dim d) { return d == Dim(0); });
}

bool some_negative(Lowering& l, const Dims& pads) {
  return std::any_of(pads.begin(), pads.end(), [&](Dim d) { return l->proves(Condition::lt(d, 0)); });
}

// The entries that negative padding takes away, gone; the padding that is left.
Ref cropped(Lowering& l, Ref x, Dims& pads) {
  const size_t rank = pads.size() / 2;
  for (size_t i = 0; i < rank; ++i) {
    Dim &before = pads[i], &after = pads[rank + i];
    const bool front = l->proves(Condition::lt(before, 0)), back = l->proves(Condition::lt(after, 0));
    if (!front && !back) continue;
    x = l->slice(x, static_cast<int64_t>(i), front ? -before : Dim(0), back ? after : Dim(INT64_MAX));
    if (front) before = 0;
    if (back) after = 0;
  }
  return x;
}

// A wider type where ONNX Runtime does not pad the type itself; bools are padded since opset 13.
DType padded_as(Lowering& l, DType dtype) {
  if (dtype == DType::bf16) return DType::f32;
  if (dtype == DType::i16 || dtype == DType::u16 || (dtype == DType::boolean && l->opset() < 13)) return DType::i32;
  return dtype;
}

Ref fill_of(Lowering& l, const Args& a, DType dtype) {
  const Arg& value = a.arg("value");
  if (value.is_none()) return {};
  const auto* number = value.get<double>();
  const auto* whole = value.get<Dim>();
  if ((number && *number == 0) || (whole && *whole == Dim(0))) return {};
  return l.operand(value, dtype);
}

Ref padded_pad(Lowering& l, const Args& a, Ref x, const Dims& asked) {
  auto pads = onnx_order(l, x, asked);
  if (!pads) return {};
  x = cropped(l, x, *pads);
  if (is_nothing_pad(*pads)) return x;
  const DType dtype = l->dtype(x), type = padded_as(l, dtype);
  return l->cast(l->pad(l->cast(x, type), *pads, fill_of(l, a, type)), dtype);
}

// Each end takes its entries from the other one.
Ref wrapped(Lowering& l, Ref x, const Dims& asked) {
  auto pads = onnx_order(l, x, asked);
  if (!pads) return {};
  x = cropped(l, x, *pads);
  const size_t rank = l->rank(x);
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<int64_t>(i);
    const Dim before = (*pads)[i], after = (*pads)[rank + i];
    Refs parts;
    if (before != Dim(0)) parts.push_back(l->slice(x, axis, -before, INT64_MAX));
    parts.push_back(x);
    if (after != Dim(0)) parts.push_back(l->slice(x, axis, 0, after));
    x = l->concat(parts, axis);
  }
  return x;
}

Ref mirrored(Lowering& l, Ref x, const Dims& asked, std::string_view mode) {
  auto pads = onnx_order(l, x, asked);
  if (!pads) return {};
  if (some_negative(l, *pads)) {
    l->refuse("aten.pad", "a negative padding in mode {:?}", mode);
    return {};
  }
  if (is_nothing_pad(*pads)) return x;
  const DType dtype = l->dtype(x);
  return l->cast(l->pad(l->cast(x, padded_as(l, dtype)), *pads, {}, mode), dtype);
}

Arg pad(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Dims pads = a.dims("pad");
  const std::string mode = a.s("mode", "constant");
  if (mode == "constant") return padded_pad(l, a, x, pads);
  if (mode == "circular") return wrapped(l, x, pads);
  if (mode == "reflect") return mirrored(l, x, pads, "reflect");
  if (mode == "replicate") return mirrored(l, x, pads, "edge");
  l->refuse("aten.pad", "padding in mode {:?}", mode);
  return {};
}

Arg pad_enum(Lowering& l, const Args& a) {
  const Ref x = a.self();
  const Dims pads = a.dims("pad");
  switch (a.i("mode")) {
    case 0:
      return padded_pad(l, a, x, pads);
    case 1:
      return mirrored(l, x, pads, "reflect");
    case 2:
      return mirrored(l, x, pads, "edge");
    default:
      return wrapped(l, x, pads);
  }
}

Arg constant_pad(Lowering& l, const Args& a) { return padded_pad(l, a, a.self(), a.dims("pad")); }
Arg circular_pad(Lowering& l, const Args& a) { return wrapped(l, a.self(), a.dims("pad")); }
Arg reflection_pad(Lowering& l, const Args& a) { return mirrored(l, a.self(), a.dims("padding"), "reflect"); }
Arg replication_pad(Lowering& l, const Args& a) { return mirrored(l, a.self(), a.dims("padding"), "edge"); }

constexpr AtenOp kPadOps[] = {
    {"_pad_circular", circular_pad},        {"_pad_enum", pad_enum},
    {"constant_pad_nd", constant_pad},      {"pad", pad},
    {"reflection_pad1d", reflection_pad},   {"reflection_pad2d", reflection_pad},
    {"reflection_pad3d", reflection_pad},   {"replication_pad1d", replication_pad},
    {"replication_pad2d", replication_pad}, {"replication_pad3d", replication_pad},
};

}  // namespace

std::span<const AtenOp> pad_ops() { return kPadOps; }

}  // namespace anyshape::lower
