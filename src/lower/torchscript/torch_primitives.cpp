#include <algorithm>
#include <array>

#include "base/among.h"
#include "lower/torchscript/library.h"

// Functions of PyTorch that are no operators: of settings, ranges, properties of tensors.
namespace anyshape::lower::script {
namespace {

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

}  // namespace anyshape::lower::script
