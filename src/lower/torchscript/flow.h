#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lower/torchscript/frames.h"

namespace anyshape::lower::script {

// Something a branch or a loop body can change: a variable, an item of a container, an attribute, a tensor's memory.
struct Spot {
  enum class Kind { name, item, entry, attribute, memory };
  Kind kind = Kind::name;
  std::string name;
  std::shared_ptr<List> list;
  std::shared_ptr<Dict> dict;
  std::shared_ptr<Instance> instance;
  Var memory;
  size_t index = 0;

  bool operator==(const Spot& other) const;
  std::string text() const;  // for messages
};

struct Changed {
  Spot spot;
  Value before, after;
};

// What a way through the program did.
struct Outcome {
  std::vector<Changed> changed;
  std::vector<std::shared_ptr<List>> grown;  // lists that did not keep their length
  Flow flow = Flow::next;
};

// A part of a value that a node of the graph can carry.
enum class Carrier { none, tensor, integer, real, truth };
Carrier carrier_of(const Value& value);
// Whether two values are one and the same without looking at any data.
bool same_value(const Value& a, const Value& b);

}  // namespace anyshape::lower::script
