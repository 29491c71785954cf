#include "limits.h"

#include <algorithm>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "parts.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

using Clock = std::chrono::steady_clock;

// Of the process. Changed with the lock of the interpreter held, but for the counts.
struct Process {
  std::atomic<uint64_t> forks = 0;
  unsigned long main_thread = 0;      // the one that handles signals
  std::atomic<bool> leaving = false;  // calls of other threads are to end
  std::atomic<bool> closed = false;   // the interpreter is gone for them
  std::atomic<int> inside = 0;        // calls of other threads than the main one
  std::atomic<int> returning = 0;     // of them, those that wait for the lock
};
Process process;

thread_local Watch* current = nullptr;
thread_local int inside_here = 0;

// The method `get` of the context variable that holds the limits in force; never let go of.
PyObject* limits_in_force = nullptr;

bool is_main_thread() { return PyThread_get_thread_ident() == process.main_thread; }

// False: too late, the interpreter is gone.
template <class Acquire>
bool acquire_unless_closed(bool main, Acquire&& acquire) {
  ++process.returning;
  const bool open = main || !process.closed;
  if (open) acquire();
  --process.returning;
  return open;
}

[[noreturn]] void rest_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Calls of threads that are still there when the interpreter ends get a moment to end.
void leave() {
  constexpr auto kMoment = std::chrono::milliseconds(1);
  constexpr int kMoments = 2000;
  process.leaving = true;
  const nb::gil_scoped_release release;
  for (int i = 0; i < kMoments && process.inside > 0; ++i) std::this_thread::sleep_for(kMoment);
  process.closed = true;
  while (process.returning > 0) std::this_thread::sleep_for(kMoment);
}

void after_fork_in_child() {
  ++process.forks;
  process.main_thread = PyThread_get_thread_ident();
  process.leaving = process.closed = false;
  // The thread that forked is the main one from now on.
  process.inside = inside_here = 0;
  process.returning = 0;
}

double seconds_until(Limits::Moment moment) {
  // Not 0, which is no limit.
  return std::max(std::chrono::duration<double>(moment - Clock::now()).count(), 1e-9);
}

std::optional<Limits::Moment> moment_after(double seconds) {
  constexpr double kNever = 1e9;
  if (!(seconds > 0) || seconds > kNever) return std::nullopt;
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

uint64_t forks() { return process.forks; }

void Limits::start(double timeout, double budget_seconds, int64_t bytes, nb::object around) {
  deadline = moment_after(timeout);
  budget = moment_after(budget_seconds);
  max_bytes = bytes;
  outer = std::move(around);
}

WorkLimits Limits::left() const {
  WorkLimits out;
  out.cancel = &cancelled;
  if (deadline) out.timeout = seconds_until(*deadline);
  if (budget) out.budget = seconds_until(*budget);
  out.max_bytes = max_bytes;
  return out;
}

Inside::Inside() : counted_(!is_main_thread()) {
  if (!counted_) return;
  if (process.leaving) {
    process.inside -= std::exchange(inside_here, 0);
    PyEval_SaveThread();
    rest_for_ever();
  }
  ++process.inside;
  ++inside_here;
}

Inside::~Inside() {
  // In the child of a fork it counts no more.
  if (!counted_ || inside_here == 0) return;
  --process.inside;
  --inside_here;
}

Away::Away(const Inside& inside) : main_(!inside.counted()), state_(PyEval_SaveThread()) {}

Away::~Away() {
  if (!acquire_unless_closed(main_, [&] { PyEval_RestoreThread(state_); })) rest_for_ever();
}

WithInterpreter::WithInterpreter() {
  acquire_unless_closed(Watch::on_main_thread(), [&] { state_ = PyGILState_Ensure(); });
}

WithInterpreter::~WithInterpreter() {
  if (state_) PyGILState_Release(*state_);
}

// The limits of a call, on the thread that works.
class Watch::Scopes {
 public:
  Scopes(const Watch& watch, const WorkLimits& own) {
    for (const WorkLimits& limits : watch.limits_) scopes_.push_back(std::make_unique<WorkScope>(limits));
    own_.emplace(own);
  }

 private:
  std::vector<std::unique_ptr<WorkScope>> scopes_;
  std::optional<WorkScope> own_;
};

Watch::Watch() : outer_(current), main_(!inside_.counted()) {
  for (nb::object at = nb::handle(limits_in_force)(); nb::isinstance<Limits>(at); at = nb::cast<Limits&>(at).outer)
    held_.push_back(at);
  std::reverse(held_.begin(), held_.end());
  for (const nb::object& limits : held_) limits_.push_back(nb::cast<Limits&>(limits).left());
  current = this;
}

Watch::~Watch() { current = outer_; }

void Watch::run(const std::function<void()>& work) {
  WorkLimits own;
  if (main_) {
    own.interrupted = [this] { return handle_signals(); };
  } else {
    own.cancel = &process.leaving;
  }
  const Away away(inside_);
  const Scopes scopes(*this, own);
  work();
}

void Watch::run_aside(const std::function<void()>& work) {
  constexpr auto kBetweenSignals = std::chrono::milliseconds(50);
  if (!main_) return run(work);
  std::atomic<bool> stop = false;
  auto done = std::async(std::launch::async, [&] {
    WorkLimits own;
    own.cancel = &stop;
    const Scopes scopes(*this, own);
    work();
  });
  const auto ended = [&] {
    const Away away(inside_);
    return done.wait_for(kBetweenSignals) == std::future_status::ready;
  };
  while (!ended())
    if (!signal_ && PyErr_CheckSignals() != 0) {
      signal_.emplace();
      stop = true;
    }
  done.get();
}

bool Watch::handle_signals() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  signal_.emplace();
  return true;
}

void Watch::raise_caught() {
  if (signal_) throw nb::python_error(*std::exchange(signal_, std::nullopt));
  if (kernel_ && !kernel_->matches(PyExc_Exception)) throw nb::python_error(*std::exchange(kernel_, std::nullopt));
}

nb::handle Watch::cause() const { return kernel_ ? kernel_->value() : nb::handle(); }

void Watch::keep(nb::python_error&& failure) {
  if (current && !current->kernel_) current->kernel_.emplace(std::move(failure));
}

bool Watch::on_main_thread() { return current && current->main_; }

void bind_limits(nb::module_& m) {
  nb::class_<Limits>(m, "Limits", "What anyshape.limits() says, and a flag that ends what runs under it.")
      .def(nb::init<>())
      .def("start", &Limits::start, nb::arg("timeout"), nb::arg("budget"), nb::arg("max_bytes"),
           nb::arg("outer").none())
      .def_prop_rw(
          "cancelled", [](const Limits& self) { return self.cancelled.load(); },
          [](Limits& self, bool cancelled) { self.cancelled = cancelled; });
  // By way of Python: its C functions are not in the stable ABI.
  const nb::object variable =
      nb::module_::import_("contextvars").attr("ContextVar")("anyshape.limits", nb::arg("default") = nb::none());
  m.attr("current_limits") = variable;
  limits_in_force = nb::object(variable.attr("get")).release().ptr();
  m.def("check_limits", [] { working([] { return Status(); }); });

  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  process.main_thread = nb::cast<unsigned long>(main.attr("ident"));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(leave));
  const nb::object os = nb::module_::import_("os");
  if (nb::hasattr(os, "register_at_fork"))
    os.attr("register_at_fork")(nb::arg("after_in_child") = nb::cpp_function(after_fork_in_child));
}

}  // namespace anyshape::python
