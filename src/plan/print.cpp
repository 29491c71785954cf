#include "plan/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/printable.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

std::string place_of(const PlanValue& value) {
  switch (value.kind) {
    case Kind::constant:
      return "constant";
    case Kind::input:
      return "input";
    case Kind::output:
      return "output";
    case Kind::slot:
      return fmt::format("slot {}", value.index);
    case Kind::computed:
      return "from sizes";
    case Kind::window:
      return "window";
    default:
      return "own memory";
  }
}

struct ReferenceSteps {
  size_t count = 0;
  std::vector<std::string_view> types;  // each once, in order of the steps
};

// Bodies included; a step that runs bodies is not counted itself.
void collect(const Plan& plan, ReferenceSteps& into) {
  for (const PlanStep& step : plan.steps) {
    if (step.kind != PlanStep::Kind::reference && step.kind != PlanStep::Kind::dynamic) continue;
    if (step.runs_bodies) {
      for_each_body(plan.graph->nodes[step.node], [&](const Graph& body) { collect(*plan.bodies.at(&body), into); });
      continue;
    }
    ++into.count;
    if (std::find(into.types.begin(), into.types.end(), step.type) == into.types.end()) into.types.push_back(step.type);
  }
}

std::string reference_line(const Plan& plan) {
  ReferenceSteps steps;
  collect(plan, steps);
  if (steps.count == 0) return "no step runs by a reference kernel\n";
  const std::string count = steps.count == 1 ? "1 step runs by a reference kernel"
                                             : fmt::format("{} steps run by reference kernels", steps.count);
  return fmt::format("{}: {}\n", count, fmt::join(steps.types, ", "));
}

class Printer {
 public:
  Printer(const Plan& plan, const PlanNumbers* numbers) : plan_(plan), numbers_(numbers) {}

  std::string run() {
    for (const PlanInput& input : plan_.inputs) line("input", input.name, input.value);
    for (size_t i = 0; i < plan_.outputs.size(); ++i) line("output", plan_.output_names[i], plan_.outputs[i]);
    for (const auto& ran : plan_.passes)
      if (ran.nodes_before != ran.nodes_after || !ran.note.empty())
        out_ += fmt::format("pass {}: {} -> {} nodes{}{}\n", ran.pass, ran.nodes_before, ran.nodes_after,
                            ran.note.empty() ? "" : ", ", ran.note);
    print_enforced();
    out_ += fmt::format("\n{} steps\n", plan_.steps.size());
    size_t stage = 0;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      while (stage + 1 < plan_.stages.size() && plan_.stages[stage + 1].first_step == i)
        out_ += fmt::format("  -- stage {}: sizes that depend on data are known\n", ++stage);
      print_step(i, plan_.steps[i]);
    }
    print_slots();
    out_ += reference_line(plan_);
    return std::move(out_);
  }

 private:
  std::string shape(uint32_t value) const {
    const PlanValue& planned = plan_.values[value];
    std::string text = fmt::format("{}{}", name(planned.dtype), planned.has_sizes ? planned.text : "[?]");
    if (numbers_ && numbers_->dims[value]) text += fmt::format(" = [{}]", fmt::join(*numbers_->dims[value], ", "));
    return text;
  }

  void line(std::string_view what, std::string_view name, uint32_t value) {
    out_ += anyshape::line("{} {}  {}", what, printable_name(name), shape(value));
  }

  void print_enforced() {
    const PlanEnforced& by = plan_.enforced;
    if (by.guards) out_ += fmt::format("conditions: {} checked as formulas\n", by.guards);
    if (by.walked)
      out_ += fmt::format("conditions: {} checked by walking {} of {} nodes with numbers, once per shape\n", by.walked,
                          plan_.walked->nodes.size(), plan_.source->nodes.size());
    if (by.rules) out_ += fmt::format("conditions: {} checked by the rules of their nodes in every run\n", by.rules);
    if (!plan_.only_source.empty())
      out_ += fmt::format("runs node by node, without the steps below, because of {}\n", plan_.only_source);
  }

  void print_step(size_t index, const PlanStep& step) {
    const std::string way =
        numbers_ && !numbers_->ways[index].empty() ? fmt::format(", {}", numbers_->ways[index]) : "";
    out_ += anyshape::line("  {:4}  {} {:?}  kernel {}{} ({})", index, step.type, step.label, kernel_name(step), way,
                           step.reason);
    for (uint32_t value : step.out)
      if (value != kNone) out_ += fmt::format("        -> {}  in {}\n", shape(value), place_of(plan_.values[value]));
  }

  // Beyond what is read at a glance, in larger units too.
  template <class Bytes>
  static std::string size_text(Bytes bytes) {
    const auto count = static_cast<uint64_t>(bytes);
    const std::string text = bytes_text(count), exact = fmt::format("{} bytes", count);
    return text == exact ? exact : fmt::format("{} ({})", exact, text);
  }

  static std::string note_of(const PlanSlot& slot) {
    std::string note = slot.space == Space::engine ? "  (in the engine's memory)" : "";
    if (slot.stage > 0) note += fmt::format("  (stage {})", slot.stage);
    return note;
  }

  void print_slots() {
    out_ += fmt::format("\n{} slots\n", plan_.slots.size());
    std::vector<std::string> sizes;
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      const PlanSlot& slot = plan_.slots[i];
      const std::string number =
          numbers_ && numbers_->slots[i] ? " = " + size_text(*numbers_->slots[i]) : std::string();
      out_ += fmt::format("  slot {}  {}{}{}\n", i, slot.formula, number, note_of(slot));
      sizes.push_back(fmt::format("up64({})", slot.formula));
    }
    out_ += fmt::format("peak  {}", sizes.empty() ? "0" : fmt::format("{}", fmt::join(sizes, " + ")));
    const bool staged = std::any_of(plan_.slots.begin(), plan_.slots.end(), [](const auto& s) { return s.stage > 0; });
    if (numbers_)
      out_ += fmt::format(" = {}{}", size_text(numbers_->peak), staged ? " and what later stages need" : "");
    print_own_memory();
    if (!plan_.bodies.empty()) out_ += ", and what its bodies take";
    out_ += "\n";
    if (numbers_ && numbers_->scratch > 0) out_ += fmt::format("scratch  {}\n", size_text(numbers_->scratch));
  }

  void print_own_memory() {
    const auto own = [](const PlanValue& value) { return value.kind == Kind::dynamic && value.index == kNone; };
    if (std::any_of(plan_.values.begin(), plan_.values.end(), own)) out_ += ", and the values in own memory";
  }

  const Plan& plan_;
  const PlanNumbers* numbers_;
  std::string out_;
};

}  // namespace

std::string_view kernel_name(const PlanStep& step) {
  switch (step.kind) {
    case PlanStep::Kind::planned:
      return step.kernel->name;
    case PlanStep::Kind::copy:
    case PlanStep::Kind::transfer:
      return "copy";
    default:
      return step.runs_bodies ? "bodies" : "reference";
  }
}

std::string print_plan(const Plan& plan, const PlanNumbers* numbers) { return Printer(plan, numbers).run(); }

}  // namespace anyshape
