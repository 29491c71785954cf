#pragma once

#include <nanobind/nanobind.h>

#include <mutex>

#include "anyshape/check.h"
#include "anyshape/model.h"

namespace anyshape::python {

// A model for any number of threads, one at a time.
struct SharedModel {
  Model model;
  std::mutex mutex;

  explicit SharedModel(Model loaded) : model(std::move(loaded)) {}
};

nanobind::dict to_python(const ValueType& value);
nanobind::list to_python(const std::vector<ValueType>& values);
// The file a path-like object names.
std::filesystem::path path_of(nanobind::handle object);
std::vector<std::byte> bytes_of(nanobind::handle buffer);

void bind_model(nanobind::module_& m);
void bind_session(nanobind::module_& m);
void bind_export(nanobind::module_& m);

}  // namespace anyshape::python
