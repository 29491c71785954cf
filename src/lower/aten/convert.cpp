#include "lower/aten/nn.h"
#include "lower/aten/numeric.h"

namespace anyshape::lower {
namespace {

Arg same_convert(Lowering&, const Args& a) { return a.self(); }
Arg nothing(Lowering&, const Args&) { return {}; }

// A tensor that is already what it should become is given back, not copied.
bool same_value_convert(const Args&, Ref self, Ref result) { return self == result; }
bool unless_copied(const Args& a, Ref self, Ref result) { return self == result && !a.flag("copy"); }

Arg to(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (const Ref other = a.is_tensor("other") ? a.tensor("other") : Ref()) return l->cast(x, l->dtype(other));
  const auto wanted = a.dtype("dtype");
  return wanted ? l->cast(x, *wanted) : x;
}

// to.prim_dtype(Tensor, int?): the number of a type.
Arg to_coded(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!a.has("dtype")) return x;
  const auto wanted = c10_dtype(a.i("dtype"));
  if (!wanted) l->refuse("aten.dtype", "the element type {} has no counterpart in ONNX", a.i("dtype"));
  return wanted ? l->cast(x, *wanted) : x;
}

template <DType To>
Arg cast_to(Lowering& l, const Args& a) {
  return l->cast(a.self(), To);
}

enum class Drops { entries, channels, to_alpha };

template <Drops What>
Arg dropout(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (!a.flag("train") || a.f("p") == 0) return x;
  const std::string& name = a.schema().name;
  if (What == Drops::entries) return dropped(l, x, a.f("p"), name);
  if (l.options().training && What == Drops::to_alpha) {
    l->refuse("export.training", "{} has no form in ONNX that is kept in training", name);
    return {};
  }
  Dims sizes = l->dims(x);
  for (size_t i = 2; i < sizes.size(); ++i) sizes[i] = 1;
  return l.op("Mul", {x, dropped(l, filled(l, sizes, 1, l->dtype(x)), a.f("p"), name)});
}

Arg native_dropout(Lowering& l, const Args& a) {
  const Arg out = dropout<Drops::entries>(l, a);
  const Ref kept = l.ref(out);
  if (!l->failed() && kept != a.self()) {
    l->refuse("export.training", "native_dropout cannot be kept in training: call model.eval() before the export");
    return {};
  }
  if (l->failed()) return {};
  const Ref yes = l->integer(1, DType::boolean);
  return Refs{kept, l->full(l->dims(kept), *l->tensor(yes))};
}

// item(): a size where it is a whole number, else the tensor that holds it.
Arg item(Lowering& l, const Args& a) {
  const Ref x = a.self();
  if (is_integer(l->dtype(x))) return l.item(x);
  if (const auto known = known_number(l, x)) return *known;
  if (const Tensor* known = l->tensor(x); known && known->dtype() == DType::boolean) return known->int_at(0) != 0;
  return l->reshape(x, {});
}

// What a program promises about a number it read from a tensor.
Arg constrain_range(Lowering& l, const Args& a) {
  const auto* size = a.arg("size").get<Dim>();
  if (!size || size->is_constant()) return {};
  if (a.has("min")) l->assumptions().assume(Condition::ge(*size, a.dim("min")));
  if (a.has("max")) l->assumptions().assume(Condition::le(*size, a.dim("max")));
  return {};
}

constexpr AtenOp kConvertOps[] = {
    {"_assert_async", nothing},
    {"_assert_scalar", nothing},
    {"_assert_tensor_metadata", nothing},
    {"_cast_Byte", cast_to<DType::u8>},
    {"_cast_Char", cast_to<DType::i8>},
    {"_cast_Double", cast_to<DType::f64>},
    {"_cast_Float", cast_to<DType::f32>},
    {"_cast_Half", cast_to<DType::f16>},
    {"_cast_Int", cast_to<DType::i32>},
    {"_cast_Long", cast_to<DType::i64>},
    {"_cast_Short", cast_to<DType::i16>},
    {"_local_scalar_dense", item},
    {"_print", nothing},
    {"_to_copy", to},
    {"alias_copy", same_convert},
    {.name = "alpha_dropout", .lower = dropout<Drops::to_alpha>, .put = put_whole, .shares = same_value_convert},
    {.name = "cpu", .lower = same_convert, .put = put_whole},
    {.name = "cuda", .lower = same_convert, .put = put_whole},
    {.name = "data", .lower = same_convert, .put = put_whole},
    {"detach_copy", same_convert},
    {.name = "dropout", .lower = dropout<Drops::entries>, .put = put_whole, .shares = same_value_convert},
    {.name = "feature_alpha_dropout",
     .lower = dropout<Drops::to_alpha>,
     .put = put_whole,
     .shares = same_value_convert},
    {.name = "feature_dropout", .lower = dropout<Drops::channels>, .put = put_whole, .shares = same_value_convert},
    {"item", item},
    {"lift", same_convert},
    {.name = "lift_fresh", .lower = same_convert, .put = put_whole},
    {"lift_fresh_copy", same_convert},
    {"native_dropout", native_dropout},
    {.name = "pin_memory", .lower = same_convert, .put = put_whole},
    {"requires_grad", same_convert},
    {"sym_constrain_range", constrain_range},
    {"sym_constrain_range_for_size", constrain_range},
    {.name = "to", .lower = to, .put = put_whole, .shares = unless_copied},
    {.name = "to.prim_Device", .lower = to_coded, .put = put_whole, .shares = unless_copied},
    {.name = "to.prim_dtype", .lower = to_coded, .put = put_whole, .shares = unless_copied},
    {.name = "type_as", .lower = to, .put = put_whole, .shares = unless_copied},
};

}  // namespace

std::span<const AtenOp> convert_ops() { return kConvertOps; }

}  // namespace anyshape::lower
