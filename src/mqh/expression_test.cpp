#include "mqh/expression.h"

#include <gtest/gtest.h>

namespace anyshape::mqh {
namespace {

Spelling spelling_of(Symbols& symbols) {
  return {{symbols.symbol("s"), "m_size_s"}, {symbols.symbol("b"), "m_size_b"}};
}

TEST(MqhExpression, Rows) {
  Symbols symbols;
  const Spelling spelling = spelling_of(symbols);
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"120", "120"},
      {"s", "m_size_s"},
      {"2*s - 3", "((2*m_size_s)+-3)"},
      {"s*b + s", "((m_size_s*m_size_b)+m_size_s)"},
      {"(s - 3)//2 + 1", "(FloorDiv((m_size_s+1),2)+-1)"},
      {"min(s, b)", "Least(m_size_s,m_size_b)"},
      {"max(s, 4)", "Greatest(m_size_s,4)"},
      {"broadcast(s, b)", "Broadcast(m_size_s,m_size_b)"},
      {"select(s >= 4, s, b)", "(((m_size_s+-4)>=0) ? m_size_s : m_size_b)"},
  };
  for (const auto& [dim, want] : rows) {
    const auto text = mql5_expression(*parse_dim(dim, symbols), spelling);
    ASSERT_TRUE(text) << dim;
    EXPECT_EQ(*text, want) << dim;
  }
}

TEST(MqhExpression, Conditions) {
  Symbols symbols;
  const Spelling spelling = spelling_of(symbols);
  const auto text = [&](std::string_view condition) {
    return mql5_condition(*parse_condition(condition, symbols), spelling).value_or("none");
  };
  EXPECT_EQ(text("s % 4 == 0"), "(m_size_s%4==0)");
  EXPECT_EQ(text("s == 120 or b >= 2"), "(((m_size_s+-120)==0) || ((m_size_b+-2)>=0))");
  EXPECT_EQ(text("s == b and s != 7"), "((m_size_s+-7)!=0 && (m_size_s+(-1*m_size_b))==0)");
  EXPECT_EQ(text("t == 1"), "none");
  EXPECT_FALSE(mql5_condition(Condition::opaque(), spelling));
  EXPECT_EQ(mql5_condition(Condition::always(), spelling), "true");
}

TEST(MqhExpression, WhatHasNoNameHasNoText) {
  Symbols symbols;
  const Spelling spelling = spelling_of(symbols);
  EXPECT_FALSE(mql5_expression(symbols.symbol("other"), spelling));
  EXPECT_FALSE(mql5_expression(symbols.symbol("s") + symbols.symbol("other"), spelling));
  EXPECT_FALSE(mql5_expression(Dim::unknown(), spelling));
}

}  // namespace
}  // namespace anyshape::mqh
