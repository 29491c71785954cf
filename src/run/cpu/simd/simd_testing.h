#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace anyshape::simd {

// Calls fn once for each instruction set of this machine that the kernels are compiled for.
template <class Fn>
void for_each_target(Fn fn) {
  for (int64_t bits = hwy::SupportedTargets(); bits != 0; bits &= bits - 1) {
    const int64_t target = bits & -bits;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    fn();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

// Random sizes and floats, the same for the same seed.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % (high - low + 1)); }
  bool coin() { return engine_() & 1; }
  float number(float size = 1) { return (static_cast<float>(engine_() >> 40) * 0x1p-24f * 2 - 1) * size; }
  // Sizes that matter: 0, 1, small odd ones, and around blocks and vectors.
  int64_t size(int64_t most) {
    switch (engine_() % 8) {
      case 0:
        return between(0, 1);
      case 1:
      case 2:
      case 3:
        return between(1, std::min<int64_t>(most, 9));
      default:
        return between(1, most);
    }
  }
  std::vector<float> numbers(int64_t count, float size = 1) {
    std::vector<float> out(static_cast<size_t>(count));
    for (float& x : out) x = number(size);
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace anyshape::simd
