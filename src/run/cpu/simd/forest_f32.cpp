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

// So many rows are done one by one: walked, or with trees side by side.
constexpr int64_t kFewWalks = kLanes < 8 ? kLanes : 8, kFewSides = kLanes * 3 / 2;

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
  Bits bits = {};
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
  Bits found = {};
  for (IV& v : found.v) v = hn::Zero(I());
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

// The features of one row, in vectors that are looked up in.
template <int vectors>
struct OneRow {
  V v[vectors];

  HWY_INLINE V at(IV feature) const {
    if constexpr (vectors == 1) return hn::TableLookupLanes(v[0], hn::IndicesFromVec(F(), feature));
    const IV last = hn::Set(I(), static_cast<int32_t>(kLanes - 1));
    const auto index = hn::IndicesFromVec(F(), hn::And(feature, last));
    const auto high = hn::RebindMask(F(), hn::Gt(feature, last));
    return hn::IfThenElse(high, hn::TableLookupLanes(v[vectors - 1], index), hn::TableLookupLanes(v[0], index));
  }
};

// Bits of the trees at lanes `lane`.. of those side by side that cuts first..last - 1 leave.
template <bool missing, class Row>
HWY_INLINE IV cut_side(const FlatForest& forest, int32_t first, int32_t last, int64_t lane, const Row& row, IV bits) {
  const hn::Rebind<uint8_t, I> bytes;
  for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
    const V value = row.at(hn::PromoteTo(I(), hn::LoadU(bytes, forest.side_features[i].of + lane)));
    const V split = hn::Load(F(), forest.side_splits[i].of + lane);
    const IV keeps = hn::BitCast(I(), hn::Load(hn::RebindToUnsigned<I>(), forest.side_keeps[i].of + lane));
    const IV all = hn::Set(I(), -1);
    if constexpr (missing)
      bits = hn::And(bits, hn::IfThenElse(hn::RebindMask(I(), hn::Gt(value, split)), keeps, all));
    else
      bits = hn::And(bits, hn::IfThenElse(hn::RebindMask(I(), hn::Le(value, split)), all, keeps));
  }
  return bits;
}

template <class Row>
HWY_INLINE IV leaves_of_side(const FlatForest& forest, const FlatForest::Side& side, int64_t lane, const Row& row) {
  IV found = hn::Zero(I());
  for (int32_t w = side.words; w-- > 0;) {
    const FlatForest::Word& word = forest.side_words[static_cast<size_t>(side.word + w)];
    IV bits = cut_side<false>(forest, word.first, word.missing, lane, row, hn::Set(I(), -1));
    bits = cut_side<true>(forest, word.missing, word.last, lane, row, bits);
    const IV at = hn::Add(lowest(bits), hn::Set(I(), static_cast<int32_t>(w * kForestWordBits)));
    found = hn::IfThenElse(hn::Eq(bits, hn::Zero(I())), found, at);
  }
  return found;
}

// Of votes in their order. A sum that is rounded to float after each is a sum of floats.
template <class T>
HWY_INLINE double sum_of(const float* votes, int64_t n, double sum) {
  auto out = static_cast<T>(sum);
  for (int64_t i = 0; i < n; ++i) out += static_cast<T>(votes[i]);
  return double{out};
}

template <int vectors>
void one_row(const FlatForest& forest, const float* x, int64_t features, double* sums) {
  OneRow<vectors> row = {};
  for (int v = 0; v < vectors; ++v) row.v[v] = load_n(x + v * kLanes, features - v * kLanes);
  const auto count = static_cast<int64_t>(forest.trees.size());
  for (size_t s = 0; s < forest.sides.size(); ++s) {
    const FlatForest::Side& side = forest.sides[s];
    HWY_ALIGN int32_t leaves[kForestSide];
    HWY_ALIGN float votes[kForestSide];
    for (int64_t lane = 0; lane < kForestSide; lane += kLanes) {
      const IV found = leaves_of_side(forest, side, lane, row);
      hn::Store(found, I(), leaves + lane);
      if (forest.only_target >= 0)
        hn::Store(hn::GatherIndex(F(), forest.leaves.data(), hn::Add(found, hn::LoadU(I(), side.from + lane))), F(),
                  votes + lane);
    }
    const auto first = static_cast<int64_t>(s) * kForestSide, n = std::min(kForestSide, count - first);
    if (forest.only_target >= 0) {
      double& sum = sums[forest.only_target * kForestRows];
      sum = forest.in_float ? sum_of<float>(votes, n, sum) : sum_of<double>(votes, n, sum);
    } else {
      for (int64_t k = 0; k < n; ++k) add_leaf(forest, forest.trees[static_cast<size_t>(first + k)], leaves[k], sums);
    }
  }
}

HWY_INLINE bool stand_side_by_side(const FlatForest& forest, int64_t features) {
  return !forest.sides.empty() && features <= std::min(2 * kLanes, kForestSideFeatures);
}

void few_rows(const FlatForest& forest, const float* x, int64_t rows, int64_t features, double* sums) {
  if (!stand_side_by_side(forest, features)) {
    for (int64_t r = 0; r < rows; ++r) walk_trees(forest, x + r * features, sums + r);
    return;
  }
  const auto one = features <= kLanes ? one_row<1> : one_row<2>;
  for (int64_t r = 0; r < rows; ++r) one(forest, x + r * features, features, sums + r);
}

void block(const FlatForest& forest, const float* x, int64_t rows, int64_t features, float* scratch, double* sums) {
  std::fill_n(sums, forest.targets * kForestRows, 0.0);
  if (rows <= (stand_side_by_side(forest, features) ? kFewSides : kFewWalks))
    return few_rows(forest, x, rows, features, sums);
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
