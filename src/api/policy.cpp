#include "api/policy.h"

#include "anyshape/check.h"

namespace anyshape {

Status check_batch_only(const Model& model, const std::vector<std::string>& allow, std::string_view code) {
  CheckOptions policy;
  policy.batch_only = true;
  policy.allow = allow;
  TRY(const Report report, check(model, policy));
  for (const Finding& finding : report.findings)
    if (finding.rule == "policy.batch-only")
      return tl::unexpected(Error{Error::Kind::refused, std::string(code), {}, finding.message, finding.fix});
  return {};
}

}  // namespace anyshape
