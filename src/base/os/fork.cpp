#include "base/os/fork.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace anyshape {
namespace {

std::atomic<uint64_t> forks = 0;

}  // namespace

uint64_t fork_count() {
  static const bool counted = ::pthread_atfork(nullptr, nullptr, [] { ++forks; }) == 0;
  return counted ? forks.load(std::memory_order_relaxed) : static_cast<uint64_t>(::getpid());
}

}  // namespace anyshape
