#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "anyshape/work.h"
#include "errors.h"

namespace anyshape::python {

// What anyshape.limits() says while it is in force.
struct Limits {
  using Moment = std::chrono::steady_clock::time_point;

  std::atomic<bool> cancelled = false;
  std::optional<Moment> deadline, budget;
  int64_t max_bytes = 0;
  nanobind::object outer;  // those around it, or None

  // Times count from now on.
  void start(double timeout, double budget_seconds, int64_t bytes, nanobind::object around);
  WorkLimits left() const;
};

// How many forks lie behind this process.
uint64_t forks();

// A thread is in C++ code for as long as one lives. An interpreter that ends stops threads where they ask for its lock,
// which C++ code does not survive: it waits for those that are inside, and nobody gets in any more. The lock of the
// interpreter must be held.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  // Not so the main thread: it ends the interpreter itself.
  bool counted() const { return counted_; }

 private:
  bool counted_;
};

// Without the lock of the interpreter, for threads that are inside.
class Away {
 public:
  explicit Away(const Inside& inside);
  ~Away();
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;

 private:
  bool main_;
  PyThreadState* state_;
};

// The lock of the interpreter, for threads of a call in progress that has given it away. False: the interpreter is
// ending and cannot be entered any more.
class WithInterpreter {
 public:
  WithInterpreter();
  ~WithInterpreter();
  WithInterpreter(const WithInterpreter&) = delete;
  WithInterpreter& operator=(const WithInterpreter&) = delete;
  explicit operator bool() const { return state_.has_value(); }

 private:
  std::optional<PyGILState_STATE> state_;
};

// One call of the library. While it is away from the interpreter, other threads run, the limits in force hold, and
// signals are handled:
//
// Python's own handler only notes a signal; what the program installed for it runs in the main thread, from
// PyErr_CheckSignals. So the work itself comes by here now and then (WorkLimits::interrupted) and lets it run. If it
// raises, which is what KeyboardInterrupt is, the work ends and the exception goes on. Nothing is installed in place of
// anybody's handler, so it is the same for those of a program, of Jupyter, or of a test runner, whatever the signal;
// and a handler that does not raise does not disturb the work.
class Watch {
 public:
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Does the work without the lock of the interpreter.
  void run(const std::function<void()>& work);
  // The same for work that only looks at flags: another thread does it, while the main one handles signals.
  void run_aside(const std::function<void()>& work);

  // Raises what a signal raised, or what no kernel may catch: KeyboardInterrupt, SystemExit.
  void raise_caught();
  // The exception a kernel failed with; null: none did.
  nanobind::handle cause() const;
  // For the call in progress on this thread.
  static void keep(nanobind::python_error&& failure);
  // Is there such a call, and does it run on the thread that handles signals?
  static bool on_main_thread();

 private:
  class Scopes;
  bool handle_signals();

  Inside inside_;
  Watch* outer_;
  bool main_;
  std::vector<nanobind::object> held_;
  std::vector<WorkLimits> limits_;  // in force, the outermost first
  std::optional<nanobind::python_error> signal_, kernel_;
};

template <class T>
constexpr bool is_result = false;
template <class T>
constexpr bool is_result<Result<T>> = true;

// What `work` gives, or its error raised. It runs without the lock of the interpreter.
template <class Work>
auto working(Work&& work, void (Watch::*run)(const std::function<void()>&) = &Watch::run) {
  Watch watch;
  std::optional<decltype(work())> made;
  Status allowed;
  // By reference: what it holds does not fit into a std::function without memory of its own.
  const auto body = [&] {
    if (allowed = check_work(); allowed) made.emplace(work());
  };
  (watch.*run)(std::cref(body));
  watch.raise_caught();
  if (!allowed) raise(allowed.error());
  if constexpr (is_result<decltype(work())>) {
    if (!*made) raise(made->error(), made->error().code == "custom.python" ? watch.cause() : nanobind::handle());
    if constexpr (!std::is_void_v<typename decltype(work())::value_type>) return **std::move(made);
  } else {
    return *std::move(made);
  }
}

}  // namespace anyshape::python
