#include <algorithm>
#include <array>

#include "base/among.h"
#include "base/printable.h"
#include "base/running_command.h"
#include "lower/naming.h"
#include "lower/torchscript/library.h"

namespace anyshape::lower::script {
namespace {

// What operators meant when older versions of the archive's format were written differs from what they mean now.
void keep_old_meaning(Lowering& in, int64_t version, std::string_view name, const Arguments& args,
                      std::vector<NamedArg>& named) {
  constexpr int64_t kTrueDivision = 4, kTypedFull = 5;
  const auto given = [&](std::string_view key) {
    return std::any_of(named.begin(), named.end(),
                       [&](const NamedArg& one) { return one.name == key && !one.value.is_none(); });
  };
  const auto whole = [&](const Arg& arg) {
    return arg.get<Dim>() || arg.get<bool>() || (arg.is_tensor() && is_integer(in->dtype(in.ref(arg))));
  };
  const bool divides = name == "div" || name == "div_" || name == "divide" || name == "divide_";
  if (version < kTrueDivision && divides && !given("rounding_mode") && std::all_of(args.begin(), args.end(), whole))
    named.push_back({"rounding_mode", Arg::of(std::string("trunc"))});
  const bool untyped = name == "full" && !given("dtype") && !given("out") && args.size() == 2;
  if (version < kTypedFull && untyped && whole(args[1])) named.push_back({"dtype", Arg::of(DType::f32)});
}

std::optional<Value> some(Value value) { return std::optional<Value>(std::move(value)); }

// Without meaning for what a model computes.
constexpr std::array<std::string_view, 12> kSilent = {"warn",          "print",
                                                      "manual_seed",   "set_grad_enabled",
                                                      "_assert_async", "_assert_tensor_metadata",
                                                      "seed",          "_functional_assert_async",
                                                      "_print",        "_assert_scalar",
                                                      "wait_stream",   "synchronize"};

constexpr std::array<std::string_view, 13> kSame = {
    "cpu",  "cuda", "detach",       "detach_",     "requires_grad_",           "data", "alias", "lift_fresh_copy",
    "lift", "wait", "resolve_conj", "resolve_neg", "unchecked_unwrap_optional"};

constexpr std::array<std::string_view, 11> kNever = {"is_cuda", "is_sparse",     "is_quantized",   "is_mkldnn",
                                                     "is_meta", "is_xpu",        "is_mps",         "is_vulkan",
                                                     "is_ipu",  "is_sparse_csr", "is_complex_view"};

// Packed weights become what they were packed from: (weight, bias) and, of a convolution, its settings.
// What they pack is kept as the tuple of their arguments, and unpacked for those that are given it.
constexpr std::string_view kPacks[] = {
    "conv1d_prepack",           "conv2d_prepack",           "conv3d_prepack", "conv_transpose1d_prepack",
    "conv_transpose2d_prepack", "conv_transpose3d_prepack", "linear_prepack", "linear_prepack_fp16"};

void unpack_weights(Call& call) {
  const List* packed = call.args[1].list();
  if (packed == nullptr || !packed->tuple) return;
  const Values parts = packed->items;
  call.args.erase(call.args.begin() + 1);
  call.args.insert(call.args.begin() + 1, parts.begin(), parts.end());
}

}  // namespace

const Value* Call::arg(size_t i, std::string_view keyword) const {
  if (i < args.size()) return &args[i];
  for (const auto& [given, value] : named) {
    if (!keyword.empty() && given == keyword) return &value;
  }
  return nullptr;
}

Library::Maybe Library::setting(const Call& call) {
  const std::string& name = call.name;
  if (among(name, kSilent)) return some(None{});
  if (among(name, kSame) && !call.args.empty()) return some(call.args[0]);
  // An exported model infers. Which fused paths that opens matters for entries that a mask leaves out.
  if (name == "is_grad_enabled") return some(false);
  if (name == "is_scripting") return some(true);
  if (name == "is_autocast_enabled" || name == "is_autocast_cpu_enabled" || name == "is_tracing") return some(false);
  if (name == "get_default_dtype") return some(Dim(6));
  if (name == "device") {
    const std::string* text = call.args.empty() ? nullptr : call.args[0].text();
    return some(Device{text ? *text : "cpu"});
  }
  if ((name == "__is__" || name == "__isnot__") && call.args.size() == 2) {
    const Value &a = call.args[0], &b = call.args[1];
    bool same = a.is_none() && b.is_none();
    if (a.is_tensor() && b.is_tensor()) same = *a.get<Var>() == *b.get<Var>();
    if (a.list() || a.dict() || a.instance())
      same = a.list() == b.list() && a.dict() == b.dict() && a.instance() == b.instance();
    const bool plain = !a.is_none() && !b.is_none() && a.is_number() && b.is_number();
    if (plain) {
      TRY(const Value equal_values, equal(a, b));
      return some(name == "__is__" ? equal_values : numbers_.negate(equal_values));
    }
    return some(same == (name == "__is__"));
  }
  return std::nullopt;
}

Library::Maybe Library::range_primitive(const Call& call) {
  Dims numbers;
  for (const Value& arg : call.args) {
    if (!arg.get<Dim>()) return std::nullopt;
    numbers.push_back(*arg.get<Dim>());
  }
  if (numbers.size() != 3) return std::nullopt;
  if (call.name == "__derive_index") return some(numbers[1] + numbers[0] * numbers[2]);
  if (call.name != "__range_length") return std::nullopt;
  const auto step = numbers[2].constant();
  if (step == 0) return refuse("script.value", "a range has step 0");
  const Dim span = step && *step < 0 ? numbers[0] - numbers[1] : numbers[1] - numbers[0];
  const Dim length = ceildiv(span, step && *step < 0 ? -numbers[2] : numbers[2]);
  return some(in_->proves(Condition::ge(span, 0)) ? length : max(length, 0));
}

Library::Maybe Library::tensor_property(std::string_view name, const Var& tensor, const Call& call) {
  const Ref value = in_.memory().read(tensor);
  const Fact& fact = in_->fact(value);
  if (name == "dtype") {
    const auto code = c10_of_dtype(fact.dtype);
    if (!code)
      return refuse("script.dtype", "a tensor has the type {}, which TorchScript has no number for",
                    anyshape::name(fact.dtype));
    return some(Dim(*code));
  }
  if (name == "device") return some(Device{"cpu"});
  if (name == "layout") return some(Dim(0));
  if (name == "is_nested") return some(static_cast<bool>(in_.nested().mask(value)));
  if (name == "requires_grad") return some(anyshape::is_float(fact.dtype));
  if (among(name, kNever)) return some(false);
  if (name == "is_floating_point") return some(anyshape::is_float(fact.dtype));
  if (name == "is_complex") return some(fact.dtype == DType::c64 || fact.dtype == DType::c128);
  if (name == "is_signed") return some(!is_integer(fact.dtype) || is_signed_integer(fact.dtype));
  if (name == "is_contiguous" || name == "is_leaf") return some(true);
  if (name == "element_size" || name == "itemsize") return some(Dim(bits(fact.dtype) / 8));
  if (name == "get_device") return some(Dim(-1));
  if (name == "grad" || name == "name") return some(None{});
  constexpr std::array<std::string_view, 8> kShape = {"size",  "shape",  "dim",  "len",
                                                      "numel", "stride", "ndim", "sym_size"};
  if (!among(name, kShape)) return std::nullopt;
  if (!fact.has_rank()) return refuse("script.rank", "the number of axes of a tensor is not known");
  const Dims dims = *fact.dims;
  if (name == "dim" || name == "ndim") return some(Dim(dims.size()));
  if (name == "numel") return some(product(dims));
  if (name == "len") {
    if (dims.empty()) return refuse("script.value", "the length of a tensor without axes");
    return some(dims[0]);
  }
  Dims numbers = dims;
  if (name == "stride") {
    const auto strides = in_.memory().strides(tensor);
    if (!strides) return refuse("script.stride", "how a tensor lies in memory is not known; call .contiguous() before");
    numbers = *strides;
  }
  const Value* axis = call.arg(1, "dim");
  if (axis != nullptr) {
    TRY(const int64_t place, index_in(*axis, numbers.size()));
    return some(numbers[static_cast<size_t>(place)]);
  }
  return some(list_of(Values(numbers.begin(), numbers.end())));
}

Library::Maybe Library::tensor_primitive(const Call& call) {
  if (call.args.empty()) return std::nullopt;
  const Value& first = call.args[0];
  const std::string& name = call.name;
  if (name == "Int" || name == "IntImplicit") return numbers_.to_int(first).map(some);
  if (name == "Float" || name == "FloatImplicit") return numbers_.to_float(first).map(some);
  if (name == "Bool" || name == "is_nonzero") return numbers_.to_bool(first).map(some);
  const Var* tensor = first.get<Var>();
  if (tensor == nullptr) return std::nullopt;
  if (name == "item" || name == "ScalarImplicit") return numbers_.item(*tensor).map(some);
  if (name == "__not__") {
    TRY(const Value truth, numbers_.to_bool(first));
    return some(numbers_.negate(truth));
  }
  return tensor_property(name, *tensor, call);
}

// A loop that fills a list which is joined has run: its sizes are those of an iteration.
void Library::assume_some(Ref stacked) {
  in_.assume(Condition::ge(in_->dim(stacked, 0), 1), "stack and cat take no empty list");
  Dims dims = in_->dims(stacked);
  for (Dim& size : dims) size = in_->assumptions().simplify(size);
  in_->claim(stacked, std::move(dims));
}

Library::Maybe Library::stacked_primitive(const Call& call) {
  if (call.args.empty()) return std::nullopt;
  const std::string& name = call.name;
  const Value* axis = call.arg(1, "dim");
  const Value zero = Dim(0);
  if (name == "unbind" && call.args[0].is_tensor()) {
    const Var tensor = *call.args[0].get<Var>();
    const Ref value = in_.memory().read(tensor);
    const Value& along = axis ? *axis : zero;
    TRY(const int64_t place, index_in(along, in_->dims(value).size()));
    if (in_->dim(value, static_cast<size_t>(place)).is_constant()) return std::nullopt;
    TRY(const Value moved, aten({"movedim", {call.args[0], Value(Dim(place)), zero}, {}}));
    auto list = std::make_shared<List>();
    list->stacked = in_.memory().read(*moved.get<Var>());
    return some(std::move(list));
  }
  const List* list = call.args[0].list();
  if (list == nullptr || !list->stacked || (name != "stack" && name != "cat")) return std::nullopt;
  assume_some(list->stacked);
  const size_t rank = in_->rank(list->stacked);
  const size_t axes = name == "stack" ? rank : rank - 1;
  TRY(const int64_t place, index_in(axis ? *axis : zero, axes));
  const Value whole = in_.memory().variable(list->stacked);
  TRY(const Value moved, aten({"movedim", {whole, zero, Value(Dim(place))}, {}}));
  if (name == "stack") return some(moved);
  return aten({"flatten", {moved, Value(Dim(place)), Value(Dim(place + 1))}, {}}).map(some);
}

Result<Ref> Library::tensor_of(const Value& data, std::optional<DType> dtype) {
  Dims dims, whole;
  std::vector<double> real;
  Refs parts;
  Values leaves = {data};
  while (!leaves.empty() && leaves[0].list() && !leaves[0].list()->stacked) {
    Values below;
    const size_t each = leaves[0].list()->items.size();
    for (const Value& one : leaves) {
      if (!one.list() || one.list()->items.size() != each)
        return refuse("script.value", "a tensor is made of uneven lists");
      below.insert(below.end(), one.list()->items.begin(), one.list()->items.end());
    }
    dims.push_back(Dim(each));
    leaves = std::move(below);
    if (dims.size() > 16) return refuse("script.value", "a tensor is made of too many nested lists");
  }
  const auto all = [&](auto test) { return std::all_of(leaves.begin(), leaves.end(), test); };
  if (all([](const Value& v) { return v.get<Dim>(); }) && !leaves.empty()) {
    for (const Value& v : leaves) whole.push_back(*v.get<Dim>());
    return in_->cast(in_->reshape(in_->shape(whole), dims), dtype.value_or(DType::i64));
  }
  if (all([&](const Value& v) { return numbers_.constant(v).has_value(); })) {
    const bool truths = !leaves.empty() && all([](const Value& v) { return v.get<bool>(); });
    std::vector<int64_t> sizes;
    for (Dim d : dims) sizes.push_back(*d.constant());
    TRY(Tensor made, Tensor::allocate(DType::f64, sizes));
    for (size_t i = 0; i < leaves.size(); ++i) made.as_mutable<double>()[i] = *numbers_.constant(leaves[i]);
    return in_->cast(in_->constant(std::move(made)), dtype.value_or(truths ? DType::boolean : DType::f32));
  }
  const bool real_numbers = std::any_of(leaves.begin(), leaves.end(), [](const Value& v) { return v.is_float(); });
  for (const Value& v : leaves) {
    if (!v.is_number() && !v.is_tensor()) return refuse("script.type", "a tensor is made of {}", kind_of(v));
    const Ref one = v.is_tensor() ? in_.memory().read(*v.get<Var>()) : numbers_.ref(v);
    const DType wanted = v.is_tensor() ? in_->dtype(one) : real_numbers ? DType::f32 : in_->dtype(one);
    parts.push_back(in_->reshape(in_->cast(one, dtype.value_or(wanted)), {1}));
  }
  return in_->reshape(parts.size() == 1 ? parts[0] : in_->concat(parts, 0), dims);
}

Library::Maybe Library::make_tensor(const Call& call) {
  const bool known =
      call.name == "tensor" || call.name == "as_tensor" || call.name == "scalar_tensor" || call.name == "NumToTensor";
  if (!known || call.args.empty()) return std::nullopt;
  std::optional<DType> dtype;
  const Value* wanted = call.arg(call.name == "scalar_tensor" ? 99 : 1, "dtype");
  if (wanted && wanted->get<Dim>() && wanted->get<Dim>()->constant()) {
    dtype = dtype_of_c10(*wanted->get<Dim>()->constant());
    if (!dtype) return refuse("script.dtype", "no element type has the number {}", *wanted->get<Dim>()->constant());
  }
  if (call.args[0].is_tensor()) {
    if (!dtype) return some(call.args[0]);
    return aten({"to", {call.args[0], *wanted}, {}}).map(some);
  }
  if (call.name == "NumToTensor" && call.args[0].is_float()) dtype = DType::f64;
  TRY(const Ref made, tensor_of(call.args[0], dtype));
  return some(in_.memory().variable(made));
}

Library::Maybe Library::prim(const Call& call) {
  const std::string& name = call.name;
  if (name == "RaiseException") {
    const std::string* message = call.args.empty() ? nullptr : call.args[0].text();
    return refuse("script.raise", "the program raises an exception: {}", message ? *message : "");
  }
  if (!call.args.empty()) {
    if (const auto* device = call.args[0].get<Device>()) {
      if (name == "type") return some(device->text.substr(0, device->text.find(':')));
      if (name == "index") return some(None{});
    }
    if (name == "tolist" && call.args[0].is_tensor()) {
      const Ref value = in_.memory().read(*call.args[0].get<Var>());
      const auto& fact = in_->fact(value);
      if (fact.has_rank() && fact.rank() == 1 && fact.elements && fact.denominator == 1) {
        return some(list_of(Values(fact.elements->begin(), fact.elements->end())));
      }
      return refuse("script.value", "a tensor of data is made a list");
    }
    if (const auto* member = call.args[0].get<std::shared_ptr<const Enumerator>>()) {
      if (name == "EnumName") return some((*member)->name);
      if (name == "EnumValue") return some((*member)->value);
    }
  }
  return primitive(call);
}

Library::Maybe Library::primitive(const Call& call) {
  TRY(auto value, setting(call));
  if (value) return value;
  TRY(value, stacked_primitive(call));
  if (value) return value;
  TRY(value, container_primitive(call));
  if (value) return value;
  TRY(value, range_primitive(call));
  if (value) return value;
  TRY(value, numbers_.call(call.name, call.args));
  if (value) return value;
  TRY(value, make_tensor(call));
  if (value) return value;
  return tensor_primitive(call);
}

Result<Value> Library::torch_call(Call call) {
  TRY(auto value, primitive(call));
  if (value) return *std::move(value);
  if (call.name == "_infer_size" && call.args.size() == 2 && call.args[0].list() && call.args[1].list()) {
    Values a = call.args[0].list()->items, b = call.args[1].list()->items;
    if (a.size() < b.size()) std::swap(a, b);
    for (size_t i = 0; i < b.size(); ++i) {
      Value& place = a[a.size() - b.size() + i];
      if (place.get<Dim>() && b[i].get<Dim>()) place = broadcast(*place.get<Dim>(), *b[i].get<Dim>());
    }
    return list_of(std::move(a));
  }
  return aten(call);
}

Result<Value> Library::op_call(const std::string& space, Call call) {
  if (space == "prim") {
    TRY(auto value, prim(call));
    if (value) return *std::move(value);
    return refuse("script.prim", "prim::{} of {} is not known", call.name,
                  call.args.empty() ? "nothing" : kind_of(call.args[0]));
  }
  if (space == "quantized") {
    if (among(call.name, kPacks)) return tuple_of(std::move(call.args));
    if (call.args.size() > 1) unpack_weights(call);
  }
  const std::string_view name = aten_name_of(space, call.name);
  if (name.empty()) return custom(space, call);
  call.name = std::string(name);
  return torch_call(std::move(call));
}

std::optional<Arg> Library::operand(const Value& value) {
  const Var* tensor = value.get<Var>();
  if (tensor == nullptr || wrapped_.count(tensor->get()) == 0 || (*tensor)->writes > 0) return to_arg(value);
  const auto number = numbers_.item(*tensor);
  return to_arg(number ? *number : value);
}

Result<Value> Library::aten(const Call& call) {
  Arguments args;
  std::vector<NamedArg> named;
  const bool any_tensor = std::any_of(call.args.begin(), call.args.end(), [&](const Value& v) {
    return v.is_tensor() && wrapped_.count(v.get<Var>()->get()) == 0;
  });
  for (const Value& arg : call.args) {
    auto converted = any_tensor ? operand(arg) : to_arg(arg);
    if (!converted) return refuse("script.type", "aten::{} is given {}", call.name, kind_of(arg));
    args.push_back(*std::move(converted));
  }
  for (const auto& [name, value] : call.named) {
    auto converted = to_arg(value);
    if (!converted) return refuse("script.type", "aten::{} is given {}", call.name, kind_of(value));
    named.push_back({name, *std::move(converted)});
  }
  if (call.name == "_nested_tensor_from_mask_left_aligned") padding_checked_ = true;
  if (call.name == "_nested_tensor_from_mask" && !padding_checked_) {
    note(fmt::format(
        "{}: the program takes the padding to be at the end of each row, without looking; a mask of another kind gives "
        "other values than the module it was captured from may give",
        frames_.place()));
  }
  keep_old_meaning(in_, version_, call.name, args, named);
  frames_.show_place(in_);
  const Arg result = in_.call(call.name, "", std::move(args), std::move(named));
  if (in_->failed()) return tl::unexpected(in_->status().error());
  return from_arg(result, in_);
}

// Kept as a node of its own domain; tensors are its inputs, all else its attributes.
Result<Value> Library::custom(const std::string& space, const Call& call) {
  const auto [domain, type] = custom_name(custom_, space, call.name);
  const OpDef* record = in_->record(domain, type);
  if (record == nullptr) {
    auto error = refuse("export.custom", "{}::{} is an operator of an extension, and nothing says what shapes it gives",
                        space, call.name)
                     .value();
    error.hint =
        running_command_with("--custom-shape " + shell_word(fmt::format("{}::{}: y = [x0, x1]", space, call.name)));
    return tl::unexpected(std::move(error));
  }
  Refs in;
  std::vector<Attribute> attributes;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Value& arg = call.args[i];
    const std::string key = fmt::format("arg{}", i);
    const List* list = arg.list();
    if (arg.is_tensor()) in.push_back(in_.memory().read(*arg.get<Var>()));
    if (list && !list->stacked) {
      for (const Value& item : list->items) {
        if (item.is_tensor()) in.push_back(in_.memory().read(*item.get<Var>()));
      }
    }
    if (const Dim* whole = arg.get<Dim>(); whole && whole->constant())
      attributes.push_back(attr(key, *whole->constant()));
    if (const double* real = arg.get<double>()) attributes.push_back(attr(key, *real));
    if (const bool* truth = arg.get<bool>()) attributes.push_back(attr(key, *truth));
    if (arg.text()) attributes.push_back(attr(key, std::string_view(*arg.text())));
  }
  frames_.show_place(in_);
  const Refs results = in_->emit(type, in, std::move(attributes), record->sig.out.size(), domain);
  if (in_->failed()) return tl::unexpected(in_->status().error());
  Values values;
  for (Ref ref : results) values.push_back(in_.memory().variable(ref));
  return values.size() == 1 ? values[0] : tuple_of(std::move(values));
}

Result<Value> Library::builtin(Call call) {
  const std::string name = call.name;
  if (call.args.empty()) {
    if (name == "list") return list_of({});
    if (name == "dict") return shared_dict();
    if (name == "print") return Value(None{});
    return refuse("script.name", "the archive has no code for {}", name);
  }
  const Value& first = call.args[0];
  if (name == "int") return numbers_.to_int(first);
  if (name == "float") return numbers_.to_float(first);
  if (name == "bool") return numbers_.to_bool(first);
  if (name == "str") return text_of(first).map([](std::string text) { return Value(std::move(text)); });
  if (name == "range" && call.args.size() == 1) {
    if (first.is_tensor()) return numbers_.to_int(first);
    return first;
  }
  if (name == "tuple" && first.list()) return tuple_of(first.list()->items);
  if (name == "chr" && first.get<Dim>() && first.get<Dim>()->constant()) {
    return Value(std::string(1, static_cast<char>(*first.get<Dim>()->constant())));
  }
  if (name == "complex" && call.args.size() == 2) {
    const auto re = numbers_.constant(first), im = numbers_.constant(call.args[1]);
    if (re && im) return Value(std::complex<double>(*re, *im));
  }
  return torch_call(std::move(call));
}

}  // namespace anyshape::lower::script
