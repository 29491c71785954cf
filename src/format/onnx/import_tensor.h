#pragma once

#include "format/onnx/external.h"
#include "format/onnx/proto.h"
#include "ir/attribute.h"
#include "ir/graph.h"
#include "tensor/tensor.h"

namespace anyshape::onnx {

// What imported tensors point into and where external data is found.
struct Source {
  std::shared_ptr<const void> owner;
  ExternalFiles* external = nullptr;
};

Result<Tensor> import_tensor(const TensorProto& proto, const Source& source);
Result<SparseTensor> import_sparse(const SparseTensorProto& proto, const Source& source);
Result<Declared> import_type(const TypeProto& proto);
// A declared type as a fact with nothing known of names: used for type attributes.
Fact fact_of(const Declared& declared);
// As the file says it, or else as the field tells that is there.
AttributeType type_of(const AttributeProto& proto);

}  // namespace anyshape::onnx
