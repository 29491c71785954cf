#include "kernels/regex.h"

#include <algorithm>

#include "kernels/regex_parse.h"
#include "kernels/text.h"

namespace anyshape::kernels {
namespace {

constexpr size_t kMaxProgram = 200'000;

using Instruction = Regex::Instruction;
using Kind = Regex::Kind;

// Turns the tree into instructions; every piece falls through to the instruction after it.
class Compiler {
 public:
  Compiler(const RegexTree& tree, std::vector<Instruction>& program) : tree_(tree), program_(program) {}

  Status compile() {
    TRY_OK(emit(tree_.root));
    return add({Kind::match});
  }

 private:
  using Node = RegexTree::Node;

  Status add(Instruction instruction) {
    if (program_.size() >= kMaxProgram) return refuse("regex.size", "the pattern is too large");
    program_.push_back(instruction);
    return {};
  }
  uint32_t here() const { return static_cast<uint32_t>(program_.size()); }

  Status emit(uint32_t id) {
    // Repeated pieces without instructions count as well.
    if (++visits_ > kMaxProgram) return refuse("regex.size", "the pattern is too large");
    const Node& node = tree_.nodes[id];
    switch (node.kind) {
      case Node::Kind::empty:
        return {};
      case Node::Kind::set:
        return add({Kind::set, {}, here() + 1, node.set});
      case Node::Kind::place:
        return add({Kind::assert_at, node.place, here() + 1, 0});
      case Node::Kind::sequence:
        for (uint32_t child : node.children) TRY_OK(emit(child));
        return {};
      case Node::Kind::either:
        return emit_either(node);
      case Node::Kind::repeat:
        return emit_repeat(node);
    }
    return {};
  }

  Status emit_either(const Node& node) {
    std::vector<uint32_t> jumps;
    for (size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const uint32_t split = here();
      if (!last) TRY_OK(add({Kind::split, {}, split + 1, 0}));
      TRY_OK(emit(node.children[i]));
      if (last) break;
      jumps.push_back(here());
      TRY_OK(add({Kind::jump}));
      program_[split].other = here();
    }
    for (uint32_t jump : jumps) program_[jump].next = here();
    return {};
  }

  Status emit_repeat(const Node& node) {
    for (int i = 0; i < node.least; ++i) TRY_OK(emit(node.children[0]));
    if (node.most < 0) {
      const uint32_t split = here();
      TRY_OK(add({Kind::split, {}, split + 1, 0}));
      TRY_OK(emit(node.children[0]));
      TRY_OK(add({Kind::jump, {}, split, 0}));
      program_[split].other = here();
      return {};
    }
    std::vector<uint32_t> splits;
    for (int i = node.least; i < node.most; ++i) {
      splits.push_back(here());
      TRY_OK(add({Kind::split, {}, here() + 1, 0}));
      TRY_OK(emit(node.children[0]));
    }
    for (uint32_t split : splits) program_[split].other = here();
    return {};
  }

  const RegexTree& tree_;
  std::vector<Instruction>& program_;
  size_t visits_ = 0;
};

bool contains(const Regex::Set& set, char32_t code) {
  const auto after =
      std::upper_bound(set.begin(), set.end(), code, [](char32_t c, const Regex::Range& r) { return c < r.first; });
  return after != set.begin() && code <= (after - 1)->last;
}

bool is_word(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool holds(Regex::Place place, const std::vector<char32_t>& text, size_t at) {
  const bool first = at == 0, last = at == text.size();
  const bool border = (!first && is_word(text[at - 1])) != (!last && is_word(text[at]));
  switch (place) {
    case Regex::Place::text_start:
      return first;
    case Regex::Place::text_end:
      return last;
    case Regex::Place::line_start:
      return first || text[at - 1] == '\n';
    case Regex::Place::line_end:
      return last || text[at] == '\n';
    case Regex::Place::word_border:
      return border;
    case Regex::Place::no_word_border:
      return !border;
  }
  return false;
}

// The instructions that are reached at one place of the text.
class Front {
 public:
  explicit Front(const std::vector<Instruction>& program) : program_(&program), seen_(program.size(), false) {}

  void clear() {
    for (uint32_t i : reached_) seen_[i] = false;
    reached_.clear();
  }

  void add(uint32_t start, const std::vector<char32_t>& text, size_t at) {
    pending_.push_back(start);
    while (!pending_.empty()) {
      const uint32_t i = pending_.back();
      pending_.pop_back();
      if (seen_[i]) continue;
      seen_[i] = true;
      reached_.push_back(i);
      const Instruction& now = (*program_)[i];
      if (now.kind == Kind::jump || now.kind == Kind::split) pending_.push_back(now.next);
      if (now.kind == Kind::split) pending_.push_back(now.other);
      if (now.kind == Kind::assert_at && holds(now.place, text, at)) pending_.push_back(now.next);
    }
  }

  const std::vector<uint32_t>& reached() const { return reached_; }

 private:
  const std::vector<Instruction>* program_;
  std::vector<bool> seen_;
  std::vector<uint32_t> reached_, pending_;
};

}  // namespace

Result<Regex> Regex::compile(std::string_view pattern) {
  TRY(RegexTree tree, parse_regex(pattern));
  Regex out;
  TRY_OK(Compiler(tree, out.program_).compile());
  out.sets_ = std::move(tree.sets);
  return out;
}

bool Regex::full_match(std::string_view text) const {
  const std::vector<char32_t> codes = code_points(text);
  Front now(program_), next(program_);
  now.add(0, codes, 0);
  for (size_t at = 0; at < codes.size() && !now.reached().empty(); ++at) {
    next.clear();
    for (uint32_t i : now.reached())
      if (program_[i].kind == Kind::set && contains(sets_[program_[i].other], codes[at]))
        next.add(program_[i].next, codes, at + 1);
    std::swap(now, next);
  }
  return std::ranges::any_of(now.reached(), [&](uint32_t i) { return program_[i].kind == Kind::match; });
}

std::optional<Regex::Match> Regex::find(const std::vector<char32_t>& text, size_t from) const {
  const auto matched = [&](const Front& front) {
    return std::ranges::any_of(front.reached(), [&](uint32_t i) { return program_[i].kind == Kind::match; });
  };
  Front now(program_), next(program_);
  for (size_t start = from; start <= text.size(); ++start) {
    std::optional<Match> longest;
    now.clear();
    now.add(0, text, start);
    for (size_t at = start; !now.reached().empty(); ++at) {
      if (matched(now)) longest = Match{start, at};
      if (at == text.size()) break;
      next.clear();
      for (uint32_t i : now.reached())
        if (program_[i].kind == Kind::set && contains(sets_[program_[i].other], text[at]))
          next.add(program_[i].next, text, at + 1);
      std::swap(now, next);
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

}  // namespace anyshape::kernels
