#pragma once

#include <memory>
#include <string_view>

#include "ir/graph.h"

// Graphs as rows of text, for tests of passes and plans.
namespace anyshape::testing {

// A line each, leading spaces do not count:
//   input x f32[batch, 3]
//   constant w f32[3] = [1, 2, 3]    without entries: ones
//   y, z <- Split(x, w) axis=1       attributes as in ops/testing.h; "-" for an input that is absent;
//                                    "Clip@6(x)" at that opset, else 17; "com.microsoft.Gelu(x)" of a domain
//   output y
// Names that are not there are a gtest failure.
std::shared_ptr<const Graph> parse_graph(std::string_view text);

}  // namespace anyshape::testing
