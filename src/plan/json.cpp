#include "base/json.h"

#include <algorithm>
#include <limits>

#include "plan/print.h"

namespace anyshape {
namespace {

// Of a value in a slot; nothing where its sizes depend on data.
std::optional<int64_t> bytes_of(const Plan& plan, const PlanNumbers& numbers, uint32_t value) {
  if (!numbers.dims[value]) return std::nullopt;
  int64_t count = bits(plan.values[value].dtype) / 8;
  for (int64_t size : *numbers.dims[value])
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  return count;
}

std::string name_of(const Plan& plan, uint32_t value) {
  return value < plan.graph->values.size() ? plan.graph->values[value].name : "";
}

void write_value(JsonWriter& out, const Plan& plan, const PlanNumbers& numbers, uint32_t value, size_t step) {
  const PlanValue& planned = plan.values[value];
  const size_t last = planned.last_step == kNone ? step : std::min<size_t>(planned.last_step, plan.steps.size() - 1);
  out.begin_object().key("name").text(name_of(plan, value)).key("dtype").text(name(planned.dtype));
  out.key("dims").text(planned.text).key("slot").number(planned.index);
  if (const auto bytes = bytes_of(plan, numbers, value)) out.key("bytes").number(*bytes);
  out.key("first").number(static_cast<int64_t>(step)).key("last").number(static_cast<int64_t>(last)).end_object();
}

void write_values(JsonWriter& out, const Plan& plan, const PlanNumbers& numbers) {
  out.key("values").begin_array();
  for (size_t step = 0; step < plan.steps.size(); ++step)
    for (uint32_t value : plan.steps[step].out)
      if (value != kNone && plan.values[value].kind == PlanValue::Kind::slot)
        write_value(out, plan, numbers, value, step);
  out.end_array();
}

}  // namespace

std::string plan_json(const Plan& plan, const PlanNumbers& numbers) {
  JsonWriter out;
  out.begin_object().key("version").number(1).key("peak").number(numbers.peak);
  out.key("scratch").number(numbers.scratch);
  out.key("slots").begin_array();
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    out.begin_object().key("formula").text(plan.slots[i].formula);
    if (numbers.slots[i]) out.key("bytes").number(*numbers.slots[i]);
    out.key("stage").number(plan.slots[i].stage).end_object();
  }
  out.end_array().key("steps").begin_array();
  for (const PlanStep& step : plan.steps) {
    out.begin_object().key("name").text(step.label).key("op").text(step.type);
    out.key("kernel").text(kernel_name(step)).key("reason").text(step.reason).end_object();
  }
  out.end_array();
  write_values(out, plan, numbers);
  out.end_object();
  return out.take();
}

}  // namespace anyshape
