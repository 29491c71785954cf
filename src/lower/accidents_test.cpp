#include "lower/accidents.h"

#include <gtest/gtest.h>

#include "ops/all.h"

namespace anyshape::lower {
namespace {

// Operators over x[b, s, 3], and guards: those they decide anew at every size, those they have no part in.
class Accident : public testing::Test {
 protected:
  Accident() : assumptions_(symbols_), lowering_(all_ops(), assumptions_, 17), accidents_(lowering_) {
    for (const char* name : {"b", "s"}) assumptions_.assume(Condition::ge(symbols_.symbol(name), 0));
    x_ = lowering_.input("x", Fact::tensor(DType::f32, {size("b"), size("s"), 3}));
  }

  Dim size(const char* text) { return parse_dim(text, symbols_).value_or(0); }
  bool explains(const char* guard) {
    const auto condition = parse_condition(guard, symbols_);
    EXPECT_TRUE(condition) << guard;
    return condition && accidents_.explain(*condition);
  }

  Symbols symbols_;
  Assumptions assumptions_;
  Lowering lowering_;
  Accidents accidents_;
  Ref x_;
};

TEST_F(Accident, OfASlice) {
  accidents_.note_call("slice", {x_, Dim(1), Dim(0), size("3*(s//3)")});
  EXPECT_TRUE(explains("s % 3 == 0"));
  EXPECT_TRUE(explains("3*(s//3) == s"));
  EXPECT_FALSE(explains("s % 6 == 0"));
  EXPECT_FALSE(explains("s % 2 == 0"));
  EXPECT_FALSE(explains("s <= 64"));
  EXPECT_FALSE(explains("s == 9"));
}

TEST_F(Accident, OfASliceFromTheBack) {
  accidents_.note_call("slice", {x_, Dim(-2), Dim(-7), Arg()});
  EXPECT_TRUE(explains("s >= 7"));
  EXPECT_FALSE(explains("s >= 9"));
  EXPECT_FALSE(explains("b >= 7"));
}

TEST_F(Accident, OfAPadding) {
  accidents_.note_call("pad", {x_, Arguments{Dim(0), Dim(0), Dim(0), size("(-s) % 4")}});
  EXPECT_TRUE(explains("s % 4 == 0"));
  EXPECT_TRUE(explains("s == s + (-s) % 4"));
  EXPECT_FALSE(explains("s % 8 == 0"));
}

TEST_F(Accident, OfASize) {
  accidents_.note_sizes({size("b"), size("s - 1"), 3});
  EXPECT_TRUE(explains("s >= 3"));
  EXPECT_TRUE(explains("s >= 1"));
  EXPECT_FALSE(explains("s >= 4"));
  EXPECT_FALSE(explains("b >= 3"));
  EXPECT_FALSE(explains("s <= 64"));
}

TEST_F(Accident, OfNothing) {
  EXPECT_TRUE(explains("4*s > (3*s)//4"));
  EXPECT_FALSE(explains("s % 2 == 0"));
  EXPECT_FALSE(explains("s == b"));
  EXPECT_FALSE(explains("s <= 4096"));
  EXPECT_FALSE(explains("b + s <= 100000"));
}

}  // namespace
}  // namespace anyshape::lower
