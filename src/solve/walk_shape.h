#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "anyshape/report.h"
#include "ir/graph.h"
#include "ir/infer.h"

namespace anyshape {

// What the numeric walk says of one concrete shape.
struct Walked {
  Answer answer;                     // but for its outputs, which are no texts yet
  Facts outputs = {};                // of graph.outputs, for accept
  std::shared_ptr<Symbols> symbols;  // of sizes that depend on data in `outputs`
  int64_t visits = 0;                // nodes inferred for it, and inputs
  size_t on_data = 0;                // requirements that sizes which depend on data have yet to fulfil

  bool accepts() const { return answer.kind == Answer::Kind::accept; }
  bool refuses() const { return answer.kind == Answer::Kind::refuse; }
};

// The rules with numbers, values that depend only on shapes computed by reference kernels.
// Codes of its own: input.missing, input.unknown (no such input), input.rank, input.dim, lenient.tied.
Walked walk_shape(const Graph& graph, const Shapes& shapes);

}  // namespace anyshape
