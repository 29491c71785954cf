#pragma once

#include <cstdint>
#include <set>
#include <string>
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
  // One sentence for each.
  const std::vector<std::string>& suspects() const { return suspects_; }
  // Axes whose entries were all taken out by their number, a sentence each: loops that the capture has unrolled.
  const std::vector<std::string>& unrolled() const { return unrolled_; }
  // Whether a number given as a stride is likely one of the example: the tensor's own stride depends on a watched size.
  bool is_baked(Dim given, Dim own) const;

 private:
  struct Watched {
    Dim symbol;
    int64_t size = 0;
    std::set<int64_t> picked = {};  // which entries were taken out by their number
  };

  void suspect(Lowering& lowering, const Args& args, const Parameter& parameter, const Arg& arg);
  void pick(Lowering& lowering, const Args& args, int64_t entry);

  std::vector<Watched> watched_;
  std::vector<std::string> suspects_, unrolled_;
};

}  // namespace anyshape::lower
