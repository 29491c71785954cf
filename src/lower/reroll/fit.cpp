#include <algorithm>

#include "base/among.h"
#include "lower/reroll/form.h"
#include "lower/reroll/match.h"

namespace anyshape::lower::reroll {
namespace {

// Values of earlier steps that a step may read reach back so far.
constexpr int64_t kMostLag = 4;

// What one operand reads at one step of one program.
struct Reading {
  int64_t step = 0;
  const CapturedSteps* program = nullptr;
  const Layout* layout = nullptr;
  Source source;

  Label label() const { return layout->label(source.index); }
};
using Readings = std::vector<Reading>;

std::optional<Place> constant_of(const Readings& readings) {
  std::vector<SeenTensor> seen;
  for (const Reading& one : readings) seen.push_back({one.step, one.program->length, one.program->tensor(one.source)});
  auto pattern = fit(seen);
  if (!pattern) return std::nullopt;
  Place out;
  out.kind = Place::constant;
  out.pattern = std::make_shared<const Pattern>(*std::move(pattern));
  return out;
}

std::optional<Place> item_of(const Readings& readings) {
  const Label first = readings.front().label();
  Place out;
  out.kind = Place::item;
  out.index = first.part;
  out.item_ = first.item;
  out.output = readings.front().source.output;
  std::vector<Seen> steps;
  for (const Reading& one : readings) {
    const Label label = one.label();
    if (label.part != first.part || label.item != first.item || one.source.output != out.output) return std::nullopt;
    steps.push_back({one.step, one.program->length, static_cast<double>(label.step)});
  }
  const auto step = fit(steps);
  if (!step) return std::nullopt;
  out.step = *step;
  return out;
}

// The place that all of these read from.
std::optional<Place> place_of(const Readings& readings) {
  if (readings.empty()) return std::nullopt;
  const Source& first = readings.front().source;
  const bool one_kind =
      std::ranges::all_of(readings, [&](const Reading& one) { return one.source.kind == first.kind; });
  if (!one_kind) return std::nullopt;
  if (first.kind == Source::constant) return constant_of(readings);
  if (first.kind == Source::made) return item_of(readings);
  Place out;
  if (first.kind == Source::absent) return out;
  out.kind = Place::input;
  out.index = first.index;
  const bool same = std::ranges::all_of(readings, [&](const Reading& one) { return one.source.index == first.index; });
  return same ? std::optional(out) : std::nullopt;
}

Readings from(const Readings& readings, int64_t step) {
  Readings out;
  std::ranges::copy_if(readings, std::back_inserter(out), [&](const Reading& one) { return one.step >= step; });
  return out;
}

Readings at(const Readings& readings, int64_t step) {
  Readings out;
  std::ranges::copy_if(readings, std::back_inserter(out), [&](const Reading& one) { return one.step == step; });
  return out;
}

// A loop reads its own values of the same step or of earlier ones only; where it reads further back than its beginning,
// something else stands in.
bool is_causal(const Operand& operand, size_t part) {
  const Place& place = operand.place;
  if (place.kind != Place::item || place.index != part) return operand.first.empty();
  return place.step.step == 1 && place.step.length == 0 &&
         place.step.rest == -static_cast<double>(operand.first.size());
}

std::optional<Operand> operand_of(const Readings& readings, size_t part) {
  Operand out;
  for (int64_t lag = 0; lag <= kMostLag; ++lag) {
    if (auto place = place_of(from(readings, lag))) {
      out.place = *std::move(place);
      if (is_causal(out, part)) return out;
    }
    auto early = place_of(at(readings, lag));
    if (!early) return std::nullopt;
    out.first.push_back(*std::move(early));
  }
  return std::nullopt;
}

// The node broadcasts: a state may stand there in the shape it has later.
bool is_elementwise(const Node& node) {
  constexpr std::string_view kTypes[] = {"Add",  "And",         "Div",   "Equal", "Greater", "GreaterOrEqual",
                                         "Less", "LessOrEqual", "Max",   "Min",   "Mul",     "Or",
                                         "Pow",  "Sub",         "Where", "Xor"};
  return node.domain.empty() && among(std::string_view(node.type), kTypes);
}

std::string shape_of(const Fact& fact) { return fact.dims ? print(*fact.dims) : "?"; }

// What stands in for a loop's value in its first steps is of its type, or broadcast to it by the node.
bool stands_in(const Readings& readings, size_t lag, const Node& node) {
  if (lag == 0) return true;
  const Fact* state = nullptr;
  for (const Reading& one : readings)
    if (one.step >= static_cast<int64_t>(lag)) state = &one.program->fact(one.source);
  for (const Reading& one : readings) {
    if (one.step >= static_cast<int64_t>(lag) || one.program != readings.back().program) continue;
    const Fact& first = one.program->fact(one.source);
    if (first.dtype != state->dtype) return false;
    if (shape_of(first) != shape_of(*state) && !is_elementwise(node)) return false;
  }
  return true;
}

// Neighbouring operands that are the same item's value of one step after the other.
struct Run {
  size_t begin = 0, count = 1;
  int64_t direction = 1;
};

class Fitting {
 public:
  Fitting(const std::vector<Part>& parts, const CapturedSteps& shorter, const CapturedSteps& longer)
      : programs_{&shorter, &longer}, layouts_{Layout(parts, shorter.length), Layout(parts, longer.length)} {
    form_.parts = parts;
  }

  tl::expected<Form, Misfit> run();

 private:
  std::optional<Misfit> add_loop(size_t part);
  std::optional<Misfit> add_straight(size_t part);
  std::optional<std::vector<Operand>> straight(const std::vector<Source>& shorter, const std::vector<Source>& longer);
  std::vector<Run> runs_of(size_t program, const std::vector<Source>& sources) const;
  std::optional<Operand> operand(const Source& shorter, const Source& longer, const Run& a, const Run& b) const;
  Reading reading(size_t program, int64_t step, const Source& source) const {
    return {step, programs_[program], &layouts_[program], source};
  }
  const Step& step_at(size_t program, const Label& label) const {
    return programs_[program]->steps[layouts_[program].step(label)];
  }

  const CapturedSteps* programs_[2];
  Layout layouts_[2];
  Form form_;
};

std::vector<Run> Fitting::runs_of(size_t program, const std::vector<Source>& sources) const {
  std::vector<Run> out;
  std::optional<Label> last;
  for (size_t i = 0; i < sources.size(); ++i) {
    std::optional<Label> now;
    if (sources[i].kind == Source::made && form_.parts[layouts_[program].label(sources[i].index).part].loop)
      now = layouts_[program].label(sources[i].index);
    const bool alike =
        now && last && now->part == last->part && now->item == last->item && sources[i].output == sources[i - 1].output;
    const int64_t moved = alike ? now->step - last->step : 0;
    const bool goes_on = (moved == 1 || moved == -1) && (out.back().count == 1 || out.back().direction == moved);
    if (goes_on) {
      out.back().direction = moved;
      ++out.back().count;
    } else {
      out.push_back({i, 1, 1});
    }
    last = now;
  }
  return out;
}

std::optional<Operand> Fitting::operand(const Source& shorter, const Source& longer, const Run& a, const Run& b) const {
  const auto place = place_of({reading(0, 0, shorter), reading(1, 0, longer)});
  if (!place) return std::nullopt;
  Operand out{*place};
  if (a.count == 1 && b.count == 1) return out;
  if (a.direction != b.direction) return std::nullopt;
  out.direction = a.direction;
  out.count = fit({Seen{0, programs_[0]->length, static_cast<double>(a.count)},
                   Seen{0, programs_[1]->length, static_cast<double>(b.count)}});
  return out;
}

std::optional<std::vector<Operand>> Fitting::straight(const std::vector<Source>& shorter,
                                                      const std::vector<Source>& longer) {
  const std::vector<Run> a = runs_of(0, shorter), b = runs_of(1, longer);
  if (a.size() != b.size()) return std::nullopt;
  std::vector<Operand> out;
  for (size_t k = 0; k < a.size(); ++k) {
    auto one = operand(shorter[a[k].begin], longer[b[k].begin], a[k], b[k]);
    if (!one) return std::nullopt;
    out.push_back(*std::move(one));
  }
  return out;
}

std::optional<Misfit> Fitting::add_straight(size_t part) {
  for (size_t item = 0; item < form_.parts[part].size; ++item) {
    const Label label{part, item, 0};
    const Step &shorter = step_at(0, label), &longer = step_at(1, label);
    auto in = straight(shorter.in, longer.in);
    if (!in) return Misfit{fmt::format("what {} reads follows no rule", longer.node->type), part};
    form_.items[part].push_back({longer.node, *std::move(in)});
  }
  return std::nullopt;
}

std::optional<Misfit> Fitting::add_loop(size_t part) {
  for (size_t item = 0; item < form_.parts[part].size; ++item) {
    const Step& model = step_at(1, {part, item, 0});
    Item made{model.node, {}};
    for (size_t slot = 0; slot < model.in.size(); ++slot) {
      Readings readings;
      for (size_t program : {0, 1})
        for (int64_t step = 0; step < form_.parts[part].copies(programs_[program]->length); ++step) {
          const Step& one = step_at(program, {part, item, step});
          if (one.in.size() != model.in.size()) return Misfit{"a step reads more than the one before", part};
          readings.push_back(reading(program, step, one.in[slot]));
        }
      auto operand = operand_of(readings, part);
      if (!operand || !stands_in(readings, operand->first.size(), *model.node))
        return Misfit{fmt::format("what {} reads in a step follows no rule", model.node->type), part};
      made.in.push_back(*std::move(operand));
    }
    form_.items[part].push_back(std::move(made));
  }
  return std::nullopt;
}

tl::expected<Form, Misfit> Fitting::run() {
  for (size_t program : {0, 1})
    if (layouts_[program].steps() != programs_[program]->steps.size())
      return tl::unexpected(Misfit{"the steps are not as many as the loops make", {}});
  form_.items.resize(form_.parts.size());
  for (size_t part = 0; part < form_.parts.size(); ++part) {
    auto misfit = form_.parts[part].loop ? add_loop(part) : add_straight(part);
    if (misfit) return tl::unexpected(*std::move(misfit));
  }
  auto outputs = straight(programs_[0]->outputs, programs_[1]->outputs);
  if (!outputs) return tl::unexpected(Misfit{"the outputs follow no rule", {}});
  form_.outputs = *std::move(outputs);
  for (const CapturedSteps* program : programs_)
    if (auto misfit = difference(form_, *program)) return tl::unexpected(*std::move(misfit));
  return std::move(form_);
}

}  // namespace

tl::expected<Form, Misfit> fit(const std::vector<Part>& parts, const CapturedSteps& shorter,
                               const CapturedSteps& longer) {
  return Fitting(parts, shorter, longer).run();
}

}  // namespace anyshape::lower::reroll
