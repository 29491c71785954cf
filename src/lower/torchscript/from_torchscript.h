#pragma once

#include "format/torchscript/archive.h"
#include "ir/op.h"
#include "lower/request.h"

namespace anyshape::lower {

// The module's forward as an ONNX graph. The types of the inputs come from the archive (a traced module) or from the
// request. What the module keeps in attributes from one call to the next begins as the archive holds it, unless the
// request has an input type of that path ("decoder.hidden"): then it is an input too. What it becomes is the output
// "PATH_next".
// Codes: usage dynamic.*, freeze.*, names.*, input.missing (the hint is the option to add), input.unknown, input.type;
// refused script.* (the place is the line of the archive's source), aten.*, and those of the operators' rules.
Result<Lowered> from_torchscript(const torchscript::Script& script, const Request& request, const OpTable& ops);

}  // namespace anyshape::lower
