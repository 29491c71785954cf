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

// What a user wants of an export.
struct Request {
  int64_t opset = 17;
  std::vector<DynamicAxis> dynamic;
  std::vector<InputType> inputs;
  std::vector<std::string> input_names, output_names;
  bool all_static = false;                                         // pin every axis that is not named
  std::vector<std::pair<std::string, int64_t>> freeze;             // symbol, size
  std::vector<std::pair<std::string, std::string>> custom;         // "ns::op" to "domain::Name", or "ns" to "domain"
  std::vector<std::pair<std::string, std::string>> custom_shapes;  // "domain::Name" of the model, rule text
  bool training = false;
  bool embed_guards = false;        // the graph fails where a guard does not hold
  std::vector<std::string> forget;  // texts of guards not to embed
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

// A graph made from a program, ready to be written.
struct Lowered {
  std::shared_ptr<Symbols> symbols;
  std::shared_ptr<Graph> graph;  // its inputs and outputs declared in the user's names
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::vector<Guard> guards;
  std::vector<std::string> notes;  // sentences for the report
  // Loops over an axis that the capture has unrolled, a sentence each: other sizes give something else than the model.
  std::vector<std::string> unrolled;
  std::vector<std::pair<std::string, std::string>> custom_shapes;
};

}  // namespace anyshape::lower
