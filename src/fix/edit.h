#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text_pool.h"
#include "format/onnx/proto.h"
#include "solve/solve.h"
#include "tensor/tensor.h"

namespace anyshape::fixes {

// A model while it is changed: its message, and what the message points to that is in no file.
class Edit {
 public:
  explicit Edit(onnx::ModelProto message);

  onnx::ModelProto proto;
  onnx::GraphProto& graph() { return *proto.graph; }

  std::string_view keep(std::string text) { return kept_->texts.keep(std::move(text)); }
  void keep(std::shared_ptr<const void> owner) { kept_->owners.push_back(std::move(owner)); }
  // A name like this one that no value has.
  std::string_view unused_name(std::string_view like);
  // The values of those names are these constants from now on: initializers, or what Constant nodes make where that is
  // not allowed. REQUIRES: no node makes them.
  void add_constants(std::vector<std::pair<std::string, Tensor>> constants);
  void add_constant(std::string_view name, Tensor tensor) { add_constants({{std::string(name), std::move(tensor)}}); }
  // The node that makes the value, or null.
  onnx::NodeProto* maker(std::string_view value);
  // Null: the main graph has no such input, or it is no tensor of declared rank.
  onnx::TensorShapeProto* input_shape(std::string_view input);
  // The axis of an input is declared so.
  void declare(const InputAxis& axis, onnx::TensorShapeProto::Dimension dim);

  std::shared_ptr<const void> owner() const { return kept_; }

 private:
  struct Kept {
    TextPool texts;
    std::deque<Tensor> tensors;
    std::vector<std::shared_ptr<const void>> owners;
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  std::optional<std::unordered_set<std::string_view>> taken_;  // names of values, once asked for
};

// Every name of a value in the graph and its bodies.
std::unordered_set<std::string_view> value_names(const onnx::GraphProto& graph);

}  // namespace anyshape::fixes
