#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace anyshape {

// Where ONNX Runtime's C library may be, in the order of the search.
struct OrtPlaces {
  // Named by the user, a file or a folder: no other place is looked at. `given_by` says by what.
  std::filesystem::path given;
  std::string given_by;
  std::vector<std::filesystem::path> prefixes;       // of Python installations: PREFIX/lib/python3*/site-packages
  std::vector<std::filesystem::path> site_packages;  // folders with Python packages
  std::vector<std::filesystem::path> folders;        // of libraries
};

// `given` by --ort-lib, else by the variable ANYSHAPE_ORT_LIB; else the Python environments that are active or on PATH,
// then those of the user and the system, then the system's library folders.
OrtPlaces ort_places(const std::filesystem::path& given);

// The first library found; of several versions in one folder the highest. Usage error "ort.library" with the places.
Result<std::filesystem::path> find_ort_library(const OrtPlaces& places);

}  // namespace anyshape
