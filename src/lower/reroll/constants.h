#pragma once

#include <unordered_map>

#include "ir/builder.h"
#include "lower/reroll/captured_steps.h"
#include "lower/reroll/pattern.h"

namespace anyshape::lower::reroll {

// Constants of a form, put into the graph that is made.
class Constants {
 public:
  // `model`: gives weights their names.
  Constants(Builder& builder, Dim length, const CapturedSteps& model);

  Dim size(const Affine& number) const;
  // At step 0 of a loop, and outside of loops.
  Ref at_start(const Pattern& pattern);
  // The same in the wide type that it is computed in, and what one step adds to that. REQUIRES: pattern.kind is not
  // same.
  Ref wide_start(const Pattern& pattern);
  Ref wide_step(const Pattern& pattern);
  // The entries of an integer constant of rank 1 that no step moves.
  std::optional<Dims> sizes(const Pattern& pattern) const;

 private:
  Ref weight(const Tensor& tensor);
  Ref entries(const Pattern& pattern);
  Ref grid(const Pattern& pattern);
  Ref band(const Pattern& pattern);
  Ref real(const Pattern& pattern);
  Ref filled(const Pattern& pattern, double Affine::*part);

  Builder& b_;
  Dim length_;
  std::unordered_map<const std::byte*, std::string> names_;
  std::unordered_map<const std::byte*, Ref> made_;
};

}  // namespace anyshape::lower::reroll
