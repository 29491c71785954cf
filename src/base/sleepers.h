#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace anyshape {

// Threads that sleep until there is news. One that was woken is not woken again before it sleeps again, however long it
// takes until it has a core: whoever brings news meanwhile pays no call of the system.
class Sleepers {
 public:
  static constexpr size_t kMost = 256;

  uint32_t news() const { return news_.load(std::memory_order_acquire); }
  // Until somebody wakes thread `me`; not at all where there was news since `seen`.
  void sleep(size_t me, uint32_t seen) {
    Place& place = places_[me];
    asleep_.fetch_add(1);
    place.asleep.store(1);
    if (news_.load() != seen) {
      if (take(place)) return;
    } else {
      place.asleep.wait(1);
    }
    coming_.fetch_sub(1);
  }
  // There is news for up to `wanted` threads: as many are woken as are not on their way already. Returns how many.
  int wake(int wanted) {
    news_.fetch_add(1);
    if (asleep_.load() == 0) return 0;
    int woken = 0;
    wanted -= coming_.load();
    for (size_t i = 0; woken < wanted && i < kMost && asleep_.load() > 0; ++i) {
      if (places_[i].asleep.load() == 0) continue;
      coming_.fetch_add(1);
      if (!take(places_[i])) {
        coming_.fetch_sub(1);
        continue;
      }
      places_[i].asleep.notify_one();
      ++woken;
    }
    return woken;
  }
  int asleep() const { return asleep_.load(std::memory_order_relaxed); }

 private:
  struct Place {
    std::atomic<uint32_t> asleep = 0;
  };

  // True for one of those who want to end this sleep.
  bool take(Place& place) {
    if (place.asleep.exchange(0) == 0) return false;
    asleep_.fetch_sub(1);
    return true;
  }

  alignas(64) std::atomic<uint32_t> news_ = 0;
  std::atomic<int> asleep_ = 0, coming_ = 0;
  alignas(64) std::array<Place, kMost> places_;
};

}  // namespace anyshape
