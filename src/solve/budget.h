#pragma once

#include <cstddef>
#include <cstdint>

// How much work an analysis may take, in steps of base/effort.h where nothing else is said. Past a limit an answer is
// "unknown", a set "exact: no" or longer than it need be: never wrong. Those of single expressions are in sym/limits.h.
namespace anyshape::budget {

// Of one analysis with so many nodes.
constexpr int64_t with_nodes(int64_t base, size_t nodes) {
  constexpr int64_t kPerNode = 50;
  return base + kPerNode * static_cast<int64_t>(nodes);
}
inline constexpr int64_t kSolve = 8'000'000;     // the walk with symbols
inline constexpr int64_t kAccepted = 4'000'000;  // the accepted set in its shortest form
inline constexpr int64_t kReport = 4'000'000;    // the sizes of outputs; the findings
inline constexpr int64_t kRows = 4'000'000;      // the rows of all symbols
inline constexpr int64_t kVerdict = 50'000'000;  // the walk with numbers, for one shape
inline constexpr int64_t kProof = 10'000'000;    // is a whole set accepted? Walks with numbers included

// Of one proof over a set, beside kProof.
inline constexpr int64_t kMaxPoints = 2'000'000;      // evaluations of conditions
inline constexpr int64_t kMaxWalks = 5'000;           // walks with numbers
inline constexpr int64_t kMaxVisits = 500'000;        // nodes, inputs and axes of all walks together
inline constexpr int64_t kMaxSampleVisits = 100'000;  // the same of those that a proof is tried with
inline constexpr int64_t kMaxScan = 100'000;          // values tried for one variable alone

// Nodes, inputs and axes of all walks in which the largest shapes are looked for.
inline constexpr int64_t kMaxBoxVisits = 10'000'000;

}  // namespace anyshape::budget
