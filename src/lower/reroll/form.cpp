#include "lower/reroll/form.h"

#include <algorithm>

#include "lower/reroll/match.h"

namespace anyshape::lower::reroll {
namespace {

class Comparison {
 public:
  Comparison(const Form& form, const CapturedSteps& program)
      : form_(form), program_(program), layout_(form.parts, program.length) {}

  std::optional<Misfit> run();

 private:
  std::optional<Misfit> compare(const Item& item, const Label& at, const Step& step) const;
  bool agrees(const std::vector<Operand>& operands, const std::vector<Source>& found, int64_t step) const;
  bool agrees(const Place& place, const Source& found, int64_t step) const;

  const Form& form_;
  const CapturedSteps& program_;
  Layout layout_;
};

bool Comparison::agrees(const Place& place, const Source& found, int64_t step) const {
  switch (place.kind) {
    case Place::absent:
      return found.kind == Source::absent;
    case Place::input:
      return found.kind == Source::input && found.index == place.index;
    case Place::constant:
      return found.kind == Source::constant && place.pattern->gives(program_.tensor(found), step, program_.length);
    case Place::item:
      break;
  }
  if (found.kind != Source::made || found.output != place.output) return false;
  const Label label = layout_.label(found.index);
  return label.part == place.index && label.item == place.item_ &&
         static_cast<double>(label.step) == place.step.at(step, program_.length);
}

bool Comparison::agrees(const std::vector<Operand>& operands, const std::vector<Source>& found, int64_t step) const {
  size_t at = 0;
  for (const Operand& operand : operands) {
    if (!operand.count) {
      const bool early = step < static_cast<int64_t>(operand.first.size());
      const Place& place = early ? operand.first[static_cast<size_t>(step)] : operand.place;
      if (at == found.size() || !agrees(place, found[at++], step)) return false;
      continue;
    }
    Place place = operand.place;
    for (double left = operand.count->at(0, program_.length); left > 0; --left) {
      if (at == found.size() || !agrees(place, found[at++], step)) return false;
      place.step.rest += static_cast<double>(operand.direction);
    }
  }
  return at == found.size();
}

std::optional<Misfit> Comparison::compare(const Item& item, const Label& at, const Step& step) const {
  const Node &expected = *item.node, &found = *step.node;
  const auto misfit = [&](std::string_view what) {
    return Misfit{fmt::format("{} differs in {} at length {}", expected.type, what, program_.length), at.part};
  };
  if (expected.type != found.type || expected.domain != found.domain || expected.out.size() != found.out.size())
    return misfit("type");
  const auto same = [](const Attribute& a, const Attribute& b) { return text_of(a) == text_of(b); };
  if (!std::ranges::equal(expected.attributes, found.attributes, same)) return misfit("attributes");
  if (!agrees(item.in, step.in, at.step)) return misfit("what it reads");
  return std::nullopt;
}

std::optional<Misfit> Comparison::run() {
  if (layout_.steps() != program_.steps.size())
    return Misfit{fmt::format("{} nodes are expected at length {}, there are {}", layout_.steps(), program_.length,
                              program_.steps.size()),
                  {}};
  for (size_t i = 0; i < program_.steps.size(); ++i) {
    const Label at = layout_.label(i);
    if (auto found = compare(form_.items[at.part][at.item], at, program_.steps[i])) return found;
  }
  if (!agrees(form_.outputs, program_.outputs, 0)) return Misfit{"the outputs are other values", {}};
  return std::nullopt;
}

}  // namespace

Layout::Layout(const std::vector<Part>& parts, int64_t length) {
  starts_.push_back(0);
  for (const Part& part : parts) {
    sizes_.push_back(part.size);
    starts_.push_back(starts_.back() + part.size * static_cast<size_t>(std::max(part.copies(length), int64_t{0})));
  }
}

Label Layout::label(size_t step) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end() - 1, step);
  const size_t part = static_cast<size_t>(after - starts_.begin()) - 1;
  const size_t within = step - starts_[part];
  return {part, within % sizes_[part], static_cast<int64_t>(within / sizes_[part])};
}

std::optional<Misfit> difference(const Form& form, const CapturedSteps& program) {
  return Comparison(form, program).run();
}

}  // namespace anyshape::lower::reroll
