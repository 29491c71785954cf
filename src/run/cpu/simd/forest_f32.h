#pragma once

#include <cstdint>
#include <vector>

// Decision trees over rows of f32 whose tests are `feature <= split`.
namespace anyshape::simd {

inline constexpr int64_t kForestRows = 64;    // of one block
inline constexpr int64_t kForestLeaves = 64;  // of a tree that is done by bits
inline constexpr int64_t kForestWordBits = 32;
inline constexpr int64_t kForestSide = 16;          // trees that stand side by side for one row
inline constexpr int64_t kForestSideFeatures = 32;  // that they may look at

// A tree is done by bits or walked. By bits: a leaf is a bit, the leaves of the true side of a node before those of its
// false side; each node whose test fails clears those of its true side, and the first bit that is left is the leaf.
struct FlatForest {
  struct Node {  // of a walk
    float split = 0;
    int32_t feature = 0;
    int32_t yes = 0, no = 0;  // a leaf: both are the node itself
    int32_t leaf = -1;        // its number in the tree
    bool missing_is_true = false;
  };
  // Bits that a failing test leaves.
  struct Cut {
    float split = 0;
    int32_t feature = 0;
    uint32_t keeps = 0;
  };
  // Cuts of kForestWordBits leaves: first..missing - 1 fail on NaN, missing..last - 1 hold on it.
  struct Word {
    int32_t first = 0, missing = 0, last = 0;
  };
  // What the leaves of a tree add to a target: leaves[from + leaf].
  struct Column {
    int32_t target = 0, from = 0;
  };
  struct Tree {
    int32_t root = 0, depth = 0;
    int32_t word = 0, words = 0;  // no words: it is walked
    int32_t column = 0, columns = 0;
  };
  // Trees side by side: a cut of each of them; one that has none left keeps all bits.
  struct alignas(64) SideSplits {
    float of[kForestSide];
  };
  struct alignas(64) SideKeeps {
    uint32_t of[kForestSide];
  };
  struct alignas(kForestSide) SideFeatures {
    uint8_t of[kForestSide];
  };
  struct Side {
    int32_t word = 0, words = 0;     // of side_words, whose cuts are side by side
    int32_t from[kForestSide] = {};  // of the only column of each tree
  };
  std::vector<Node> nodes;
  std::vector<Cut> cuts;
  std::vector<Word> words;
  std::vector<Column> columns;
  std::vector<float> leaves;
  std::vector<Tree> trees;
  // For one row; none where a tree is walked or looks at other features than the first kForestSideFeatures.
  std::vector<Side> sides;
  std::vector<Word> side_words;
  std::vector<SideSplits> side_splits;
  std::vector<SideKeeps> side_keeps;
  std::vector<SideFeatures> side_features;
  int32_t only_target = -1;  // all trees have one column, of this target
  int64_t targets = 1;
  bool in_float = false;  // sums are rounded to float after each tree
};

// Floats of scratch for forest_block, a multiple of 16.
int64_t forest_scratch(const FlatForest& forest, int64_t features);

// sums[target * kForestRows + row]: what all trees add up to, in their order, for `rows` rows of `features` floats.
// REQUIRES: rows <= kForestRows, every feature of a node is there; scratch and sums are aligned to 64 bytes.
void forest_block(const FlatForest& forest, const float* x, int64_t rows, int64_t features, float* scratch,
                  double* sums);

}  // namespace anyshape::simd
