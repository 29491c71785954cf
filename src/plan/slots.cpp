#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "plan/planner.h"

namespace anyshape {
namespace {

using Kind = PlanValue::Kind;

// The size of one value in bytes: the register it is computed in, and the expression.
struct ByteSize {
  Register reg;
  Dim formula;
};

// The part of the arena that slots of one table are in.
using Part = std::pair<uint32_t, Space>;  // stage, memory

// Which slot a value takes: one that is free from its first step to its last, of the same size if there is one.
class SlotTable {
 public:
  explicit SlotTable(std::vector<PlanSlot>& slots) : slots_(slots) {}

  uint32_t take(const Part& part, const ByteSize& bytes, bool shared) {
    uint32_t best = kNone;
    if (shared) {
      const Free& free = free_[part];
      const auto same = free.by_size.find(bytes.formula);
      if (!free.all.empty()) best = *free.all.begin();
      if (same != free.by_size.end() && !same->second.empty()) best = *same->second.begin();
    }
    if (best == kNone) {
      best = static_cast<uint32_t>(slots_.size());
      slots_.push_back({part.second, part.first, {}, {}});
      formulas_.emplace_back();
    } else {
      free_[part].all.erase(best);
      if (const Dims& sizes = formulas_[best]; sizes.size() == 1) free_[part].by_size[sizes[0]].erase(best);
    }
    add(best, bytes);
    return best;
  }

  void release(uint32_t slot) {
    Free& free = free_[{slots_[slot].stage, slots_[slot].space}];
    free.all.insert(slot);
    if (const Dims& sizes = formulas_[slot]; sizes.size() == 1) free.by_size[sizes[0]].insert(slot);
  }

  void print_formulas() {
    for (size_t i = 0; i < slots_.size(); ++i) {
      std::vector<std::string> texts;
      for (Dim formula : formulas_[i]) texts.push_back(formula.is_unknown() ? "?" : print(formula));
      slots_[i].formula = texts.size() == 1 ? texts[0] : fmt::format("max({})", fmt::join(texts, ", "));
    }
  }

 private:
  void add(uint32_t slot, const ByteSize& bytes) {
    auto& registers = slots_[slot].bytes;
    if (std::find(registers.begin(), registers.end(), bytes.reg) == registers.end()) registers.push_back(bytes.reg);
    auto& formulas = formulas_[slot];
    if (std::find(formulas.begin(), formulas.end(), bytes.formula) == formulas.end()) formulas.push_back(bytes.formula);
  }

  std::vector<PlanSlot>& slots_;
  std::vector<Dims> formulas_;
  // Of each part, the first ones first.
  struct Free {
    std::set<uint32_t> all;
    std::unordered_map<Dim, std::set<uint32_t>> by_size;  // those that held values of one size only
  };
  std::map<Part, Free> free_;
};

// No other input of the step reads the memory of this one.
bool reads_alone(const Plan& plan, const PlanStep& step, uint32_t value) {
  return std::count_if(step.in.begin(), step.in.end(),
                       [&](uint32_t other) { return other != kNone && holder_of(plan, other) == value; }) == 1;
}

// The input whose memory output 0 of the step can take over, or kNone.
uint32_t replaceable_input(const Plan& plan, const PlanStep& step, const std::vector<Dims>& dims, uint32_t at) {
  if (step.kind != PlanStep::Kind::planned || step.out.size() != 1 || step.out[0] == kNone) return kNone;
  const PlanValue& out = plan.values[step.out[0]];
  for (size_t i = 0; i < step.in.size() && i < 32; ++i) {
    if (step.in[i] == kNone || !(step.kernel->in_place >> i & 1)) continue;
    const PlanValue& in = plan.values[step.in[i]];
    if (in.kind == Kind::slot && in.dtype == out.dtype && in.stage == out.stage && in.space == out.space &&
        reads_alone(plan, step, step.in[i]) && dims[step.in[i]] == dims[step.out[0]] && in.last_step == at)
      return step.in[i];
  }
  return kNone;
}

}  // namespace

void Planner::assign_slots() {
  Plan& plan = *plan_;
  SlotTable table(plan.slots);
  const auto take = [&](uint32_t id, bool shared) {
    PlanValue& value = plan.values[id];
    value.index = table.take({value.stage, value.space}, {value_bytes_[id], value_formula_[id]}, shared);
  };
  for (uint32_t id = 0; id < plan.values.size(); ++id) {
    if (plan.values[id].kind != Kind::computed) continue;
    // Most sizes only matter to the formulas.
    if (plan.values[id].last_step != kNone)
      take(id, false);
    else
      plan.values[id].kind = Kind::unused;
  }
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const uint32_t taken_over = replaceable_input(plan, plan.steps[i], value_dims_, i);
    for (uint32_t id : plan.steps[i].out) {
      if (id == kNone || plan.values[id].kind != Kind::slot) continue;
      if (taken_over != kNone)
        plan.values[id].index = plan.values[taken_over].index;
      else
        take(id, true);
    }
    for (uint32_t id : plan.steps[i].ends)
      if (plan.values[id].kind == Kind::slot && id != taken_over) table.release(plan.values[id].index);
  }
  table.print_formulas();
}

}  // namespace anyshape
