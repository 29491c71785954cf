#include "base/os/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <system_error>

namespace anyshape::os {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

std::atomic<bool> cancelled{false};
std::atomic<int> caught{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void note_signal(int number) {
  for (const int one : kSignals) static_cast<void>(std::signal(one, SIG_DFL));
  caught = number;
  cancelled = true;
}

// Bytes that count against RLIMIT_DATA: what is mapped, writable and of this process alone.
int64_t data_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t pages = 0;
  for (int field = 0; field < 6; ++field) file >> pages;
  return file ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

const std::atomic<bool>& cancel_on_signals() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  // Without SA_RESTART: a write that waits for a reader ends, too.
  for (const int number : kSignals) ::sigaddset(&action.sa_mask, number);
  for (const int number : kSignals) {
    struct sigaction before {};
    if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    static_cast<void>(::sigaction(number, &action, nullptr));
  }
  return cancelled;
}

int caught_signal() { return caught; }

Status limit_memory(int64_t bytes) {
  struct rlimit limit {};
  int64_t total = 0;
  if (__builtin_add_overflow(bytes, data_bytes(), &total)) return {};
  if (::getrlimit(RLIMIT_DATA, &limit) == 0) {
    if (static_cast<rlim_t>(total) >= limit.rlim_cur) return {};
    limit.rlim_cur = static_cast<rlim_t>(total);
    if (::setrlimit(RLIMIT_DATA, &limit) == 0) return {};
  }
  return system_error("system.limit", "memory cannot be limited: {}", std::generic_category().message(errno));
}

}  // namespace anyshape::os
