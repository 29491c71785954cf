#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "mqh/class_description.h"
#include "mqh/expression.h"

// The parts of a class, each as text of its body; for class_text().
namespace anyshape::mqh {

// A program with the words that all parts share.
struct Writer {
  const ClassDescription& described;
  std::string class_name;
  Spelling members;  // of the sizes

  // The size as an expression of type long. REQUIRES: check_sizes().
  std::string size(Dim dim) const { return *mql5_expression(dim, members); }
  // How many entries it has.
  std::string count(const Port& port) const { return size(product(port.dims)); }
  // The size as an argument of this type.
  std::string size_as(std::string_view type, Dim dim) const {
    return dim.is_constant() ? size(dim) : fmt::format("({}){}", type, size(dim));
  }
  bool is_dynamic() const { return !described.sizes.empty(); }
};

Writer writer_of(const ClassDescription& described);
// Refused mql5.output-size where a size has no expression.
Status check_sizes(const Writer& writer);

// SetShapes() and what sets sizes.
std::string shape_members(const Writer& writer);
std::string size_methods(const Writer& writer);
// The overloads of Predict().
std::string predict_methods(const Writer& writer);
// How the first of them is called: "vectorf x(120),y;" and "model.Predict(x,y)".
std::pair<std::string, std::string> example_call(const Writer& writer);
// SelfTest() and what it needs.
std::string self_test_members(const Writer& writer);
std::string self_test_method(const Writer& writer);

}  // namespace anyshape::mqh
