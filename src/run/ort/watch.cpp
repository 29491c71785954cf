#include "run/ort/watch.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/os/signal_shield.h"

namespace anyshape::ort {

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Status Watcher::add(Run& run) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    const os::SignalShield shield;
    try {
      thread_ = std::thread([this] { loop(); });
    } catch (const std::system_error& e) {
      return system_error("system.thread", "there can be no thread that watches over the run: {}", e.what());
    }
  }
  runs_.push_back(&run);
  return {};
}

void Watcher::remove(const Run& run) {
  const std::lock_guard lock(mutex_);
  std::erase(runs_, &run);
}

void Watcher::loop() {
  constexpr std::chrono::milliseconds kPause(20);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPause, [this] { return done_; }))
    for (Run* run : runs_) {
      if (!run->why_) continue;
      run->why_ = run->stop_();
      if (!run->why_)
        static_cast<void>(library_->check(library_->functions().set_terminate(run->options_)).has_value());
    }
}

Watcher::Run::~Run() {
  if (options_ == nullptr) return;
  watcher_.remove(*this);
  watcher_.library_->functions().release_run_options(options_);
}

Status Watcher::Run::begin() {
  if (!stop_) return {};
  TRY_OK(stop_());
  const Library& library = *watcher_.library_;
  TRY_OK(library.check(library.functions().create_run_options(&options_)));
  return watcher_.add(*this);
}

Status Watcher::Run::end() {
  if (options_ != nullptr) watcher_.remove(*this);
  return why_;
}

}  // namespace anyshape::ort
