#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lower/axes.h"
#include "lower/lowering.h"

namespace anyshape::lower {

using NamedRefs = std::vector<std::pair<std::string, Ref>>;

// The name of a result: the user's, else the one its path in the returned structure has, else "output" or "output_I".
std::string output_name(const Request& request, size_t index, size_t count, const std::string& path);

// From the results of a program that has been run to the whole of what was made of it; the same for every kind of
// program.
class Assembly {
 public:
  Assembly(Lowering& lowering, std::shared_ptr<Symbols> symbols, const Request& request, const Axes& axes);

  // A condition over sizes of inputs; one that speaks of anything else is passed over. Of two that are equal the
  // one that binds is kept.
  void guard(const Condition& condition, std::string origin, bool advisory = false);
  // Each sentence is kept once.
  void note(const std::string& sentence);
  void notes(const std::vector<std::string>& sentences);

  // What a buffer or attribute will be when the program is called again becomes the output `NAME_next` where that is
  // asked for: by this name, by `given` (its present value is an input) or by the training mode; else a sentence says
  // that it is not kept, and `how` it can be.
  void state(NamedRefs& outputs, const std::string& name, Ref value, bool given, std::string_view how = {});
  // Names of outputs beyond these are of nothing.
  Status check_names(const NamedRefs& outputs, size_t results) const;

  // Embeds the guards where the request wants that, closes the graph, and gives the outputs the user's names of axes.
  Result<Lowered> finish(NamedRefs outputs);

 private:
  Lowering& lowering_;
  const Request& request_;
  const Axes& axes_;
  Lowered out_;
};

}  // namespace anyshape::lower
