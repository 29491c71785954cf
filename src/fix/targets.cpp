#include "fix/targets.h"

#include <algorithm>

namespace anyshape::fixes {
namespace {

bool is_unit(const Piece& piece) { return piece.was == 1; }

// All pieces in order. Neighbours that stay as they are become one piece, so that only the others hold a cut up; what
// had size 1 and stays so counts only beside one that varies.
Layout in_one_row(const Layouts& layouts) {
  Layout all, out;
  for (const Layout& layout : layouts) all.insert(all.end(), layout.begin(), layout.end());
  for (auto it = all.begin(); it != all.end();) {
    const auto end = is_unit(*it) ? std::find_if_not(it, all.end(), is_unit) : it + 1;
    const bool varies = std::any_of(it, end, [](const Piece& piece) { return piece.varies(); });
    if (varies) {
      out.insert(out.end(), it, end);
    } else if (!is_unit(*it) && !out.empty() && !out.back().varies() && !is_unit(out.back())) {
      out.back().was = out.back().now = out.back().was * it->was;
    } else if (!is_unit(*it)) {
      out.push_back(*it);
    }
    it = end;
  }
  return out;
}

// Takes the next axes of the result off the pieces.
class Cutter {
 public:
  explicit Cutter(Layout pieces) : pieces_(std::move(pieces)) {}
  std::optional<Layout> axis(Dim size);
  // What is left is of size 1.
  bool skip_units();
  bool done() const { return next_ == pieces_.size(); }

 private:
  Layout pieces_;
  size_t next_ = 0;
};

bool Cutter::skip_units() {
  while (!done() && is_unit(pieces_[next_]))
    if (pieces_[next_++].varies()) return false;
  return true;
}

std::optional<Layout> Cutter::axis(Dim size) {
  if (size == 1) return done() || !is_unit(pieces_[next_]) ? Layout() : Layout{pieces_[next_++]};
  if (!skip_units()) return std::nullopt;
  Layout out;
  while (!(size == 1)) {
    if (done()) return std::nullopt;
    Piece& piece = pieces_[next_];
    if (const auto rest = exact_div(size, piece.was)) {
      out.push_back(piece);
      size = *rest;
      ++next_;
      continue;
    }
    const auto rest = piece.varies() ? std::nullopt : exact_div(piece.was, size);
    if (!rest) return std::nullopt;
    out.push_back({size, size});
    piece = {*rest, *rest};
    size = 1;
  }
  return out;
}

bool can_be_divided(Dim size) { return !size.is_unknown() && !(size == 0); }

}  // namespace

bool zero_is_a_size(const Node& reshape) { return reshape.integer("allowzero") != 0; }

std::optional<std::vector<int64_t>> constant_target(const Dims& from, const Dims& to, const Assumptions* known) {
  std::vector<int64_t> out;
  for (size_t j = 0; j < to.size(); ++j) {
    if (const auto number = to[j].constant()) {
      if (*number < 1) return std::nullopt;
      out.push_back(*number);
    } else {
      out.push_back(j < from.size() && from[j] == to[j] ? 0 : -1);
    }
  }
  const auto open = std::count(out.begin(), out.end(), -1);
  if (open > 1) return std::nullopt;
  // What -1 stands for is not defined beside a 0.
  for (size_t j = 0; open == 1 && known && j < out.size(); ++j)
    if (out[j] == 0 && !known->proves(Condition::ge(to[j], 1))) return std::nullopt;
  return out;
}

Dims sizes_now(const Layouts& layouts) {
  Dims out;
  for (const Layout& layout : layouts) {
    Dim size = 1;
    for (const Piece& piece : layout) size = size * piece.now;
    out.push_back(size);
  }
  return out;
}

// A reshape keeps the row-major order. Where every axis of the result is a product of neighbouring pieces, pieces that
// stay as they are being cut at will, it only cuts those and joins neighbours: both are the same at every size of the
// others, so an entry keeps its place along each of them. A cut through a piece of size n is one for some n only.
std::optional<Layouts> regroup(const Layouts& from, const Dims& old_to) {
  Layout row = in_one_row(from);
  for (const Piece& piece : row)
    if (!can_be_divided(piece.was)) return std::nullopt;
  Cutter cutter(std::move(row));
  Layouts out;
  for (Dim size : old_to) {
    auto axis = can_be_divided(size) ? cutter.axis(size) : std::nullopt;
    if (!axis) return std::nullopt;
    out.push_back(*std::move(axis));
  }
  if (!cutter.skip_units() || !cutter.done()) return std::nullopt;
  return out;
}

}  // namespace anyshape::fixes
