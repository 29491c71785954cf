#pragma once

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lower/torchscript/value.h"

namespace anyshape::lower::script {

// What is as it was when a body was opened, kept so that it can be put back.
struct Mark {
  Names names;
  std::vector<std::pair<std::shared_ptr<List>, List>> lists;
  std::vector<std::pair<std::shared_ptr<Dict>, Dict>> dicts;
  std::vector<std::pair<std::shared_ptr<Instance>, std::map<std::string, Value>>> instances;
  struct Memory {
    Var root;
    Ref value;
    uint64_t writes;
  };
  std::vector<Memory> memories;
  std::unordered_set<const void*> there;  // containers and tensors that the program could name
};

// The marks of the bodies that are open. Whoever changes a container says so before, for all of them.
class Journal {
 public:
  bool in_body() const { return !marks_.empty(); }
  void open(Mark& mark) { marks_.push_back(&mark); }
  void close() { marks_.pop_back(); }

  void note(const std::shared_ptr<List>& list);
  void note(const std::shared_ptr<Dict>& dict);
  void note(const std::shared_ptr<Instance>& instance);

 private:
  std::vector<Mark*> marks_;
};

}  // namespace anyshape::lower::script
