#include "anyshape/session.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>

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

// A session with as many contexts as threads have ever run it at once. What changes is guarded by the lock of the
// interpreter, which who forks holds: the child finds it whole.
class PooledSession {
 public:
  PooledSession(Session session, int threads, nb::object model)
      : session_(std::move(session)),
        theirs_(session_.engine() != "anyshape"),
        threads_(threads),
        model_(std::move(model)) {
    for (const IoInfo& input : session_.inputs()) names_.push_back(to_text(input.name));
  }

  PooledSession(const PooledSession&) = delete;
  PooledSession& operator=(const PooledSession&) = delete;

  const Session& session() const { return session_; }
  nb::list run(nb::dict feed, const CallLimits& limits);
  // This one, or the one whose inputs the feed names, too, that have a default here.
  PooledSession& fed_with(nb::dict feed);

 private:
  std::vector<AnyValue> values(nb::dict feed, Keep& keep) const;
  std::unique_ptr<Context> take_context();

  Session session_;
  bool theirs_;  // ONNX Runtime's
  int threads_;
  nb::object model_;  // a SharedModel: sessions with more inputs are made of it
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

std::vector<AnyValue> PooledSession::values(nb::dict feed, Keep& keep) const {
  std::vector<AnyValue> out;
  size_t used = 0;
  for (size_t i = 0; i < names_.size(); ++i) {
    const IoInfo& input = session_.inputs()[i];
    const nb::object given = entry(feed, names_[i]);
    if (!given && input.kind != AnyValue::Kind::optional)
      raise(input_error("input.missing", input.name, "nothing is given for it"));
    used += given ? 1 : 0;
    out.push_back(to_value(given ? given : nb::none(), input.kind, input.type, keep));
  }
  if (used == nb::len(feed)) return out;
  // A list of its own: asking a key for its text may change the feed.
  for (nb::handle key : nb::list(feed)) {
    const std::string name = from_text(nb::str(key)).value_or("");
    const auto known = [&](const IoInfo& input) { return input.name == name; };
    if (std::none_of(session_.inputs().begin(), session_.inputs().end(), known))
      raise(input_error("input.unknown", name, "the model has no such input"));
  }
  return out;
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
  auto made = std::make_unique<PooledSession>(std::move(session), threads_, model_);
  return *overriding_.try_emplace(std::move(fed), std::move(made)).first->second;
}

nb::list PooledSession::run(nb::dict feed, const CallLimits& limits) {
  Keep keep;
  const std::vector<AnyValue> inputs = values(feed, keep);
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
  const auto outputs = working(
      [&] {
        if (!context) context = std::make_unique<Context>(session_, threads_);
        return context->run(inputs, options);
      },
      theirs_ ? &Watch::run_aside : &Watch::run);
  nb::list out;
  for (const AnyValue& value : outputs) out.append(to_python(value, Access::write));
  return out;
}

nb::list run_session(PooledSession& self, nb::dict feed, uint64_t seed, int64_t max_bytes, double timeout,
                     const Limits* cancel) {
  const Inside inside;
  return self.fed_with(feed).run(feed, {seed, max_bytes, timeout, cancel ? &cancel->cancelled : nullptr});
}

PooledSession* make_session(nb::object model, bool optimize, bool exact, int threads, const std::string& engine,
                            const std::string& ort_library) {
  auto& shared = nb::cast<SharedModel&>(model);
  SessionOptions options;
  options.optimize = optimize;
  options.exact = exact;
  options.engine = engine;
  options.ort_library = ort_library;
  options.ort_threads = threads;
  const SharedModel::Turn turn(shared);
  auto session = working([&] { return Session::from_model(shared.model(), options); });
  return new PooledSession(std::move(session), threads, std::move(model));
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
  nb::class_<PooledSession>(m, "Session", "A model ready to run; any number of threads may run it at once.")
      .def(nb::new_(&make_session), nb::arg("model"), nb::arg("optimize") = true, nb::arg("exact") = false,
           nb::arg("threads") = 0, nb::arg("engine") = "anyshape", nb::arg("ort_library") = "")
      .def("run", run_session, nb::arg("feed"), nb::arg("seed") = 0, nb::arg("max_bytes") = 0, nb::arg("timeout") = 0.0,
           nb::arg("cancel").none() = nb::none())
      .def("inputs", [](const PooledSession& self) { return io_list(self.session().inputs()); })
      .def("optional_inputs", [](const PooledSession& self) { return io_list(self.session().optional_inputs()); })
      .def("outputs", [](const PooledSession& self) { return io_list(self.session().outputs()); })
      .def("engine", [](const PooledSession& self) { return self.session().engine(); })
      .def("plan_text", plan_text, nb::arg("shapes") = std::map<std::string, std::vector<int64_t>>());
}

}  // namespace anyshape::python
