#include <algorithm>

#include "anyshape/session.h"
#include "engine.h"

namespace anyshape::bench {
namespace {

class AnyshapeRunner : public Runner {
 public:
  AnyshapeRunner(Session session, int threads)
      : session_(std::move(session)), threads_(threads), context_(session_, threads) {}

  Status bind(const Feed& feed) override {
    inputs_.clear();
    for (const IoInfo& input : session_.inputs()) {
      const auto it =
          std::find_if(feed.begin(), feed.end(), [&](const auto& entry) { return entry.first == input.name; });
      if (it == feed.end()) return usage("input.missing", "nothing is given for the input {}", input.name);
      inputs_.push_back(it->second);
    }
    TRY(outputs_, context_.run(inputs_));
    return {};
  }
  Status run() override { return context_.run_into(inputs_, outputs_); }
  Result<std::vector<AnyValue>> outputs() override { return outputs_; }
  Result<RunnerPtr> twin() override { return std::make_unique<AnyshapeRunner>(session_, threads_); }

 private:
  Session session_;
  int threads_;
  Context context_;
  std::vector<AnyValue> inputs_, outputs_;
};

}  // namespace

Result<RunnerPtr> load_anyshape(const File& model, int threads) {
  TRY(Session session, Session::load(model));
  return std::make_unique<AnyshapeRunner>(std::move(session), threads);
}

}  // namespace anyshape::bench
