#include <algorithm>
#include <limits>

#include "base/effort.h"
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
    Effort::step(1 + (end - stop) / 8);
    if (Effort::tired()) return false;
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

// A condition and how long its text is, in parts of relations.
struct Wording {
  Condition condition = Condition::never();
  size_t cost = 0;
};

// What a set is worded over: its symbol, the values it is told apart from, its members.
struct Domain {
  Dim symbol;
  int64_t lo = 0;
  std::optional<int64_t> hi;
  int64_t settled = 0;  // from here on membership repeats with the period of the set
  int64_t period = 1;
  Contains contains;
};

// Words one piece: residues, and those bounds without which it would say too much.
class Writer {
 public:
  Writer(const Piece& piece, const Domain& domain)
      : piece_(piece), domain_(domain), excluding_(count(piece, 0) == 1 && 2 * count(piece, 0) < count(piece, 1)) {
    bounded_below_ = piece.any() && piece.first > domain.lo && !holds_below();
    bounded_above_ = piece.any() && piece.last && piece.last != domain.hi && !holds_above();
  }

  size_t cost() const {
    if (!piece_.any()) return 0;
    if (is_value()) return 2;
    size_t bounds = (bounded_below_ ? 2 : 0) + (bounded_above_ ? 2 : 0);
    if (piece_.all()) return std::max<size_t>(bounds, 1);
    return bounds + 2 + (excluding_ ? 2 : count(piece_, 1));
  }

  Condition condition() const {
    if (!piece_.any()) return Condition::never();
    if (is_value()) return Condition::eq(domain_.symbol, piece_.first);
    Condition out;
    if (bounded_below_) out = out && Condition::ge(domain_.symbol, least());
    if (bounded_above_) out = out && Condition::le(domain_.symbol, greatest());
    return piece_.all() ? out : out && residues();
  }

 private:
  bool is_value() const { return piece_.single() && domain_.lo != domain_.hi; }

  // The residues as they are written, which says something about every value.
  bool says(int64_t v) const {
    signed char state = piece_.state[static_cast<size_t>(floor_mod(v, static_cast<int64_t>(piece_.state.size())))];
    return piece_.all() || (excluding_ ? state != 0 : state == 1);
  }

  bool holds_below() const {
    int64_t gap;
    if (__builtin_sub_overflow(piece_.first, domain_.lo, &gap) || gap > kReach) return false;
    for (int64_t v = piece_.first - 1; v >= domain_.lo; --v)
      if (says(v) && !domain_.contains(v)) return false;
    return true;
  }

  bool holds_above() const {
    int64_t end, gap;
    if (__builtin_add_overflow(std::max(domain_.settled, *piece_.last), domain_.period, &end)) return false;
    end = domain_.hi.value_or(end);
    if (__builtin_sub_overflow(end, *piece_.last, &gap) || gap > kReach) return false;
    for (int64_t v = *piece_.last + 1; v <= end; ++v)
      if (says(v) && !domain_.contains(v)) return false;
    return true;
  }

  int64_t least() const {
    int64_t v = piece_.first;
    while (!says(v)) ++v;
    return v;
  }
  int64_t greatest() const {
    int64_t v = *piece_.last;
    while (!says(v)) --v;
    return v;
  }

  Condition residues() const {
    auto period = static_cast<int64_t>(piece_.state.size());
    Condition out = excluding_ ? Condition::always() : Condition::never();
    for (int64_t r = 0; r < period; ++r) {
      signed char state = piece_.state[static_cast<size_t>(r)];
      Condition one = Condition::divisible(domain_.symbol - r, period);
      if (excluding_ && state == 0) out = out && !one;
      if (!excluding_ && state == 1) out = out || one;
    }
    return out;
  }

  static constexpr int64_t kReach = 8 * limits::kPeriod;

  const Piece& piece_;
  const Domain& domain_;
  bool excluding_;
  bool bounded_below_ = false, bounded_above_ = false;
};

// A few values that read better in a list.
bool is_short(const Piece& piece) { return piece.any() && piece.all() && piece.last && *piece.last - piece.first < 3; }

Condition listed(const Piece& piece, const Domain& domain) {
  Condition out = Condition::never();
  for (int64_t v = piece.first; v <= *piece.last; ++v) out = out || Condition::eq(domain.symbol, v);
  return out;
}

// lo..hi without some single values, for pieces of period 1 in descending order.
std::optional<Wording> with_exceptions(const std::vector<Piece>& pieces, const Domain& domain) {
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
  Writer bounds(*hull, domain);
  return Wording{bounds.condition() && exceptions, bounds.cost() + 2 * holes - 1};
}

// The pieces one by one; nothing when that costs `limit` or more, or is too long for a condition.
std::optional<Wording> words_of(const std::vector<Piece>& pieces, const Domain& domain, size_t limit) {
  std::vector<Writer> writers;
  Wording out;
  for (const Piece& piece : pieces) out.cost += writers.emplace_back(piece, domain).cost();
  if (pieces[0].state.size() == 1)
    if (auto excepted = with_exceptions(pieces, domain); excepted && excepted->cost < std::min(limit, out.cost))
      return excepted->condition.is_opaque() ? std::nullopt : excepted;
  if (out.cost >= limit) return std::nullopt;
  bool lists = std::count_if(pieces.begin(), pieces.end(), is_short) > 1;
  for (size_t i = 0; i < pieces.size(); ++i)
    out.condition =
        out.condition || (lists && is_short(pieces[i]) ? listed(pieces[i], domain) : writers[i].condition());
  return out.condition.is_opaque() ? std::nullopt : std::optional(out);
}

// The shortest words for what lies below `end`, by whichever period.
std::optional<Wording> words_below(int64_t end, std::vector<int64_t> edges, const Domain& domain, size_t limit) {
  constexpr size_t kFewPieces = 8;
  std::erase_if(edges, [&](int64_t edge) { return edge >= end; });
  if (edges.empty()) return std::nullopt;
  Cutter cutter(edges, end - 1, domain.period, domain.contains);
  std::optional<Wording> best;
  for (int64_t p = 1; p <= domain.period; ++p) {
    if (domain.period % p != 0) continue;
    auto pieces = cutter.cut(p, kFewPieces);
    if (!pieces) continue;
    if (auto next = words_of(*pieces, domain, best ? best->cost : limit)) best = next;
  }
  return best;
}

// The highest piece, and the rest by another period.
std::optional<Wording> top_and_rest(const Piece& piece, const std::vector<int64_t>& edges, const Domain& domain,
                                    size_t limit) {
  Writer top(piece, domain);
  if (!piece.any() || top.cost() >= limit) return std::nullopt;
  auto rest = words_below(piece.first, edges, domain, limit - top.cost());
  if (!rest) return std::nullopt;
  Wording out{top.condition() || rest->condition, top.cost() + rest->cost};
  return out.condition.is_opaque() ? std::nullopt : std::optional(out);
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
  Domain domain{symbol, lo_, hi_, edges.back(), period_, [this](int64_t v) { return contains(v); }};
  Cutter cutter(edges, hi_, period_, domain.contains);
  std::optional<Wording> best;
  for (int64_t p = 1; p <= period_; ++p) {
    if (period_ % p != 0) continue;
    auto pieces = cutter.cut(p, 2 * limits::kDisjuncts);
    if (!pieces) continue;
    size_t limit = best ? best->cost : std::numeric_limits<size_t>::max();
    if (auto next = words_of(*pieces, domain, limit)) {
      limit = next->cost;
      best = next;
    }
    if (auto next = top_and_rest((*pieces)[0], edges, domain, limit)) best = next;
  }
  return best ? best->condition : Condition::opaque();
}

}  // namespace anyshape
