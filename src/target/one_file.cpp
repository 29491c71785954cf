#include "target/one_file.h"

#include "format/onnx/walk.h"

namespace anyshape::target {

Result<bool> into_one_file(const onnx::ModelFile& file, fixes::Edit& edit) {
  std::vector<onnx::TensorProto*> outside;
  onnx::for_each_tensor(edit.proto, [&](onnx::TensorProto& tensor, onnx::TensorRole) {
    if (onnx::is_external(tensor)) outside.push_back(&tensor);
  });
  for (onnx::TensorProto* tensor : outside) {
    TRY(const onnx::TensorBytes held, file.tensor(*tensor));
    edit.keep(held.owner);
    tensor->raw_data = held.bytes;
    tensor->external_data.clear();
    tensor->data_location.reset();
  }
  return !outside.empty();
}

}  // namespace anyshape::target
