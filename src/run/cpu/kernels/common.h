#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os/block.h"
#include "engine/target/kernel.h"
#include "ir/call.h"
#include "run/cpu/simd/gemm.h"

// What the kernels of several families share.
namespace anyshape::cpu {

// What EngineKernel::prepare has made. REQUIRES: it made a T.
template <class T>
const T& prepared_as(const ViewArgs& args) {
  return *static_cast<const T*>(args.prepared);
}

template <class T>
struct CacheAligned {
  using value_type = T;
  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}  // NOLINT(google-explicit-constructor): what an allocator must have
  T* allocate(size_t n) { return static_cast<T*>(os::allocate_block(n * sizeof(T))); }
  void deallocate(T* p, size_t n) { os::free_block(p, n * sizeof(T)); }
  friend bool operator==(const CacheAligned&, const CacheAligned&) { return true; }
};
using Floats = std::vector<float, CacheAligned<float>>;

// Memory for `size` floats that are written before they are read.
class RawFloats {
 public:
  RawFloats() = default;
  explicit RawFloats(size_t size) : size_(size), data_(size == 0 ? nullptr : CacheAligned<float>().allocate(size)) {}
  RawFloats(RawFloats&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  RawFloats& operator=(RawFloats&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~RawFloats() {
    if (data_) CacheAligned<float>().deallocate(data_, size_);
  }

  float* data() { return data_; }
  const float* data() const { return data_; }

 private:
  size_t size_ = 0;
  float* data_ = nullptr;
};

inline bool is_f32(const Call& call, size_t input) {
  return call.has(input) && call.in(input).is_tensor() && call.in(input).dtype == DType::f32;
}
inline bool is_constant(const Call& call, size_t input) {
  return call.has(input) && call.in(input).constant != nullptr;
}

// The attributes `activation` (a name of Activation) and `activation_params` of fused operators; none when absent.
Result<simd::ActivationSpec> read_activation(const Call& call);

// A constant of f32, in memory that is aligned. REQUIRES: is_constant.
Floats floats_of(const Call& call, size_t input);

// The entries of an input that may be absent; null: it is.
inline const float* optional_floats(const ViewArgs& args, size_t i) {
  return i < args.in.size() && args.in[i] ? args.in[i].as<const float>() : nullptr;
}

// Items first..last - 1 of `items` that task t of `tasks` does.
struct Share {
  int64_t first, last;
};
inline Share share_of(int64_t items, int64_t tasks, int64_t t) { return {items * t / tasks, items * (t + 1) / tasks}; }

// At most this many tasks are made where each has scratch of its own.
inline constexpr int64_t kMostTasks = 32;

// The part of the scratch that is a task's while it works, the first that is free: memory is touched for as many as
// work at once, and stays in their caches from task to task.
class Slot {
 public:
  static constexpr int64_t kHead = 64;  // bytes before the first slot

  // Before any task.
  static void clear(std::byte* scratch) { new (scratch) std::atomic<uint64_t>(0); }
  // REQUIRES: no more than kMostTasks are taken at once.
  explicit Slot(std::byte* scratch) : taken_(*std::launder(reinterpret_cast<std::atomic<uint64_t>*>(scratch))) {
    uint64_t taken = taken_.load(std::memory_order_relaxed);
    do {
      index_ = std::countr_one(taken);
    } while (!taken_.compare_exchange_weak(taken, taken | bit(), std::memory_order_acquire, std::memory_order_relaxed));
  }
  ~Slot() { taken_.fetch_and(~bit(), std::memory_order_release); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  int64_t index() const { return index_; }

 private:
  uint64_t bit() const { return uint64_t{1} << index_; }

  std::atomic<uint64_t>& taken_;
  int index_ = 0;
};

// Tasks for `items` pieces of work of `cost` multiply-adds (or about as much) each.
int64_t tasks_for(int64_t items, double cost, int64_t most = kMostTasks);

inline int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace anyshape::cpu
