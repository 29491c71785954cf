#include "lower/overload.h"

#include <algorithm>

#include "lower/lowering.h"
#include "tensor/real.h"

namespace anyshape::lower {
namespace {

using Type = Parameter::Type;

std::optional<Arg> number_in(Lowering& l, const Arg& tensor, Type wanted) {
  const Ref value = l.ref(tensor);
  if (l->rank(value) != 0 && !(l->fact(value).numeric_dims() && product(l->dims(value)) == Dim(1))) return std::nullopt;
  if (const Tensor* known = l->tensor(value)) {
    const auto real = real_at(*known, 0);
    if (is_float(known->dtype())) return real ? std::optional(Arg(*real)) : std::nullopt;
    if (known->dtype() == DType::boolean) return Arg(known->int_at(0) != 0);
    return Arg(Dim(known->int_at(0)));
  }
  if (wanted == Type::scalar) return tensor;
  if (wanted == Type::integer && is_integer(l->dtype(value))) return Arg(l.item(value));
  return std::nullopt;
}

std::optional<Arg> fitted_item(Lowering& l, const Arg& given, const Parameter& parameter, bool lenient) {
  if (given.is_none()) return parameter.optional_items ? std::optional(given) : std::nullopt;
  switch (parameter.type) {
    case Type::tensor:
      return given.is_tensor() || (lenient && given.is_number()) ? std::optional(given) : std::nullopt;
    case Type::integer:
      if (given.get<Dim>()) return given;
      if (const auto* truth = given.get<bool>(); truth && lenient) return Arg(Dim(int64_t{*truth}));
      return lenient && given.is_tensor() ? number_in(l, given, parameter.type) : std::nullopt;
    case Type::real:
      if (const auto* whole = given.get<Dim>(); whole && whole->is_constant())
        return Arg(static_cast<double>(*whole->constant()));
      if (given.get<double>() || given.get<Ratio>() || given.get<Dim>()) return given;
      return lenient && given.is_tensor() ? number_in(l, given, parameter.type) : std::nullopt;
    case Type::scalar:
      if (given.is_number()) return given;
      return lenient && given.is_tensor() ? number_in(l, given, parameter.type) : std::nullopt;
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

std::optional<Arg> fitted(Lowering& l, const Arg& given, const Parameter& parameter, bool lenient) {
  if (given.is_none() && (parameter.optional || parameter.type == Type::ignored)) return given;
  if (!parameter.list) return fitted_item(l, given, parameter, lenient);
  const auto* items = given.get<Arguments>();
  if (!items) {
    if (parameter.repeat == 0) return std::nullopt;
    auto one = fitted_item(l, given, parameter, lenient);
    if (!one) return std::nullopt;
    return Arg(Arguments(static_cast<size_t>(parameter.repeat), *one));
  }
  Arguments out;
  for (const Arg& item : *items) {
    auto fit = fitted_item(l, item, parameter, lenient);
    if (!fit) return std::nullopt;
    out.push_back(*std::move(fit));
  }
  const bool repeated = parameter.repeat > 1 && out.size() == 1 && parameter.type != Type::tensor;
  if (repeated) out.resize(static_cast<size_t>(parameter.repeat), Arg(out[0]));
  return Arg(std::move(out));
}

std::optional<Args> bound_to(Lowering& l, const Schema& schema, const Arguments& positional,
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
    auto value = given ? fitted(l, *given, parameter, lenient) : parameter.fallback ? parameter.fallback : Arg();
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
  return Args(l, schema, std::move(values));
}

}  // namespace

std::optional<Args> find_overload(Lowering& l, std::string_view name, std::string_view overload,
                                  const Arguments& positional, const std::vector<NamedArg>& keywords) {
  std::vector<Schema> schemas = schemas_of(name);
  // One that is not named has to fit by types: add(Scalar a, Scalar b) has no name either.
  const bool named = !overload.empty();
  if (overload == "default") overload = "";
  const auto exact =
      std::find_if(schemas.begin(), schemas.end(), [&](const Schema& s) { return s.overload == overload; });
  std::string why;
  if (named && exact != schemas.end()) {
    if (auto args = bound_to(l, *exact, positional, keywords, true, why)) return args;
  }
  for (const bool lenient : {false, true})
    for (const Schema& schema : schemas)
      if (auto args = bound_to(l, schema, positional, keywords, lenient, why)) return args;
  if (schemas.empty())
    l->refuse("aten.unknown", "aten::{} is no operator this version of anyshape knows", name);
  else
    l->refuse("aten.arguments", "aten::{} cannot be called like this: {}", name, why);
  return std::nullopt;
}

}  // namespace anyshape::lower
