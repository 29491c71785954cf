#include "base/memory_meter.h"

#include <limits>
#include <utility>

#include "base/printable.h"

namespace anyshape {

thread_local constinit MemoryMeter* MemoryMeter::current_ = nullptr;

MemoryMeter::Scope::Scope(MemoryMeter* meter) : outer_(std::exchange(current_, meter)) {}
MemoryMeter::Scope::~Scope() { current_ = outer_; }

MemoryMeter::Share::Share(Share&& other) noexcept
    : meter_(std::move(other.meter_)), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryMeter::Share& MemoryMeter::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  reset();
  meter_ = std::move(other.meter_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool MemoryMeter::Share::take(int64_t bytes) {
  if (!meter_) return true;
  if (!meter_->allows(bytes)) return false;
  add(bytes);
  return true;
}

void MemoryMeter::Share::add(int64_t bytes) {
  if (!meter_) return;
  meter_->used_ += bytes;
  bytes_ += bytes;
}

void MemoryMeter::Share::reset() {
  if (meter_) meter_->used_ -= std::exchange(bytes_, 0);
  meter_.reset();
}

MemoryMeter::Share MemoryMeter::share() {
  Share out;
  if (current_) out.meter_ = current_->shared_from_this();
  return out;
}

bool MemoryMeter::allows(int64_t bytes) {
  int64_t total = 0;
  if (__builtin_add_overflow(used_.load(), bytes, &total)) total = std::numeric_limits<int64_t>::max();
  if (total <= limit_) return true;
  refused_ = total;
  return false;
}

bool MemoryMeter::fits(int64_t bytes) { return !current_ || current_->allows(bytes); }

Status MemoryMeter::check() {
  if (fits(0)) return {};
  return out_of_memory();
}

tl::unexpected<Error> MemoryMeter::out_of_memory(int64_t bytes) {
  if (current_ && current_->refused_ != 0)
    return system_error("run.memory", "the run needs {} ({} bytes), the limit is {} ({} bytes)",
                        bytes_text(static_cast<uint64_t>(current_->refused_)), current_->refused_,
                        bytes_text(static_cast<uint64_t>(current_->limit_)), current_->limit_);
  if (bytes > 0)
    return system_error("tensor.memory", "out of memory: {} are needed", bytes_text(static_cast<uint64_t>(bytes)));
  return system_error("tensor.memory", "out of memory");
}

}  // namespace anyshape
