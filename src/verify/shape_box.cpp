#include "verify/shape_box.h"

#include <algorithm>

#include "base/effort.h"
#include "base/work.h"
#include "check/ask.h"
#include "check/lint.h"
#include "solve/contract.h"
#include "verify/typical.h"

namespace anyshape {
namespace {

// Where neither the model nor the request ends a symbol.
constexpr int64_t kLargestBatch = 8, kLargestSize = 512;
// The largest size is looked for up to here, and down from there over so many that are refused.
constexpr int64_t kLargestOfAll = 1 << 16, kMostRefused = 1024;

class BoxSearch {
 public:
  BoxSearch(const CheckedModel& model, std::vector<Condition> wanted, int64_t visits)
      : model_(model),
        wanted_(std::move(wanted)),
        visits_left_(visits),
        in_a_walk_(static_cast<int64_t>(model.graph->nodes.size() + model.typed().input_facts().size() +
                                        model.typed().axes().size())) {}

  Result<ShapeBox> make();

 private:
  bool spent() const { return visits_left_ < 0 || Work::budget_spent(); }
  bool is_wanted(const Shapes& shapes) {
    visits_left_ -= in_a_walk_;
    return all_hold(model_.typed(), wanted_, shapes);
  }
  bool takes(const Shapes& shapes) {
    return !spent() && is_wanted(shapes) && ask(model_, shapes).kind == Answer::Kind::accept;
  }
  // The search has seen all it wanted to see.
  Status completed() const;
  Shapes with(Shapes shapes, Dim symbol, int64_t size) const;
  int64_t size_in(const Shapes& shapes, const AxisSymbol& axis) const {
    return shapes.find(axis.axes.front().input)->second[axis.axes.front().axis];
  }
  // The largest size of the symbol at which the shapes are taken.
  int64_t largest(const Shapes& shapes, const AxisSymbol& axis, int64_t usual);
  Result<Shapes> largest_of_all(Shapes shapes);

  const CheckedModel& model_;
  std::vector<Condition> wanted_;
  int64_t visits_left_, in_a_walk_;
};

Status BoxSearch::completed() const {
  TRY_OK(Work::check());
  if (!spent()) return {};
  return tl::unexpected(Error{Error::Kind::refused,
                              std::string(kBudgetCode),
                              {},
                              "the work budget is spent before the largest shapes are known",
                              {}});
}

Shapes BoxSearch::with(Shapes shapes, Dim symbol, int64_t size) const {
  for (const AxisSymbol& axis : model_.typed().axes())
    if (axis.symbol == symbol)
      for (const InputAxis& place : axis.axes) shapes.find(place.input)->second[place.axis] = size;
  return shapes;
}

int64_t BoxSearch::largest(const Shapes& shapes, const AxisSymbol& axis, int64_t usual) {
  const int64_t least = size_in(shapes, axis);
  const auto ends_by = [&](int64_t size) { return !is_wanted(with(shapes, axis.symbol, size)); };
  int64_t low = least, high = kLargestOfAll;
  if (ends_by(high)) {
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (ends_by(middle) ? high : low) = middle;
    }
  } else {
    low = std::max(usual, least);
  }
  for (int64_t size = low; size > least && size > low - kMostRefused && !spent(); --size)
    if (takes(with(shapes, axis.symbol, size))) return size;
  for (int64_t size = least; size <= low; size *= 2)
    if (!takes(with(shapes, axis.symbol, size))) return std::max(least, size / 2);
  return least;
}

Result<Shapes> BoxSearch::largest_of_all(Shapes shapes) {
  const Typed& typed = model_.typed();
  const auto batch = batch_symbols(typed, model_.accepted());
  for (const AxisSymbol& axis : typed.axes()) {
    const bool is_batch =
        std::any_of(batch.begin(), batch.end(), [&](const AxisSymbol& one) { return one.symbol == axis.symbol; });
    shapes = with(shapes, axis.symbol, largest(shapes, axis, is_batch ? kLargestBatch : kLargestSize));
    TRY_OK(completed());
  }
  return shapes;
}

Result<ShapeBox> BoxSearch::make() {
  const Typed& typed = model_.typed();
  ShapeBox out;
  std::vector<Condition> all = meant_conditions(model_);
  all.insert(all.end(), wanted_.begin(), wanted_.end());
  out.min = smallest_accepted_where(typed, model_.accepted(), all);
  const bool takes_some = takes(out.min);
  TRY_OK(completed());
  if (!takes_some) return refuse("box.empty", "no accepted shape was found");
  TRY(out.max, largest_of_all(out.min));
  out.opt = out.max;
  for (const Shapes& one : typical_shapes(model_, out.min, [&](const Shapes& shapes) { return takes(shapes); })) {
    const bool inside = std::all_of(typed.axes().begin(), typed.axes().end(), [&](const AxisSymbol& axis) {
      return size_in(one, axis) <= size_in(out.max, axis);
    });
    if (!inside) continue;
    out.opt = one;
    break;
  }
  TRY_OK(completed());
  return out;
}

}  // namespace

Result<ShapeBox> shape_box(const CheckedModel& model, const std::vector<std::string>& wanted, int64_t visits) {
  if (const auto& refusal = model.typed().refusal()) return tl::unexpected(*refusal);
  for (const Fact& fact : model.typed().input_facts())
    if (!fact.is_tensor() || !fact.dims) return refuse("box.rank", "an input is no tensor of known rank");
  TRY(auto conditions, wanted_conditions(model.typed(), wanted));
  return BoxSearch(model, std::move(conditions), visits).make();
}

}  // namespace anyshape
