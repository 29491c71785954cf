#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lower/args.h"

namespace anyshape::lower {

// Sizes of the example (symbol, number) that the exported model must not depend on. Numbers in calls that are such a
// size, or are computed from one, are suspects: nothing in the graph tells them from numbers that mean something else.
class CapturedSizes {
 public:
  void watch(std::vector<std::pair<Dim, int64_t>> sizes);
  // Looks at what an operator is called with.
  void look(Lowering& lowering, const Args& args);
  // Looks at the values an operator is called with: their sizes, and integer tensors the archive holds.
  void see(Lowering& lowering, const Args& args);
  // One sentence for each.
  const std::vector<std::string>& suspects() const { return suspects_; }
  // Axes whose entries were all taken out by their number, a sentence each: loops that the capture has unrolled.
  const std::vector<std::string>& unrolled() const { return unrolled_; }
  // Tensors of the archive all of whose entries are sizes that values depending on a watched size had when the program
  // was captured, a sentence each: what was computed from sizes outside of tensors.
  std::vector<std::string> frozen() const;
  // Whether a number given as a stride is likely one of the example: the tensor's own stride depends on a watched size.
  bool is_baked(Dim given, Dim own) const;

 private:
  struct Watched {
    Dim symbol;
    int64_t size = 0;
    std::set<int64_t> picked = {};  // which entries were taken out by their number
  };

  void suspect(Lowering& lowering, const Args& args, const Parameter& parameter, const Arg& arg);
  void see(const Fact& fact);
  std::optional<int64_t> at_example(Dim size) const;
  void pick(Lowering& lowering, const Args& args, int64_t entry);

  std::vector<Watched> watched_;
  std::unordered_set<Dim> sizes_;             // of values, those that are no numbers
  std::set<std::vector<int64_t>> constants_;  // entries of small integer tensors
  std::vector<std::string> suspects_, unrolled_;
};

}  // namespace anyshape::lower
