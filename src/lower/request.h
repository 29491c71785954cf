#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/graph.h"

namespace anyshape::lower {

// `name` for axis `axis` of the input or output `value`; empty: "VALUE.AXIS".
struct AxisName {
  std::string value;
  int64_t axis = 0;
  std::string name;
};

// The type of an input as a user writes it: "x=f32[batch,120,?]".
struct InputType {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::string> sizes;  // a number, a name, or "?"
  std::string value;               // of an input that is no tensor, as a Python literal: "sr=16000"
};

// What a user wants of an export.
struct Request {
  int64_t opset = 17;
  std::vector<AxisName> dynamic;
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
  std::shared_ptr<const OpTable> ops;  // what the graph's records are kept by; null: they live as long as the program
  std::shared_ptr<const Graph> graph;
  Facts facts;  // by value id of the graph
  std::vector<std::pair<std::string, int64_t>> opsets;
  std::vector<Guard> guards;
  std::vector<std::string> notes;  // sentences for the report
  // Loops over an axis that the capture has unrolled, a sentence each: other sizes give something else than the model.
  std::vector<std::string> unrolled;
  std::vector<std::pair<std::string, std::string>> custom_shapes;
};

}  // namespace anyshape::lower
