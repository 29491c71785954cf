#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "anyshape/axes.h"
#include "ir/builder.h"
#include "ir/graph.h"

namespace anyshape::lower {

inline constexpr int64_t kFirstOpset = 11, kDefaultOpset = 17, kLastOpset = 28;

// What a user wants of an export.
struct Request {
  int64_t opset = kDefaultOpset;
  bool opset_grows = false;  // where an operator is not in it, the next one that has it
  std::vector<DynamicAxis> dynamic;
  std::vector<InputType> inputs;
  std::vector<std::string> input_names, output_names;
  bool all_static = false;                                         // pin every axis that is not named
  std::vector<std::pair<std::string, int64_t>> freeze;             // symbol, size
  std::vector<std::pair<std::string, std::string>> custom;         // "ns::op" to "domain::Name", or "ns" to "domain"
  std::vector<std::pair<std::string, std::string>> custom_shapes;  // "domain::Name" of the model, rule text
  std::vector<std::pair<std::string, int64_t>> custom_opsets;      // domain, version
  bool training = false;
  bool open_weights = false;        // weights become inputs of the graph: Lowered::weights
  bool embed_guards = false;        // the graph fails where a guard does not hold
  std::vector<std::string> forget;  // texts of guards not to embed
  std::vector<std::string> record;  // those that bind, in the metadata only
  std::vector<std::string> insist;  // texts of guards that are no accidents of the capture
};

// A condition the program was captured under and no operator demands.
struct Guard {
  Condition condition;
  std::string text;       // in the names of the model
  std::string origin;     // what recorded it
  bool advisory = false;  // may be an accident of the capture
  // Axis of each symbol: "x:1".
  std::map<std::string, std::string> symbols;
};

// A weight that is an input of the graph.
struct OpenedWeight {
  std::string name;
  Tensor tensor;
};

// A graph made from a program, ready to be written.
struct Lowered {
  int64_t opset = 0;
  std::shared_ptr<Symbols> symbols;
  std::shared_ptr<Graph> graph;  // its inputs and outputs declared in the user's names
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::vector<Guard> guards;
  std::vector<std::string> notes;  // sentences for the report
  // Loops over an axis that the capture has unrolled, a sentence each: other sizes give something else than the model.
  std::vector<std::string> unrolled;
  // Tensors that hold sizes of the example, a sentence each.
  std::vector<std::string> frozen;
  // Loops that were put together from several captures, a sentence each.
  std::vector<std::string> rerolled;
  std::vector<std::pair<std::string, std::string>> custom_shapes;
  // Where the request opens weights: the inputs that stand for them.
  std::map<std::string, OpenedWeight> weights;
};

}  // namespace anyshape::lower
