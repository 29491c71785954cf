#pragma once

#include <chrono>
#include <cstddef>

namespace anyshape::cli {

// A bar on standard error, if that is a terminal, for work that has taken over a second. Gone when the work is done.
class Progress {
 public:
  Progress(size_t total, bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(size_t done);
  // Before something else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  size_t total_;
  bool wanted_, shown_ = false;
  Clock::time_point next_;
};

}  // namespace anyshape::cli
