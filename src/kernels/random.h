#pragma once

#include <array>
#include <cstdint>

namespace anyshape::kernels {

// Random numbers by place: number i of a seed is the same whatever was drawn before it, so that threads may share the
// work. Philox with four 32-bit words and ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"):
// the seed is the key, i the low half of the counter.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  std::array<uint32_t, 4> words(uint64_t i) const;
  // In [0, 1), a multiple of 2^-53.
  double uniform(uint64_t i) const;
  // Mean 0, deviation 1 (Box and Muller).
  double normal(uint64_t i) const;

 private:
  uint64_t seed_;
};

}  // namespace anyshape::kernels
