#pragma once

#include "format/onnx/commit.h"
#include "format/onnx/file.h"

namespace anyshape::onnx {

// write_model() up to the point where nothing is replaced yet.
Result<ModelCommit> prepare_write(const ModelFile& model, const std::filesystem::path& path,
                                  const WriteOptions& options = {});

}  // namespace anyshape::onnx
