#include "lower/lowering.h"

#include <algorithm>

#include "lower/aten/complex.h"
#include "lower/overload.h"

namespace anyshape::lower {
namespace {

// "add_" -> "add", "__iand__" -> "__and__"; empty where the operator changes nothing.
std::string functional_name(std::string_view name) {
  if (name.starts_with("__i") && name.ends_with("__")) return fmt::format("__{}", name.substr(3));
  if (name.ends_with('_') && !name.ends_with("__")) return std::string(name.substr(0, name.size() - 1));
  return {};
}

int category(DType dtype) {
  if (dtype == DType::boolean) return 0;
  if (dtype == DType::c64 || dtype == DType::c128) return 3;
  return is_float(dtype) ? 2 : 1;
}

DType promote(DType a, DType b) {
  if (a == DType::undefined || a == b) return b;
  if (b == DType::undefined) return a;
  if (category(a) != category(b)) {
    const DType high = category(a) > category(b) ? a : b, low = high == a ? b : a;
    return high == DType::c64 && low == DType::f64 ? DType::c128 : high;
  }
  if (is_float(a) && bits(a) == bits(b)) return DType::f32;  // f16 with bf16
  if (bits(a) != bits(b)) {
    const DType wide = bits(a) > bits(b) ? a : b, narrow = wide == a ? b : a;
    if (!is_integer(a) || is_signed_integer(wide) || !is_signed_integer(narrow)) return wide;
    return bits(wide) == 16 ? DType::i32 : DType::i64;
  }
  return bits(a) == 8 ? DType::i16 : bits(a) == 16 ? DType::i32 : DType::i64;  // signed with unsigned
}

// Types of a weaker group matter only where their category is higher.
DType combine(DType strong, DType weak) {
  if (strong == DType::undefined) return weak;
  if (weak == DType::undefined || category(weak) <= category(strong)) return strong;
  if (category(strong) == 2) return strong == DType::f64 ? DType::c128 : DType::c64;
  return weak;
}

}  // namespace

std::optional<DType> c10_dtype(int64_t code) {
  static constexpr DType kTypes[] = {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f16, DType::f32,
                                     DType::f64, DType::undefined, DType::c64, DType::c128, DType::boolean,
                                     // Quantised: the integers they are made of.
                                     DType::i8, DType::u8, DType::i32};
  if (code == 15) return DType::bf16;
  if (code < 0 || code >= static_cast<int64_t>(std::size(kTypes)) || kTypes[code] == DType::undefined)
    return std::nullopt;
  return kTypes[code];
}

Lowering::Lowering(const OpTable& ops, Assumptions& assumptions, int64_t opset, LoweringOptions options)
    : builder_(ops, assumptions, opset), options_(std::move(options)) {
  for (const auto& [domain, version] : options_.domains) builder_.import_domain(domain, version);
}

bool Lowering::knows(std::string_view name, std::string_view overload) {
  if (find_aten(name, overload)) return true;
  const std::string functional = functional_name(name);
  return !functional.empty() && find_aten(functional, overload);
}

Ref Lowering::input(std::string_view name, Fact fact) {
  if (!is_complex(fact.dtype) || !fact.dims) return builder_.input(name, std::move(fact));
  fact.dtype = part_type(fact.dtype);
  fact.dims->push_back(2);
  return complex_.of_pairs(builder_.input(name, std::move(fact)));
}

Ref Lowering::weight(const Tensor& tensor, std::string_view name) {
  // Of so few entries it is a number that rules may want to know.
  constexpr int64_t kFewEntries = 16;
  if (!options_.open_weights || !is_float(tensor.dtype()) || tensor.count() <= kFewEntries)
    return builder_.constant(tensor, name);
  const auto& dims = tensor.dims();
  std::string input = fmt::format("weight {}", name);
  while (!opened_.try_emplace(input, OpenedWeight{std::string(name), tensor}).second) input += '\'';
  return builder_.input(input, Fact::tensor(tensor.dtype(), Dims(dims.begin(), dims.end())));
}

Result<std::shared_ptr<Graph>> Lowering::finish(std::vector<std::pair<std::string, Ref>> outputs) {
  for (const auto& [name, value] : outputs)
    if (nested_.mask(value))
      builder_.refuse("aten.nested", "the output {:?} is a nested tensor, which ONNX has not", name);
  for (auto& [name, ref] : outputs)
    if (ref && is_complex(builder_.dtype(ref))) ref = complex_.pairs(ref);
  return builder_.finish(outputs);
}

Ref Lowering::ref(const Arg& arg) {
  if (const auto* value = arg.get<Ref>()) return *value;
  if (const auto* variable = arg.get<Var>()) return memory_.read(*variable);
  return {};
}

void Lowering::assume(const Condition& condition, std::string_view why) {
  if (builder_.failed()) return;
  const Tri answer = builder_.assumptions().prove(condition);
  if (answer == Tri::yes) return;
  if (answer == Tri::no) return builder_.refuse("aten.assumed", "{}; here {} never holds", why, print(condition));
  builder_.assumptions().assume(condition);
  assumed_.push_back({condition, std::string(why)});
}

Dim Lowering::item(Ref tensor) {
  const Fact& known = builder_.fact(tensor);
  if (const auto single = known.single()) return *single;
  if (builder_.failed()) return 0;
  if (const auto count = packed_.first_count(builder_, tensor)) return *count;
  const auto bounds = known.value_bounds();
  const Dim symbol = builder_.walk().data_symbol("u", bounds ? bounds->lo : Dim(INT64_MIN / 4),
                                                 bounds ? std::optional(bounds->hi) : std::nullopt);
  builder_.define(symbol, builder_.rank(tensor) == 0 ? tensor : builder_.reshape(tensor, {}));
  return symbol;
}

Arg Lowering::call(std::string_view name, std::string_view overload, Arguments positional,
                   std::vector<NamedArg> keywords) {
  if (builder_.failed()) return {};
  auto bound = find_overload(*this, name, overload, positional, keywords);
  if (!bound) return {};
  const AtenOp* op = find_aten(name, bound->schema().overload);
  const std::string functional = functional_name(name);
  const bool in_place = !functional.empty();
  if (!op && in_place) op = find_aten(functional, bound->schema().overload);
  const bool is_complex = takes_complex(*this, *bound);
  if (is_complex) op = find_complex(in_place ? functional : name, op);
  if (!op && is_complex) {
    builder_.refuse("aten.complex", "aten::{} of complex numbers cannot be exported yet", name);
    return {};
  }
  if (!op) {
    builder_.refuse("aten.missing", "aten::{}{}{} cannot be exported yet", name,
                    bound->schema().overload.empty() ? "" : ".", bound->schema().overload);
    return {};
  }
  captured_.look(*this, *bound);
  bound->read_tensors();
  const Var self = bound->self_variable();
  const auto args = std::make_shared<const Args>(*std::move(bound));
  captured_.see(*this, *args);
  if (!op->nested && nested_.among(*this, *args)) {
    builder_.refuse("aten.nested",
                    "aten::{} of a nested tensor cannot be exported; build the encoder with enable_nested_tensor=False",
                    name);
    return {};
  }
  ++calls_;
  Arg result = op->lower(*this, *args);
  // What a record calls in turn is part of its own arithmetic.
  if (--calls_ == 0) result = quantized_.inherited(*op, name, *args, std::move(result));
  if (builder_.failed()) return {};
  if (!in_place) return memory_.results(*op, args, self, result);
  if (!self) {
    builder_.refuse("aten.arguments", "aten::{} writes into its first argument, which is no tensor of the program",
                    name);
    return {};
  }
  if (op->put)
    memory_.view_in_place(self, *op, args, ref(result));
  else
    memory_.write(self, ref(result));
  return self;
}

// An index beyond a list of one entry is an error everywhere; the entry is 0, which leaves a Reshape without effect.
Ref Lowering::guarded(Ref x, const Condition& condition) {
  const Ref index = op("Where", {builder_.truth(condition), builder_.number(int64_t{0}), builder_.number(int64_t{1})});
  const Ref nothing = builder_.gather(builder_.ints({0}), index, 0);
  builder_.forget_entries(nothing);
  const std::vector<int64_t> same(std::max<size_t>(1, builder_.rank(x)), builder_.rank(x) == 0 ? 1 : 0);
  const Ref out = op("Reshape", {x, op("Add", {builder_.ints(same), nothing})});
  builder_.claim(out, builder_.rank(x) == 0 ? Dims{1} : builder_.dims(x));
  return builder_.rank(x) == 0 ? builder_.squeeze(out, {0}) : out;
}

DType Lowering::common_type(const std::vector<const Arg*>& operands) {
  DType sized = DType::undefined, single = DType::undefined, number = DType::undefined;
  for (const Arg* arg : operands) {
    if (arg->is_tensor()) {
      const Ref value = ref(*arg);
      DType& group = builder_.rank(value) > 0 ? sized : single;
      group = promote(group, builder_.dtype(value));
    } else if (arg->get<bool>() || arg->get<Condition>()) {
      number = promote(number, DType::boolean);
    } else if (arg->get<Dim>()) {
      number = promote(number, DType::i64);
    } else if (arg->get<std::complex<double>>()) {
      number = promote(number, DType::c64);
    } else if (arg->is_number()) {
      number = promote(number, DType::f32);
    }
  }
  return combine(combine(sized, single), number);
}

std::pair<Ref, Ref> Lowering::promoted(const Args& args, std::string_view a, std::string_view b) {
  const Arg &left = args.arg(a), &right = args.arg(b);
  const DType dtype = common_type({&left, &right});
  return {operand(left, dtype), operand(right, dtype)};
}

Ref Lowering::operand(const Arg& arg, DType dtype) {
  if (builder_.failed()) return {};
  if (arg.is_tensor()) return builder_.cast(ref(arg), dtype);
  if (const auto* truth = arg.get<bool>()) return builder_.integer(*truth, dtype);
  if (const auto* real = arg.get<double>()) return builder_.number(*real, dtype);
  if (const auto* whole = arg.get<Dim>())
    return whole->is_constant() ? builder_.integer(*whole->constant(), dtype)
                                : builder_.cast(builder_.scalar(*whole), dtype);
  if (const auto* condition = arg.get<Condition>()) return builder_.cast(builder_.truth(*condition), dtype);
  if (const auto* ratio = arg.get<Ratio>()) {
    const DType wide = is_float(dtype) ? dtype : DType::f32;
    return builder_.cast(
        op("Div", {builder_.cast(builder_.scalar(ratio->numerator), wide), builder_.integer(ratio->denominator, wide)}),
        dtype);
  }
  builder_.refuse("aten.arguments", "{} cannot be used as a number here", kind_of(arg));
  return {};
}

Ref Lowering::as_float(Ref x) { return builder_.cast(x, float_type(builder_.dtype(x))); }

int64_t Lowering::axis(Ref x, int64_t axis) {
  const int64_t count = std::max<int64_t>(1, static_cast<int64_t>(builder_.rank(x)));
  if (axis < -count || axis >= count) {
    if (!builder_.failed()) builder_.refuse("aten.axis", "axis {} of a tensor with {} axes", axis, builder_.rank(x));
    return 0;
  }
  return axis < 0 ? axis + count : axis;
}

std::vector<int64_t> Lowering::axes(Ref x, std::vector<int64_t> chosen) {
  if (chosen.empty())
    for (size_t i = 0; i < builder_.rank(x); ++i) chosen.push_back(static_cast<int64_t>(i));
  for (int64_t& one : chosen) one = axis(x, one);
  if (builder_.rank(x) == 0) chosen.clear();
  return chosen;
}

bool Lowering::need_rank(Ref x, size_t lo, size_t hi) {
  if (builder_.failed()) return false;
  if (builder_.fact(x).has_rank() && builder_.rank(x) >= lo && builder_.rank(x) <= hi) return true;
  if (!builder_.fact(x).has_rank())
    builder_.refuse("aten.rank", "the number of axes of a tensor is not known");
  else
    builder_.refuse("aten.rank", "a tensor has {} axes where {} to {} are needed", builder_.rank(x), lo, hi);
  return false;
}

}  // namespace anyshape::lower
