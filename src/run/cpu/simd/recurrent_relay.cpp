#include "run/cpu/simd/recurrent_relay.h"

#include <thread>

#include "base/spin.h"

namespace anyshape::simd {
namespace {

constexpr int64_t kNothing = -1, kNothingYet = -2;

}  // namespace

int64_t Relay::next(int64_t station) const {
  const int64_t round = done(station);
  const int64_t there = station == 0 ? rounds_ : done(station - 1);
  return round < there ? round : kNothing;
}

bool Relay::try_take(int64_t station) {
  Station& at = at_[station];
  if (next(station) < 0 || at.taken.load(std::memory_order_relaxed)) return false;
  return !at.taken.exchange(true, std::memory_order_acquire);
}

int64_t Relay::try_any() {
  if (done(stations_ - 1) == rounds_) return kNothing;
  for (int64_t i = 0; i < stations_; ++i)
    if (try_take(i)) return i;
  return kNothingYet;
}

int64_t Relay::take() {
  constexpr std::chrono::microseconds kMuchLongerThanMostRounds(100);
  int64_t station = kNothingYet;
  const auto found = [&] { return (station = try_any()) != kNothingYet; };
  while (!spin_until(found, kMuchLongerThanMostRounds)) std::this_thread::yield();
  return station;
}

}  // namespace anyshape::simd
