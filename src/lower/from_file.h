#pragma once

#include <string_view>

#include "base/zip.h"
#include "ir/op.h"
#include "lower/request.h"

namespace anyshape::lower {

// The program of a PyTorch file as an ONNX graph, by the kind of file that it is. What is no archive at all is refused
// as a file of the kind that has this extension (".pt"). Codes: those of the readers and of from_pt2, from_torchscript.
Result<Lowered> from_file(const ZipFile& file, std::string_view extension, const Request& request, const OpTable& ops);

}  // namespace anyshape::lower
