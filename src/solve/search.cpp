#include "solve/search.h"

#include <algorithm>
#include <limits>
#include <random>

namespace anyshape {
namespace {

constexpr int64_t kMaxPoints = 2'000'000;      // evaluations of conditions
constexpr int64_t kMaxWalks = 5'000;           // numeric walks
constexpr int64_t kMaxVisits = 500'000;        // nodes of all walks together
constexpr int64_t kMaxSampleVisits = 100'000;  // nodes of the walks that a proof is tried with
constexpr int64_t kMaxScan = 100'000;          // values tried for one variable alone

struct Point {
  const std::vector<Dim>* variables;
  std::vector<int64_t> values;

  std::optional<int64_t> operator()(Dim symbol) const {
    const auto it = std::find(variables->begin(), variables->end(), symbol);
    if (it == variables->end()) return std::nullopt;
    return values[static_cast<size_t>(it - variables->begin())];
  }
};

struct Axis {
  int64_t lo = 0;
  std::optional<int64_t> hi;
};

bool all_hold(const std::vector<Condition>& conditions, const Point& point) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& c) { return evaluate(c, std::cref(point)) == Tri::yes; });
}

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
  std::vector<int64_t> size;
  int64_t total = 0;
  for (const Axis& axis : axes) {
    size.push_back(axis.hi ? std::min(width, *axis.hi - axis.lo + 1) : width);
    if (size.back() <= 0) return;
    total += size.back() - 1;
  }
  bool stop = false;
  const auto place = [&](auto&& self, size_t i, int64_t left) -> void {
    if (stop) return;
    if (i == axes.size()) {
      if (left == 0) stop = visit();
      return;
    }
    int64_t room = 0;
    for (size_t k = i + 1; k < axes.size(); ++k) room += size[k] - 1;
    for (int64_t v = std::max<int64_t>(0, left - room); v <= std::min(left, size[i] - 1) && !stop; ++v) {
      point.values[i] = axes[i].lo + v;
      self(self, i + 1, left - v);
    }
  };
  for (int64_t sum = 0; sum <= total && !stop; ++sum) place(place, 0, sum);
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

SetAnswer refuted(std::pair<Shapes, Verdict> judged) {
  return {SetAnswer::Kind::refuted, std::move(judged.first), std::move(judged.second), {}};
}

// Every point decided by the numeric walk, where conditions alone do not tell.
SetAnswer walk_all(const SetClaim& claim, const std::vector<Axis>& axes) {
  const auto whole = box_size(axes, kMaxWalks);
  SetAnswer answer;
  Point point{&claim.variables, std::vector<int64_t>(claim.variables.size())};
  int64_t walks = 0, visits = 0;
  by_sum(axes, width_for(axes, kMaxWalks), point, [&] {
    if (!all_hold(claim.domain, point)) return false;
    if (++walks > kMaxWalks || visits > kMaxVisits) return true;
    auto judged = claim.judge(std::cref(point));
    visits += judged.second.visits;
    if (judged.second.kind == Verdict::Kind::accept) return false;
    if (judged.second.kind == Verdict::Kind::refuse) {
      answer = refuted(std::move(judged));
    } else {
      answer = {SetAnswer::Kind::unproved, {}, {}, judged.second.sentence};
    }
    return true;
  });
  if (answer.kind == SetAnswer::Kind::proved && (!whole || visits > kMaxVisits)) {
    answer.kind = SetAnswer::Kind::unproved;
    answer.why = claim.why_not_exact;
  }
  return answer;
}

// The smallest value of each variable that its own conditions allow.
std::vector<int64_t> smallest_values(const SetClaim& claim, const std::vector<Axis>& axes) {
  Point point{&claim.variables, {}};
  for (const Axis& axis : axes) point.values.push_back(axis.lo);
  for (size_t i = 0; i < axes.size(); ++i) {
    std::vector<Condition> own;
    for (const Condition& c : claim.domain)
      if (c.symbols().size() == 1 && c.mentions(claim.variables[i])) own.push_back(c);
    const int64_t end = std::min(axes[i].hi.value_or(axes[i].lo + kMaxScan), axes[i].lo + kMaxScan);
    while (point.values[i] < end && !all_hold(own, point)) ++point.values[i];
  }
  return point.values;
}

// Variables that cannot be kept still while `condition` is searched: those it mentions, and all that share a condition
// of the domain with one of them.
std::vector<bool> moving_variables(const SetClaim& claim, const Condition& condition) {
  std::vector<bool> moving;
  for (Dim v : claim.variables) moving.push_back(condition.mentions(v));
  for (bool grown = true; grown;) {
    grown = false;
    for (const Condition& c : claim.domain) {
      bool touches = false;
      for (size_t i = 0; i < moving.size(); ++i) touches |= moving[i] && c.mentions(claim.variables[i]);
      for (size_t i = 0; touches && i < moving.size(); ++i)
        if (!moving[i] && c.mentions(claim.variables[i])) moving[i] = grown = true;
    }
  }
  return moving;
}

// A point of the domain where `condition` fails, the smallest in the part searched.
SetAnswer search(const SetClaim& claim, const Condition& condition, std::vector<Axis> axes) {
  const auto moving = moving_variables(claim, condition);
  const auto still = smallest_values(claim, axes);
  for (size_t i = 0; i < axes.size(); ++i)
    if (!moving[i]) axes[i] = {still[i], still[i]};
  SetAnswer answer;
  Point point{&claim.variables, std::vector<int64_t>(claim.variables.size())};
  int64_t walks = 0, visits = 0;
  by_sum(axes, width_for(axes, kMaxPoints), point, [&] {
    if (all_hold({condition}, point) || !all_hold(claim.domain, point)) return false;
    auto judged = claim.judge(std::cref(point));
    visits += judged.second.visits;
    if (judged.second.kind != Verdict::Kind::refuse) return ++walks >= kMaxWalks || visits > kMaxVisits;
    answer = refuted(std::move(judged));
    return true;
  });
  if (answer.kind == SetAnswer::Kind::proved && (walks > 0 || !box_size(axes, kMaxPoints))) {
    answer.kind = SetAnswer::Kind::unproved;
    answer.why = fmt::format("{} was neither proved nor refuted", print(condition));
  }
  return answer;
}

// Points of the domain where a wrong proof would most likely show: the corners of its box, then points between them,
// the same ones every time.
template <class Visit>
void sample(const SetClaim& claim, const std::vector<Axis>& axes, Visit visit) {
  constexpr int64_t kOpenEnd = 67;  // beyond the lower end where there is no upper one
  constexpr size_t kCorners = 1 << 6;
  const size_t count = axes.size();
  Point point{&claim.variables, std::vector<int64_t>(count)};
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
SetAnswer borne_out(const SetClaim& claim, const std::vector<Axis>& axes) {
  SetAnswer answer;
  int64_t visits = 0;
  sample(claim, axes, [&](const Point& point) {
    if (!all_hold(claim.domain, point)) return true;
    auto judged = claim.judge(std::cref(point));
    visits += judged.second.visits;
    if (judged.second.kind != Verdict::Kind::refuse) return visits < kMaxSampleVisits;
    answer = refuted(std::move(judged));
    answer.kind = SetAnswer::Kind::contradicted;
    return false;
  });
  return answer;
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
SetAnswer worse(SetAnswer a, SetAnswer b) {
  using Kind = SetAnswer::Kind;
  if (a.kind == Kind::refuted && b.kind == Kind::refuted) return sum_of(b.shapes) < sum_of(a.shapes) ? b : a;
  if (a.kind == Kind::refuted || b.kind == Kind::proved) return a;
  return b.kind == Kind::refuted || a.kind == Kind::proved ? b : a;
}

}  // namespace

SetAnswer settle(const SetClaim& claim) {
  Assumptions domain(*claim.symbols);
  for (const Condition& c : claim.domain) domain.assume(c);
  std::vector<Condition> open;
  for (const Condition& c : claim.conditions)
    if (c.is_opaque() || !domain.proves(c)) open.push_back(c);
  const auto axes = ranges(claim, domain);
  SetAnswer answer;
  for (const Condition& c : open) answer = worse(std::move(answer), search(claim, c, axes));
  if (answer.kind != SetAnswer::Kind::proved) return answer;
  if (!claim.exact) return walk_all(claim, axes);
  if (auto why = beyond_claims(claim, axes)) return {SetAnswer::Kind::unproved, {}, {}, *std::move(why)};
  return borne_out(claim, axes);
}

}  // namespace anyshape
