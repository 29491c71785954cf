#include "anyshape/session.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>

#include "errors.h"
#include "parts.h"
#include "values.h"

namespace nb = nanobind;

namespace anyshape::python {
namespace {

// A session with as many contexts as threads have ever run it at once.
class PooledSession {
 public:
  PooledSession(Session session, int threads) : session_(std::move(session)), threads_(threads) {
    for (const IoInfo& input : session_.inputs()) names_.emplace_back(input.name.c_str());
  }

  const Session& session() const { return session_; }
  nb::list run(nb::dict feed, uint64_t seed, int64_t max_bytes);
  // This one, or the one whose inputs the feed names, too, that have a default here.
  PooledSession& fed_with(nb::dict feed);

 private:
  std::vector<AnyValue> values(nb::dict feed, Keep& keep) const;
  Result<std::vector<AnyValue>> run_one(std::span<const AnyValue> inputs, const RunOptions& options);

  Session session_;
  int threads_;
  std::vector<nb::str> names_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Context>> idle_;
  std::map<std::vector<std::string>, std::unique_ptr<PooledSession>> overriding_;  // by optional inputs that are fed
};

Error input_error(const char* code, const std::string& name, const char* sentence) {
  return {Error::Kind::usage, code, "input \"" + name + "\"", sentence, {}};
}

std::vector<AnyValue> PooledSession::values(nb::dict feed, Keep& keep) const {
  std::vector<AnyValue> out;
  size_t used = 0;
  for (size_t i = 0; i < names_.size(); ++i) {
    const IoInfo& input = session_.inputs()[i];
    PyObject* given = PyDict_GetItemWithError(feed.ptr(), names_[i].ptr());
    if (!given && PyErr_Occurred()) throw nb::python_error();
    if (!given && input.kind != AnyValue::Kind::optional)
      raise(input_error("input.missing", input.name, "nothing is given for it"));
    used += given ? 1 : 0;
    out.push_back(to_value(given ? nb::handle(given) : nb::handle(Py_None), input.kind, input.type, keep));
  }
  if (used == nb::len(feed)) return out;
  for (const auto& [key, value] : feed) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    const auto known = [&](const IoInfo& input) { return input.name == name; };
    if (std::none_of(session_.inputs().begin(), session_.inputs().end(), known))
      raise(input_error("input.unknown", name, "the model has no such input"));
  }
  return out;
}

Result<std::vector<AnyValue>> PooledSession::run_one(std::span<const AnyValue> inputs, const RunOptions& options) {
  std::unique_ptr<Context> context;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      context = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!context) context = std::make_unique<Context>(session_, threads_);
  auto out = context->run(inputs, options);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(context));
  return out;
}

PooledSession& PooledSession::fed_with(nb::dict feed) {
  std::vector<std::string> fed;
  for (const IoInfo& input : session_.optional_inputs())
    if (feed.contains(input.name.c_str())) fed.push_back(input.name);
  if (fed.empty()) return *this;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = overriding_.find(fed); it != overriding_.end()) return *it->second;
  }
  auto session = value_of(unlocked([&] { return session_.overriding(fed); }));
  auto made = std::make_unique<PooledSession>(std::move(session), threads_);
  const std::lock_guard lock(mutex_);
  return *overriding_.try_emplace(std::move(fed), std::move(made)).first->second;
}

nb::list run_session(PooledSession& self, nb::dict feed, uint64_t seed, int64_t max_bytes) {
  return self.fed_with(feed).run(feed, seed, max_bytes);
}

nb::list PooledSession::run(nb::dict feed, uint64_t seed, int64_t max_bytes) {
  Keep keep;
  const std::vector<AnyValue> inputs = values(feed, keep);
  RunOptions options;
  options.seed = seed;
  options.max_bytes = max_bytes;
  const auto outputs = value_of(unlocked([&] { return run_one(inputs, options); }));
  nb::list out;
  for (const AnyValue& value : outputs) out.append(to_python(value));
  return out;
}

PooledSession* make_session(SharedModel& shared, bool optimize, int threads, const std::string& engine,
                            const std::string& ort_library) {
  SessionOptions options;
  options.optimize = optimize;
  options.engine = engine == "onnxruntime" ? Engine::onnxruntime : Engine::anyshape;
  options.ort_library = ort_library;
  options.ort_threads = threads;
  auto session = value_of(unlocked([&] {
    const std::lock_guard lock(shared.mutex);
    return Session::from_model(shared.model, options);
  }));
  return new PooledSession(std::move(session), threads);
}

nb::list io_list(const std::vector<IoInfo>& infos) {
  constexpr const char* kKinds[] = {"none", "tensor", "sequence", "optional", "map"};
  nb::list out;
  for (const IoInfo& info : infos)
    out.append(nb::make_tuple(info.name, kKinds[static_cast<size_t>(info.kind)], static_cast<int>(info.type)));
  return out;
}

std::string plan_text(const PooledSession& self, const std::map<std::string, std::vector<int64_t>>& sizes) {
  return value_of(unlocked([&] { return self.session().plan_text({sizes.begin(), sizes.end()}); }));
}

}  // namespace

void bind_session(nb::module_& m) {
  nb::class_<PooledSession>(m, "Session", "A model ready to run; any number of threads may run it at once.")
      .def(nb::new_(&make_session), nb::arg("model"), nb::arg("optimize") = true, nb::arg("threads") = 0,
           nb::arg("engine") = "anyshape", nb::arg("ort_library") = "")
      .def("run", run_session, nb::arg("feed"), nb::arg("seed") = 0, nb::arg("max_bytes") = 0)
      .def("inputs", [](const PooledSession& self) { return io_list(self.session().inputs()); })
      .def("optional_inputs", [](const PooledSession& self) { return io_list(self.session().optional_inputs()); })
      .def("outputs", [](const PooledSession& self) { return io_list(self.session().outputs()); })
      .def("engine", [](const PooledSession& self) { return self.session().engine(); })
      .def("plan_text", plan_text, nb::arg("shapes") = std::map<std::string, std::vector<int64_t>>());
}

}  // namespace anyshape::python
