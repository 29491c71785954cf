#include "base/work.h"

#include <algorithm>

namespace anyshape {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBetweenAsking = std::chrono::milliseconds(100);

thread_local WorkScope* current = nullptr;

// Never, where that is further away than a clock can count.
std::optional<Clock::time_point> after(double seconds) {
  constexpr double kNever = 1e9;
  if (!(seconds > 0) || seconds > kNever) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::optional<Clock::time_point> earlier(std::optional<Clock::time_point> a, std::optional<Clock::time_point> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

// 0: no limit.
int64_t lower(int64_t a, int64_t b) { return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b); }

bool passed(const std::optional<Clock::time_point>& moment) { return moment && Clock::now() >= *moment; }

}  // namespace

WorkScope::WorkScope(const WorkLimits& limits)
    : outer_(current),
      cancel_(limits.cancel),
      deadline_(after(limits.timeout)),
      budget_(after(limits.budget)),
      max_bytes_(limits.max_bytes),
      interrupted_(limits.interrupted),
      thread_(std::this_thread::get_id()),
      ask_again_(interrupted_ ? Clock::now() + kBetweenAsking : Moment()) {
  if (outer_) {
    deadline_ = earlier(deadline_, outer_->deadline_);
    budget_ = earlier(budget_, outer_->budget_);
    max_bytes_ = lower(max_bytes_, outer_->max_bytes_);
  }
  current = this;
}

WorkScope::~WorkScope() {
  // Callers in C may end them in any order.
  WorkScope** link = &current;
  while (*link && *link != this) link = &(*link)->outer_;
  if (*link) *link = outer_;
}

bool WorkScope::ended() const {
  if (cancel_ && cancel_->load(std::memory_order_relaxed)) return true;
  if (!interrupted_ || was_interrupted_) return was_interrupted_;
  if (thread_ != std::this_thread::get_id() || Clock::now() < ask_again_) return false;
  // Not while it is asked: it may do work of its own under this scope.
  ask_again_ = Moment::max();
  was_interrupted_ = interrupted_();
  ask_again_ = Clock::now() + kBetweenAsking;
  return was_interrupted_;
}

const WorkScope* Work::scope() { return current; }

Status Work::check(const WorkScope* scope) {
  for (const WorkScope* one = scope; one; one = one->outer_)
    if (one->ended()) return system_error("work.cancelled", "the work was cancelled");
  if (scope && passed(scope->deadline_)) return system_error("work.timeout", "the time for it is over");
  return {};
}

Status Work::check() { return check(current); }

bool Work::stopped() { return current && !check(); }

bool Work::budget_spent() { return current && (passed(current->budget_) || stopped()); }

int64_t Work::max_bytes() { return current ? current->max_bytes_ : 0; }

Status check_work() { return Work::check(); }

}  // namespace anyshape
