#pragma once

#include <memory>

#include "run/ort/api.h"
#include "tensor/datum.h"

namespace anyshape::ort {

// A value of ONNX Runtime, released with its last owner. `keep` lives at least as long.
using ValuePtr = std::shared_ptr<Value>;
ValuePtr own(const std::shared_ptr<const Library>& library, Value* value, std::shared_ptr<const void> keep);

// Tensors are not copied (strings are): the datum must outlive the value. `dtype`: of the tensors of an empty sequence
// that does not know it itself. Codes: ort.*; "ort.value" for what ONNX Runtime cannot take: sequences of anything but
// tensors and maps, texts with a zero inside, optionals without content (on which it crashes).
Result<ValuePtr> to_ort(const std::shared_ptr<const Library>& library, const Datum& datum, DType dtype);

// Tensors are not copied (strings and the items of sequences are); the datum keeps the value alive. `dtype`: of the
// tensors of a sequence that has none.
Result<Datum> from_ort(const std::shared_ptr<const Library>& library, const ValuePtr& value, DType dtype);

// A sequence of tensors without any.
Result<ValuePtr> make_empty_sequence(const std::shared_ptr<const Library>& library, DType dtype);

// The library's numbers of element types: ONNX's up to float4, then its own.
Result<int> element_code(DType dtype);
DType element_dtype(int code);

}  // namespace anyshape::ort
