#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lower/request.h"

// Loops over an axis that a capture has unrolled, found again by comparing captures at several lengths of the axis.
namespace anyshape::lower::reroll {

// What a node of a captured program reads.
struct Source {
  enum Kind : uint8_t { absent, input, constant, made };
  Kind kind = absent;
  uint32_t index = 0;   // of the input; of the constant's value; of the step that makes it
  uint32_t output = 0;  // of that step
  friend bool operator==(const Source&, const Source&) = default;
};

struct Step {
  const Node* node = nullptr;
  std::vector<Source> in;
};

// A capture at one length of the axis, as a row of steps.
struct CapturedSteps {
  int64_t length = 0;
  std::shared_ptr<const Graph> graph;
  Facts facts;  // by value id
  std::vector<Step> steps;
  std::vector<Source> outputs;

  const Fact& fact(size_t step, size_t output) const { return facts[steps[step].node->out[output]]; }
  // REQUIRES: the source is not absent.
  const Fact& fact(const Source& source) const {
    if (source.kind == Source::made) return fact(source.index, source.output);
    return facts[source.kind == Source::input ? graph->inputs[source.index] : source.index];
  }
  Tensor tensor(const Source& constant) const { return facts[constant.index].as_tensor(); }
};

// The capture with what hides a step taken away: parts of a Concat are read directly, whatever was written piece by
// piece is one Concat, an axis taken apart by one node is taken apart entry by entry. Refused: reroll.node, where a
// node has no rule or a body.
Result<CapturedSteps> read_steps(const Lowered& captured, int64_t length, const OpTable& ops);

// The nodes in an order in which every step of a loop is of one piece: shapes first, the entry of an axis that a step
// reads just before the step, the view of a result right after it where a Concat of about `length` parts reads it.
std::vector<uint32_t> order_of(const Graph& graph, const Facts& facts, int64_t length);

}  // namespace anyshape::lower::reroll
