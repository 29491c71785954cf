#include "base/work.h"

#include <algorithm>

namespace anyshape {
namespace {

using Clock = std::chrono::steady_clock;

thread_local const WorkScope* current = nullptr;

// Never, where that is further away than a clock can count.
std::optional<Clock::time_point> after(double seconds) {
  constexpr double kNever = 1e9;
  if (!(seconds > 0) || seconds > kNever) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::optional<Clock::time_point> earlier(std::optional<Clock::time_point> a, std::optional<Clock::time_point> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

bool passed(const std::optional<Clock::time_point>& moment) { return moment && Clock::now() >= *moment; }

}  // namespace

WorkScope::WorkScope(const WorkLimits& limits)
    : outer_(current), cancel_(limits.cancel), deadline_(after(limits.timeout)), budget_(after(limits.budget)) {
  if (outer_) {
    deadline_ = earlier(deadline_, outer_->deadline_);
    budget_ = earlier(budget_, outer_->budget_);
  }
  current = this;
}

WorkScope::~WorkScope() { current = outer_; }

Status Work::check() {
  for (const WorkScope* scope = current; scope; scope = scope->outer_)
    if (scope->cancel_ && scope->cancel_->load(std::memory_order_relaxed))
      return system_error("work.cancelled", "the work was cancelled");
  if (current && passed(current->deadline_)) return system_error("work.timeout", "the time for it is over");
  return {};
}

bool Work::stopped() { return !check(); }

bool Work::budget_spent() { return current && (passed(current->budget_) || stopped()); }

}  // namespace anyshape
