#include <algorithm>

#include "lower/lowering.h"

namespace anyshape::lower {
namespace {

const Arg kNone;

}  // namespace

const Arg& Args::arg(std::string_view name) const {
  for (size_t i = 0; i < schema_.parameters.size() && i < values_.size(); ++i)
    if (schema_.parameters[i].name == name) return values_[i];
  return kNone;
}

void Args::read_tensors() {
  const auto read = [&](Arg& arg) {
    if (const auto* variable = arg.get<Var>()) arg = Arg(lowering_->memory().read(*variable));
  };
  variables_.resize(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) {
    if (const auto* variable = values_[i].get<Var>()) variables_[i] = *variable;
    read(values_[i]);
    if (auto* items = std::get_if<Arguments>(&values_[i].value)) std::for_each(items->begin(), items->end(), read);
  }
}

Var Args::variable(std::string_view name) const {
  for (size_t i = 0; i < schema_.parameters.size() && i < variables_.size(); ++i)
    if (schema_.parameters[i].name == name) return variables_[i].lock();
  return nullptr;
}

std::vector<Var> Args::variables() const {
  std::vector<Var> out;
  for (const auto& one : variables_)
    if (Var variable = one.lock()) out.push_back(std::move(variable));
  return out;
}

Ref Args::tensor(std::string_view name) const {
  const Arg& given = arg(name);
  if (given.is_none() || given.is_tensor()) return lowering_->ref(given);
  return lowering_->operand(given, lowering_->common_type({&given}));
}

Ref Args::self() const { return values_.empty() ? Ref() : lowering_->ref(values_[0]); }

Refs Args::tensors(std::string_view name) const {
  Refs out;
  const auto* items = arg(name).get<Arguments>();
  for (size_t i = 0; items && i < items->size(); ++i) out.push_back(lowering_->ref((*items)[i]));
  return out;
}

Dim Args::dim(std::string_view name, Dim fallback) const {
  const auto* value = arg(name).get<Dim>();
  return value ? *value : fallback;
}

int64_t Args::i(std::string_view name, int64_t fallback) const {
  const Dim value = (*lowering_)->assumptions().simplify(dim(name, fallback));
  if (!value.is_constant())
    (*lowering_)
        ->refuse("aten.symbolic", "the argument {:?} of aten::{} must be a number, here it is {}", name, schema_.name,
                 print(value));
  return value.constant().value_or(fallback);
}

Dims Args::dims(std::string_view name) const {
  Dims out;
  const Arg& given = arg(name);
  if (const auto* one = given.get<Dim>()) return {*one};
  const auto* items = given.get<Arguments>();
  for (size_t i = 0; items && i < items->size(); ++i)
    if (const auto* value = (*items)[i].get<Dim>()) out.push_back(*value);
  return out;
}

std::vector<int64_t> Args::ints(std::string_view name) const {
  std::vector<int64_t> out;
  for (Dim value : dims(name)) {
    value = (*lowering_)->assumptions().simplify(value);
    if (!value.is_constant())
      (*lowering_)
          ->refuse("aten.symbolic", "the argument {:?} of aten::{} must be numbers, here is {}", name, schema_.name,
                   print(value));
    out.push_back(value.constant().value_or(1));
  }
  return out;
}

double Args::f(std::string_view name, double fallback) const {
  const Arg& given = arg(name);
  if (const auto* real = given.get<double>()) return *real;
  if (const auto* truth = given.get<bool>()) return *truth;
  if (const auto* whole = given.get<Dim>(); whole && whole->is_constant())
    return static_cast<double>(*whole->constant());
  if (!given.is_none())
    (*lowering_)->refuse("aten.symbolic", "the argument {:?} of aten::{} must be a number", name, schema_.name);
  return fallback;
}

std::vector<double> Args::floats(std::string_view name) const {
  std::vector<double> out;
  const auto* items = arg(name).get<Arguments>();
  for (size_t i = 0; items && i < items->size(); ++i) {
    const Arg& item = (*items)[i];
    if (const auto* real = item.get<double>())
      out.push_back(*real);
    else if (const auto* whole = item.get<Dim>(); whole && whole->is_constant())
      out.push_back(static_cast<double>(*whole->constant()));
    else
      (*lowering_)->refuse("aten.symbolic", "the argument {:?} of aten::{} must be numbers", name, schema_.name);
  }
  return out;
}

bool Args::flag(std::string_view name, bool fallback) const {
  const Arg& given = arg(name);
  if (const auto* truth = given.get<bool>()) return *truth;
  if (const auto* condition = given.get<Condition>()) {
    const Tri answer = (*lowering_)->assumptions().prove(*condition);
    if (answer == Tri::unknown)
      (*lowering_)->refuse("aten.symbolic", "the argument {:?} of aten::{} depends on sizes", name, schema_.name);
    return answer == Tri::yes;
  }
  return fallback;
}

std::string Args::s(std::string_view name, std::string_view fallback) const {
  const auto* text = arg(name).get<std::string>();
  return text ? *text : std::string(fallback);
}

std::optional<DType> Args::dtype(std::string_view name) const {
  const auto* value = arg(name).get<DType>();
  return value && *value != DType::undefined ? std::optional(*value) : std::nullopt;
}

Args Args::with_self(Ref value) const {
  Args out = *this;
  out.values_[0] = Arg(value);
  return out;
}

}  // namespace anyshape::lower
