#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/infer.h"

namespace anyshape {

// Sizes by input name. Inputs whose declared dims are all numbers may be left out.
using Shapes = std::map<std::string, std::vector<int64_t>, std::less<>>;

// The answer for one concrete shape.
struct Verdict {
  enum class Kind { accept, refuse, unknown };
  Kind kind = Kind::accept;
  std::string code, place, sentence;  // empty for accept
  std::vector<Remark> data_conditions;
  Facts outputs;                     // of graph.outputs, for accept
  std::shared_ptr<Symbols> symbols;  // of sizes that depend on data in `outputs`
  int64_t visits = 0;                // nodes inferred for it
  size_t on_data = 0;                // requirements that sizes which depend on data have yet to fulfil
};

// The numeric walk: the rules with numbers, values that depend only on shapes computed by reference kernels.
// Codes of its own: input.missing, input.unknown (no such input), input.rank, input.dim, lenient.tied.
Verdict verdict(const Graph& graph, const Shapes& shapes);

}  // namespace anyshape
