#pragma once

#include <atomic>
#include <cstdint>

namespace anyshape::simd {

// Stations in a row that any number of threads attend to. Each has the same rounds to do one after the other, round r
// after the station before it has done its round r. One thread at a time is at a station, and stays as long as there
// is something to do: one thread alone goes from station to station, several follow each other.
class Relay {
 public:
  static constexpr int64_t kMost = 4;

  // REQUIRES: 1 <= stations <= kMost, rounds >= 1.
  Relay(int64_t stations, int64_t rounds) : stations_(stations), rounds_(rounds) {}

  int64_t rounds() const { return rounds_; }
  // Waits for a station that has something to do; it is the caller's until leave(). -1: all is done.
  int64_t take();
  void leave(int64_t station) { at_[station].taken.store(false, std::memory_order_release); }

  // The next round of a station that the caller has taken; -1: there is none for now.
  int64_t next(int64_t station) const;
  void finish(int64_t station, int64_t round) { at_[station].done.store(round + 1, std::memory_order_release); }

 private:
  struct alignas(64) Station {
    std::atomic<int64_t> done = 0;  // rounds
    std::atomic<bool> taken = false;
  };
  int64_t done(int64_t station) const { return at_[station].done.load(std::memory_order_acquire); }
  bool try_take(int64_t station);
  int64_t try_any();

  int64_t stations_, rounds_;
  Station at_[kMost];
};

}  // namespace anyshape::simd
