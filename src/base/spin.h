#pragma once

#include <chrono>

namespace anyshape {

// Tells the core that this thread waits for another one.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until done() holds, without sleeping; false when it does not after that long.
template <class Done>
bool spin_until(Done done, std::chrono::microseconds limit) {
  constexpr int kBetweenLooksAtTheClock = 64;
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < kBetweenLooksAtTheClock; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace anyshape
