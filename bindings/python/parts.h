#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "anyshape/check.h"
#include "anyshape/custom.h"
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

// Work on the model, without the lock of the interpreter.
template <class Work>
auto with_model(SharedModel& shared, Work&& work) {
  const SharedModel::Turn turn(shared);
  return working([&] { return work(shared.model()); });
}

// Work on two. Threads that ask for them in opposite orders do not wait for each other.
template <class Work>
auto with_models(SharedModel& one, SharedModel& other, Work&& work) {
  const bool in_order = std::less<>()(&one, &other);
  const SharedModel::Turn first(in_order ? one : other);
  std::optional<SharedModel::Turn> second;
  if (&one != &other) second.emplace(in_order ? other : one);
  return working([&] { return work(one.model(), other.model()); });
}

nanobind::dict to_python(const ValueType& value);
nanobind::list to_python(const std::vector<ValueType>& values);
// The file a path-like object names.
std::filesystem::path path_of(nanobind::handle object);
std::vector<std::byte> bytes_of(nanobind::handle buffer);

// A function of Python as a kernel. Raises anyshape.Error: custom.kernel. The lock of the interpreter must be held.
CustomKernelFunction kernel_of(nanobind::object kernel);

void bind_limits(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_export(nanobind::module_& m);
void bind_change(nanobind::module_& m);
void bind_verify(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);

}  // namespace anyshape::python
