#pragma once

#include <atomic>
#include <cstdint>

namespace anyshape::simd {

// Rounds of equal chunks that any number of threads claim, so that one alone gets through, too, and nobody waits for a
// thread that has claimed nothing. A round begins when all chunks of the one before are done. One who has waited long
// for a chunk, as its thread has lost its core, does the rest alone.
class Claims {
 public:
  static constexpr int64_t kMostChunks = 32;
  static constexpr int64_t kMostRounds = int64_t{1} << 31;

  Claims(int64_t rounds, int64_t chunks) : rounds_(rounds), chunks_(chunks), word_(word_of(0, all())) {}

  // Who takes part; each tells its number.
  uint32_t join() { return joined_.fetch_add(1, std::memory_order_relaxed); }

  struct Claim {
    int64_t round = -1;   // -1: there is nothing left to claim
    uint32_t chunks = 0;  // a bit for each
  };
  // Waits for the next round where all of this one is claimed. Neighbours in number claim neighbouring chunks, the same
  // in each round as far as possible.
  Claim next(uint32_t me);
  // True: all chunks of the round are done, and the caller is the one to say so by open().
  bool finish(const Claim& claim);
  void open(int64_t round) { word_.store(word_of(round, round < rounds_ ? all() : 0), std::memory_order_release); }

 private:
  static uint64_t word_of(int64_t round, uint32_t free) { return static_cast<uint64_t>(round) << 32 | free; }
  uint32_t all() const { return static_cast<uint32_t>((uint64_t{1} << chunks_) - 1); }
  uint32_t choose(uint32_t free, uint32_t me) const;
  bool wait_past(int64_t round);

  int64_t rounds_, chunks_;
  std::atomic<uint32_t> joined_ = 0;
  std::atomic<uint32_t> alone_ = 0;  // the one who does the rest, counted from 1
  alignas(64) std::atomic<uint64_t> word_;
  alignas(64) std::atomic<int64_t> done_ = 0;  // chunks of all rounds
};

}  // namespace anyshape::simd
