#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "passes/pipeline.h"
#include "passes/testing.h"

namespace anyshape::testing {

// The graph before a pass and after it alone, constants and nodes only. Empty: it stays as it is.
struct PassRow {
  std::string_view before, after = "";
};

// `passes`: those that run, separated by spaces.
void check_passes(std::string_view passes, const Target& target, std::initializer_list<PassRow> rows);
// For the processor.
void check_passes(std::string_view passes, std::initializer_list<PassRow> rows);

}  // namespace anyshape::testing
