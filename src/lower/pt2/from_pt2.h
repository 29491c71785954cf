#pragma once

#include "format/pt2/program.h"
#include "ir/op.h"
#include "lower/request.h"

namespace anyshape::lower {

// The program as an ONNX graph. Codes: usage dynamic.*, freeze.*; refused aten.* (the operator, with the source line as
// its place), export.* and those of the operators' rules.
Result<Lowered> from_pt2(const pt2::ExportedProgram& program, const Request& request, const OpTable& ops);

}  // namespace anyshape::lower
