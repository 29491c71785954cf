#include "lower/torchscript/value.h"

#include <algorithm>
#include <array>

namespace anyshape::lower::script {

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Value)

bool Value::is_truth() const { return get<bool>() || get<Condition>() || (get<Scalar>() && get<Scalar>()->truth); }

bool Value::is_float() const { return get<double>() || get<Ratio>() || (get<Scalar>() && !get<Scalar>()->truth); }

bool Value::is_number() const {
  return get<Dim>() || get<double>() || get<Ratio>() || get<bool>() || get<Condition>() || get<Scalar>() ||
         get<std::complex<double>>();
}

Value list_of(Values items) {
  auto list = std::make_shared<List>();
  list->items = std::move(items);
  return list;
}

Value tuple_of(Values items) {
  auto list = std::make_shared<List>();
  list->items = std::move(items);
  list->tuple = true;
  return list;
}

Value shared_dict() { return std::make_shared<Dict>(); }

std::string kind_of(const Value& value) {
  struct Name {
    std::string operator()(const None&) const { return "None"; }
    std::string operator()(const Missing&) const { return "a missing value"; }
    std::string operator()(bool) const { return "bool"; }
    std::string operator()(const Condition&) const { return "bool"; }
    std::string operator()(const Dim&) const { return "int"; }
    std::string operator()(const Ratio&) const { return "float"; }
    std::string operator()(double) const { return "float"; }
    std::string operator()(const std::complex<double>&) const { return "complex"; }
    std::string operator()(const std::string&) const { return "str"; }
    std::string operator()(const Device&) const { return "Device"; }
    std::string operator()(const Scalar&) const { return "number"; }
    std::string operator()(const Var&) const { return "Tensor"; }
    std::string operator()(const std::shared_ptr<List>& list) const { return list->tuple ? "tuple" : "list"; }
    std::string operator()(const std::shared_ptr<Dict>&) const { return "dict"; }
    std::string operator()(const std::shared_ptr<Instance>& instance) const { return instance->type_name; }
    std::string operator()(const std::shared_ptr<Callable>& callable) const { return callable->name; }
    std::string operator()(const std::shared_ptr<const Enumerator>& e) const { return e->type; }
  };
  return std::visit(Name(), value.is);
}

namespace {

std::optional<Arg> list_arg(const List& list) {
  if (list.stacked) return std::nullopt;
  Arguments items;
  for (const Value& item : list.items) {
    auto arg = to_arg(item);
    if (!arg) return std::nullopt;
    items.push_back(*std::move(arg));
  }
  return Arg(std::move(items));
}

}  // namespace

std::optional<Arg> to_arg(const Value& value) {
  struct Convert {
    std::optional<Arg> operator()(const None&) const { return Arg(); }
    std::optional<Arg> operator()(const Missing&) const { return std::nullopt; }
    std::optional<Arg> operator()(bool truth) const { return Arg(truth); }
    std::optional<Arg> operator()(const Condition& condition) const { return Arg::of(condition); }
    std::optional<Arg> operator()(const Dim& dim) const { return Arg(dim); }
    std::optional<Arg> operator()(const Ratio& ratio) const { return Arg::of(ratio); }
    std::optional<Arg> operator()(double number) const { return Arg(number); }
    std::optional<Arg> operator()(const std::complex<double>& number) const { return Arg::of(number); }
    std::optional<Arg> operator()(const std::string& text) const { return Arg::of(text); }
    std::optional<Arg> operator()(const Device&) const { return Arg::of(Arg::Ignored{}); }
    std::optional<Arg> operator()(const Scalar& scalar) const { return Arg(scalar.ref); }
    std::optional<Arg> operator()(const Var& var) const { return Arg(var); }
    std::optional<Arg> operator()(const std::shared_ptr<List>& list) const { return list_arg(*list); }
    std::optional<Arg> operator()(const std::shared_ptr<Dict>&) const { return std::nullopt; }
    std::optional<Arg> operator()(const std::shared_ptr<Instance>&) const { return std::nullopt; }
    std::optional<Arg> operator()(const std::shared_ptr<Callable>&) const { return std::nullopt; }
    std::optional<Arg> operator()(const std::shared_ptr<const Enumerator>&) const { return std::nullopt; }
  };
  return std::visit(Convert(), value.is);
}

Value from_arg(const Arg& arg, Lowering& lowering) {
  struct Convert {
    Lowering& lowering;
    Value operator()(const Arg::None&) const { return None{}; }
    Value operator()(const Arg::Ignored&) const { return None{}; }
    Value operator()(const Var& var) const { return var ? Value(var) : Value(None{}); }
    Value operator()(const Ref& ref) const { return ref ? Value(lowering.memory().variable(ref)) : Value(None{}); }
    Value operator()(const Dim& dim) const { return dim; }
    Value operator()(double number) const { return number; }
    Value operator()(const Ratio& ratio) const { return ratio; }
    Value operator()(bool truth) const { return truth; }
    Value operator()(const Condition& condition) const { return condition; }
    Value operator()(const std::complex<double>& number) const { return number; }
    Value operator()(const DType& dtype) const { return Dim(c10_of_dtype(dtype).value_or(-1)); }
    Value operator()(const std::string& text) const { return text; }
    Value operator()(const Arguments& items) const {
      Values values;
      for (const Arg& item : items) values.push_back(from_arg(item, lowering));
      return list_of(std::move(values));
    }
  };
  return std::visit(Convert{lowering}, arg.value);
}

namespace {

struct Coded {
  int64_t number;
  DType dtype;
};

constexpr std::array kCodes = {
    Coded{0, DType::u8},      Coded{1, DType::i8},        Coded{2, DType::i16},         Coded{3, DType::i32},
    Coded{4, DType::i64},     Coded{5, DType::f16},       Coded{6, DType::f32},         Coded{7, DType::f64},
    Coded{9, DType::c64},     Coded{10, DType::c128},     Coded{11, DType::boolean},    Coded{15, DType::bf16},
    Coded{23, DType::f8e5m2}, Coded{24, DType::f8e4m3fn}, Coded{25, DType::f8e5m2fnuz}, Coded{26, DType::f8e4m3fnuz},
    Coded{27, DType::u16},    Coded{28, DType::u32},      Coded{29, DType::u64},
};

}  // namespace

std::optional<DType> dtype_of_c10(int64_t number) {
  const auto found = std::find_if(kCodes.begin(), kCodes.end(), [&](const Coded& c) { return c.number == number; });
  if (found == kCodes.end()) return std::nullopt;
  return found->dtype;
}

std::optional<int64_t> c10_of_dtype(DType dtype) {
  const auto found = std::find_if(kCodes.begin(), kCodes.end(), [&](const Coded& c) { return c.dtype == dtype; });
  if (found == kCodes.end()) return std::nullopt;
  return found->number;
}

}  // namespace anyshape::lower::script
