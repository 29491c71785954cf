#pragma once

#include <optional>
#include <vector>

#include "anyshape/reason.h"
#include "solve/accepted.h"

namespace anyshape {

// Where a value has its rows: axis `axis` has outer * rows * inner entries, and row r is those whose middle index is r.
struct RowLayout {
  size_t axis = 0;
  Dim outer = 1, inner = 1;

  friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

// Is what a model computes for one row the same whichever other rows, and however many, stand beside it?
struct RowsProof {
  bool independent = false;
  Reason mixed_by;  // otherwise: the node that mixes them, or of which it cannot be told; no node: an input or output
  // For each output of the graph, its rows in the order of those of the inputs; nullopt: it has none, and is the same
  // for all rows. Empty unless `independent`.
  std::vector<std::optional<RowLayout>> outputs;
};

// For the rows that a symbol counts, by the table of rows_table.cpp, where no axis is empty and the shape is accepted.
// In exact arithmetic: kernels may round otherwise where there are more rows. In the order of typed.axes().
std::vector<RowsProof> prove_rows(const Typed& typed, const AcceptedSet& accepted);

}  // namespace anyshape
