#pragma once

#include <string>

#include "format/pt2/program.h"

namespace anyshape::pt2 {

// A program as a few lines of text: inputs, nodes with their sizes, outputs, weights, ranges, guards.
std::string dump(const ExportedProgram& program);

}  // namespace anyshape::pt2
