#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/all.h"
#include "ops/testing.h"

namespace anyshape::ops {

// A graph written node by node; names that only the enclosing graph knows are captured.
class GraphMaker {
 public:
  explicit GraphMaker(GraphMaker* outer = nullptr) : outer_(outer) {}

  GraphMaker& input(const std::string& name) {
    graph->inputs.push_back(add(name));
    return *this;
  }
  // Declared as a tensor of that many axes.
  GraphMaker& input(const std::string& name, DType dtype, size_t rank) {
    input(name);
    Declared declared{Fact::Kind::tensor, dtype, std::vector<DeclaredDim>(rank), nullptr};
    graph->values.back().declared = std::move(declared);
    return *this;
  }
  GraphMaker& constant(const std::string& name, std::vector<int64_t> dims, std::vector<int64_t> values) {
    Value& value = graph->values[add(name)];
    value.is_initializer = true;
    value.constant = std::make_shared<const Fact>(Fact::of_constant(Tensor::of_ints(std::move(dims), values)));
    return *this;
  }
  GraphMaker& truth(const std::string& name) {
    constant(name, {}, {1});
    return node("Cast", {name}, {name + ".bool"}, "to=9");
  }
  GraphMaker& node(const std::string& type, const std::vector<std::string>& in, const std::vector<std::string>& out,
                   std::string_view attributes = "",
                   std::vector<std::pair<std::string, std::shared_ptr<Graph>>> bodies = {}, int64_t version = 17) {
    Node made;
    made.name = out.front();
    made.type = type;
    made.version = version;
    made.op = all_ops().find("", type, version);
    for (const auto& name : in) made.in.push_back(name.empty() ? kNoValue : use(name));
    for (const auto& name : out) made.out.push_back(add(name));
    Symbols unused;
    made.attributes = parse_attributes(attributes, unused);
    for (auto& [name, body] : bodies) made.attributes.push_back({name, body});
    graph->nodes.push_back(std::move(made));
    return *this;
  }
  std::shared_ptr<Graph> finish(const std::vector<std::string>& outputs) {
    for (const auto& name : outputs) graph->outputs.push_back(use(name));
    graph->finish();
    return graph;
  }

 private:
  ValueId add(const std::string& name) {
    graph->values.emplace_back().name = name;
    return static_cast<ValueId>(graph->values.size() - 1);
  }
  ValueId use(const std::string& name) {
    if (const auto id = graph->find(name)) return *id;
    EXPECT_TRUE(outer_) << name;
    const ValueId outside = outer_->use(name), inside = add(name);
    graph->captures.push_back({outside, inside});
    return inside;
  }

  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  GraphMaker* outer_;
};

}  // namespace anyshape::ops
