#include "api/target.h"

#include "api/model_impl.h"
#include "target/findings.h"
#include "target/lower.h"
#include "target/one_file.h"
#include "target/zipmap.h"

namespace anyshape {
namespace {

// The findings that are errors as one refusal, the first of them as its code and place.
Status refusal_of(const std::vector<Finding>& findings) {
  Error error;
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::error) continue;
    const std::string place = finding.node.empty() ? "" : fmt::format("node {:?}", finding.node);
    if (error.code.empty())
      error = {Error::Kind::refused, finding.rule, place, finding.message, finding.fix};
    else
      error.message +=
          fmt::format("; error[{}] {}{}{}", finding.rule, place, place.empty() ? "" : ": ", finding.message);
  }
  if (error.code.empty()) return {};
  return tl::unexpected(std::move(error));
}

Result<Model> edited(const Model& model, fixes::Edit edit) {
  onnx::ModelFile file = model.impl().file;
  file.proto = std::move(edit.proto);
  auto owners = model.impl().owners;
  owners.push_back(edit.owner());
  return Model::Impl::make(std::move(file), model.impl().name, std::move(owners));
}

}  // namespace

Status check_target(std::string_view target) {
  if (target.empty()) return {};
  TRY(const target::Profile* profile, target::find_profile(target));
  static_cast<void>(profile);
  return {};
}

Result<std::vector<Finding>> target_findings(const Model::Impl& model, std::string_view target) {
  TRY(const target::Profile* profile, target::find_profile(target));
  if (model.typed().refusal()) return std::vector<Finding>();
  return target::findings(*profile, model.typed(), model.file);
}

Result<std::pair<Model, std::vector<std::string>>> for_target(const Model& model, std::string_view target) {
  TRY(const target::Profile* profile, target::find_profile(target));
  fixes::Edit edit(model.impl().file.proto);
  target::Lowering lowered = target::lower(*profile, model.impl().typed(), edit);
  TRY_OK(refusal_of(lowered.refused));
  for (std::string& change : target::without_zipmaps(edit)) lowered.changes.push_back(std::move(change));
  TRY(const bool joined, target::into_one_file(model.impl().file, edit));
  if (joined) lowered.changes.push_back("all weights are in the file itself");
  TRY(Model made, edited(model, std::move(edit)));
  if (const auto& refusal = made.impl().typed().refusal()) return tl::unexpected(*refusal);
  TRY(const auto left, target_findings(made.impl(), target));
  TRY_OK(refusal_of(left));
  TRY_OK(made.impl().going_on());
  return std::pair(std::move(made), std::move(lowered.changes));
}

}  // namespace anyshape
