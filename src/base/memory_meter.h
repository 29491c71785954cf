#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/error.h"

namespace anyshape {

// Counts the bytes of what a run makes, each for as long as it lives, and says no before there are too many. The run
// works on one thread; what it made may end on any, after the run too.
class MemoryMeter : public std::enable_shared_from_this<MemoryMeter> {
 public:
  explicit MemoryMeter(int64_t limit) : limit_(limit) {}

  // While it lives, this thread's memory counts there; null: nowhere.
  class Scope {
   public:
    explicit Scope(MemoryMeter* meter);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    MemoryMeter* outer_;
  };

  // What one holder has of it, given back when it ends.
  class Share {
   public:
    Share() = default;  // counts nothing
    Share(Share&& other) noexcept;
    Share& operator=(Share&& other) noexcept;
    ~Share() { reset(); }

    // False, and nothing is taken, where it would be too much.
    [[nodiscard]] bool take(int64_t bytes);
    // Of what is there already, too much or not.
    void add(int64_t bytes);
    int64_t bytes() const { return bytes_; }
    // Gives all of it back and counts nothing from now on.
    void reset();

   private:
    friend class MemoryMeter;
    std::shared_ptr<MemoryMeter> meter_;
    int64_t bytes_ = 0;
  };
  // An empty one of this thread's meter.
  static Share share();

  static bool counts() { return current_ != nullptr; }
  // This thread's; for what ends before the scope does.
  static MemoryMeter* current() { return current_; }
  void add(int64_t bytes) { used_ += bytes; }
  // Whether so many bytes more would not be too much; true without a meter.
  static bool fits(int64_t bytes);
  // Error "run.memory" when there are too many already.
  static Status check();
  // The error of memory that was not to be had: "run.memory" where the meter said no, else "tensor.memory".
  static tl::unexpected<Error> out_of_memory(int64_t bytes = 0);

 private:
  bool allows(int64_t bytes);

  static thread_local constinit MemoryMeter* current_;

  const int64_t limit_;
  std::atomic<int64_t> used_ = 0;
  int64_t refused_ = 0;  // how many bytes there would have been
};

}  // namespace anyshape
