#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/error.h"
#include "anyshape/tolerance.h"

namespace anyshape {

// A folder as ONNX's own tests are: model.onnx, and beside it test_data_set_N with input_I.pb and output_I.pb.
struct TestFolder {
  std::filesystem::path path;
  std::vector<std::filesystem::path> sets;  // in order of their numbers; may be empty
  // What ROOT/manifest.tsv says of it in lines of kind, name, relative, absolute, sets, if it is ROOT/KIND/NAME; else
  // that of ONNX's own runner.
  Tolerance tolerance{1e-3, 1e-7};

  std::filesystem::path model() const { return path / "model.onnx"; }
};

// The folder at `root` and all those below it, by path; none lies in another that has sets. Usage error "file.open".
ANYSHAPE_API Result<std::vector<TestFolder>> find_test_folders(const std::filesystem::path& root);

// Those that ROOT/manifest.tsv lists, in its order. Usage error "file.open", also where one has other sets than listed.
ANYSHAPE_API Result<std::vector<TestFolder>> listed_test_folders(const std::filesystem::path& root);

// The file of an input or output in a set: `stem` is "input" or "output".
ANYSHAPE_API std::filesystem::path value_file(const std::filesystem::path& set, std::string_view stem, size_t index);

}  // namespace anyshape
