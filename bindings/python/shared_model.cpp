#include "errors.h"
#include "limits.h"
#include "parts.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

Error usage_error(const char* code, const char* sentence) { return {Error::Kind::usage, code, {}, sentence, {}}; }

}  // namespace

SharedModel::~SharedModel() {
  // Half changed by a thread that is not here.
  if (left_by_parent()) new Model(std::move(model_));
}

bool SharedModel::left_by_parent() const { return user_.load() != std::thread::id() && forks_ != forks(); }

SharedModel::Turn::Turn(SharedModel& shared) : shared_(shared) {
  constexpr auto kPatience = std::chrono::milliseconds(50);
  const std::thread::id me = std::this_thread::get_id();
  while (!shared.mutex_.try_lock()) {
    if (shared.left_by_parent())
      raise(usage_error("model.forked", "another thread was at it when this process was forked: load it again"));
    if (shared.user_.load() == me)
      raise(usage_error("model.busy", "it is asked from inside of a call that works on it"));
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const Away away(inside_);
    if (shared.mutex_.try_lock_for(kPatience)) break;
  }
  shared.user_ = me;
  shared.forks_ = forks();
}

SharedModel::Turn::~Turn() {
  shared_.user_ = std::thread::id();
  shared_.mutex_.unlock();
}

}  // namespace anyshape::python
