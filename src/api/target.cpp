#include "api/target.h"

#include "api/model_impl.h"
#include "target/bring.h"

namespace anyshape {

Status check_target(std::string_view target) {
  if (target.empty()) return {};
  TRY_OK(target::find_profile(target));
  return {};
}

Result<std::pair<Model, std::vector<std::string>>> for_target(const Model& model, std::string_view target) {
  TRY(const target::Profile* profile, target::find_profile(target));
  TRY(target::Brought brought, target::bring(*profile, model.impl()));
  return std::pair(Model::Impl::wrap(std::move(brought.model), model.name()), std::move(brought.changes));
}

}  // namespace anyshape
