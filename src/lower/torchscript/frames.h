#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lower/torchscript/value.h"

namespace anyshape::lower::script {

using Body = std::vector<torchscript::Statement>;

// How a block ends: at its last statement, or by break, continue or return.
enum class Flow { next, leave, again, give };

// One function of the program that is being run.
struct Frame {
  const torchscript::Function* function = nullptr;
  Names names;
  std::string module;  // path
  Value result;
  int line = 0;
  // The blocks that run now, outermost first, each with the statement it goes on with.
  std::vector<std::pair<const Body*, size_t>> open;
  int held = 0;  // > 0: the rest of the function is not only what `open` says (a loop, one way of a branch)
};

// The functions that run now, outermost first, and so the place in the program.
class Frames {
 public:
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  Frame& top() { return *all_.back(); }
  const Frame& top() const { return *all_.back(); }
  const std::vector<std::unique_ptr<Frame>>& all() const { return all_; }
  Frame& push(const torchscript::Function& function);
  void pop() { all_.pop_back(); }

  // "FILE:LINE"; empty outside of the program.
  std::string place() const;
  // Nodes are called after the modules that run, and carry the place.
  void show_place(Lowering& lowering) const;

 private:
  std::vector<std::unique_ptr<Frame>> all_;
};

}  // namespace anyshape::lower::script
