#include "solve/search.h"

#include <algorithm>
#include <limits>
#include <random>
#include <unordered_map>

#include "base/effort.h"
#include "solve/budget.h"
#include "sym/formula.h"

namespace anyshape {
namespace {

using budget::kMaxPoints;
using budget::kMaxSampleVisits;
using budget::kMaxScan;
using budget::kMaxVisits;
using budget::kMaxWalks;

// Places in claim.variables.
using Places = std::unordered_map<Dim, size_t>;

Places places_of(const SetClaim& claim) {
  Places places;
  for (size_t i = 0; i < claim.variables.size(); ++i) places.emplace(claim.variables[i], i);
  return places;
}

struct Point {
  explicit Point(const SetClaim& claim) : places(places_of(claim)), values(claim.variables.size()) {}

  Places places;
  std::vector<int64_t> values;

  std::optional<int64_t> operator()(Dim symbol) const {
    const auto it = places.find(symbol);
    return it == places.end() ? std::nullopt : std::optional(values[it->second]);
  }
};

struct Axis {
  int64_t lo = 0;
  std::optional<int64_t> hi;
};

bool all_hold(const std::vector<Condition>& conditions, const Point& point) {
  Effort::step(1 + static_cast<int64_t>(conditions.size()) / 4);
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return evaluate(c, std::cref(point)) == Tri::yes; });
}

// A condition asked at many points: compiled once, since its expressions may be long and have parts in common.
class Asked {
 public:
  Asked(const SetClaim& claim, const Condition& condition) : condition_(condition) {
    for (Dim variable : claim.variables) code_.bind(variable, code_.variable());
    if (condition.is_opaque() || !code_.knows(condition)) return;
    holds_ = code_.compile(condition);
    registers_.resize(code_.registers());
    code_.start(registers_);
  }

  bool holds(const Point& point) {
    owed_ += 1 + static_cast<int64_t>(code_.position());
    if (owed_ > kBetweenSteps) {
      Effort::step(owed_ / kInstructions);
      owed_ %= kInstructions;
    }
    if (!holds_) return evaluate(condition_, std::cref(point)) == Tri::yes;
    std::copy(point.values.begin(), point.values.end(), registers_.begin());
    code_.evaluate(registers_, 0, code_.position());
    // Without a value it may hold: one of its alternatives is enough.
    return registers_[*holds_] == 1 || (registers_[*holds_] != 0 && evaluate(condition_, std::cref(point)) == Tri::yes);
  }

 private:
  static constexpr int64_t kInstructions = 64;  // for the work of a step
  static constexpr int64_t kBetweenSteps = 64 * kInstructions;

  const Condition& condition_;
  Formulas code_;
  std::optional<Formulas::Register> holds_;
  std::vector<int64_t> registers_;
  int64_t owed_ = 0;
};

std::vector<Axis> ranges(const SetClaim& claim, const Assumptions& domain) {
  std::vector<Axis> axes;
  for (Dim variable : claim.variables) {
    const Interval r = domain.range(variable);
    axes.push_back({std::max<int64_t>(r.lo.value_or(0), 0), r.hi});
  }
  return axes;
}

// How many points the whole domain's box has, at most `limit`; nullopt when it has more or is unbounded.
std::optional<int64_t> box_size(const std::vector<Axis>& axes, int64_t limit) {
  int64_t points = 1;
  for (const Axis& axis : axes) {
    if (!axis.hi) return std::nullopt;
    const int64_t width = std::max<int64_t>(*axis.hi - axis.lo + 1, 0);
    if (width > limit || __builtin_mul_overflow(points, width, &points) || points > limit) return std::nullopt;
  }
  return points;
}

// Calls visit at every point of the box in order of the sum of its coordinates offsets; visit answers whether to stop.
// Each axis is cut to `width` values.
template <class Visit>
void by_sum(const std::vector<Axis>& axes, int64_t width, Point& point, Visit visit) {
  struct Moving {
    size_t axis;
    int64_t most;  // offset
  };
  std::vector<Moving> moving;
  int64_t total = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = axes[i].hi ? std::min(width, *axes[i].hi - axes[i].lo + 1) : width;
    if (size <= 0) return;
    point.values[i] = axes[i].lo;
    if (size > 1) moving.push_back({i, size - 1});
    total += size - 1;
  }
  bool stop = false;
  const auto place = [&](auto&& self, size_t i, int64_t left, int64_t room) -> void {
    if (stop) return;
    if (i == moving.size()) {
      if (left == 0) stop = Effort::tired() || visit();
      return;
    }
    const auto [axis, most] = moving[i];
    room -= most;
    for (int64_t v = std::max<int64_t>(0, left - room); v <= std::min(left, most) && !stop; ++v) {
      point.values[axis] = axes[axis].lo + v;
      self(self, i + 1, left - v, room);
    }
  };
  for (int64_t sum = 0; sum <= total && !stop; ++sum) place(place, 0, sum, total);
}

// The number of values per axis that keeps the visit within `limit` points.
int64_t width_for(const std::vector<Axis>& axes, int64_t limit) {
  int64_t width = limit;
  while (width > 1) {
    int64_t points = 1;
    for (const Axis& axis : axes) {
      const int64_t n = axis.hi ? std::min(width, std::max<int64_t>(*axis.hi - axis.lo + 1, 1)) : width;
      if (__builtin_mul_overflow(points, n, &points)) points = std::numeric_limits<int64_t>::max();
      if (points > limit) break;
    }
    if (points <= limit) return width;
    width = width / 2;
  }
  return 1;
}

Proof refuted(Judged judged) { return {Proof::Kind::refuted, std::move(judged.shapes), std::move(judged.answer), {}}; }

Proof unproved(std::string why) { return {Proof::Kind::unproved, {}, {}, std::move(why)}; }

Proof out_of_work() { return unproved("the work budget of this proof is spent"); }

// Every point decided by the numeric walk, where conditions alone do not tell.
Proof walk_all(const SetClaim& claim, const std::vector<Axis>& axes) {
  const auto whole = box_size(axes, kMaxWalks);
  Proof answer;
  Point point(claim);
  int64_t walks = 0, visits = 0;
  by_sum(axes, width_for(axes, kMaxWalks), point, [&] {
    if (!all_hold(claim.domain, point)) return false;
    if (++walks > kMaxWalks || visits > kMaxVisits) return true;
    Judged judged = claim.judge(std::cref(point));
    visits += judged.visits + static_cast<int64_t>(axes.size());
    if (judged.answer.kind == Answer::Kind::accept) return false;
    if (judged.answer.kind == Answer::Kind::refuse) {
      answer = refuted(std::move(judged));
    } else if (!Effort::tired()) {
      answer = unproved(judged.answer.sentence);
    }
    return true;
  });
  if (answer.kind != Proof::Kind::proved) return answer;
  // Without an end no walk proves all of it.
  if (Effort::tired() && whole) return out_of_work();
  return whole && visits <= kMaxVisits ? answer : unproved(claim.why_not_exact);
}

// The smallest value of each variable that its own conditions allow.
std::vector<int64_t> smallest_values(const SetClaim& claim, const std::vector<Axis>& axes) {
  Point point(claim);
  std::unordered_map<Dim, std::vector<Condition>> alone;
  for (const Condition& c : claim.domain)
    if (const auto symbols = c.symbols(); symbols.size() == 1) alone[symbols[0]].push_back(c);
  for (size_t i = 0; i < axes.size(); ++i) {
    point.values[i] = axes[i].lo;
    const auto& own = alone[claim.variables[i]];
    const int64_t end = std::min(axes[i].hi.value_or(axes[i].lo + kMaxScan), axes[i].lo + kMaxScan);
    while (point.values[i] < end && !all_hold(own, point) && !Effort::tired()) ++point.values[i];
  }
  return point.values;
}

// Variables that cannot be kept still while `condition` is searched: those it mentions, and all that share a condition
// of the domain with one of them.
std::vector<bool> moving_variables(const SetClaim& claim, const Condition& condition) {
  const Places places = places_of(claim);
  std::unordered_map<Dim, std::vector<const Condition*>> about;
  for (const Condition& c : claim.domain)
    for (Dim symbol : c.symbols()) about[symbol].push_back(&c);
  std::vector<bool> moving(claim.variables.size(), false);
  std::vector<Dim> next = condition.symbols();
  while (!next.empty()) {
    const Dim symbol = next.back();
    next.pop_back();
    const auto place = places.find(symbol);
    if (place == places.end() || moving[place->second]) continue;
    moving[place->second] = true;
    for (const Condition* c : about[symbol])
      for (Dim other : c->symbols()) next.push_back(other);
  }
  return moving;
}

// A point of the domain where `condition` fails, the smallest in the part searched.
Proof search(const SetClaim& claim, const Condition& condition, std::vector<Axis> axes) {
  if (Effort::tired()) return out_of_work();
  Effort::step(static_cast<int64_t>(axes.size() + claim.domain.size()));
  const auto moving = moving_variables(claim, condition);
  const auto still = smallest_values(claim, axes);
  for (size_t i = 0; i < axes.size(); ++i)
    if (!moving[i]) axes[i] = {still[i], still[i]};
  Proof answer;
  Point point(claim);
  Asked asked(claim, condition);
  int64_t walks = 0, visits = 0;
  by_sum(axes, width_for(axes, kMaxPoints), point, [&] {
    if (asked.holds(point) || !all_hold(claim.domain, point)) return false;
    Judged judged = claim.judge(std::cref(point));
    visits += judged.visits + static_cast<int64_t>(axes.size());
    if (judged.answer.kind != Answer::Kind::refuse) return ++walks >= kMaxWalks || visits > kMaxVisits;
    answer = refuted(std::move(judged));
    return true;
  });
  if (answer.kind != Proof::Kind::proved) return answer;
  if (Effort::tired()) return out_of_work();
  if (walks == 0 && box_size(axes, kMaxPoints)) return answer;
  return unproved(fmt::format("{} was neither proved nor refuted", print(condition)));
}

// Points of the domain where a wrong proof would most likely show: the corners of its box, then points between them,
// the same ones every time.
template <class Visit>
void sample(const SetClaim& claim, const std::vector<Axis>& axes, Visit visit) {
  constexpr int64_t kOpenEnd = 67;  // beyond the lower end where there is no upper one
  constexpr size_t kCorners = 1 << 6;
  const size_t count = axes.size();
  Point point(claim);
  const auto end = [&](size_t i) { return axes[i].hi.value_or(axes[i].lo + kOpenEnd); };
  const size_t corners = count < 6 ? size_t{1} << count : kCorners;
  for (size_t corner = 0; corner < corners; ++corner) {
    for (size_t i = 0; i < count; ++i) point.values[i] = corner >> (i % 6) & 1 ? end(i) : axes[i].lo;
    if (!visit(point)) return;
  }
  std::mt19937_64 random(count);
  for (size_t drawn = 0; drawn < kCorners; ++drawn) {
    for (size_t i = 0; i < count; ++i) {
      // Most sizes that break something are small.
      const int64_t top = random() % 2 ? end(i) : std::min(end(i), axes[i].lo + 16);
      point.values[i] = std::uniform_int_distribution<int64_t>(axes[i].lo, std::max(top, axes[i].lo))(random);
    }
    if (!visit(point)) return;
  }
}

// A proof that the numeric walk does not bear out is none.
Status borne_out(const SetClaim& claim, const std::vector<Axis>& axes) {
  Status out;
  int64_t visits = 0;
  sample(claim, axes, [&](const Point& point) {
    if (!all_hold(claim.domain, point)) return true;
    const Judged judged = claim.judge(std::cref(point));
    visits += judged.visits + static_cast<int64_t>(axes.size());
    if (judged.answer.kind != Answer::Kind::refuse) return visits < kMaxSampleVisits;
    out = system_error("check.contradiction",
                       "every shape asked for was proved to be accepted, but {} is refused by {}: {}. "
                       "This is a bug of anyshape; please report it with the file",
                       to_text(judged.shapes), judged.answer.place, judged.answer.sentence);
    return false;
  });
  return out;
}

// Every axis of the domain stays where the conditions mean something.
std::optional<std::string> beyond_claims(const SetClaim& claim, const std::vector<Axis>& axes) {
  const auto beyond = [&](const Axis& axis) { return !axis.hi || *axis.hi > claim.largest_axis; };
  if (!claim.largest_axis || std::none_of(axes.begin(), axes.end(), beyond)) return std::nullopt;
  return fmt::format("what is known of the model ends at axes of {}: ask for sizes up to that", claim.largest_axis);
}

int64_t sum_of(const Shapes& shapes) {
  int64_t sum = 0;
  for (const auto& [name, sizes] : shapes)
    for (int64_t size : sizes) sum += size;
  return sum;
}

// The worse of two answers; of two counterexamples the smaller.
Proof worse(Proof a, Proof b) {
  using Kind = Proof::Kind;
  if (a.kind == Kind::refuted && b.kind == Kind::refuted) return sum_of(b.shapes) < sum_of(a.shapes) ? b : a;
  if (a.kind == Kind::refuted || b.kind == Kind::proved) return a;
  return b.kind == Kind::refuted || a.kind == Kind::proved ? b : a;
}

}  // namespace

Result<Proof> settle(const SetClaim& claim) {
  const Effort effort(budget::kProof);
  Assumptions domain(*claim.symbols);
  for (const Condition& c : claim.domain) domain.assume(c);
  std::vector<Condition> open;
  for (const Condition& c : claim.conditions)
    if (c.is_opaque() || !domain.proves(c)) open.push_back(c);
  const auto axes = ranges(claim, domain);
  Proof answer;
  for (const Condition& c : open) answer = worse(std::move(answer), search(claim, c, axes));
  if (answer.kind != Proof::Kind::proved) return answer;
  if (!claim.exact) return walk_all(claim, axes);
  if (auto why = beyond_claims(claim, axes)) return unproved(*std::move(why));
  if (claim.tried) TRY_OK(borne_out(claim, axes));
  return answer;
}

}  // namespace anyshape
