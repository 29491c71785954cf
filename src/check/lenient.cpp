#include "check/rules.h"

namespace anyshape::rules {

void lenient(const LintContext& context, Findings& out) {
  for (const Reason& reason : context.typed.leniencies())
    if (reason.code == out.rule())
      out.add(reason.node, fmt::format("{}: ONNX Runtime runs it, other runtimes may refuse it", reason.sentence),
              "write it as the operator's text has it; --strict refuses the model");
}

}  // namespace anyshape::rules
