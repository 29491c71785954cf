#include "kernels/random.h"

#include <cmath>
#include <numbers>

namespace anyshape::kernels {
namespace {

constexpr uint32_t kMultipliers[] = {0xd2511f53, 0xcd9e8d57};
constexpr uint32_t kKeySteps[] = {0x9e3779b9, 0xbb67ae85};
constexpr int kRounds = 10;

uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }

double fraction(uint32_t upper, uint32_t lower) {
  return static_cast<double>((uint64_t{upper} << 32 | lower) >> 11) * 0x1p-53;
}

}  // namespace

std::array<uint32_t, 4> Random::words(uint64_t i) const {
  std::array<uint32_t, 4> x{low(i), high(i), 0, 0};
  uint32_t key0 = low(seed_), key1 = high(seed_);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t a = uint64_t{kMultipliers[0]} * x[0], b = uint64_t{kMultipliers[1]} * x[2];
    x = {high(b) ^ x[1] ^ key0, low(b), high(a) ^ x[3] ^ key1, low(a)};
    key0 += kKeySteps[0];
    key1 += kKeySteps[1];
  }
  return x;
}

double Random::uniform(uint64_t i) const {
  const auto w = words(i);
  return fraction(w[0], w[1]);
}

double Random::normal(uint64_t i) const {
  const auto w = words(i);
  const double radius = std::sqrt(-2 * std::log(1 - fraction(w[0], w[1])));
  return radius * std::cos(2 * std::numbers::pi * fraction(w[2], w[3]));
}

}  // namespace anyshape::kernels
