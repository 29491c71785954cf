#include "sym/assumptions.h"

#include "base/effort.h"
#include "sym/limits.h"
#include "sym/prover.h"

namespace anyshape {

Assumptions::Assumptions(Symbols& symbols) : impl_(std::make_unique<Impl>(symbols)) {}
Assumptions::~Assumptions() = default;

Symbols& Assumptions::symbols() const { return impl_->symbols; }
void Assumptions::assume(const Condition& condition) { impl_->assume(condition); }
const std::vector<Condition>& Assumptions::all() const { return impl_->all; }

Assumptions::Scope::Scope(Assumptions& assumptions) : assumptions_(assumptions), mark_(assumptions.impl_->all.size()) {}
Assumptions::Scope::~Scope() { assumptions_.impl_->undo(mark_); }

Tri Assumptions::prove(const Condition& condition) const {
  if (condition.is_opaque() || Effort::tired()) return Tri::unknown;
  return impl_->remembered(impl_->proved, condition, [&] {
    impl_->steps = limits::kProveSteps;
    return impl_->prove(condition, 0);
  });
}

Interval Assumptions::range(Dim dim) const {
  if (Effort::tired() && !dim.is_constant()) return {};
  impl_->steps = limits::kProveSteps;
  return impl_->range(impl_->apply(dim));
}

std::optional<Dim> Assumptions::exact_div(Dim a, Dim b) const {
  Dim x = impl_->apply(a), y = impl_->apply(b);
  if (!proves(Condition::ne(y, 0))) return std::nullopt;
  if (auto quotient = anyshape::exact_div(x, y)) return quotient;
  if (!proves(Condition::ge(y, 1)) || !proves(Condition::divisible(x, y))) return std::nullopt;
  Dim quotient = simplify(floordiv(x, y));
  return quotient.is_unknown() ? std::nullopt : std::optional(quotient);
}

}  // namespace anyshape
