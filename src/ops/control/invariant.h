#pragma once

#include <algorithm>

#include "ops/control/iterate.h"

namespace anyshape::ops {

// What a fresh size stands for.
Fact source_of_sizes(bool from_shapes);

// The carried values among the body's outputs.
Facts carried_of(const Iteration& iteration, const Facts& outputs);

// Carried values at the start of iteration `number`, as guessed from their start and the first iteration: parts that
// did not change stay, those that did grow by the same amount every time. Guesses are checked by trying the body.
class Invariant {
 public:
  // `by_shapes`: sizes that follow no rule are not just any, be it because they are functions of the input shapes.
  Invariant(InferContext& context, const Iteration& iteration, const Facts& initial, const Facts& first, Dim number,
            bool by_shapes);

  // Weakens the guesses until an iteration keeps them; what never settles becomes unknown. Gives the body's outputs.
  Result<Facts> settle(const Condition& path);

  const Facts& state() const { return state_; }
  // Every size follows a rule.
  bool exact() const;
  // The dim mentions a size that follows no rule.
  bool mentions_free(Dim dim) const;

  // The carried values after `count` iterations; sizes that follow no rule are new ones.
  Facts after(Dim count);

  // Again what was assumed of the sizes that follow no rule.
  void assume_free() const;

 private:
  bool is_free(Dim d) const { return std::find(free_.begin(), free_.end(), d) != free_.end(); }
  Dim free_size();
  Fact guess(const Fact& initial, const Fact& first);

  // Parts of the state that an iteration does not keep become free. True when there were any.
  bool weaken(const Facts& outputs);

  Fact weaker(const Fact& expected, const Fact& output);

  static bool same_bounds(const Bounds& a, const Bounds& b) { return a.lo == b.lo && a.hi == b.hi; }

  // Nothing but the types.
  void blank();

  InferContext& context_;
  const Iteration& iteration_;
  Dim number_;
  bool by_shapes_;
  Facts state_;
  Dims free_;
  bool blank_ = false;
};

}  // namespace anyshape::ops
