#include "progress.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

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

namespace {

std::mutex line_mutex;
bool line_shown = false;

}  // namespace

Waiting::Waiting(std::string what, bool quiet) : what_(std::move(what)) {
  if (!quiet && progress_wanted()) thread_ = std::jthread([this](std::stop_token stop) { show(std::move(stop)); });
}

Waiting::~Waiting() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  clear();
}

void Waiting::show(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any ended;
  std::unique_lock lock(mutex);
  for (int seconds = 1;; ++seconds) {
    if (ended.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }) || stop.stop_requested()) return;
    const std::scoped_lock line(line_mutex);
    // The cursor stays at the beginning: what is printed next goes over it.
    fmt::print(stderr, "\r{}: {} s\x1b[K\r", what_, seconds);
    std::fflush(stderr);
    line_shown = true;
  }
}

void Waiting::clear() {
  const std::scoped_lock line(line_mutex);
  if (!line_shown) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  line_shown = false;
}

}  // namespace anyshape::cli
