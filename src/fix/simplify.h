#pragma once

#include "fix/edit.h"

namespace anyshape::fixes {

// The facts of the model that hold wherever ONNX Runtime runs it (SolveOptions::certain): an initializer that is an
// input, too, may be fed something else.
Typed certain_facts(std::shared_ptr<const Graph> graph, const onnx::ModelProto& model);

// What is known before the model runs becomes a constant, reshapes get constant targets where there are such, nodes
// that hand their input on, compute what another computes, or are read by nobody go. Bodies and local functions stay as
// they are. `graph` is the model of `edit`. Concluded is only what is certain.
Status simplify(std::shared_ptr<const Graph> graph, Edit& edit);

// Drops initializers nobody reads, and types of values nobody makes.
void drop_unused(Edit& edit);

}  // namespace anyshape::fixes
