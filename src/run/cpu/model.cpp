#include "run/cpu/model.h"

#include "solve/verdict.h"

namespace anyshape {

Result<CpuModel> CpuModel::make(std::shared_ptr<const Graph> source, const Typed& typed, const PlanOptions& options) {
  if (typed.refusal()) return tl::unexpected(*typed.refusal());
  CpuModel model;
  model.source = std::move(source);
  TRY(model.plan, make_plan(typed, options));
  return model;
}

Status CpuModel::refusal(std::span<const Datum> inputs, const PlanStage::Guard* guard) const {
  Shapes shapes;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_tensor()) shapes[plan->inputs[i].name] = inputs[i].tensor().dims();
  const Verdict answer = verdict(*source, shapes);
  if (answer.kind == Verdict::Kind::refuse)
    return tl::unexpected(Error{Error::Kind::refused, answer.code, answer.place, answer.sentence, {}});
  // What an exporter recorded is no rule of the graph: the walk does not know it.
  if (guard && guard->code.starts_with("assumed."))
    return tl::unexpected(Error{Error::Kind::refused, guard->code, guard->node, guard->sentence, {}});
  return {};
}

}  // namespace anyshape
