#include <cmath>
#include <utility>

#include "convert.h"
#include "testing.h"

namespace {

// Runs a model that gives back what it gets with a container of type T.
template <class T>
bool runs(const std::string& name, uint flags = ONNX_DEFAULT) {
  Opened model("same_" + name);
  mql5_array<T> x = mql5_array<T>::fixed(2), y = mql5_array<T>::fixed(2);
  x[0] = T(1);
  EXPECT_TRUE(OnnxSetInputShape(model.handle, 0, {2}) && OnnxSetOutputShape(model.handle, 0, {2}));
  const bool ran = OnnxRun(model.handle, flags, x, y);
  EXPECT_EQ(GetLastError(), ran ? 0 : 5802) << name << ": " << model.last_line();
  EXPECT_TRUE(!ran || (x[0] == y[0] && x[1] == y[1])) << name;
  ResetLastError();
  return ran;
}

// One letter for each type, in the order of MQL5's reference: y where a container of that type is converted.
std::string row(const std::string& name) {
  std::string out;
  const auto add = [&](bool ran) { out += ran ? 'y' : '-'; };
  add(runs<bool>(name)), add(runs<char>(name)), add(runs<uchar>(name)), add(runs<short>(name));
  add(runs<ushort>(name)), add(runs<int>(name)), add(runs<uint>(name)), add(runs<long>(name));
  add(runs<ulong>(name)), add(runs<float>(name)), add(runs<double>(name)), add(runs<complex>(name));
  return out;
}

TEST(Conversion, WhichContainersFitWhichTensors) {
  const std::pair<const char*, const char*> rows[] = {
      // bool char uchar short ushort int uint long ulong float double complex
      {"bool", "yyyyyyyy-yyy"},      {"int8", "-yyyyyyyyyy-"},       {"uint8", "-yyyyyyyyyy-"},
      {"int16", "-yyyyyyyyyy-"},     {"uint16", "-yyyyyyyyyy-"},     {"int32", "-yyyyyyyyyy-"},
      {"uint32", "-yyyyyyyyyy-"},    {"int64", "-yyyyyyyyyy-"},      {"uint64", "-yyyyyyyyyy-"},
      {"float", "-yyyyyyyyyy-"},     {"double", "-yyyyyyyyyy-"},     {"float16", "---------yy-"},
      {"complex64", "-----------y"}, {"complex128", "-----------y"}, {"bfloat16", "------------"},
      {"string", "------------"},
  };
  for (const auto& [name, wanted] : rows) EXPECT_EQ(row(name), wanted) << name;
}

TEST(Conversion, EntriesOfModels) {
  Opened model("same_int32");
  const double x[] = {2.9, -2.9};
  float y[2];
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {2}) && OnnxSetOutputShape(model.handle, 0, {2}));
  ASSERT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, y));
  EXPECT_EQ(y[0], 2);
  EXPECT_EQ(y[1], -2);
}

TEST(Conversion, BytesAsTheyAre) {
  EXPECT_TRUE(runs<ushort>("bfloat16", ONNX_NO_CONVERSION));
  EXPECT_TRUE(runs<ushort>("float16", ONNX_NO_CONVERSION));
  EXPECT_TRUE(runs<uint>("float", ONNX_NO_CONVERSION));
  EXPECT_FALSE(runs<ushort>("string", ONNX_NO_CONVERSION));
  struct Raw {
    ushort bits;
  };
  Opened model("same_float16");
  Raw x[2] = {{0x3c00}, {0xc000}}, y[2] = {};
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {2}) && OnnxSetOutputShape(model.handle, 0, {2}));
  ASSERT_TRUE(OnnxRun(model.handle, ONNX_NO_CONVERSION, x, y));
  EXPECT_EQ(y[1].bits, 0xc000);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, y), model, 5802, "structs");
}

template <class To, class From>
To converted(From value) {
  To out{};
  anyshape::mql5::convert(anyshape::mql5::dtype_of<From>(), &value, anyshape::mql5::dtype_of<To>(), &out, 1);
  return out;
}

TEST(Conversion, WhatDoesNotFitLosesItsUpperBits) {
  EXPECT_EQ((converted<uchar>(300)), 44);
  EXPECT_EQ((converted<char>(200)), -56);
  EXPECT_EQ((converted<uchar>(-1.7)), 255);
  EXPECT_EQ((converted<ulong>(-1)), ULONG_MAX);
  EXPECT_EQ((converted<int>(4294967297.5)), 1);
  EXPECT_EQ((converted<long>(1e300)), LONG_MIN);
  EXPECT_EQ((converted<int>(double{NAN})), 0);
  EXPECT_EQ((converted<ulong>(1e19)), 10000000000000000000ul);
  EXPECT_EQ((converted<float>(true)), 1);
  EXPECT_EQ((converted<bool>(0.25)), true);
  EXPECT_EQ((converted<bool>(complex(0, 2))), true);
  EXPECT_EQ((converted<complex>(true)), complex(1, 0));
}

TEST(Conversion, Halves) {
  using anyshape::mql5::from_half, anyshape::mql5::half_of;
  const std::pair<double, int> rows[] = {{0, 0},           {1, 0x3c00},     {-2, 0xc000},     {65504, 0x7bff},
                                         {65519, 0x7bff},  {65520, 0x7c00}, {0x1p-24, 1},     {0x1p-25, 0},
                                         {0x1p-14, 0x400}, {0x1.8p-25, 1},  {2049, 0x6800},   {2051, 0x6802},
                                         {0.1, 0x2e66},    {1e300, 0x7c00}, {-1e300, 0xfc00}, {2047.75, 0x6800}};
  for (const auto& [value, bits] : rows) EXPECT_EQ(half_of(value), bits) << value;
  for (int bits = 0; bits < 0x7c00; ++bits) ASSERT_EQ(half_of(from_half(static_cast<uint16_t>(bits))), bits) << bits;
  EXPECT_TRUE(std::isnan(from_half(half_of(NAN))));
  EXPECT_EQ(from_half(0x7c00), INFINITY);
}

TEST(Conversion, ArraysOf16Bits) {
  const mql5_array<float> from = {1, -0.5f, 3.1415927f};
  mql5_array<float> back;
  mql5_array<ushort> bits;
  ASSERT_TRUE(ArrayToFP16(bits, from, FLOAT_FP16) && ArrayFromFP16(back, bits, FLOAT_FP16));
  EXPECT_EQ(bits[1], 0xb800);
  EXPECT_EQ(back[2], 3.140625f);
  ASSERT_TRUE(ArrayToFP16(bits, from, FLOAT_BFP16) && ArrayFromFP16(back, bits, FLOAT_BFP16));
  EXPECT_EQ(bits[0], 0x3f80);
  EXPECT_EQ(back[2], 3.140625f);
}

}  // namespace
