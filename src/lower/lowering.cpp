#include "lower/lowering.h"

#include <algorithm>

#include "lower/aten/complex.h"
#include "tensor/real.h"

namespace anyshape::lower {
namespace {

using Type = Parameter::Type;

const Var& root_of(const Var& variable) {
  const Var* root = &variable;
  while ((*root)->base) root = &(*root)->base;
  return *root;
}

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
  static constexpr DType kTypes[] = {DType::u8,  DType::i8,  DType::i16,       DType::i32, DType::i64,  DType::f16,
                                     DType::f32, DType::f64, DType::undefined, DType::c64, DType::c128, DType::boolean};
  if (code == 15) return DType::bf16;
  if (code < 0 || code >= static_cast<int64_t>(std::size(kTypes)) || kTypes[code] == DType::undefined)
    return std::nullopt;
  return kTypes[code];
}

Lowering::Lowering(const OpTable& ops, Assumptions& assumptions, int64_t opset, LoweringOptions options)
    : Builder(ops, assumptions, opset), options_(options) {}

bool Lowering::knows(std::string_view name, std::string_view overload) {
  if (find_aten(name, overload)) return true;
  const std::string functional = functional_name(name);
  return !functional.empty() && find_aten(functional, overload);
}

Var Lowering::variable(Ref value, std::string name) {
  auto made = std::make_shared<Variable>();
  made->value = value;
  made->name = std::move(name);
  return made;
}

Ref Lowering::read(const Var& variable) {
  if (!variable) return {};
  const Var root = root_of(variable);
  if (!alive(root->value)) {
    if (!failed()) refuse("export.body", "a tensor that a branch or a loop writes in place is read after it");
    return {};
  }
  if (!variable->base || (variable->seen == root->writes && alive(variable->value))) return variable->value;
  const Arg again = variable->view->lower(*this, variable->args->with_self(read(variable->base)));
  const Arguments* many = again.get<Arguments>();
  variable->value = ref(many && variable->index < many->size() ? (*many)[variable->index] : again);
  variable->seen = root->writes;
  return variable->value;
}

void Lowering::write(const Var& variable, Ref value) {
  const Ref old = read(variable);
  while (rank(value) > rank(old) && dim(value, 0) == Dim(1)) value = squeeze(value, {0});
  value = expand(cast(value, dtype(old)), dims(old));
  if (failed() || value == old) return;
  if (variable->base) {
    const Ref base = read(variable->base);
    const Ref whole = variable->view->put(*this, *variable->args, base, value, variable->index);
    claim(whole, dims(base));
    write(variable->base, whole);
  } else {
    ++variable->writes;
  }
  variable->value = value;
  variable->seen = root_of(variable)->writes;
}

Ref Lowering::ref(const Arg& arg) {
  if (const auto* value = arg.get<Ref>()) return *value;
  if (const auto* variable = arg.get<Var>()) return read(*variable);
  return {};
}

void Lowering::assume(const Condition& condition, std::string_view why) {
  if (failed()) return;
  const Tri answer = assumptions().prove(condition);
  if (answer == Tri::yes) return;
  if (answer == Tri::no) return refuse("aten.assumed", "{}; here {} never holds", why, print(condition));
  assumptions().assume(condition);
  assumed_.push_back({condition, std::string(why)});
}

Dim Lowering::item(Ref tensor) {
  const Fact& known = fact(tensor);
  if (const auto single = known.single()) return *single;
  if (failed()) return 0;
  const auto bounds = known.value_bounds();
  const Dim symbol = walk().data_symbol("u", bounds ? bounds->lo : Dim(INT64_MIN / 4),
                                        bounds ? std::optional(bounds->hi) : std::nullopt);
  define(symbol, rank(tensor) == 0 ? tensor : reshape(tensor, {}));
  return symbol;
}

std::optional<Arg> Lowering::number_in(const Arg& tensor, Type wanted) {
  const Ref value = ref(tensor);
  if (rank(value) != 0 && !(fact(value).numeric_dims() && product(dims(value)) == Dim(1))) return std::nullopt;
  if (const Tensor* known = this->tensor(value)) {
    const auto real = real_at(*known, 0);
    if (is_float(known->dtype())) return real ? std::optional(Arg(*real)) : std::nullopt;
    if (known->dtype() == DType::boolean) return Arg(known->int_at(0) != 0);
    return Arg(Dim(known->int_at(0)));
  }
  if (wanted == Type::scalar) return tensor;
  if (wanted == Type::integer && is_integer(dtype(value))) return Arg(item(value));
  return std::nullopt;
}

std::optional<Arg> Lowering::fitted_item(const Arg& given, const Parameter& parameter, bool lenient) {
  if (given.is_none()) return parameter.optional_items ? std::optional(given) : std::nullopt;
  switch (parameter.type) {
    case Type::tensor:
      return given.is_tensor() || (lenient && given.is_number()) ? std::optional(given) : std::nullopt;
    case Type::integer:
      if (given.get<Dim>()) return given;
      if (const auto* truth = given.get<bool>(); truth && lenient) return Arg(Dim(int64_t{*truth}));
      return lenient && given.is_tensor() ? number_in(given, parameter.type) : std::nullopt;
    case Type::real:
      if (const auto* whole = given.get<Dim>(); whole && whole->is_constant())
        return Arg(static_cast<double>(*whole->constant()));
      if (given.get<double>() || given.get<Ratio>() || given.get<Dim>()) return given;
      return lenient && given.is_tensor() ? number_in(given, parameter.type) : std::nullopt;
    case Type::scalar:
      if (given.is_number()) return given;
      return lenient && given.is_tensor() ? number_in(given, parameter.type) : std::nullopt;
    case Type::boolean:
      if (const auto* whole = given.get<Dim>(); whole && whole->is_constant() && lenient)
        return Arg(*whole->constant() != 0);
      return given.get<bool>() || given.get<Condition>() ? std::optional(given) : std::nullopt;
    case Type::dtype:
      if (const auto* code = given.get<Dim>(); code && code->is_constant()) {
        const auto dtype = c10_dtype(*code->constant());
        return dtype ? std::optional(Arg::of(*dtype)) : std::nullopt;
      }
      return given.get<DType>() ? std::optional(given) : std::nullopt;
    case Type::text:
      return given.get<std::string>() ? std::optional(given) : std::nullopt;
    case Type::ignored:
      return Arg::of(Arg::Ignored{});
  }
  return std::nullopt;
}

std::optional<Arg> Lowering::fitted(const Arg& given, const Parameter& parameter, bool lenient) {
  if (given.is_none() && (parameter.optional || parameter.type == Type::ignored)) return given;
  if (!parameter.list) return fitted_item(given, parameter, lenient);
  const auto* items = given.get<Arguments>();
  if (!items) {
    if (parameter.repeat == 0) return std::nullopt;
    auto one = fitted_item(given, parameter, lenient);
    if (!one) return std::nullopt;
    return Arg(Arguments(static_cast<size_t>(parameter.repeat), *one));
  }
  Arguments out;
  for (const Arg& item : *items) {
    auto fit = fitted_item(item, parameter, lenient);
    if (!fit) return std::nullopt;
    out.push_back(*std::move(fit));
  }
  const bool repeated = parameter.repeat > 1 && out.size() == 1 && parameter.type != Type::tensor;
  if (repeated) out.resize(static_cast<size_t>(parameter.repeat), Arg(out[0]));
  return Arg(std::move(out));
}

std::optional<Args> Lowering::bind(const Schema& schema, const Arguments& positional,
                                   const std::vector<NamedArg>& keywords, bool lenient, std::string& why) {
  if (positional.size() > schema.parameters.size()) {
    why = fmt::format("it takes {} arguments, {} are given", schema.parameters.size(), positional.size());
    return std::nullopt;
  }
  Arguments values;
  size_t used = 0;
  for (size_t i = 0; i < schema.parameters.size(); ++i) {
    const Parameter& parameter = schema.parameters[i];
    const Arg* given = i < positional.size() ? &positional[i] : nullptr;
    if (given && parameter.keyword_only && !lenient) {
      why = fmt::format("its argument {:?} must be named", parameter.name);
      return std::nullopt;
    }
    for (const NamedArg& keyword : keywords)
      if (keyword.name == parameter.name) {
        if (given) {
          why = fmt::format("its argument {:?} is given twice", parameter.name);
          return std::nullopt;
        }
        given = &keyword.value;
        ++used;
      }
    if (!given && !parameter.fallback && !parameter.optional) {
      why = fmt::format("its argument {:?} is missing", parameter.name);
      return std::nullopt;
    }
    auto value = given ? fitted(*given, parameter, lenient) : parameter.fallback ? parameter.fallback : Arg();
    if (!value) {
      why = fmt::format("its argument {:?} is {}", parameter.name, kind_of(*given));
      return std::nullopt;
    }
    values.push_back(*std::move(value));
  }
  if (used != keywords.size()) {
    why = "it has no argument of some name that is given";
    return std::nullopt;
  }
  return Args(*this, schema, std::move(values));
}

std::optional<Args> Lowering::find_overload(std::string_view name, std::string_view overload,
                                            const Arguments& positional, const std::vector<NamedArg>& keywords) {
  std::vector<Schema> schemas = schemas_of(name);
  // One that is not named has to fit by types: add(Scalar a, Scalar b) has no name either.
  const bool named = !overload.empty();
  if (overload == "default") overload = "";
  const auto exact =
      std::find_if(schemas.begin(), schemas.end(), [&](const Schema& s) { return s.overload == overload; });
  std::string why;
  if (named && exact != schemas.end()) {
    if (auto args = bind(*exact, positional, keywords, true, why)) return args;
  }
  for (const bool lenient : {false, true})
    for (const Schema& schema : schemas)
      if (auto args = bind(schema, positional, keywords, lenient, why)) return args;
  if (schemas.empty())
    refuse("aten.unknown", "aten::{} is no operator this version of anyshape knows", name);
  else
    refuse("aten.arguments", "aten::{} cannot be called like this: {}", name, why);
  return std::nullopt;
}

bool Lowering::stays_contiguous(const AtenOp& op, const Args& args) {
  if (!op.reorders) return true;
  if (op.cuts.empty() || args.i("step", 1) != 1) return false;
  const Ref x = args.self();
  const int64_t cut = axis(x, args.i(op.cuts));
  for (int64_t i = 0; i < cut; ++i)
    if (!same(dim(x, static_cast<size_t>(i)), 1)) return false;
  return true;
}

void Lowering::make_view(const Var& made, const Var& base, const AtenOp& op, const std::shared_ptr<const Args>& args,
                         size_t index) {
  made->base = base;
  made->view = &op;
  made->args = args;
  made->index = index;
  made->seen = root_of(base)->writes;
  const bool whole = !op.cuts.empty() && dims(made->value) == dims(args->self()) && args->i("step", 1) == 1;
  made->contiguous = base->contiguous && (whole || stays_contiguous(op, *args));
  base->views.push_back(made);
}

// x.unsqueeze_(0): the tensor becomes a view of what it was, and so do its views.
void Lowering::view_in_place(const Var& self, const AtenOp& op, const std::shared_ptr<const Args>& args, Ref value) {
  if (value == self->value) return;
  const auto before = std::make_shared<Variable>(*self);
  for (const auto& view : self->views)
    if (const Var one = view.lock(); one && one->base == self) one->base = before;
  if (before->base) before->base->views.push_back(before);
  self->views.clear();
  self->value = value;
  make_view(self, before, op, args, 0);
}

Arg Lowering::to_variables(const AtenOp& op, const std::shared_ptr<const Args>& args, const Var& self,
                           const Arg& result) {
  const auto wrap = [&](const Arg& one, size_t index) -> Arg {
    const auto* value = one.get<Ref>();
    if (!value) return one;
    Var made = variable(*value);
    const bool shares = op.put && self && (!op.copies_reordered || self->contiguous);
    if (shares && (!op.shares || op.shares(*args, args->self(), *value)))
      make_view(made, self, op, args, index);
    else
      note_order(made, *args, op, self);
    return made;
  };
  const auto* many = result.get<Arguments>();
  if (!many) return wrap(result, 0);
  Arguments out;
  for (size_t i = 0; i < many->size(); ++i) out.push_back(wrap((*many)[i], i));
  return out;
}

Arg Lowering::call(std::string_view name, std::string_view overload, Arguments positional,
                   std::vector<NamedArg> keywords) {
  if (failed()) return {};
  auto bound = find_overload(name, overload, positional, keywords);
  if (!bound) return {};
  const AtenOp* op = find_aten(name, bound->schema().overload);
  const std::string functional = functional_name(name);
  const bool in_place = !functional.empty();
  if (!op && in_place) op = find_aten(functional, bound->schema().overload);
  const bool complex = takes_complex(*this, *bound);
  if (complex) op = find_complex(in_place ? functional : name, op);
  if (!op && complex) {
    refuse("aten.complex", "aten::{} of complex numbers cannot be exported yet", name);
    return {};
  }
  if (!op) {
    refuse("aten.missing", "aten::{}{}{} cannot be exported yet", name, bound->schema().overload.empty() ? "" : ".",
           bound->schema().overload);
    return {};
  }
  if (!watched_.empty()) look_for_sizes(*bound);
  bound->read_tensors();
  const Var self = bound->self_variable();
  const auto args = std::make_shared<const Args>(*std::move(bound));
  if (!op->nested && takes_nested(*args)) {
    refuse("aten.nested",
           "aten::{} of a nested tensor cannot be exported; build the encoder with enable_nested_tensor=False", name);
    return {};
  }
  const Arg result = op->lower(*this, *args);
  if (failed()) return {};
  if (!in_place) return to_variables(*op, args, self, result);
  if (!self) {
    refuse("aten.arguments", "aten::{} writes into its first argument, which is no tensor of the program", name);
    return {};
  }
  if (op->put)
    view_in_place(self, *op, args, ref(result));
  else
    write(self, ref(result));
  return self;
}

Ref Lowering::nested_of(Ref padded, Ref mask) {
  if (padded && !nested_mask(padded)) nested_.emplace_back(padded, mask);
  return padded;
}

Ref Lowering::nested_mask(Ref x) const {
  const auto it = std::find_if(nested_.begin(), nested_.end(), [&](const auto& one) { return one.first == x; });
  return it == nested_.end() ? Ref() : it->second;
}

bool Lowering::takes_nested(const Args& args) {
  if (nested_.empty()) return false;
  const auto one = [&](const Arg& arg) { return arg.is_tensor() && nested_mask(ref(arg)); };
  for (const Parameter& parameter : args.schema().parameters) {
    const Arg& arg = args.arg(parameter.name);
    const auto* items = arg.get<Arguments>();
    if (items ? std::any_of(items->begin(), items->end(), one) : one(arg)) return true;
  }
  return false;
}

// An index beyond a list of one entry is an error everywhere; the entry is 0, which leaves a Reshape without effect.
Ref Lowering::guarded(Ref x, const Condition& condition) {
  const Ref index = op("Where", {truth(condition), number(int64_t{0}), number(int64_t{1})});
  const Ref nothing = gather(ints({0}), index, 0);
  const std::vector<int64_t> same(std::max<size_t>(1, rank(x)), rank(x) == 0 ? 1 : 0);
  const Ref out = op("Reshape", {x, op("Add", {ints(same), nothing})});
  claim(out, rank(x) == 0 ? Dims{1} : dims(x));
  return rank(x) == 0 ? squeeze(out, {0}) : out;
}

DType Lowering::common_type(const std::vector<const Arg*>& operands) {
  DType sized = DType::undefined, single = DType::undefined, number = DType::undefined;
  for (const Arg* arg : operands) {
    if (arg->is_tensor()) {
      const Ref value = ref(*arg);
      DType& group = rank(value) > 0 ? sized : single;
      group = promote(group, dtype(value));
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
  if (failed()) return {};
  if (arg.is_tensor()) return cast(ref(arg), dtype);
  if (const auto* truth = arg.get<bool>()) return integer(*truth, dtype);
  if (const auto* real = arg.get<double>()) return number(*real, dtype);
  if (const auto* whole = arg.get<Dim>())
    return whole->is_constant() ? integer(*whole->constant(), dtype) : cast(scalar(*whole), dtype);
  if (const auto* condition = arg.get<Condition>()) return cast(truth(*condition), dtype);
  if (const auto* ratio = arg.get<Ratio>()) {
    const DType wide = is_float(dtype) ? dtype : DType::f32;
    return cast(op("Div", {cast(scalar(ratio->numerator), wide), integer(ratio->denominator, wide)}), dtype);
  }
  refuse("aten.arguments", "{} cannot be used as a number here", kind_of(arg));
  return {};
}

Ref Lowering::as_float(Ref x) { return cast(x, float_type(dtype(x))); }

int64_t Lowering::axis(Ref x, int64_t axis) {
  const int64_t count = std::max<int64_t>(1, static_cast<int64_t>(rank(x)));
  if (axis < -count || axis >= count) {
    if (!failed()) refuse("aten.axis", "axis {} of a tensor with {} axes", axis, rank(x));
    return 0;
  }
  return axis < 0 ? axis + count : axis;
}

std::vector<int64_t> Lowering::axes(Ref x, std::vector<int64_t> chosen) {
  if (chosen.empty())
    for (size_t i = 0; i < rank(x); ++i) chosen.push_back(static_cast<int64_t>(i));
  for (int64_t& one : chosen) one = axis(x, one);
  if (rank(x) == 0) chosen.clear();
  return chosen;
}

bool Lowering::need_rank(Ref x, size_t lo, size_t hi) {
  if (failed()) return false;
  if (fact(x).has_rank() && rank(x) >= lo && rank(x) <= hi) return true;
  if (!fact(x).has_rank())
    refuse("aten.rank", "the number of axes of a tensor is not known");
  else
    refuse("aten.rank", "a tensor has {} axes where {} to {} are needed", rank(x), lo, hi);
  return false;
}

}  // namespace anyshape::lower
