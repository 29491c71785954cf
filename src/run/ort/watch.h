#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "run/ort/api.h"

namespace anyshape::ort {

// A thread that asks for each run under way whether it is to stop, and tells ONNX Runtime, which then ends it between
// two nodes. Started by the first such run; a run costs no more than a lock.
class Watcher {
 public:
  explicit Watcher(std::shared_ptr<const Library> library) : library_(std::move(library)) {}
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // One run under way, from begin() to its end.
  class Run {
   public:
    // The error of `stop` ends the run; an empty one: nobody will. `stop` is asked by another thread.
    Run(Watcher& watcher, const std::function<Status()>& stop) : watcher_(watcher), stop_(stop) {}
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    Status begin();
    // Why it was stopped, if it was.
    Status end();
    const RunOptions* options() const { return options_; }

   private:
    friend class Watcher;
    Watcher& watcher_;
    const std::function<Status()>& stop_;
    RunOptions* options_ = nullptr;
    Status why_;
  };

 private:
  Status add(Run& run);
  void remove(const Run& run);
  void loop();

  std::shared_ptr<const Library> library_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Run*> runs_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace anyshape::ort
