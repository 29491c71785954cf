#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anyshape/axes.h"
#include "check/checked_model.h"
#include "fix/relabel.h"

namespace anyshape::fixes {

// A model that is changed step by step. A step that is refused leaves nothing of use.
class Fixer {
 public:
  explicit Fixer(CheckedModel model) : model_(std::move(model)) {}

  const CheckedModel& model() const& { return model_; }
  CheckedModel model() && { return std::move(model_); }
  // A sentence for each change.
  const std::vector<std::string>& changes() const { return changes_; }

  // Usage errors freeze.*; refused: assumed.condition.
  Status freeze(const std::string& symbol, int64_t size);
  // The axes take any size. Usage errors dynamic.*; refused: fix.baked, fix.mixed, fix.suspect, assumed.condition.
  Status make_dynamic(const std::vector<DynamicAxis>& axes);
  // Usage errors rename.*.
  Status rename(const std::string& from, const std::string& to);
  // Refused: fix.narrower.
  Status simplify();
  // Every value gets the type that is inferred.
  Status write_types(DimText dims);
  // Another step makes this of the model.
  void replace(CheckedModel model, const std::vector<std::string>& changes);

 private:
  // What `change` makes of the model, checked. Gives back the model as it was, without its message.
  template <class Change>
  Result<CheckedModel> edited(Change change);
  Status check_recorded(const std::vector<Freed>& freed) const;
  std::vector<AssumedCondition> assumed_by_axis() const;

  CheckedModel model_;
  std::vector<std::string> changes_;
};

}  // namespace anyshape::fixes
