#include "anyshape/session.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "errors.h"
#include "limits.h"
#include "parts.h"
#include "text.h"
#include "values.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

// What a call of run() may take; 0: no limit.
struct CallLimits {
  uint64_t seed = 0;
  int64_t max_bytes = 0;
  double timeout = 0;
  const std::atomic<bool>* cancel = nullptr;
};

// The steps of all runs of a session.
class Profile {
 public:
  void watch(Context& context) {
    context.observe([this](const ProfiledStep& step) {
      const std::lock_guard lock(mutex_);
      steps_.push_back(step);
    });
  }
  // And forgets them.
  std::string trace() {
    const std::lock_guard lock(mutex_);
    return chrome_trace(std::exchange(steps_, {}));
  }

 private:
  std::mutex mutex_;
  std::vector<ProfiledStep> steps_;
};

// A session with as many contexts as threads have ever run it at once. What changes is guarded by the lock of the
// interpreter, which who forks holds: the child finds it whole.
class PooledSession {
 public:
  PooledSession(Session session, int threads, std::shared_ptr<Profile> profile, nb::object model)
      : session_(std::move(session)),
        theirs_(session_.engine() != "anyshape"),
        threads_(threads),
        profile_(std::move(profile)),
        model_(std::move(model)) {
    for (const IoInfo& input : session_.inputs()) names_.push_back(to_text(input.name));
  }

  PooledSession(const PooledSession&) = delete;
  PooledSession& operator=(const PooledSession&) = delete;

  const Session& session() const { return session_; }
  // The steps since the last call, as Chrome shows them.
  std::string trace() { return profile_ ? profile_->trace() : std::string(); }
  // `into`: for each output an array to write into, or None; null: all are None.
  nb::list run(nb::dict feed, nb::handle into, const CallLimits& limits);
  void run(std::span<const AnyValue> inputs, std::span<AnyValue> outputs, const CallLimits& limits);
  // Runs until `seconds` are over, with what the feed has: the seconds of each run but the first.
  std::vector<double> time(nb::dict feed, double seconds);
  // This one, or the one whose inputs the feed names, too, that have a default here.
  PooledSession& fed_with(nb::dict feed);
  std::vector<AnyValue> values(nb::dict feed, Keep& keep) const;
  std::vector<AnyValue> places(nb::handle into, std::vector<nb::ndarray<>>& keep) const;

 private:
  bool has_input(const std::string& name) const {
    return std::any_of(session_.inputs().begin(), session_.inputs().end(),
                       [&](const IoInfo& input) { return input.name == name; });
  }
  Error missing_input(nb::dict feed, const std::string& name) const;
  std::unique_ptr<Context> take_context();
  std::unique_ptr<Context> make_context() const;

  Session session_;
  bool theirs_;  // ONNX Runtime's
  int threads_;
  std::shared_ptr<Profile> profile_;  // null: none is wanted
  nb::object model_;                  // a SharedModel: sessions with more inputs are made of it
  std::vector<nb::object> names_;
  std::vector<std::unique_ptr<Context>> idle_;
  std::map<std::vector<std::string>, std::unique_ptr<PooledSession>> overriding_;  // by optional inputs that are fed
};

Error input_error(const char* code, const std::string& name, const char* sentence) {
  return {Error::Kind::usage, code, "input \"" + name + "\"", sentence, {}};
}

// Nothing where the feed has no such entry.
nb::object entry(nb::dict feed, nb::handle name) {
  PyObject* given = PyDict_GetItemWithError(feed.ptr(), name.ptr());
  if (!given && PyErr_Occurred()) throw nb::python_error();
  return given ? nb::borrow(given) : nb::object();
}

// Where the feed names what the model does not have, that is what is wrong.
Error PooledSession::missing_input(nb::dict feed, const std::string& name) const {
  Error error = input_error("input.missing", name, "nothing is given for it");
  for (nb::handle key : nb::list(feed)) {
    const std::string given = from_text(nb::str(key)).value_or("");
    if (has_input(given)) continue;
    error.message += "; \"" + given + "\" is given, which the model does not have";
    break;
  }
  return error;
}

std::vector<AnyValue> PooledSession::values(nb::dict feed, Keep& keep) const {
  std::vector<AnyValue> out;
  size_t used = 0;
  for (size_t i = 0; i < names_.size(); ++i) {
    const IoInfo& input = session_.inputs()[i];
    const nb::object given = entry(feed, names_[i]);
    if (!given && input.kind != AnyValue::Kind::optional) raise(missing_input(feed, input.name));
    used += given ? 1 : 0;
    out.push_back(to_value(given ? given : nb::none(), input.kind, input.type, keep));
  }
  if (used == nb::len(feed)) return out;
  // A list of its own: asking a key for its text may change the feed.
  for (nb::handle key : nb::list(feed)) {
    const std::string name = from_text(nb::str(key)).value_or("");
    if (!has_input(name)) raise(input_error("input.unknown", name, "the model has no such input"));
  }
  return out;
}

std::vector<AnyValue> PooledSession::places(nb::handle into, std::vector<nb::ndarray<>>& keep) const {
  std::vector<AnyValue> out(session_.outputs().size());
  if (!into || into.is_none()) return out;
  const nb::tuple given(into);
  if (nb::len(given) != out.size())
    raise({Error::Kind::usage, "output.count", {}, "one array or None is wanted for each output", {}});
  for (size_t i = 0; i < out.size(); ++i)
    if (!given[i].is_none()) out[i] = to_place(given[i], keep);
  return out;
}

std::unique_ptr<Context> PooledSession::make_context() const {
  auto made = std::make_unique<Context>(session_, threads_);
  if (profile_) profile_->watch(*made);
  return made;
}

std::unique_ptr<Context> PooledSession::take_context() {
  if (idle_.empty()) return nullptr;
  auto context = std::move(idle_.back());
  idle_.pop_back();
  return context;
}

PooledSession& PooledSession::fed_with(nb::dict feed) {
  std::vector<std::string> fed;
  for (const IoInfo& input : session_.optional_inputs())
    if (entry(feed, to_text(input.name))) fed.push_back(input.name);
  if (fed.empty()) return *this;
  if (const auto it = overriding_.find(fed); it != overriding_.end()) return *it->second;
  const SharedModel::Turn turn(nb::cast<SharedModel&>(model_));
  auto session = working([&] { return session_.overriding(fed); });
  auto made = std::make_unique<PooledSession>(std::move(session), threads_, profile_, model_);
  return *overriding_.try_emplace(std::move(fed), std::move(made)).first->second;
}

void PooledSession::run(std::span<const AnyValue> inputs, std::span<AnyValue> outputs, const CallLimits& limits) {
  RunOptions options;
  options.seed = limits.seed;
  options.max_bytes = limits.max_bytes;
  options.timeout = limits.timeout;
  options.cancel = limits.cancel;
  std::unique_ptr<Context> context = take_context();
  struct GiveBack {
    PooledSession& session;
    std::unique_ptr<Context>& context;
    ~GiveBack() {
      if (context) session.idle_.push_back(std::move(context));
    }
  } give_back{*this, context};
  // Runs of ONNX Runtime are watched from outside.
  working(
      [&] {
        if (!context) context = make_context();
        return context->run_into(inputs, outputs, options);
      },
      theirs_ ? &Watch::run_aside : &Watch::run);
}

nb::list PooledSession::run(nb::dict feed, nb::handle into, const CallLimits& limits) {
  Keep keep;
  std::vector<nb::ndarray<>> keep_written;
  const std::vector<AnyValue> inputs = values(feed, keep);
  std::vector<AnyValue> outputs = places(into, keep_written);
  std::vector<bool> written(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) written[i] = static_cast<bool>(outputs[i]);
  run(inputs, outputs, limits);
  nb::list out;
  for (size_t i = 0; i < outputs.size(); ++i)
    out.append(written[i] ? nb::borrow(into[i]) : to_python(outputs[i], Access::write));
  return out;
}

std::vector<double> PooledSession::time(nb::dict feed, double seconds) {
  Keep keep;
  const std::vector<AnyValue> inputs = values(feed, keep);
  return working(
      [&]() -> Result<std::vector<double>> {
        const std::unique_ptr<Context> context = make_context();
        const auto now = [] {
          return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
        };
        std::vector<double> out;
        if (auto first = context->run(inputs); !first) return tl::unexpected(first.error());
        const double end = now() + seconds;
        do {
          const double start = now();
          const auto ran = context->run(inputs);
          if (!ran) return tl::unexpected(ran.error());
          out.push_back(now() - start);
        } while (now() < end);
        return out;
      },
      theirs_ ? &Watch::run_aside : &Watch::run);
}

// Random numbers for each input that `sizes` has.
nb::dict random_feed(const PooledSession& self, const std::map<std::string, std::vector<int64_t>>& sizes,
                     uint64_t seed) {
  nb::dict out;
  for (const IoInfo& input : self.session().inputs()) {
    const auto wanted = sizes.find(input.name);
    if (wanted == sizes.end() || input.kind != AnyValue::Kind::tensor) continue;
    const AnyValue value = working([&] { return AnyValue::random(input.type, wanted->second, seed); });
    out[to_text(input.name)] = to_python(value, Access::write);
    ++seed;
  }
  return out;
}

nb::list run_session(PooledSession& self, nb::dict feed, nb::object into, uint64_t seed, int64_t max_bytes,
                     double timeout, const Limits* cancel) {
  const Inside inside;
  return self.fed_with(feed).run(feed, into, {seed, max_bytes, timeout, cancel ? &cancel->cancelled : nullptr});
}

// Runs from arrays and into arrays that are looked at once: as many as are asked for, without more memory than the
// first.
class BoundRun {
 public:
  // `into` has an array for each output.
  BoundRun(nb::object session, nb::dict feed, nb::object into)
      : session_(std::move(session)), used_(nb::cast<PooledSession&>(session_).fed_with(feed)) {
    inputs_ = used_.values(feed, keep_);
    outputs_ = used_.places(into, keep_written_);
  }
  void run(uint64_t seed, int64_t max_bytes, double timeout, const Limits* cancel) {
    const Inside inside;
    used_.run(inputs_, outputs_, {seed, max_bytes, timeout, cancel ? &cancel->cancelled : nullptr});
  }

 private:
  nb::object session_;
  PooledSession& used_;
  Keep keep_;
  std::vector<nb::ndarray<>> keep_written_;
  std::vector<AnyValue> inputs_, outputs_;
};

PooledSession* make_session(nb::object model, bool optimize, bool exact, int threads, const std::string& engine,
                            const std::string& ort_library, bool profile) {
  auto& shared = nb::cast<SharedModel&>(model);
  SessionOptions options;
  options.optimize = optimize;
  options.exact = exact;
  options.engine = engine;
  options.ort_library = ort_library;
  options.ort_threads = threads;
  const SharedModel::Turn turn(shared);
  auto session = working([&] { return Session::from_model(shared.model(), options); });
  return new PooledSession(std::move(session), threads, profile ? std::make_shared<Profile>() : nullptr,
                           std::move(model));
}

nb::list io_list(const std::vector<IoInfo>& infos) {
  constexpr const char* kKinds[] = {"none", "tensor", "sequence", "optional", "map"};
  nb::list out;
  for (const IoInfo& info : infos)
    out.append(nb::make_tuple(info.name, kKinds[static_cast<size_t>(info.kind)], static_cast<int>(info.type)));
  return out;
}

std::string plan_text(const PooledSession& self, const std::map<std::string, std::vector<int64_t>>& sizes) {
  return working([&] { return self.session().plan_text({sizes.begin(), sizes.end()}); });
}

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<BoundRun>(m, "BoundRun", "Runs between arrays that are looked at once.")
      .def(nb::init<nb::object, nb::dict, nb::object>(), nb::arg("session"), nb::arg("feed"), nb::arg("into"))
      .def("run", &BoundRun::run, nb::arg("seed") = 0, nb::arg("max_bytes") = 0, nb::arg("timeout") = 0.0,
           nb::arg("cancel").none() = nb::none());
  nb::class_<PooledSession>(m, "Session", "A model ready to run; any number of threads may run it at once.")
      .def(nb::new_(&make_session), nb::arg("model"), nb::arg("optimize") = true, nb::arg("exact") = false,
           nb::arg("threads") = 0, nb::arg("engine") = "anyshape", nb::arg("ort_library") = "",
           nb::arg("profile") = false)
      .def("run", run_session, nb::arg("feed"), nb::arg("into").none() = nb::none(), nb::arg("seed") = 0,
           nb::arg("max_bytes") = 0, nb::arg("timeout") = 0.0, nb::arg("cancel").none() = nb::none())
      .def(
          "time",
          [](PooledSession& self, nb::dict feed, double seconds) {
            const Inside inside;
            return self.fed_with(feed).time(feed, seconds);
          },
          nb::arg("feed"), nb::arg("seconds"))
      .def("random_feed", random_feed, nb::arg("shapes"), nb::arg("seed") = 0)
      .def("trace", &PooledSession::trace)
      .def("inputs", [](const PooledSession& self) { return io_list(self.session().inputs()); })
      .def("optional_inputs", [](const PooledSession& self) { return io_list(self.session().optional_inputs()); })
      .def("outputs", [](const PooledSession& self) { return io_list(self.session().outputs()); })
      .def("engine", [](const PooledSession& self) { return self.session().engine(); })
      .def("plan_text", plan_text, nb::arg("shapes") = std::map<std::string, std::vector<int64_t>>());
}

}  // namespace anyshape::python
