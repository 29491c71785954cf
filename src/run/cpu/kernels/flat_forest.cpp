#include "run/cpu/kernels/flat_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace anyshape::cpu {
namespace {

using kernels::Forest;
using simd::FlatForest;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kDeepest = 500;

// The largest float that is not over x; of `below`, the largest under it.
float float_up_to(double x, bool below) {
  auto out = static_cast<float>(x);
  if (double{out} > x || (below && double{out} == x)) out = std::nextafter(out, -kInfinity);
  return out;
}

// One tree at a time: its nodes, and the leaves in order of their bits.
class Flattening {
 public:
  Flattening(const Forest& forest, FlatForest& out, std::vector<uint8_t>& voted)
      : forest_(forest), out_(out), voted_(voted) {}

  std::string_view add_tree(int64_t root) {
    leaves_.clear();
    cuts_[0].clear(), cuts_[1].clear();
    visits_ = 0;
    FlatForest::Tree tree;
    tree.depth = 0;
    tree.root = add(root, 0, tree.depth);
    if (!why_.empty()) return why_;
    if (static_cast<int64_t>(leaves_.size()) <= simd::kForestLeaves) add_words(tree);
    add_columns(tree);
    out_.trees.push_back(tree);
    return why_;
  }

 private:
  struct Span {
    FlatForest::Node node;
    int32_t first, last;  // leaves of the true side
  };

  int32_t add(int64_t at, int32_t depth, int32_t& deepest) {
    const auto own = static_cast<int32_t>(out_.nodes.size());
    const Forest::Node& from = forest_.nodes[static_cast<size_t>(at)];
    if (depth > kDeepest || ++visits_ > forest_.nodes.size()) why_ = "its trees are too deep, or no trees";
    if (out_.nodes.size() > (1u << 28)) why_ = "it has too many nodes";
    if (!why_.empty()) return own;
    deepest = std::max(deepest, depth);
    out_.nodes.emplace_back();
    if (from.test == Forest::Test::leaf) {
      out_.nodes.back() = {.yes = own, .no = own, .leaf = static_cast<int32_t>(leaves_.size())};
      leaves_.push_back(&from);
      return own;
    }
    FlatForest::Node node;
    const bool turned = read_test(from, node);
    const auto first = static_cast<int32_t>(leaves_.size());
    node.yes = add(turned ? from.if_false : from.if_true, depth + 1, deepest);
    const auto last = static_cast<int32_t>(leaves_.size());
    node.no = add(turned ? from.if_true : from.if_false, depth + 1, deepest);
    out_.nodes[static_cast<size_t>(own)] = node;
    cuts_[node.missing_is_true].push_back({node, first, last});
    return own;
  }

  // As `feature <= split`; true: the sides change places.
  bool read_test(const Forest::Node& from, FlatForest::Node& to) {
    using Test = Forest::Test;
    const bool turned = from.test == Test::gt || from.test == Test::gte;
    const bool below = from.test == Test::lt || from.test == Test::gte;
    if (!turned && !below && from.test != Test::leq) why_ = "it tests for equality";
    if (std::isnan(from.split) || (below && from.split == -double{kInfinity})) why_ = "a split is no number";
    if (from.feature < 0 || from.feature > std::numeric_limits<int32_t>::max() / simd::kForestRows)
      why_ = "it looks at features that are not there";
    if (!why_.empty()) return false;
    to.feature = static_cast<int32_t>(from.feature);
    to.split = float_up_to(from.split, below);
    // A NaN takes the side it took.
    to.missing_is_true = from.missing_is_true != turned;
    return turned;
  }

  void add_words(FlatForest::Tree& tree) {
    tree.word = static_cast<int32_t>(out_.words.size());
    tree.words = static_cast<int32_t>((leaves_.size() + simd::kForestWordBits - 1) / simd::kForestWordBits);
    for (int32_t w = 0; w < tree.words; ++w) {
      FlatForest::Word word{.first = static_cast<int32_t>(out_.cuts.size())};
      add_cuts(cuts_[0], w);
      word.missing = static_cast<int32_t>(out_.cuts.size());
      add_cuts(cuts_[1], w);
      word.last = static_cast<int32_t>(out_.cuts.size());
      out_.words.push_back(word);
    }
  }

  void add_cuts(const std::vector<Span>& spans, int32_t word) {
    constexpr auto kBits = static_cast<int32_t>(simd::kForestWordBits);
    for (const Span& span : spans) {
      const int32_t first = std::max(span.first - word * kBits, 0), last = std::min(span.last - word * kBits, kBits);
      if (first >= last) continue;
      const uint64_t gone = (uint64_t{1} << last) - (uint64_t{1} << first);
      out_.cuts.push_back({span.node.split, span.node.feature, ~static_cast<uint32_t>(gone)});
    }
  }

  void add_columns(FlatForest::Tree& tree) {
    tree.column = static_cast<int32_t>(out_.columns.size());
    std::vector<int64_t> targets;
    for (const Forest::Node* leaf : leaves_)
      for (size_t i = 0; i < leaf->count; ++i) targets.push_back(forest_.votes[leaf->first + i].target);
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (int64_t target : targets) add_column(target);
    tree.columns = static_cast<int32_t>(targets.size());
  }

  void add_column(int64_t target) {
    out_.columns.push_back({static_cast<int32_t>(target), static_cast<int32_t>(out_.leaves.size())});
    size_t voting = 0;
    for (const Forest::Node* leaf : leaves_) {
      size_t votes = 0;
      float weight = 0;
      for (size_t i = 0; i < leaf->count; ++i) {
        const Forest::Vote& vote = forest_.votes[leaf->first + i];
        if (vote.target != target) continue;
        weight = static_cast<float>(vote.weight);
        if (double{weight} != vote.weight) why_ = "a weight is no float";
        ++votes;
      }
      if (votes > 1) why_ = "a leaf votes twice for a target";
      voting += votes;
      out_.leaves.push_back(weight);
    }
    uint8_t& voted = voted_[static_cast<size_t>(target)];
    if (voting == leaves_.size())
      voted = kVotedByAll;
    else if (voted == kVotedByNone)
      voted = kVotedBySome;
    if (out_.leaves.size() > (1u << 30)) why_ = "it has too many leaves";
  }

  const Forest& forest_;
  FlatForest& out_;
  std::vector<uint8_t>& voted_;
  std::vector<const Forest::Node*> leaves_;
  std::vector<Span> cuts_[2];
  size_t visits_ = 0;
  std::string_view why_;
};

// The cuts of trees that stand side by side, word by word.
class Siding {
 public:
  explicit Siding(FlatForest& forest) : f_(forest) {}

  void add(size_t first) {
    const std::span trees(f_.trees.data() + first, std::min<size_t>(simd::kForestSide, f_.trees.size() - first));
    FlatForest::Side side{.word = static_cast<int32_t>(f_.side_words.size())};
    for (size_t k = 0; k < trees.size(); ++k) {
      side.words = std::max(side.words, trees[k].words);
      if (f_.only_target >= 0) side.from[k] = f_.columns[static_cast<size_t>(trees[k].column)].from;
    }
    for (int32_t w = 0; w < side.words; ++w) {
      FlatForest::Word word{.first = end()};
      add_cuts(trees, w, &FlatForest::Word::first, &FlatForest::Word::missing);
      word.missing = end();
      add_cuts(trees, w, &FlatForest::Word::missing, &FlatForest::Word::last);
      word.last = end();
      f_.side_words.push_back(word);
    }
    f_.sides.push_back(side);
  }

 private:
  int32_t end() const { return static_cast<int32_t>(f_.side_splits.size()); }

  void add_cuts(std::span<const FlatForest::Tree> trees, int32_t w, int32_t FlatForest::Word::*first,
                int32_t FlatForest::Word::*last) {
    const auto start = f_.side_splits.size();
    for (size_t k = 0; k < trees.size(); ++k) {
      if (w >= trees[k].words) continue;
      const FlatForest::Word& word = f_.words[static_cast<size_t>(trees[k].word + w)];
      for (int32_t c = word.*first; c < word.*last; ++c) put(start + static_cast<size_t>(c - word.*first), k, c);
    }
  }

  void put(size_t at, size_t tree, int32_t cut) {
    if (at == f_.side_splits.size()) {
      f_.side_splits.emplace_back();
      f_.side_features.emplace_back();
      std::ranges::fill(f_.side_keeps.emplace_back().of, ~uint32_t{0});
    }
    const FlatForest::Cut& from = f_.cuts[static_cast<size_t>(cut)];
    f_.side_splits[at].of[tree] = from.split;
    f_.side_keeps[at].of[tree] = from.keeps;
    f_.side_features[at].of[tree] = static_cast<uint8_t>(from.feature);
  }

  FlatForest& f_;
};

int32_t only_target(const FlatForest& forest) {
  if (forest.trees.empty() || forest.columns.size() != forest.trees.size()) return -1;
  const int32_t target = forest.columns.front().target;
  const auto has_it = [&](const FlatForest::Tree& tree) {
    return tree.columns == 1 && forest.columns[static_cast<size_t>(tree.column)].target == target;
  };
  return std::all_of(forest.trees.begin(), forest.trees.end(), has_it) ? target : -1;
}

void put_side_by_side(FlatForest& forest) {
  forest.only_target = only_target(forest);
  const auto fits = [](const FlatForest::Cut& cut) { return cut.feature < simd::kForestSideFeatures; };
  const auto by_bits = [](const FlatForest::Tree& tree) { return tree.words > 0; };
  if (!std::all_of(forest.trees.begin(), forest.trees.end(), by_bits) ||
      !std::all_of(forest.cuts.begin(), forest.cuts.end(), fits))
    return;
  Siding siding(forest);
  for (size_t first = 0; first < forest.trees.size(); first += simd::kForestSide) siding.add(first);
}

}  // namespace

std::string_view flat_forest(const Forest& forest, int64_t targets, FlatForest& out, std::vector<uint8_t>& voted) {
  if (forest.aggregate != Forest::Aggregate::sum && forest.aggregate != Forest::Aggregate::average)
    return "it takes the least or the greatest vote";
  out.targets = targets;
  out.in_float = forest.in_float;
  voted.assign(static_cast<size_t>(targets), kVotedByNone);
  Flattening flattening(forest, out, voted);
  for (int64_t root : forest.roots)
    if (const auto why = flattening.add_tree(root); !why.empty()) return why;
  put_side_by_side(out);
  return {};
}

}  // namespace anyshape::cpu
