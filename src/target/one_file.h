#pragma once

#include "fix/edit.h"
#include "format/onnx/file.h"

namespace anyshape::target {

// Weights that lie in other files are held by the message itself; true if there were any. `file` is what `edit` was
// made from. Errors external.*, file.open, tensor.*.
Result<bool> into_one_file(const onnx::ModelFile& file, fixes::Edit& edit);

}  // namespace anyshape::target
