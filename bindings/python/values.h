#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "anyshape/any_value.h"

namespace anyshape::python {

// What keeps borrowed memory alive while values over it are used.
using Keep = std::vector<nanobind::ndarray<nanobind::ro>>;

// `object` as a value of that kind and element type: arrays are borrowed where their memory can be used as it is, and
// `keep` holds them; all else is copied. Raises anyshape.Error.
AnyValue to_value(nanobind::handle object, AnyValue::Kind kind, DType type, Keep& keep);

// A tensor over the memory of `object`, for a run to write into; `keep` holds it. Raises anyshape.Error,
// "output.memory", where that is not dense, aligned and writable.
AnyValue to_place(nanobind::handle object, std::vector<nanobind::ndarray<>>& keep);

enum class Access { write, read };

// NumPy arrays over the memory of the value, which they keep; lists for sequences, None or the value for optionals,
// dicts for maps. Arrays to read refuse to be written.
nanobind::object to_python(const AnyValue& value, Access access);

}  // namespace anyshape::python
