#include "run/cpu/engine.h"

#include <mutex>

#include "base/workers.h"
#include "kernels/dense_copy.h"
#include "run/cpu/target.h"

namespace anyshape::cpu {
namespace {

class WorkersQueue final : public Queue {
 public:
  explicit WorkersQueue(int threads) : workers_(threads) {}

  Status run(const EngineKernel& kernel, const ViewArgs& args, int64_t tasks) override {
    if (kernel.begin) TRY_OK(kernel.begin(args));
    if (tasks <= 1 || !kernel.tasks) return kernel.run(args, 0, tasks);
    struct Shared {
      const ViewArgs& args;
      const EngineKernel& kernel;
      std::mutex mutex;
      Status status;
    } shared{args, kernel, {}, {}};
    workers_.run(
        tasks,
        [](void* state, int64_t first, int64_t last) {
          auto& s = *static_cast<Shared*>(state);
          if (Status ran = s.kernel.run(s.args, first, last); !ran) {
            std::lock_guard lock(s.mutex);
            s.status = std::move(ran);
          }
        },
        &shared);
    return std::move(shared.status);
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

std::unique_ptr<Queue> make_queue(int threads) { return std::make_unique<WorkersQueue>(threads); }

const PlanEngine& engine() {
  static const PlanEngine kEngine{"anyshape", target(), make_queue};
  return kEngine;
}

Result<std::unique_ptr<Executable>> load(const EngineModel& model, const EngineOptions& options) {
  return load_planned(engine(), model, options);
}

}  // namespace anyshape::cpu
