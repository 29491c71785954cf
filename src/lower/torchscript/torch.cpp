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
