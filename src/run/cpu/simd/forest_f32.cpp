#include "run/cpu/simd/forest_f32.h"

#include <algorithm>
#include <cmath>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/forest_f32.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

using IV = hn::Vec<I>;
using D = hn::ScalableTag<double>;

// Vectors of rows that are tested together.
constexpr int64_t kVectors = 4;
constexpr int64_t kGroup = kVectors * kLanes;
static_assert(kForestRows % kGroup == 0);

// Fewer rows are walked.
constexpr int64_t kFewRows = kLanes < 8 ? kLanes : 8;

struct Bits {
  IV v[kVectors];
};

template <bool missing>
HWY_INLINE void cut(const FlatForest::Cut* first, const FlatForest::Cut* last, const float* x, Bits& bits) {
  for (; first != last; ++first) {
    const float* at = x + first->feature * kForestRows;
    const V split = splat(first->split);
    const IV keeps = hn::Set(I(), static_cast<int32_t>(first->keeps));
    ANYSHAPE_UNROLL
    for (int64_t k = 0; k < kVectors; ++k) {
      const V value = hn::Load(F(), at + k * kLanes);
      if constexpr (missing)
        bits.v[k] = hn::IfThenElse(hn::RebindMask(I(), hn::Gt(value, split)), hn::And(bits.v[k], keeps), bits.v[k]);
      else
        bits.v[k] = hn::IfThenElse(hn::RebindMask(I(), hn::Le(value, split)), bits.v[k], hn::And(bits.v[k], keeps));
    }
  }
}

HWY_INLINE Bits bits_left(const FlatForest& forest, const FlatForest::Word& word, const float* x) {
  Bits bits;
  for (IV& v : bits.v) v = hn::Set(I(), -1);
  const FlatForest::Cut* cuts = forest.cuts.data();
  cut<false>(cuts + word.first, cuts + word.missing, x, bits);
  if (word.missing != word.last) cut<true>(cuts + word.missing, cuts + word.last, x, bits);
  return bits;
}

// The number of the lowest bit: the exponent of what it is as a float. Any number where there is none.
HWY_INLINE IV lowest(IV v) {
  const V alone = hn::ConvertTo(F(), hn::And(v, hn::Neg(v)));
  return hn::Sub(hn::And(hn::ShiftRight<23>(hn::BitCast(I(), alone)), hn::Set(I(), 255)), hn::Set(I(), 127));
}

HWY_INLINE Bits leaves_of(const FlatForest& forest, const FlatForest::Tree& tree, const float* x) {
  Bits found;
  for (int64_t w = tree.words; w-- > 0;) {
    const Bits bits = bits_left(forest, forest.words[static_cast<size_t>(tree.word + w)], x);
    for (int64_t k = 0; k < kVectors; ++k) {
      const IV at = hn::Add(lowest(bits.v[k]), hn::Set(I(), static_cast<int32_t>(w * kForestWordBits)));
      found.v[k] = w + 1 == tree.words ? at : hn::IfThenElse(hn::Eq(bits.v[k], hn::Zero(I())), found.v[k], at);
    }
  }
  return found;
}

HWY_INLINE void add(V value, bool in_float, double* sums) {
  constexpr int64_t kDoubles = HWY_LANES(double);
  const hn::Rebind<float, D> part;
  HWY_ALIGN float values[kLanes];
  hn::Store(value, F(), values);
  ANYSHAPE_UNROLL
  for (int64_t i = 0; i < kLanes; i += kDoubles) {
    auto sum = hn::Add(hn::Load(D(), sums + i), hn::PromoteTo(D(), hn::Load(part, values + i)));
    if (in_float) sum = hn::PromoteTo(D(), hn::DemoteTo(part, sum));
    hn::Store(sum, D(), sums + i);
  }
}

HWY_INLINE void add_by_bits(const FlatForest& forest, const FlatForest::Tree& tree, const float* x, double* sums) {
  const Bits leaves = leaves_of(forest, tree, x);
  for (int32_t c = tree.column; c < tree.column + tree.columns; ++c) {
    const FlatForest::Column& column = forest.columns[static_cast<size_t>(c)];
    const float* values = forest.leaves.data() + column.from;
    for (int64_t k = 0; k < kVectors; ++k)
      add(hn::GatherIndex(F(), values, leaves.v[k]), forest.in_float, sums + column.target * kForestRows + k * kLanes);
  }
}

// x[feature][row] in blocks of kForestRows; rows that are not there look like the last one.
void turn(const float* x, int64_t rows, int64_t features, float* to) {
  for (int64_t r = 0; r < kForestRows; ++r) {
    const float* row = x + std::min(r, rows - 1) * features;
    for (int64_t f = 0; f < features; ++f) to[f * kForestRows + r] = row[f];
  }
}

HWY_INLINE void add_leaf(const FlatForest& forest, const FlatForest::Tree& tree, int32_t leaf, double* sums) {
  for (int32_t c = tree.column; c < tree.column + tree.columns; ++c) {
    const FlatForest::Column& column = forest.columns[static_cast<size_t>(c)];
    double& sum = sums[column.target * kForestRows];
    sum += double{forest.leaves[static_cast<size_t>(column.from + leaf)]};
    if (forest.in_float) sum = double{static_cast<float>(sum)};
  }
}

// As many walks at a time as hide the wait for each load.
constexpr int64_t kWalks = 8;

HWY_INLINE void walk(const FlatForest::Node* nodes, const float* const* rows, int32_t depth, int32_t* at) {
  for (int32_t step = 0; step < depth; ++step) {
    ANYSHAPE_UNROLL
    for (int64_t k = 0; k < kWalks; ++k) {
      const FlatForest::Node& node = nodes[at[k]];
      const float value = rows[k][node.feature];
      const bool yes = (value <= node.split) | (node.missing_is_true & (value != value));
      at[k] = yes ? node.yes : node.no;
    }
  }
}

HWY_INLINE void walk_rows(const FlatForest& forest, const FlatForest::Tree& tree, const float* x, int64_t rows,
                          int64_t features, double* sums) {
  for (int64_t r = 0; r < rows; r += kWalks) {
    int32_t at[kWalks];
    const float* from[kWalks];
    for (int64_t k = 0; k < kWalks; ++k) at[k] = tree.root, from[k] = x + std::min(r + k, rows - 1) * features;
    walk(forest.nodes.data(), from, tree.depth, at);
    for (int64_t k = 0; k < std::min(kWalks, rows - r); ++k)
      add_leaf(forest, tree, forest.nodes[static_cast<size_t>(at[k])].leaf, sums + r + k);
  }
}

HWY_INLINE void walk_trees(const FlatForest& forest, const float* row, double* sums) {
  const float* from[kWalks];
  std::fill_n(from, kWalks, row);
  const auto count = static_cast<int64_t>(forest.trees.size());
  for (int64_t t = 0; t < count; t += kWalks) {
    const FlatForest::Tree* trees = forest.trees.data() + t;
    const int64_t n = std::min(kWalks, count - t);
    int32_t at[kWalks], depth = 0;
    for (int64_t k = 0; k < kWalks; ++k) {
      at[k] = trees[std::min(k, n - 1)].root;
      depth = std::max(depth, trees[std::min(k, n - 1)].depth);
    }
    walk(forest.nodes.data(), from, depth, at);
    for (int64_t k = 0; k < n; ++k) add_leaf(forest, trees[k], forest.nodes[static_cast<size_t>(at[k])].leaf, sums);
  }
}

void block(const FlatForest& forest, const float* x, int64_t rows, int64_t features, float* scratch, double* sums) {
  std::fill_n(sums, forest.targets * kForestRows, 0.0);
  if (rows <= kFewRows) {
    for (int64_t r = 0; r < rows; ++r) walk_trees(forest, x + r * features, sums + r);
    return;
  }
  turn(x, rows, features, scratch);
  for (const FlatForest::Tree& tree : forest.trees) {
    if (tree.words == 0) {
      walk_rows(forest, tree, x, rows, features, sums);
      continue;
    }
    for (int64_t r = 0; r < rows; r += kGroup) add_by_bits(forest, tree, scratch + r, sums + r);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(block);

int64_t forest_scratch(const FlatForest&, int64_t features) { return features * kForestRows; }

void forest_block(const FlatForest& forest, const float* x, int64_t rows, int64_t features, float* scratch,
                  double* sums) {
  HWY_DYNAMIC_DISPATCH(block)(forest, x, rows, features, scratch, sums);
}

}  // namespace anyshape::simd
#endif
