#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "anyshape/error.h"

namespace anyshape::python {

// Raises anyshape.Error with the fields of `error`, `cause` being its __cause__. The lock of the interpreter must be
// held.
[[noreturn]] void raise(const Error& error, nanobind::handle cause = {});

// The value, or the error raised.
template <class T>
T value_of(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace anyshape::python
