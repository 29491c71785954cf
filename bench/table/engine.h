#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "anyshape/any_value.h"
#include "base/error.h"

namespace anyshape::bench {

// Values by the names of the inputs they are for.
using Feed = std::vector<std::pair<std::string, AnyValue>>;

// One engine with one model, as lean as its interface allows: inputs and outputs stay where they are from run to run.
// For one thread at a time.
class Runner {
 public:
  virtual ~Runner() = default;
  // Runs once, into new memory; run() repeats it. The feed must live until the next bind().
  virtual Status bind(const Feed& feed) = 0;
  virtual Status run() = 0;
  // Of the last run, in the order of the model.
  virtual Result<std::vector<AnyValue>> outputs() = 0;
  // Another one of the same loaded model, for another thread.
  virtual Result<std::unique_ptr<Runner>> twin() = 0;
};

using RunnerPtr = std::unique_ptr<Runner>;
using File = std::filesystem::path;

Result<RunnerPtr> load_anyshape(const File& model, int threads);
Result<RunnerPtr> load_onnxruntime(const File& model, int threads);
Result<std::string> onnxruntime_version();
// In float32, on the processor. Usage error "openvino.library" if its C library is not there.
Result<RunnerPtr> load_openvino(const File& model, int threads);

struct EngineName {
  std::string_view name;
  Result<RunnerPtr> (*load)(const File& model, int threads);
};
inline constexpr EngineName kEngines[] = {
    {"anyshape", load_anyshape}, {"onnxruntime", load_onnxruntime}, {"openvino", load_openvino}};

}  // namespace anyshape::bench
