#include "progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "anyshape/terminal.h"

namespace anyshape::cli {

Progress::Progress(size_t total, bool quiet)
    : total_(total), wanted_(!quiet && total > 0 && progress_wanted()), next_(Clock::now() + std::chrono::seconds(1)) {}

void Progress::show(size_t done) {
  constexpr size_t kWidth = 40;
  if (!wanted_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  const size_t filled = kWidth * done / total_;
  fmt::print(stderr, "\r[{:<{}}] {}/{}", std::string(filled, '#'), kWidth, done, total_);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace anyshape::cli
