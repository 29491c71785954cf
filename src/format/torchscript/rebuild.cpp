#include "format/torchscript/rebuild.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace anyshape::torchscript {
namespace {

using Kind = Pickled::Kind;

struct StorageType {
  std::string_view name;
  DType dtype;
};

// UntypedStorage: the type stands in the call that rebuilds the tensor.
constexpr std::array kStorages = {
    StorageType{"FloatStorage", DType::f32},
    StorageType{"DoubleStorage", DType::f64},
    StorageType{"HalfStorage", DType::f16},
    StorageType{"BFloat16Storage", DType::bf16},
    StorageType{"LongStorage", DType::i64},
    StorageType{"IntStorage", DType::i32},
    StorageType{"ShortStorage", DType::i16},
    StorageType{"CharStorage", DType::i8},
    StorageType{"ByteStorage", DType::u8},
    StorageType{"BoolStorage", DType::boolean},
    StorageType{"ComplexFloatStorage", DType::c64},
    StorageType{"ComplexDoubleStorage", DType::c128},
    StorageType{"Float8_e5m2Storage", DType::f8e5m2},
    StorageType{"Float8_e4m3fnStorage", DType::f8e4m3fn},
    StorageType{"UInt16Storage", DType::u16},
    StorageType{"UInt32Storage", DType::u32},
    StorageType{"UInt64Storage", DType::u64},
    StorageType{"QInt8Storage", DType::i8},
    StorageType{"QUInt8Storage", DType::u8},
    StorageType{"QInt32Storage", DType::i32},
    StorageType{"UntypedStorage", DType::undefined},
};

constexpr std::array kDTypes = {
    StorageType{"float32", DType::f32},        StorageType{"float64", DType::f64},
    StorageType{"float16", DType::f16},        StorageType{"bfloat16", DType::bf16},
    StorageType{"int64", DType::i64},          StorageType{"int32", DType::i32},
    StorageType{"int16", DType::i16},          StorageType{"int8", DType::i8},
    StorageType{"uint8", DType::u8},           StorageType{"bool", DType::boolean},
    StorageType{"complex64", DType::c64},      StorageType{"complex128", DType::c128},
    StorageType{"float8_e5m2", DType::f8e5m2}, StorageType{"float8_e4m3fn", DType::f8e4m3fn},
    StorageType{"uint16", DType::u16},         StorageType{"uint32", DType::u32},
    StorageType{"uint64", DType::u64},
};

constexpr std::array<std::string_view, 14> kFunctions = {
    "torch._utils _rebuild_qtensor",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_tensor_v3",
    "torch._utils _rebuild_parameter",
    "collections OrderedDict",
    "torch.jit._pickle restore_type_tag",
    "torch.jit._pickle build_intlist",
    "torch.jit._pickle build_doublelist",
    "torch.jit._pickle build_boollist",
    "torch.jit._pickle build_tensorlist",
    "torch device",
    "torch per_channel_affine",
    "torch per_tensor_affine",
    "torch Size",
};

template <size_t N>
const StorageType* lookup(const std::array<StorageType, N>& table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const StorageType& t) { return t.name == name; });
  return found == table.end() ? nullptr : &*found;
}

// The part of "torch FloatStorage" after "torch "; empty for another module.
std::string_view of_torch(const Pickled& global) {
  const std::string_view text = global.text;
  return global.kind == Kind::global && text.starts_with("torch ") ? text.substr(6) : std::string_view();
}

tl::unexpected<Error> bad_tensor(std::string_view what) {
  return refuse("pickle.tensor", "the pickle describes a tensor that cannot be: {}", what);
}

constexpr size_t kMaxRank = 64;

Result<std::vector<int64_t>> integers(const Pickled& tuple) {
  if ((tuple.kind != Kind::tuple && tuple.kind != Kind::list) || tuple.items.size() > kMaxRank) {
    return bad_tensor("its sizes or strides are no tuple of integers");
  }
  std::vector<int64_t> values;
  for (const Pickled* item : tuple.items) {
    if (item->kind != Kind::integer || item->integer < 0) return bad_tensor("a size or stride is no count");
    values.push_back(item->integer);
  }
  return values;
}

bool holds_true(const Pickled& dict) {
  return std::any_of(dict.items.begin(), dict.items.end(),
                     [](const Pickled* v) { return v->kind == Kind::boolean && v->integer != 0; });
}

// (storage, offset, sizes, strides, requires_grad, hooks[, metadata]); v3 has the dtype before the metadata.
Result<Pickled> rebuild_tensor(const Pickled& arguments, bool v3, const TensorSource& source) {
  const auto& items = arguments.items;
  const size_t required = v3 ? 7 : 6;
  if (items.size() < required || items.size() > required + 1) return bad_tensor("wrong number of arguments");
  if (items[0]->kind != Kind::storage || items[1]->kind != Kind::integer || items[1]->integer < 0) {
    return bad_tensor("it has no storage or no offset");
  }
  if (items.size() > required && holds_true(*items[required])) {
    return bad_tensor("it is a lazily conjugated or negated view; save it after .resolve_conj().resolve_neg()");
  }
  Pickled value;
  value.kind = Kind::tensor;
  value.tensor = std::make_shared<PickledTensor>();
  StorageView& view = value.tensor->view;
  view = items[0]->tensor->view;
  view.offset = items[1]->integer;
  TRY(view.sizes, integers(*items[2]));
  TRY(view.strides, integers(*items[3]));
  if (view.sizes.size() != view.strides.size()) return bad_tensor("not one stride per size");
  value.tensor->requires_grad = items[4]->kind == Kind::boolean && items[4]->integer != 0;
  if (v3) {
    const StorageType* type = lookup(kDTypes, of_torch(*items[6]));
    if (type == nullptr) return bad_tensor("its element type is unknown");
    view.dtype = type->dtype;
    view.count /= bits(type->dtype) / 8;
  }
  if (view.dtype == DType::undefined) return bad_tensor("its element type is unknown");
  if (source) {
    TRY(value.tensor->tensor, source(view));
  }
  return value;
}

template <class T>
Result<Tensor> one_number(DType dtype, T value) {
  TRY(Tensor made, Tensor::allocate(dtype, {}));
  made.as_mutable<T>()[0] = value;
  return made;
}

// (per_tensor_affine, scale, zero_point) or (per_channel_affine, scales, zero_points, axis).
Result<std::shared_ptr<const Quantizer>> quantizer_of(const Pickled& scheme, const StorageView& view) {
  const auto& items = scheme.items;
  const bool tuple = scheme.kind == Kind::tuple && items.size() >= 3 && items[0]->kind == Kind::global;
  auto made = std::make_shared<Quantizer>();
  if (tuple && items[0]->text == "torch per_tensor_affine" && items[1]->kind == Kind::real &&
      items[2]->kind == Kind::integer) {
    TRY(made->scale, one_number(DType::f64, items[1]->real));
    TRY(made->zero_point, one_number(DType::i64, items[2]->integer));
    return made;
  }
  const bool channels = tuple && items.size() == 4 && items[0]->text == "torch per_channel_affine" &&
                        items[1]->kind == Kind::tensor && items[2]->kind == Kind::tensor &&
                        items[3]->kind == Kind::integer && items[3]->integer >= 0 &&
                        items[3]->integer < static_cast<int64_t>(view.sizes.size());
  if (!channels) return bad_tensor("it is quantised in a way that is not known");
  const PickledTensor &scale = *items[1]->tensor, &zero = *items[2]->tensor;
  const std::vector<int64_t> wanted = {view.sizes[static_cast<size_t>(items[3]->integer)]};
  if (scale.view.dtype != DType::f64 || zero.view.dtype != DType::i64 || scale.view.sizes != wanted ||
      zero.view.sizes != wanted)
    return bad_tensor("its scales do not fit its sizes");
  made->scale = scale.tensor;
  made->zero_point = zero.tensor;
  made->axis = items[3]->integer;
  return made;
}

// As rebuild_tensor, with what the integers mean in the fifth place.
Result<Pickled> rebuild_quantised(const Pickled& arguments, const TensorSource& source) {
  if (arguments.items.size() < 7) return bad_tensor("wrong number of arguments");
  Pickled plain = arguments;
  plain.items.erase(plain.items.begin() + 4);
  TRY(Pickled value, rebuild_tensor(plain, false, source));
  TRY(value.tensor->quantizer, quantizer_of(*arguments.items[4], value.tensor->view));
  return value;
}

Result<Pickled> rebuild_parameter(const Pickled& arguments) {
  const auto& items = arguments.items;
  if (items.size() < 2 || items[0]->kind != Kind::tensor) return bad_tensor("a parameter holds no tensor");
  Pickled value = *items[0];
  value.tensor = std::make_shared<PickledTensor>(*items[0]->tensor);
  value.tensor->requires_grad = items[1]->kind == Kind::boolean && items[1]->integer != 0;
  return value;
}

Result<Pickled> make(const std::string& function, const Pickled& arguments) {
  Pickled value;
  if (function == "collections OrderedDict") {
    value.kind = Kind::dict;
    return value;
  }
  if (function == "torch device" && arguments.items.size() == 1 && arguments.items[0]->kind == Kind::text) {
    value.kind = Kind::device;
    value.text = arguments.items[0]->text;
    return value;
  }
  if (function == "builtins complex" && arguments.items.size() == 2 && arguments.items[0]->kind == Kind::real &&
      arguments.items[1]->kind == Kind::real) {
    value.kind = Kind::complex;
    value.real = arguments.items[0]->real;
    value.imaginary = arguments.items[1]->real;
    return value;
  }
  return refuse("pickle.malformed", "the pickle calls {} with arguments it does not take", function);
}

}  // namespace

bool known_global(std::string_view module, std::string_view name) {
  if (module == "__torch__" || module.starts_with("__torch__.")) return true;
  if (module == "torch" && (lookup(kStorages, name) != nullptr || lookup(kDTypes, name) != nullptr)) return true;
  if (module == "torch.storage" && name == "UntypedStorage") return true;
  if (module == "builtins" && name == "complex") return true;
  const std::string full = fmt::format("{} {}", module, name);
  return std::find(kFunctions.begin(), kFunctions.end(), full) != kFunctions.end();
}

std::optional<std::string> class_name(const Pickled& global) {
  if (global.kind != Kind::global || !global.text.starts_with("__torch__")) return std::nullopt;
  std::string name = global.text;
  std::replace(name.begin(), name.end(), ' ', '.');
  return name;
}

Result<StorageView> storage_of(const Pickled& id) {
  const auto& items = id.items;
  const bool shaped = id.kind == Kind::tuple && items.size() == 5 && items[0]->kind == Kind::text &&
                      items[0]->text == "storage" && items[1]->kind == Kind::global && items[2]->kind == Kind::text &&
                      items[4]->kind == Kind::integer && items[4]->integer >= 0;
  if (!shaped) return refuse("pickle.malformed", "the pickle names something that is no storage");
  const std::string_view text = items[1]->text;
  const StorageType* type = lookup(kStorages, text.substr(text.find(' ') + 1));
  if (type == nullptr) return refuse("pickle.malformed", "{} is no storage", text);
  StorageView view;
  view.key = items[2]->text;
  view.dtype = type->dtype;
  view.count = items[4]->integer;
  return view;
}

const Pickled* passed_through(const Pickled& function, const Pickled& arguments) {
  const std::string_view text = function.text;
  if (arguments.kind != Kind::tuple || arguments.items.empty()) return nullptr;
  const Pickled* first = arguments.items[0];
  if (text == "torch.jit._pickle restore_type_tag" && arguments.items.size() == 2) return first;
  if (text.starts_with("torch.jit._pickle build_") && arguments.items.size() == 1) return first;
  return text == "torch Size" && first->kind == Kind::tuple ? first : nullptr;
}

Result<Pickled> rebuild(const Pickled& function, const Pickled& arguments, const TensorSource& source) {
  if (const auto name = class_name(function)) {
    Pickled value;
    value.kind = Kind::enumerator;
    value.text = *name;
    value.items = {&arguments};
    return value;
  }
  if (arguments.kind != Kind::tuple) return refuse("pickle.malformed", "a call in the pickle has no arguments");
  if (function.text == "torch._utils _rebuild_tensor_v2") return rebuild_tensor(arguments, false, source);
  if (function.text == "torch._utils _rebuild_tensor_v3") return rebuild_tensor(arguments, true, source);
  if (function.text == "torch._utils _rebuild_qtensor") return rebuild_quantised(arguments, source);
  if (function.text == "torch._utils _rebuild_parameter") return rebuild_parameter(arguments);
  return make(function.text, arguments);
}

namespace {

// What is known of a value when all in it has been seen.
struct Size {
  int height = 1;
  uint64_t values = 1;
};

struct Visit {
  const Pickled* value;
  size_t next = 0;
  Size size = {};  // of what was seen so far

  void add(const Size& item) {
    size.height = std::max(size.height, item.height + 1);
    if (__builtin_add_overflow(size.values, item.values, &size.values)) size.values = ~uint64_t{0};
  }
};

Status check_leaf(const Pickled& value) {
  if (value.kind != Kind::global && value.kind != Kind::storage) return {};
  return refuse("pickle.malformed", "the pickle keeps {} as a value",
                value.kind == Kind::global ? value.text : "a storage");
}

}  // namespace

Status check_tree(const Pickle& pickle, uint64_t most) {
  std::unordered_map<const Pickled*, std::optional<Size>> sizes;  // none while the value is on the path
  std::vector<Visit> path = {{pickle.root}};
  sizes[pickle.root] = std::nullopt;
  TRY_OK(check_leaf(*pickle.root));
  while (!path.empty()) {
    Visit& visit = path.back();
    if (visit.next == visit.value->items.size()) {
      const Size size = visit.size;
      sizes[visit.value] = size;
      path.pop_back();
      if (!path.empty()) path.back().add(size);
      if (size.height > kMaxDepth) return refuse("pickle.depth", "the pickle nests more than {} levels", kMaxDepth);
      if (size.values > most)
        return refuse("pickle.size", "the pickle has more than {} values, those held twice counted twice", most);
      continue;
    }
    const Pickled* item = visit.value->items[visit.next++];
    const auto [place, fresh] = sizes.emplace(item, std::nullopt);
    if (!fresh && !place->second) return refuse("pickle.malformed", "a value of the pickle holds itself");
    if (!fresh) {
      visit.add(*place->second);
      continue;
    }
    TRY_OK(check_leaf(*item));
    path.push_back({item});
  }
  return {};
}

}  // namespace anyshape::torchscript
