#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/zip.h"

namespace anyshape::pt2 {

// Where the parts of an archive are.
struct Layout {
  std::string root;   // of all names: "" or "name/"
  std::string model;  // of the program's name: "model"
  const ZipMember* program = nullptr;
};

// Recognises files that are no archive at all but look like something known. Code: pt2.layout.
Status check_is_archive(std::span<const std::byte> bytes);

// The layout of PyTorch 2.9 and later. Of several programs the one called "model", else the first. Code: pt2.layout for
// the older layouts and for archives of another kind.
Result<Layout> find_layout(const ZipReader& archive);

}  // namespace anyshape::pt2
