#include "kernels/ngrams.h"

#include <algorithm>
#include <map>

namespace anyshape::kernels {
namespace {

constexpr int64_t kNone = -1;

// All n-grams of the pool, word by word.
class Trie {
 public:
  void add(const int64_t* words, int64_t count, int64_t ngram) {
    size_t at = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto [it, added] = nodes_[at].next.try_emplace(words[i], nodes_.size());
      at = it->second;
      if (added) nodes_.emplace_back();
    }
    nodes_[at].ngram = ngram;
  }

  struct Node {
    std::map<int64_t, size_t, std::less<>, TemporaryAllocator<std::pair<const int64_t, size_t>>> next;
    int64_t ngram = kNone;
  };
  const Node& root() const { return nodes_[0]; }
  const Node* step(const Node& from, int64_t word) const {
    const auto it = from.next.find(word);
    return it == from.next.end() ? nullptr : &nodes_[it->second];
  }

 private:
  Temporary<Node> nodes_ = Temporary<Node>(1);
};

Status load(const NgramRules& rules, Trie& trie) {
  const auto total = static_cast<int64_t>(rules.pool.size());
  int64_t ngram = 0;
  for (size_t i = 0; i < rules.counts.size(); ++i) {
    const auto size = static_cast<int64_t>(i) + 1;
    const int64_t start = rules.counts[i], end = i + 1 < rules.counts.size() ? rules.counts[i + 1] : total;
    if (start < 0 || end < start || end > total)
      return refuse("tfidf.rules", "ngram_counts must rise within the pool of {} words", total);
    const int64_t count = (end - start) / size;
    if (size >= rules.least && size <= rules.most)
      for (int64_t k = 0; k < count; ++k) trie.add(rules.pool.data() + start + k * size, size, ngram + k);
    ngram += count;
  }
  if (ngram > static_cast<int64_t>(rules.indexes.size()))
    return refuse("tfidf.rules", "{} n-grams have {} columns", ngram, rules.indexes.size());
  return {};
}

Status check_ngrams(const NgramRules& rules, int64_t columns) {
  if (rules.least < 1 || rules.most < rules.least || rules.skips < 0)
    return refuse("tfidf.rules", "lengths {} to {} with {} skips make no sense", rules.least, rules.most, rules.skips);
  if (rules.mode != NgramRules::Mode::count && !rules.weights.empty() &&
      static_cast<int64_t>(rules.weights.size()) < columns)
    return refuse("tfidf.rules", "{} weights for {} columns", rules.weights.size(), columns);
  for (int64_t index : rules.indexes)
    if (index < 0 || index >= columns) return refuse("tfidf.rules", "column {} is not in 0..{}", index, columns - 1);
  return {};
}

template <class Found>
void find_all(const NgramRules& rules, const Trie& trie, std::span<const int64_t> row, Found found) {
  const auto length = static_cast<int64_t>(row.size());
  int64_t least = rules.least;
  // A distance that leads out of the row finds single words only, and those are counted once.
  for (int64_t distance = 1; distance <= std::min(rules.skips, length) + 1; ++distance) {
    for (int64_t start = 0; start < length; ++start) {
      const Trie::Node* node = &trie.root();
      int64_t size = 1;
      for (int64_t at = start; at < length && size <= rules.most; at += distance, ++size) {
        node = trie.step(*node, row[static_cast<size_t>(at)]);
        if (!node) break;
        if (size >= least && node->ngram != kNone) found(node->ngram);
      }
    }
    if (least == 1 && ++least > rules.most) return;
  }
}

// Plain counts read no weights.
float weighed(const NgramRules& rules, size_t column, int64_t count) {
  if (rules.mode == NgramRules::Mode::count) return static_cast<float>(count);
  const float weight = rules.weights.empty() ? 1.0f : rules.weights[column];
  if (rules.mode == NgramRules::Mode::present) return count > 0 ? weight : 0.0f;
  return weight * static_cast<float>(count);
}

}  // namespace

Status count_ngrams(const NgramRules& rules, const Temporary<Temporary<int64_t>>& rows, Tensor& y) {
  const int64_t columns = y.rank() == 0 ? 1 : y.dims().back();
  TRY_OK(check_ngrams(rules, columns));
  Trie trie;
  TRY_OK(load(rules, trie));
  auto out = y.as_mutable<float>();
  Temporary<int64_t> counts(static_cast<size_t>(columns));
  for (size_t r = 0; r < rows.size(); ++r) {
    std::fill(counts.begin(), counts.end(), 0);
    find_all(rules, trie, rows[r],
             [&](int64_t ngram) { ++counts[static_cast<size_t>(rules.indexes[static_cast<size_t>(ngram)])]; });
    for (size_t c = 0; c < counts.size(); ++c) out[r * counts.size() + c] = weighed(rules, c, counts[c]);
  }
  return {};
}

}  // namespace anyshape::kernels
