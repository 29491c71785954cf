#include <cmath>

#include "testing.h"

namespace {

TEST(Containers, Vectors) {
  vector v(3);
  v[0] = 1, v[1] = 2, v[2] = 6;
  EXPECT_EQ(v.Size(), 3u);
  EXPECT_EQ(v.Sum(), 9);
  EXPECT_EQ(v.Mean(), 3);
  EXPECT_DOUBLE_EQ(v.Std(), std::sqrt(14.0 / 3));
  EXPECT_DOUBLE_EQ(v.Std(1), std::sqrt(7.0));
  EXPECT_EQ(v.Min(), 1);
  EXPECT_EQ(v.Max(), 6);
  EXPECT_EQ(v.ArgMax(), 2u);
  EXPECT_EQ(v.Median(), 2);
  EXPECT_EQ(v.Dot(v), 41);
  EXPECT_EQ((v - v.Mean()) / 2, (vector{-1, -0.5, 1.5}));
  EXPECT_EQ(12 / v - v, (vector{11, 4, -4}));
  EXPECT_EQ(2 * v + 1, (vector{3, 5, 13}));
  EXPECT_EQ(-v * v, (vector{-1, -4, -36}));
  EXPECT_EQ(vector::Ones(2) + vector::Zeros(2), vector::Full(2, 1));
  v.Resize(4);
  EXPECT_EQ(v, (vector{1, 2, 6, 0}));
  v.Fill(7);
  v.Init(2);
  EXPECT_EQ(v, vector::Zeros(2));
  v.Init(
      3,
      [](vector& x, double step) {
        for (ulong i = 0; i < x.Size(); ++i) x[i] = step * static_cast<double>(i);
      },
      0.5);
  EXPECT_EQ(v, (vector{0, 0.5, 1}));
  vectorf f;
  f.Assign(v);
  EXPECT_EQ(f, (vectorf{0, 0.5f, 1}));
  const int numbers[] = {4, 5};
  f.Assign(numbers);
  EXPECT_EQ(f[1], 5);
  EXPECT_EQ(MathAbs(vector{-1, 2}), (vector{1, 2}));
  EXPECT_EQ((vector{1, 2, 3}).Compare(vector{1, 2.5, NAN}, 0.1), 2u);
  vectorc c = {complex(1, 2), complex(0, 1)};
  EXPECT_EQ((c * c).Sum(), complex(-4, 4));
}

TEST(Containers, Matrices) {
  matrixf m = {{10, 3, 2}, {1, 8, 12}, {6, 5, 4}, {7, 11, 9}};
  EXPECT_EQ(m.Rows(), 4u);
  EXPECT_EQ(m.Cols(), 3u);
  EXPECT_EQ(m.Mean(0), (vectorf{6, 6.75f, 6.75f}));
  EXPECT_EQ(m.Mean(1), (vectorf{5, 7, 5, 9}));
  EXPECT_EQ(m.Mean(), 6.5f);
  EXPECT_EQ(m.Max(1), (vectorf{10, 12, 6, 11}));
  EXPECT_EQ(m.Row(1), (vectorf{1, 8, 12}));
  EXPECT_EQ(m.Col(2), (vectorf{2, 12, 4, 9}));
  EXPECT_EQ(m.Transpose()[2][3], 9);
  m[0][1] = 5;
  EXPECT_EQ(m.Flat(1), 5);
  EXPECT_TRUE(m.Row(vectorf{1, 1, 1}, 0));
  EXPECT_FALSE(m.Row(vectorf{1, 1}, 0));
  m[1] = vectorf{2, 2, 2};
  EXPECT_EQ(m.Row(1), vectorf::Full(3, 2));
  m -= matrixf::Ones(4, 3);
  EXPECT_EQ(m.Row(0), vectorf::Zeros(3));
  m.Reshape(2, 6);
  EXPECT_EQ(m[0][5], 1);
  m.Resize(1, 2);
  EXPECT_EQ(m, (matrixf{{0, 0}}));
  EXPECT_EQ(matrix::Eye(2, 3, 1), (matrix{{0, 1, 0}, {0, 0, 1}}));
  const matrix a = {{1, 2}, {3, 4}};
  EXPECT_EQ(a.MatMul(a), (matrix{{7, 10}, {15, 22}}));
  EXPECT_EQ(a.MatMul(vector{1, 1}), (vector{3, 7}));
  matrix b;
  const float rows[2][2] = {{1, 2}, {3, 4}};
  b.Assign(rows);
  EXPECT_EQ(b, a);
}

TEST(Containers, Arrays) {
  mql5_array<float> a;
  EXPECT_EQ(ArraySize(a), 0);
  EXPECT_EQ(ArrayResize(a, 4), 4);
  EXPECT_EQ(ArrayInitialize(a, 2), 4);
  ArrayFill(a, 1, 2, 5);
  EXPECT_EQ(a[2], 5);
  EXPECT_EQ(a[3], 2);
  EXPECT_EQ(ArrayMaximum(a), 1);
  double d[6] = {};
  EXPECT_EQ(ArrayCopy(d, a, 1), 4);
  EXPECT_EQ(d[2], 5);
  EXPECT_EQ(ArrayCopy(a, d, 3), 6) << "it grows";
  EXPECT_EQ(ArraySize(a), 9);
  EXPECT_TRUE(ArraySetAsSeries(a, true));
  EXPECT_EQ(a[8], 2) << "the first in memory";
  mql5_array<int> fixed = mql5_array<int>::fixed(3, {1, 2});
  EXPECT_EQ(fixed[2], 0);
  EXPECT_EQ(ArrayResize(fixed, 5), -1);
  EXPECT_FALSE(ArraySetAsSeries(fixed, true));
  mql5_array<mql5_row<float, 2>> rows = {{1, 2}, {3, 4}};
  EXPECT_EQ(ArrayResize(rows, 3), 6);
  EXPECT_EQ(ArrayRange(rows, 0), 3);
  EXPECT_EQ(ArrayRange(rows, 1), 2);
  EXPECT_EQ(rows[1][0], 3);
  int c[2][3];
  EXPECT_EQ(ArraySize(c), 6);
  EXPECT_EQ(ArrayRange(c, 1), 3);
  mql5_array<mql5_row<mql5_row<char, 4>, 3>> deep = mql5_array<mql5_row<mql5_row<char, 4>, 3>>::fixed(2);
  EXPECT_EQ(ArrayRange(deep, 1), 3);
  EXPECT_EQ(ArrayRange(deep, 2), 4);
  EXPECT_EQ(ArrayRange(deep, 3), 0);
  EXPECT_EQ(ArraySize(deep), 24);
  mql5_array<bool> flags = {true, false};
  EXPECT_TRUE(flags[0]);
  ArrayFree(a);
  EXPECT_EQ(ArraySize(a), 0);
}

TEST(Containers, IndexOutOfRangeEndsTheProgram) {
  vector v(2);
  matrix m(2, 2);
  mql5_array<int> a = {1};
  EXPECT_DEATH(v[2] = 1, "array out of range: index 2 of 2 entries");
  EXPECT_DEATH(m[0][-1] = 1, "index -1 of 2 entries");
  EXPECT_DEATH(a[1] = 1, "index 1 of 1 entries");
  EXPECT_DEATH(v += vector(3), "do not fit");
}

TEST(Text, Strings) {
  string s, empty = "";
  EXPECT_TRUE(s == NULL);
  EXPECT_FALSE(empty == NULL);
  s = NULL;
  EXPECT_TRUE(s == NULL);
  s = "a";
  s = s + 1 + "b" + 1.5 + true + 2L;
  EXPECT_EQ(s, "a1b1.5true2");
  EXPECT_EQ(string(1.0) + string("/") + string(0.1f), "1.0/0.1");
  EXPECT_EQ((string)5UL, "5");
  EXPECT_LT(string("a"), string("b"));
  EXPECT_EQ(StringFind("abcabc", "c", 3), 5);
  EXPECT_EQ(StringSubstr("abcdef", 2, 3), "cde");
  string replaced = "a.b.c";
  EXPECT_EQ(StringReplace(replaced, ".", "--"), 2);
  EXPECT_EQ(replaced, "a--b--c");
  string blanks = "  x\n";
  EXPECT_EQ(StringTrimLeft(blanks), 2);
  EXPECT_EQ(StringTrimRight(blanks), 1);
  EXPECT_EQ(blanks, "x");
  mql5_array<string> parts;
  EXPECT_EQ(StringSplit("a;b;", ';', parts), 3);
  EXPECT_EQ(parts[1], "b");
  EXPECT_EQ(DoubleToString(1.23456789, 5), "1.23457");
  EXPECT_EQ(IntegerToString(42, 5, '0'), "00042");
  EXPECT_EQ(StringToDouble("1.5x"), 1.5);
  EXPECT_EQ(StringToInteger("-7"), -7);
  string upper = "aZ";
  StringToUpper(upper);
  EXPECT_EQ(upper, "AZ");
}

TEST(Text, Formats) {
  EXPECT_EQ(StringFormat("%d|%5.2f|%s|%I64d|%I64u|%%", 1, 2.345, "x", -5L, 6UL), "1| 2.35|x|-5|6|%");
  EXPECT_EQ(StringFormat("%05d|%-4s|%x|%c|%G", 42, string("ab"), 255, 'A', 0.5), "00042|ab  |ff|A|0.5");
  EXPECT_EQ(StringFormat("%s %d", 1.5, 2.9), "1.5 2") << "what does not fit is converted";
  EXPECT_EQ(StringFormat("%*d", 4, 7), "   7");
  EXPECT_EQ(StringFormat("%d %d", 1), "1 (missed)");
  EXPECT_EQ(StringFormat("%u", UINT_MAX), "4294967295");
  EXPECT_EQ(StringFormat("%s", ONNX_TYPE_MAP), "3");
}

TEST(Text, Printing) {
  Journal journal;
  Print("x = ", 1.5, ", ", 3, " ", true, " ", vector{1, 2});
  PrintFormat("%.2f\nnext", 0.125);
  Print("\x1b[31m");
  EXPECT_EQ(journal.prints, (std::vector<std::string>{"x = 1.5, 3 true [1.0,2.0]", "0.12", "next", "\\x1b[31m"}));
}

TEST(Functions, Numbers) {
  EXPECT_EQ(MathMax(1, 2.5), 2.5);
  EXPECT_EQ(MathMin(3, 2), 2);
  EXPECT_EQ(MathAbs(-3), 3);
  EXPECT_EQ(MathSqrt(9), 3);
  EXPECT_EQ(MathPow(2, 10), 1024);
  EXPECT_EQ(fmax(1, 2), 2);
  EXPECT_FALSE(MathIsValidNumber(MathLog(0)));
  EXPECT_EQ(NormalizeDouble(1.123456, 4), 1.1235);
  MathSrand(5);
  const int first = MathRand();
  EXPECT_TRUE(first >= 0 && first <= 32767);
  MathSrand(5);
  EXPECT_EQ(MathRand(), first);
  EXPECT_EQ(EMPTY_VALUE, DBL_MAX);
  ENUM_ONNX_TYPE wrong = WRONG_VALUE;
  const int number = WRONG_VALUE;
  EXPECT_TRUE(wrong == WRONG_VALUE && number == WRONG_VALUE);
  wrong = ONNX_TYPE_MAP;
  EXPECT_TRUE(wrong != WRONG_VALUE);
}

TEST(Functions, Times) {
  EXPECT_EQ(TimeToString(0), "1970.01.01 00:00");
  EXPECT_EQ(TimeToString(951868799, TIME_DATE | TIME_SECONDS), "2000.02.29 23:59:59");
  for (const datetime time : {0L, 951868800L, 1767225600L, 4102444799L - 59})
    EXPECT_EQ(StringToTime(TimeToString(time)), time);
  EXPECT_EQ(StringToTime("no time"), 0);
  MqlDateTime parts;
  TimeToStruct(951868799, parts);
  EXPECT_EQ(parts.day_of_week, 2);
  EXPECT_EQ(parts.day_of_year, 59);
  EXPECT_EQ(StructToTime(parts), 951868799);
  const datetime before = TimeCurrent();
  anyshape::mql5::set_time(1700000000);
  EXPECT_EQ(TimeCurrent(), 1700000000);
  anyshape::mql5::set_time(before);
}

}  // namespace
