#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "anyshape/check.h"
#include "anyshape/model.h"
#include "limits.h"

namespace anyshape::python {

// A model for any number of threads, one at a time.
class SharedModel {
 public:
  explicit SharedModel(Model model) : model_(std::move(model)) {}
  ~SharedModel();
  SharedModel(const SharedModel&) = delete;
  SharedModel& operator=(const SharedModel&) = delete;

  // Waits until it is this thread's turn, and handles signals meanwhile. Raises anyshape.Error: "model.busy" for a
  // kernel or a handler of signals that asks the model it was called from, "model.forked" in the child of a fork when
  // another thread was at it. The lock of the interpreter must be held.
  class Turn {
   public:
    explicit Turn(SharedModel& shared);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Inside inside_;
    SharedModel& shared_;
  };
  // For who has a turn.
  const Model& model() const { return model_; }

 private:
  bool left_by_parent() const;

  Model model_;
  std::timed_mutex mutex_;
  std::atomic<std::thread::id> user_;
  std::atomic<uint64_t> forks_ = 0;  // when its turn began
};

nanobind::dict to_python(const ValueType& value);
nanobind::list to_python(const std::vector<ValueType>& values);
// The file a path-like object names.
std::filesystem::path path_of(nanobind::handle object);
std::vector<std::byte> bytes_of(nanobind::handle buffer);

void bind_limits(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_export(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);

}  // namespace anyshape::python
