#include "run/cpu/simd/recurrent_claims.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "base/spin.h"

namespace anyshape::simd {
namespace {

// Much longer than any chunk takes.
constexpr std::chrono::microseconds kPatience(100);

}  // namespace

// An equal share of all chunks, or of those that are left, from the place on where one's own begin.
uint32_t Claims::choose(uint32_t free, uint32_t me) const {
  const uint32_t alone = alone_.load(std::memory_order_relaxed);
  const uint32_t here = alone ? 1 : std::max(joined_.load(std::memory_order_relaxed), 1u);
  const uint32_t chunks = static_cast<uint32_t>(chunks_);
  uint32_t wanted = std::max(static_cast<uint32_t>(std::popcount(free)) / here, 1u);
  if (free == all()) wanted = (chunks + here - 1) / here;
  uint32_t taken = 0;
  for (uint32_t i = 0, at = me % here * chunks / here; i < chunks && wanted > 0; ++i, at = (at + 1) % chunks) {
    if (!(free >> at & 1)) continue;
    taken |= 1u << at;
    --wanted;
  }
  return taken;
}

Claims::Claim Claims::next(uint32_t me) {
  uint64_t word = word_.load(std::memory_order_acquire);
  for (;;) {
    const uint32_t alone = alone_.load(std::memory_order_relaxed);
    const auto round = static_cast<int64_t>(word >> 32);
    const auto free = static_cast<uint32_t>(word);
    if (round >= rounds_ || (alone != 0 && alone != me + 1)) return {};
    if (free == 0) {
      if (!wait_past(round)) {
        uint32_t nobody = 0;
        alone_.compare_exchange_strong(nobody, me + 1);
      }
      word = word_.load(std::memory_order_acquire);
      continue;
    }
    const uint32_t mine = choose(free, me);
    if (word_.compare_exchange_weak(word, word_of(round, free & ~mine), std::memory_order_acq_rel,
                                    std::memory_order_acquire))
      return {round, mine};
  }
}

// False: it took long.
bool Claims::wait_past(int64_t round) {
  const auto is_past = [&] { return static_cast<int64_t>(word_.load(std::memory_order_acquire) >> 32) != round; };
  if (spin_until(is_past, kPatience)) return true;
  while (!is_past()) std::this_thread::yield();
  return false;
}

bool Claims::finish(const Claim& claim) {
  const int count = std::popcount(claim.chunks);
  return done_.fetch_add(count, std::memory_order_acq_rel) + count == (claim.round + 1) * chunks_;
}

}  // namespace anyshape::simd
