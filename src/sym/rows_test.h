#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "sym/assumptions.h"

// Text to sym/ values for tests that are rows of text.
namespace anyshape {

inline Dim dim_of_text(const std::string& text, Symbols& symbols) {
  std::string error;
  auto dim = parse_dim(text, symbols, &error);
  EXPECT_TRUE(dim) << text << ": " << error;
  return dim.value_or(Dim::unknown());
}

inline Condition condition_of_text(const std::string& text, Symbols& symbols) {
  std::string error;
  auto condition = parse_condition(text, symbols, &error);
  EXPECT_TRUE(condition) << text << ": " << error;
  return condition.value_or(Condition::opaque());
}

}  // namespace anyshape
