#pragma once

#include <cstdint>
#include <string_view>

namespace anyshape {

// The reason of what is unknown because of it.
inline constexpr std::string_view kBudgetCode = "work.budget";

// Work counted in steps, not in seconds: where an analysis gives up is the same on every machine and in every run. A
// step is about what one operation on a short expression takes.
class Effort {
 public:
  // While one lives, the work of this thread counts here and not in the scopes around it: an answer does not depend on
  // what was asked before.
  explicit Effort(int64_t steps);
  ~Effort();
  Effort(const Effort&) = delete;
  Effort& operator=(const Effort&) = delete;

  // By this scope, and by it and all that ended inside it.
  int64_t taken() const { return taken_; }
  int64_t taken_in_all() const { return taken_ + inside_; }

  static void step(int64_t count = 1) {
    if (!current_) return;
    current_->taken_ += count;
    if (current_->taken_ >= current_->next_look_) current_->look();
  }
  // The steps are taken: no more proofs. What is not decided by now stays a condition, and what is not simple stays as
  // it is; nothing of what is known gets lost.
  static bool tired() { return current_ && (current_->taken_ > current_->steps_ || current_->over_); }
  // Twice the steps are taken, or the caller's limits (base/work.h) are passed: the analysis ends with what it has.
  static bool spent() { return current_ && (current_->taken_ / 2 > current_->steps_ || current_->over_); }
  // So many more steps are there before spent().
  static bool affords(int64_t count) {
    return !current_ || (!current_->over_ && (current_->taken_ + count) / 2 <= current_->steps_);
  }

 private:
  void look();

  static thread_local constinit Effort* current_;

  Effort* outer_;
  int64_t steps_, taken_ = 0, inside_ = 0, next_look_ = 0;
  bool over_ = false;
};

}  // namespace anyshape
