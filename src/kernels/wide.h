#pragma once

#include "kernels/convert.h"
#include "kernels/dispatch.h"

namespace anyshape::kernels {

// The tensor itself when it has that element type, else a copy in that type (see convert).
Result<Tensor> converted(const Tensor& tensor, DType dtype);

// Calls visit(T{}) with float or double; error "dtype" for other types.
template <class Visit>
Status visit_real(DType dtype, Visit visit) {
  if (dtype == DType::f32) return visit(float{});
  if (dtype == DType::f64) return visit(double{});
  return unknown("dtype", "no kernel for elements of type {}", name(dtype));
}

// The present tensors among these have the element type of the first. Error "dtype".
Status require_one_type(std::initializer_list<const Tensor*> tensors);

}  // namespace anyshape::kernels
