#include "lower/reroll/reroll.h"

#include <algorithm>

#include "base/among.h"
#include "base/work.h"
#include "ir/builder_tidy.h"
#include "lower/axes.h"
#include "lower/reroll/form.h"
#include "lower/reroll/match.h"
#include "lower/reroll/write.h"

namespace anyshape::lower::reroll {
namespace {

// A loop has at least as many steps in the shorter capture: fewer show no rule.
constexpr int64_t kFewestSteps = 3;
// Steps at the ends that may be other ones.
constexpr size_t kPeeledInFront = 3, kPeeledBehind = 2;
constexpr int kMostForms = 2000;

// The steps of the longer program that are taken for the loop.
struct Choice {
  size_t begin = 0, copies = 0;
};

std::vector<Choice> choices_of(const Repeat& repeat) {
  std::vector<Choice> out;
  const size_t slack = (repeat.end - repeat.begin) % repeat.unit;
  for (size_t peeled = 0; peeled <= kPeeledInFront + kPeeledBehind; ++peeled)
    for (size_t behind = 0; behind <= std::min(peeled, kPeeledBehind); ++behind) {
      const size_t front = peeled - behind;
      if (front > kPeeledInFront || repeat.copies() < peeled + static_cast<size_t>(kFewestSteps) + 1) continue;
      for (size_t offset = 0; offset <= slack; ++offset)
        out.push_back({repeat.begin + offset + front * repeat.unit, repeat.copies() - peeled});
    }
  return out;
}

// Which choice of each loop is being looked at.
class Search {
 public:
  Search(std::vector<Repeat> repeats, const CapturedSteps& shorter, const CapturedSteps& longer)
      : repeats_(std::move(repeats)), shorter_(shorter), longer_(longer) {
    for (const Repeat& repeat : repeats_) choices_.push_back(choices_of(repeat));
    at_.resize(repeats_.size());
  }

  Result<Form> run();

 private:
  std::vector<Part> parts() const;
  bool next(const Misfit& misfit);

  std::vector<Repeat> repeats_;
  const CapturedSteps &shorter_, &longer_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<size_t> at_;
};

std::vector<Part> Search::parts() const {
  std::vector<Part> out;
  size_t done = 0;
  for (size_t k = 0; k < repeats_.size(); ++k) {
    const Choice& choice = choices_[k][at_[k]];
    if (choice.begin > done) out.push_back({false, choice.begin - done, 0});
    out.push_back({true, repeats_[k].unit, static_cast<int64_t>(choice.copies) - longer_.length});
    done = choice.begin + choice.copies * repeats_[k].unit;
  }
  if (longer_.steps.size() > done) out.push_back({false, longer_.steps.size() - done, 0});
  return out;
}

// The loop at fault gets its next choice; where none is, or it has none left, the first that has one.
bool Search::next(const Misfit& misfit) {
  const std::vector<Part> now = parts();
  std::optional<size_t> blamed;
  if (misfit.part && now[*misfit.part].loop)
    blamed = static_cast<size_t>(std::count_if(now.begin(), now.begin() + static_cast<ptrdiff_t>(*misfit.part),
                                               [](const Part& part) { return part.loop; }));
  if (blamed && at_[*blamed] + 1 < choices_[*blamed].size()) {
    ++at_[*blamed];
    return true;
  }
  for (size_t k = 0; k < at_.size(); ++k) {
    if (++at_[k] < choices_[k].size()) return true;
    at_[k] = 0;
  }
  return false;
}

Result<Form> Search::run() {
  if (std::ranges::any_of(choices_, [](const auto& some) { return some.empty(); }))
    return refuse("reroll.none", "the captures are too short to show a loop");
  std::optional<Misfit> first;
  for (int tried = 0; tried < kMostForms; ++tried) {
    TRY_OK(Work::check());
    auto form = fit(parts(), shorter_, longer_);
    if (form) return *std::move(form);
    if (!first) first = form.error();
    if (!next(form.error())) break;
  }
  return refuse("reroll.differs", "the steps of the loop follow no rule: {}", first->why);
}

// A sentence for each loop.
std::vector<std::string> sentences_of(const Form& form, const std::vector<Capture>& captures, std::string_view axis) {
  std::vector<int64_t> lengths, predicted;
  for (size_t i = 0; i < captures.size(); ++i) (i < 2 ? lengths : predicted).push_back(captures[i].length);
  std::vector<std::string> out;
  for (const Part& part : form.parts) {
    if (!part.loop) continue;
    const std::string more =
        part.more == 0 ? "" : fmt::format(" {} {}", part.more < 0 ? '-' : '+', std::abs(part.more));
    out.push_back(fmt::format("a loop of {:?}{} steps of {} nodes, seen at the lengths {}, as predicted at {}", axis,
                              more, part.size, fmt::join(lengths, " and "), fmt::join(predicted, " and ")));
  }
  return out;
}

// Guards that hold at all lengths; of one that speaks of a length nothing is known at others.
std::vector<Guard> common_guards(const std::vector<Capture>& captures) {
  std::vector<Guard> out;
  for (const Guard& guard : captures[1].lowered.guards) {
    const bool everywhere = std::ranges::all_of(captures, [&](const Capture& capture) {
      return std::ranges::any_of(capture.lowered.guards, [&](const Guard& one) { return one.text == guard.text; });
    });
    if (everywhere) out.push_back(guard);
  }
  return out;
}

// The same inputs in all captures, in the same order.
bool same_inputs(const CapturedSteps& a, const CapturedSteps& b) {
  return std::ranges::equal(a.graph->inputs, b.graph->inputs,
                            [&](ValueId x, ValueId y) { return a.graph->values[x].name == b.graph->values[y].name; });
}

}  // namespace

Result<Lowered> reroll(const std::vector<Capture>& captures, std::string_view axis, const Request& request,
                       const OpTable& ops) {
  std::vector<CapturedSteps> programs;
  for (const Capture& capture : captures) {
    TRY(CapturedSteps program, read_steps(capture.lowered, capture.length, ops));
    if (!programs.empty() && !same_inputs(programs[0], program))
      return refuse("reroll.none", "the captures have other inputs");
    programs.push_back(std::move(program));
  }
  const CapturedSteps &shorter = programs[0], &longer = programs[1];
  const auto tokens = tokens_of({&shorter, &longer});
  const auto repeats = find_repeats(tokens[0], tokens[1]);
  if (!repeats || longer.length != shorter.length + 1)
    return refuse("reroll.none", "what is longer by one is not the program with one step more");
  TRY(const Form form, Search(*repeats, shorter, longer).run());
  for (const CapturedSteps& program : programs)
    if (const auto misfit = difference(form, program))
      return refuse("reroll.differs", "the program of length {} is not as predicted: {}", program.length, misfit->why);
  const Lowered& model = captures[1].lowered;
  Facts facts;
  Lowered out;
  TRY(out.graph, write(form, shorter, longer, axis, model, ops, facts));
  out.symbols = model.symbols;
  out.opsets = model.opsets;
  out.guards = common_guards(captures);
  out.notes = model.notes;
  out.rerolled = sentences_of(form, captures, axis);
  out.custom_shapes = model.custom_shapes;
  Assumptions assumptions(*out.symbols);
  TRY_OK(name_outputs(*out.graph, request, assumptions, facts, out.notes));
  declare_ends(*out.graph, facts);
  return out;
}

}  // namespace anyshape::lower::reroll
