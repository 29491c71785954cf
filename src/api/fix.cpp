#include "anyshape/fix.h"

#include "api/model_impl.h"
#include "check/ask.h"
#include "fix/fixer.h"
#include "target/bring.h"

namespace anyshape {
namespace {

Status change(const FixOptions& options, const target::Profile* target, fixes::Fixer& fixer) {
  if (const auto& refusal = fixer.model().typed().refusal()) return tl::unexpected(*refusal);
  for (const auto& [symbol, size] : options.freeze) TRY_OK(fixer.freeze(symbol, size));
  if (!options.dynamic.empty()) TRY_OK(fixer.make_dynamic(options.dynamic));
  for (const auto& [from, to] : options.rename) TRY_OK(fixer.rename(from, to));
  if (options.simplify) TRY_OK(fixer.simplify());
  if (options.batch_only || target) TRY_OK(check_batch_only(fixer.model(), options.allow, "fix.policy"));
  if (target) {
    TRY(target::Brought brought, target::bring(*target, fixer.model()));
    fixer.replace(std::move(brought.model), brought.changes);
  }
  return fixer.write_types(options.dims);
}

}  // namespace

Result<Fixed> fix(const Model& model, const FixOptions& options) {
  const target::Profile* target = nullptr;
  if (!options.target.empty()) {
    TRY(target, target::find_profile(options.target));
  }
  fixes::Fixer fixer(model.impl());
  if (auto changed = change(options, target, fixer); !changed) return at(model.name(), std::move(changed).error());
  return Fixed{Model::Impl::wrap(std::move(fixer).model(), model.name()), fixer.changes()};
}

}  // namespace anyshape
