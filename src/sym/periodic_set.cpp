#include <algorithm>
#include <limits>

#include "sym/assumptions.h"
#include "sym/limits.h"
#include "sym/node.h"
#include "sym/univariate.h"

namespace anyshape {
namespace {

// A stretch of values in which membership depends on v % period alone: 1 member, 0 not, -1 a residue that no value of
// the stretch has.
struct Piece {
  int64_t first = 0;
  std::optional<int64_t> last;
  std::vector<signed char> state;

  bool any() const { return std::find(state.begin(), state.end(), 1) != state.end(); }
  bool all() const { return std::find(state.begin(), state.end(), 0) == state.end(); }
  bool single() const { return last && *last == first; }
};

struct Domain {
  Dim symbol;
  int64_t lo = 0;
  std::optional<int64_t> hi;
};

using Contains = std::function<bool(int64_t)>;

// Segments [edge i, edge i+1) have a membership that repeats with `full`; scanned downwards, cut where `period` fails.
class Cutter {
 public:
  Cutter(const std::vector<int64_t>& edges, std::optional<int64_t> hi, int64_t full, const Contains& contains)
      : edges_(edges), hi_(hi), full_(full), contains_(contains) {}

  // Descending pieces; nullopt when there are more than `most`.
  std::optional<std::vector<Piece>> cut(int64_t period, size_t most) {
    period_ = period;
    pieces_.clear();
    for (size_t i = edges_.size(); i-- > 0;) {
      bool top = i + 1 == edges_.size();
      std::optional<int64_t> last = top ? hi_ : std::optional(edges_[i + 1] - 1);
      if (!segment(edges_[i], last, most)) return std::nullopt;
    }
    return pieces_;
  }

 private:
  bool segment(int64_t first, std::optional<int64_t> last, size_t most) {
    int64_t end = last.value_or(first + 2 * full_);
    int64_t stop = end - first > 2 * full_ ? end - 2 * full_ : first;
    if (pieces_.empty()) start(end, last);
    for (int64_t v = end; v >= stop; --v) {
      signed char& state = pieces_.back().state[static_cast<size_t>(floor_mod(v, period_))];
      signed char member = contains_(v) ? 1 : 0;
      if (state == -1) state = member;
      if (state != member) {
        // What lies outside the window repeats a full period of it only if no cut falls into that period.
        bool beyond = !last || (stop > first && v < stop + full_);
        if (beyond || pieces_.size() >= most) return false;
        start(v, v);
        pieces_.back().state[static_cast<size_t>(floor_mod(v, period_))] = member;
      }
      pieces_.back().first = v;
    }
    pieces_.back().first = first;
    return true;
  }

  void start(int64_t first, std::optional<int64_t> last) {
    pieces_.push_back({first, last, std::vector<signed char>(static_cast<size_t>(period_), -1)});
  }

  const std::vector<int64_t>& edges_;
  std::optional<int64_t> hi_;
  int64_t full_;
  const Contains& contains_;
  int64_t period_ = 1;
  std::vector<Piece> pieces_;
};

size_t count(const Piece& piece, signed char what) {
  return static_cast<size_t>(std::count(piece.state.begin(), piece.state.end(), what));
}

// How long the text of the piece is, in relations.
size_t cost(const Piece& piece, const Domain& domain) {
  if (!piece.any()) return 0;
  if (piece.single()) return 2;
  size_t bounds = (piece.first > domain.lo ? 2 : 0) + (piece.last && piece.last != domain.hi ? 2 : 0);
  if (piece.all()) return std::max<size_t>(bounds, 1);
  return bounds + 2 + std::min(count(piece, 1), 2 * count(piece, 0));
}

Condition bounds_of(const Piece& piece, const Domain& domain) {
  Condition out;
  if (piece.first > domain.lo) out = out && Condition::ge(domain.symbol, piece.first);
  if (piece.last && piece.last != domain.hi) out = out && Condition::le(domain.symbol, *piece.last);
  return out;
}

// A few values that read better in a list.
bool is_short(const Piece& piece) { return piece.any() && piece.all() && piece.last && *piece.last - piece.first < 3; }

Condition listed(const Piece& piece, const Domain& domain) {
  Condition out = Condition::never();
  for (int64_t v = piece.first; v <= *piece.last; ++v) out = out || Condition::eq(domain.symbol, v);
  return out;
}

Condition condition_of(const Piece& piece, const Domain& domain) {
  if (!piece.any()) return Condition::never();
  if (piece.single() && domain.lo != domain.hi) return Condition::eq(domain.symbol, piece.first);
  Condition out = bounds_of(piece, domain);
  if (piece.all()) return out;
  auto period = static_cast<int64_t>(piece.state.size());
  bool excluding = 2 * count(piece, 0) < count(piece, 1) && count(piece, 0) == 1;
  Condition residues = excluding ? Condition::always() : Condition::never();
  for (int64_t r = 0; r < period; ++r) {
    signed char state = piece.state[static_cast<size_t>(r)];
    Condition one = Condition::divisible(domain.symbol - r, period);
    if (excluding && state == 0) residues = residues && !one;
    if (!excluding && state == 1) residues = residues || one;
  }
  return out && residues;
}

// lo..hi without some single values, for pieces of period 1 in descending order.
std::optional<Condition> with_exceptions(const std::vector<Piece>& pieces, const Domain& domain, size_t& total) {
  std::optional<Piece> hull;
  Condition exceptions;
  size_t holes = 0;
  std::vector<Piece> pending;
  for (const Piece& piece : pieces) {
    if (!piece.any()) {
      if (hull) pending.push_back(piece);
      continue;
    }
    if (!hull) hull = piece;
    for (const Piece& hole : pending) {
      if (!hole.single()) return std::nullopt;
      exceptions = exceptions && Condition::ne(domain.symbol, hole.first);
      ++holes;
    }
    pending.clear();
    hull->first = piece.first;
  }
  if (!hull || holes == 0) return std::nullopt;
  total = cost(*hull, domain) + 2 * holes - 1;
  return bounds_of(*hull, domain) && exceptions;
}

}  // namespace

std::optional<PeriodicSet> PeriodicSet::solve(const Condition& condition, Dim symbol, int64_t lo,
                                              std::optional<int64_t> hi) {
  for (Dim s : condition.symbols())
    if (s != symbol) return std::nullopt;
  auto solution = solve_univariate({{&condition, false}}, symbol, lo, hi);
  if (!solution) return std::nullopt;
  PeriodicSet set;
  set.lo_ = lo;
  set.hi_ = hi;
  set.period_ = solution->period;
  set.spans_.clear();
  for (const auto& runs : solution->runs) {
    set.spans_.emplace_back();
    for (const Run& run : runs) set.spans_.back().push_back({run.first, run.last});
  }
  return set;
}

bool PeriodicSet::empty() const { return !smallest(); }

bool PeriodicSet::contains(int64_t value) const {
  const auto& spans = spans_[static_cast<size_t>(floor_mod(value, period_))];
  return std::any_of(spans.begin(), spans.end(),
                     [&](const Span& s) { return value >= s.first && (!s.last || value <= *s.last); });
}

std::optional<int64_t> PeriodicSet::smallest() const {
  std::optional<int64_t> best;
  for (const auto& spans : spans_)
    if (!spans.empty() && (!best || spans[0].first < *best)) best = spans[0].first;
  return best;
}

Condition PeriodicSet::to_condition(Dim symbol) const {
  if (empty()) return Condition::never();
  std::vector<int64_t> edges = {lo_};
  for (const auto& spans : spans_)
    for (const Span& span : spans) {
      edges.push_back(span.first);
      if (span.last && (!hi_ || *span.last < *hi_)) edges.push_back(*span.last + 1);
    }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Domain domain{symbol, lo_, hi_};
  Contains member = [this](int64_t v) { return contains(v); };
  Cutter cutter(edges, hi_, period_, member);
  std::optional<Condition> best;
  size_t least = std::numeric_limits<size_t>::max();
  for (int64_t p = 1; p <= period_; ++p) {
    if (period_ % p != 0) continue;
    auto pieces = cutter.cut(p, 2 * limits::kDisjuncts);
    if (!pieces) continue;
    size_t total = 0, excepted = 0;
    for (const Piece& piece : *pieces) total += cost(piece, domain);
    if (p == 1)
      if (auto candidate = with_exceptions(*pieces, domain, excepted); candidate && excepted < total) {
        best = candidate;
        least = excepted;
      }
    if (total >= least) continue;
    Condition candidate = Condition::never();
    bool lists = std::count_if(pieces->begin(), pieces->end(), is_short) > 1;
    for (const Piece& piece : *pieces)
      candidate = candidate || (lists && is_short(piece) ? listed(piece, domain) : condition_of(piece, domain));
    if (candidate.is_opaque()) continue;
    best = candidate;
    least = total;
  }
  return best.value_or(Condition::opaque());
}

}  // namespace anyshape
