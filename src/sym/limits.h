#pragma once

#include <cstddef>
#include <cstdint>

// Past these sizes an expression is Dim::unknown(), a condition Condition::opaque(), a proof Tri::unknown.
namespace anyshape::limits {

inline constexpr size_t kTerms = 128;        // of one sum
inline constexpr size_t kDegree = 8;         // atoms in one product
inline constexpr uint32_t kDepth = 64;       // atoms inside atoms
inline constexpr uint32_t kTreeSize = 4096;  // terms and atoms of an expression written out in full
inline constexpr size_t kArguments = 16;     // of one min, max or broadcast

inline constexpr size_t kDisjuncts = 128;
inline constexpr size_t kRelations = 512;     // in all disjuncts together
inline constexpr size_t kCompared = 1 << 20;  // pairs of disjuncts, to join them

inline constexpr size_t kParseTokens = 20000;
inline constexpr int kParseDepth = 200;

inline constexpr int64_t kPeriod = 4096;          // of a PeriodicSet
inline constexpr size_t kPeriodicWork = 1 << 16;  // intervals looked at while solving one
inline constexpr int64_t kBoxPoints = 2048;       // enumerated by the prover
inline constexpr int kSplitDepth = 4;             // case splits inside each other
inline constexpr int kProveSteps = 400;           // relations decided within one prove
inline constexpr size_t kAnswers = 1 << 16;       // of one kind that are remembered
inline constexpr int64_t kEliminateValues = 32;   // of a symbol enumerated by eliminate

}  // namespace anyshape::limits
