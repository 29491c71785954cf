#include "run/cpu/engine.h"

#include <algorithm>
#include <mutex>

#include "base/workers.h"
#include "kernels/dense_copy.h"
#include "run/cpu/target.h"

namespace anyshape::cpu {
namespace {

// Tasks between two looks at the limits of a run: so few calls of a kernel more that they cost nothing.
constexpr int64_t kLooks = 64;

// A kernel whose tasks are being done.
struct Tasks {
  const EngineKernel& kernel;
  const ViewArgs& args;
  const RunLimits* limits;  // null: nothing can end the run
  const WorkScope* scope;   // of the thread that runs
  int64_t piece;
  std::mutex mutex = {};
  Status status = {};

  Status run(int64_t first, int64_t last) const {
    if (!limits) return kernel.run(args, first, last);
    for (; first < last; first += piece) {
      TRY_OK(limits->check_cancelled(scope));
      TRY_OK(kernel.run(args, first, std::min(last, first + piece)));
    }
    return {};
  }
};

class WorkersQueue final : public Queue {
 public:
  explicit WorkersQueue(const Threads& threads) : workers_(threads) {}

  Status run(const EngineKernel& kernel, const ViewArgs& args, int64_t tasks, const RunLimits& limits) override {
    if (kernel.begin) TRY_OK(kernel.begin(args));
    if (tasks <= 1 || !kernel.tasks) return kernel.run(args, 0, tasks);
    Tasks all{kernel, args, limits.can_end() ? &limits : nullptr, Work::scope(), std::max<int64_t>(1, tasks / kLooks)};
    const bool each_once = workers_.run(
        tasks,
        [](void* state, int64_t first, int64_t last) {
          auto& t = *static_cast<Tasks*>(state);
          if (Status ran = t.run(first, last); !ran) {
            std::lock_guard lock(t.mutex);
            t.status = std::move(ran);
          }
        },
        &all);
    if (!each_once) return usage("run.pool", "the caller's pool does not do every task once");
    return std::move(all.status);
  }

  void expect_tasks() override { workers_.wake(); }

  Status copy(const View& from, const View& to) override {
    kernels::dense_copy(from, to);
    return {};
  }

 private:
  Workers workers_;
};

}  // namespace

std::unique_ptr<Queue> make_queue(const Threads& threads) { return std::make_unique<WorkersQueue>(threads); }

const PlanEngine& engine() {
  static const PlanEngine kEngine{"anyshape", target(), make_queue};
  return kEngine;
}

Result<std::unique_ptr<Executable>> load(const EngineModel& model, const EngineOptions& options) {
  return load_planned(engine(), model, options);
}

}  // namespace anyshape::cpu
