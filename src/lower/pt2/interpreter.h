#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/pt2/program.h"
#include "lower/accidents.h"
#include "lower/lowering.h"
#include "lower/request.h"

namespace anyshape::lower {

// Runs the nodes of an exported program over a Lowering: tensors become values of the graph, sizes become expressions.
class Pt2Interpreter {
 public:
  Pt2Interpreter(Lowering& lowering, const Request& request) : l_(lowering), request_(request), accidents_(lowering) {}

  void bind(const std::string& name, Arg value) { values_[name] = std::move(value); }
  // An input that is a number: its recorded value.
  Status bind_plain_input(const pt2::Argument& argument, const std::string& name);
  // What the file's symbols stand for, and their sizes in the example.
  void set_sizes(pt2::Leaf leaf, std::vector<std::pair<Dim, int64_t>> example);

  void run(const pt2::Graph& graph);
  Arg literal(const pt2::Argument& argument) const;
  // A literal, or the value of that name.
  Arg value(const pt2::Argument& argument);
  const std::vector<std::pair<std::string, std::string>>& custom_shapes() const { return custom_shapes_; }
  const Accidents& accidents() const { return accidents_; }

 private:
  void run_node(const pt2::Graph& graph, const pt2::Node& node);
  Arg call(const pt2::Graph& graph, const pt2::Node& node);
  Arg call_custom(const pt2::Graph& graph, const pt2::Node& node, std::string_view space, std::string_view name);
  Arg call_higher_order(const pt2::Node& node, std::string_view name);
  Arg cond(const pt2::Node& node);
  Arg while_loop(const pt2::Node& node);
  Arg scan(const pt2::Node& node);
  Arg map(const pt2::Node& node);
  Arg scan_over(const pt2::Graph& body, const Arguments& states, const Arguments& cut, const Arguments& more);
  void note_rule(const std::string& name, const Refs& in, const Facts& out);
  Arguments run_subgraph(const pt2::Graph& graph, const Arguments& inputs);
  void name_results(const pt2::Graph& graph, const pt2::Node& node, const Arg& result);
  void note_layout(const Var& variable, const Dims& dims, const pt2::TensorMeta& meta);
  Arg checked(const pt2::Graph& graph, const std::string& name, Arg value);
  std::optional<Dim> recorded(const pt2::Size& size) const;
  void set_place(const pt2::Node& node);
  // The error is placed at the line of the program that the node comes from.
  void place_error(const pt2::Node& node);

  Lowering& l_;
  const Request& request_;
  Accidents accidents_;
  bool placed_ = false;  // the error says already which node it comes from: one inside of a sub-graph
  std::unordered_map<std::string, Arg> values_;
  pt2::Leaf leaf_;
  std::unordered_map<Dim, int64_t> example_;
  std::vector<std::pair<std::string, std::string>> custom_shapes_;
};

}  // namespace anyshape::lower
