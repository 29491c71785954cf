#include "target/bring.h"

#include "base/work.h"
#include "target/findings.h"
#include "target/lower.h"
#include "target/one_file.h"
#include "target/zipmap.h"

namespace anyshape::target {
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

}  // namespace

Result<Brought> bring(const Profile& profile, const CheckedModel& model) {
  fixes::Edit edit(model.file.proto);
  Lowering lowered = lower(profile, model.typed(), edit);
  TRY_OK(refusal_of(lowered.refused));
  for (std::string& change : without_zipmaps(edit)) lowered.changes.push_back(std::move(change));
  TRY(const bool joined, into_one_file(model.file, edit));
  if (joined) lowered.changes.push_back("all weights are in the file itself");
  TRY(CheckedModel made, model.with(std::move(edit.proto), edit.owner()));
  if (const auto& refusal = made.typed().refusal()) return tl::unexpected(*refusal);
  TRY_OK(refusal_of(findings(profile, made.typed(), made.file, "")));
  TRY_OK(Work::check());
  return Brought{std::move(made), std::move(lowered.changes)};
}

}  // namespace anyshape::target
