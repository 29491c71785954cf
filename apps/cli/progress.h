#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

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

// "anyshape check: 3 s" on standard error, if that is a terminal, for work that has taken over a second.
class Waiting {
 public:
  Waiting(std::string what, bool quiet);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // Before something else is printed; it comes back while the work goes on.
  static void clear();

 private:
  void show(std::stop_token stop);

  std::string what_;
  std::jthread thread_;
};

}  // namespace anyshape::cli
