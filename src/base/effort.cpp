#include "base/effort.h"

#include "base/work.h"

namespace anyshape {

namespace {

// Often enough for a clock of milliseconds.
constexpr int64_t kBetweenLooks = 1 << 12;

}  // namespace

thread_local constinit Effort* Effort::current_ = nullptr;

Effort::Effort(int64_t steps) : outer_(current_), steps_(steps) {
  current_ = this;
  look();
}

Effort::~Effort() {
  if (outer_) outer_->inside_ += taken_in_all();
  current_ = outer_;
}

void Effort::look() {
  over_ = over_ || Work::budget_spent();
  next_look_ = taken_ + kBetweenLooks;
}

}  // namespace anyshape
