#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "testing.h"

namespace {

std::vector<uchar> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Onnx, Constants) {
  EXPECT_EQ(INVALID_HANDLE, -1);
  EXPECT_EQ(ONNX_DEFAULT, 0u);
  EXPECT_EQ(ONNX_COMMON_FOLDER, 4096u);
  EXPECT_EQ(ONNX_COMMON_FOLDER, static_cast<uint>(FILE_COMMON));
  EXPECT_EQ(ONNX_DEBUG_LOGS, ONNX_LOGLEVEL_INFO);
  EXPECT_EQ(ONNX_TYPE_SPARSETENSOR, 5);
  EXPECT_EQ(ONNX_DATA_TYPE_UINT8, 2);
  EXPECT_EQ(ONNX_DATA_TYPE_BFLOAT16, 16);
  EXPECT_EQ(ERR_ONNX_INTERNAL, 5800);
  EXPECT_EQ(ERR_ONNX_WRONG_DIMENSION, 5808);
  EXPECT_EQ(EnumToString(ONNX_DATA_TYPE_INT64), "ONNX_DATA_TYPE_INT64");
  EXPECT_EQ(EnumToString(ONNX_TYPE_MAP), "ONNX_TYPE_MAP");
  EXPECT_EQ(EnumToString(ONNX_GPU_DEVICE_3), "ONNX_GPU_DEVICE_3");
}

TEST(Onnx, CreateByName) {
  Journal journal;
  const auto absolute = std::filesystem::absolute(model_path("fixed")).string();
  for (const std::string& name : {model_path("fixed"), std::string("tests/fixtures/mql5/fixed"), absolute,
                                  std::string("tests\\fixtures\\mql5\\fixed.onnx")}) {
    const long handle = OnnxCreate(name, ONNX_DEFAULT);
    EXPECT_NE(handle, INVALID_HANDLE) << name;
    EXPECT_TRUE(OnnxRelease(handle));
  }
  EXPECT_TRUE(journal.log.empty());
  EXPECT_EQ(OnnxCreate("tests/none", ONNX_DEFAULT), INVALID_HANDLE);
  EXPECT_EQ(GetLastError(), ERR_FILE_NOT_EXIST);
  EXPECT_EQ(journal.log.size(), 1u);
}

TEST(Onnx, CreateInTheCommonFolder) {
  Journal journal;
  anyshape::mql5::set_common_folder("tests/fixtures");
  const long handle = OnnxCreate("mql5\\fixed.onnx", ONNX_COMMON_FOLDER);
  EXPECT_NE(handle, INVALID_HANDLE);
  EXPECT_TRUE(OnnxRelease(handle));
  EXPECT_EQ(OnnxCreate("mql5\\fixed.onnx", ONNX_DEFAULT), INVALID_HANDLE);
  anyshape::mql5::set_common_folder("");
}

TEST(Onnx, CreateFromBuffer) {
  Journal journal;
  const auto bytes = bytes_of(model_path("fixed"));
  const mql5_array<uchar> array{std::span(bytes)};
  const long handle = OnnxCreateFromBuffer(array, ONNX_DEFAULT);
  EXPECT_NE(handle, INVALID_HANDLE);
  EXPECT_EQ(OnnxGetInputName(handle, 0), "x");
  EXPECT_TRUE(OnnxRelease(handle));
  const uchar garbage[100] = {0x5a, 0x5a};
  EXPECT_EQ(OnnxCreateFromBuffer(garbage, ONNX_DEFAULT), INVALID_HANDLE);
  EXPECT_EQ(GetLastError(), ERR_ONNX_INTERNAL);
  EXPECT_EQ(OnnxCreateFromBuffer(mql5_array<uchar>(), ONNX_DEFAULT), INVALID_HANDLE);
  EXPECT_EQ(GetLastError(), ERR_ONNX_INVALID_PARAMETER);
}

TEST(Onnx, HandlesThatAreNone) {
  Opened model("fixed");
  OnnxTypeInfo type;
  float x[6], y[6];
  const auto released = OnnxCreate(model_path("fixed"), ONNX_DEFAULT);
  EXPECT_TRUE(OnnxRelease(released));
  for (const long handle : {released, long{INVALID_HANDLE}, 12345L}) {
    expect_refused(OnnxRelease(handle), model, ERR_INVALID_HANDLE, "OnnxRelease");
    expect_refused(OnnxRun(handle, ONNX_DEFAULT, x, y), model, ERR_INVALID_HANDLE, "OnnxRun");
    expect_refused(OnnxGetInputCount(handle) != -1, model, ERR_INVALID_HANDLE, "OnnxGetInputCount");
    expect_refused(OnnxGetOutputCount(handle) != -1, model, ERR_INVALID_HANDLE, "OnnxGetOutputCount");
    expect_refused(OnnxGetInputName(handle, 0) != NULL, model, ERR_INVALID_HANDLE, "OnnxGetInputName");
    expect_refused(OnnxGetOutputTypeInfo(handle, 0, type), model, ERR_INVALID_HANDLE, "OnnxGetOutputTypeInfo");
    expect_refused(OnnxSetInputShape(handle, 0, {1, 2, 3}), model, ERR_INVALID_HANDLE, "OnnxSetInputShape");
  }
}

TEST(Onnx, LastErrorStays) {
  Opened model("fixed");
  EXPECT_FALSE(OnnxRelease(-5));
  EXPECT_EQ(OnnxGetInputCount(model.handle), 1);
  EXPECT_EQ(GetLastError(), ERR_INVALID_HANDLE);
  EXPECT_EQ(_LastError, ERR_INVALID_HANDLE);
  std::thread([] { EXPECT_EQ(GetLastError(), 0); }).join();
  ResetLastError();
  EXPECT_EQ(GetLastError(), 0);
  SetUserError(7);
  EXPECT_EQ(GetLastError(), ERR_USER_ERROR_FIRST + 7);
  ResetLastError();
}

TEST(Onnx, CountsAndNames) {
  Opened model("pair");
  EXPECT_EQ(OnnxGetInputCount(model.handle), 2);
  EXPECT_EQ(OnnxGetOutputCount(model.handle), 2);
  EXPECT_EQ(OnnxGetInputName(model.handle, 1), "k");
  EXPECT_EQ(OnnxGetOutputName(model.handle, 0), "sum");
  for (const long index : {-1L, 2L}) {
    expect_refused(OnnxGetInputName(model.handle, index) != NULL, model, 5805, "numbered from 0");
    expect_refused(OnnxSetOutputShape(model.handle, index, {1}), model, 5805, "OnnxSetOutputShape");
  }
}

TEST(Onnx, TypesOfTensors) {
  Opened model("lstm120");
  OnnxTypeInfo type;
  ASSERT_TRUE(OnnxGetInputTypeInfo(model.handle, 0, type));
  EXPECT_EQ(type.type, ONNX_TYPE_TENSOR);
  EXPECT_EQ(type.tensor.data_type, ONNX_DATA_TYPE_FLOAT);
  ASSERT_EQ(ArraySize(type.tensor.dimensions), 3);
  EXPECT_EQ(type.tensor.dimensions[0], -1);
  EXPECT_EQ(type.tensor.dimensions[1], 120);
  EXPECT_EQ(type.map.value_type.type, ONNX_TYPE_UNKNOWN);
  EXPECT_EQ(type.sequence.value_type.sequence.value_type.type, ONNX_TYPE_UNKNOWN);
}

TEST(Onnx, TypesOfSequences) {
  Opened model("zipmap");
  OnnxTypeInfo type;
  {
    OnnxTypeInfo first;
    ASSERT_TRUE(OnnxGetOutputTypeInfo(model.handle, 1, first));
    type = first;
  }
  EXPECT_EQ(type.type, ONNX_TYPE_SEQUENCE);
  EXPECT_EQ(type.sequence.value_type.type, ONNX_TYPE_MAP);
  EXPECT_EQ(type.sequence.value_type.map.key_type, ONNX_DATA_TYPE_INT64);
  EXPECT_EQ(type.sequence.value_type.map.value_type.tensor.data_type, ONNX_DATA_TYPE_FLOAT);
}

TEST(Onnx, DynamicAxesMustBeSetBeforeTheRun) {
  Opened model("lstm120");
  vectorf x(120), y(1);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, y), model, 5808,
                 "input 0 \"input\" has dynamic axis 0 (batch): call OnnxSetInputShape(handle, 0, {batch, 120, 1})");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {1, 120, 1}));
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, y), model, 5805,
                 "output 0 \"output\" has dynamic axis 0 (batch): call OnnxSetOutputShape(handle, 0, {batch, 1})");
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {1, 1}));
  EXPECT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, y));
  EXPECT_EQ(GetLastError(), 0);
}

TEST(Onnx, EveryInputMustBeSet) {
  Opened model("pair");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {1, 2}));
  float x[2], sum[1];
  long k[1], twice[1];
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, k, sum, twice), model, 5808, "input 1 \"k\"");
}

TEST(Onnx, StaticShapesNeedNoCall) {
  Opened model("fixed");
  const float x[1][2][3] = {{{1, 2, 3}, {4, 5, 6}}};
  matrixf y(2, 3);
  ASSERT_TRUE(OnnxRun(model.handle, ONNX_NO_CONVERSION, x, y));
  EXPECT_EQ(y, (matrixf{{1, 2, 3}, {8, 10, 12}}));
}

TEST(Onnx, ShapesThatAreTaken) {
  Opened model("lstm120");
  const long longs[] = {1, 120, 1};
  const ulong ulongs[] = {2, 120, 1};
  const int ints[] = {3, 120, 1};
  const mql5_array<ulong> dynamic = {4, 120, 1};
  const ulong batch = 5;
  const int length = 120;
  EXPECT_TRUE(OnnxSetInputShape(model.handle, ONNX_DEFAULT, longs));
  EXPECT_TRUE(OnnxSetInputShape(model.handle, 0, ulongs));
  EXPECT_TRUE(OnnxSetInputShape(model.handle, 0, ints));
  EXPECT_TRUE(OnnxSetInputShape(model.handle, 0, dynamic));
  EXPECT_TRUE(OnnxSetInputShape(model.handle, 0, {batch, length, 1}));
  Opened fixed("fixed");
  EXPECT_TRUE(OnnxSetInputShape(fixed.handle, 0, {1, 2, 3}));
  EXPECT_TRUE(fixed.journal.log.empty());
}

TEST(Onnx, ShapesThatAreNot) {
  Opened model("lstm120");
  const long handle = model.handle;
  const ulong huge[] = {ULONG_MAX, 120, 1};
  expect_refused(OnnxSetInputShape(handle, 0, {1, 60, 1}), model, 5808, "axis 1 is 120 in the file, and cannot be 60");
  expect_refused(OnnxSetInputShape(handle, 0, {1, 120}), model, 5808, "it has 3 axes, and {1, 120} has 2");
  expect_refused(OnnxSetInputShape(handle, 0, {}), model, 5808, "it has 3 axes");
  expect_refused(OnnxSetInputShape(handle, 0, {0, 120, 1}), model, 5808, "axis 0 is 0, and must be 1 or more");
  expect_refused(OnnxSetInputShape(handle, 0, {-1, 120, 1}), model, 5808, "must be 1 or more");
  expect_refused(OnnxSetInputShape(handle, 0, huge), model, 5808, "must be 1 or more");
  expect_refused(OnnxSetInputShape(handle, 0, {LONG_MAX, 120, 1}), model, 5808, "fits no memory");
  expect_refused(OnnxSetOutputShape(handle, 0, {1, 2}), model, 5808, "axis 1 is 1 in the file");
  expect_refused(OnnxSetOutputShape(handle, 0, {1}), model, 5808, "OnnxSetOutputShape(handle, 0, {batch, 1})");
}

TEST(Onnx, ShapesChangeBetweenRuns) {
  Opened model("lstm120");
  vectorf first(1);
  for (const int batch : {1, 3, 2, 1}) {
    ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {batch, 120, 1}));
    ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {batch, 1}));
    matrixf x = matrixf::Full(static_cast<ulong>(batch), 120, 0.5f);
    vectorf y(static_cast<ulong>(batch));
    ASSERT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, y)) << model.last_line();
    if (first[0] == 0) first = y;
    for (ulong i = 0; i < y.Size(); ++i) EXPECT_NEAR(y[i], first[0], 1e-6);
  }
  expect_refused(OnnxSetInputShape(model.handle, 0, {0, 120, 1}), model, 5808, "axis 0");
  vectorf x(120), y(1);
  EXPECT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, y)) << "what was set before stays";
}

TEST(Onnx, WrongCounts) {
  Opened model("pair");
  float x[2], sum[1];
  long k[1], twice[1];
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, sum, twice), model, 5804,
                 "takes 4 containers behind the flags, one for each input (\"x\", \"k\") and then one for each output "
                 "(\"sum\", \"twice\"), and got 3");
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, k, sum, twice, x), model, 5804, "got 5");
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT), model, 5804, "got 0");
}

TEST(Onnx, EmptyContainers) {
  Opened model("fixed");
  vectorf x(6), y;
  mql5_array<float> empty;
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, y), model, 5805, "output 0 \"y\": its container is empty");
  expect_refused(OnnxRun(model.handle, ONNX_NO_CONVERSION, x, empty), model, 5805, "output 0 \"y\"");
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, empty, x), model, 5805, "input 0 \"x\"");
}

TEST(Onnx, WrongSizes) {
  Opened model("fixed");
  vectorf x(6), five(5);
  vector wide(6), half(3);
  int narrow[6];
  long longs[6];
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, five, x), model, 5807,
                 "is 24 bytes, 6 entries of f32; its container has 20 bytes, 5 entries");
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, five), model, 5807, "output 0 \"y\"");
  expect_refused(OnnxRun(model.handle, ONNX_NO_CONVERSION, wide, x), model, 5807, "48 bytes");
  expect_refused(OnnxRun(model.handle, ONNX_NO_CONVERSION, x, longs), model, 5807, "48 bytes");
  EXPECT_TRUE(OnnxRun(model.handle, ONNX_NO_CONVERSION, half, narrow)) << "as many bytes, taken as they are";
  ASSERT_EQ(model.journal.log.size(), 2u);
  EXPECT_NE(model.journal.log[0].find("warning: input 0 \"x\" is f32"), std::string::npos) << model.journal.log[0];
  EXPECT_TRUE(OnnxRun(model.handle, ONNX_NO_CONVERSION, half, narrow));
  EXPECT_EQ(model.journal.log.size(), 2u) << "a warning comes once";
}

TEST(Onnx, WhatIsNoContainer) {
  Opened model("fixed");
  vectorf x(6);
  const vectorf constant(6);
  double number = 1;
  string text = "x";
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, number, x), model, 5806, "needs an array, a vector or a matrix");
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, text), model, 5806, "output 0 \"y\"");
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, constant), model, 5806, "not const");
  EXPECT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, constant, x));
}

TEST(Onnx, ShapesTheModelRefuses) {
  Opened model("blocks");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {1, 6}));
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {1, 4}));
  vectorf x(6), y(4);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, y), model, 5808, "reshape");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {1, 8}));
  vectorf eight(8);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, eight, y), model, 5808,
                 "is {2, 4} for these inputs, and not {1, 4}: call OnnxSetOutputShape(handle, 0, {2, 4})");
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {2, 4}));
  matrixf two(2, 4);
  EXPECT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, eight, two));
}

TEST(Onnx, AxesThatMustBeEqual) {
  Opened model("pair");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {2, 2}));
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 1, {3}));
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {2}));
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 1, {3}));
  float x[2][2] = {}, sum[2];
  long k[3] = {}, twice[3];
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, k, sum, twice), model, 5808, "batch");
}

TEST(Onnx, EntriesTheModelRefuses) {
  Opened model("table");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {2}));
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {2, 2}));
  long rows[] = {0, 7};
  matrixf y(2, 2);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, rows, y), model, 5803, "gather");
  rows[1] = 2;
  EXPECT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, rows, y));
}

TEST(Onnx, OutputsWhoseSizeDependsOnEntries) {
  Opened model("positive");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {4}));
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {1, 2}));
  vectorf x = {1, -1, 0, 3};
  long where[2];
  ASSERT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, where)) << model.last_line();
  EXPECT_EQ(where[1], 3);
  x[2] = 1;
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, where), model, 5808, "is {1, 3} for these inputs");
}

TEST(Onnx, Scalars) {
  Opened model("scalar");
  vectorf x = {2}, y(1);
  EXPECT_TRUE(OnnxSetInputShape(model.handle, 0, {}));
  ASSERT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, y)) << model.last_line();
  EXPECT_EQ(y[0], -2);
}

TEST(Onnx, RanksThatTheFileDoesNotTell) {
  Opened model("rankless");
  vectorf x = {1, 2}, y(2);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, y), model, 5808, "OnnxSetInputShape(handle, 0, {...})");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {1, 2}));
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {1, 2}));
  ASSERT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, y)) << model.last_line();
  EXPECT_EQ(y[1], -2);
}

TEST(Onnx, SequencesOfMaps) {
  struct Output {
    mql5_array<long> label;
    mql5_array<float> proba;
  };
  Opened model("zipmap");
  ASSERT_TRUE(OnnxSetInputShape(model.handle, 0, {2, 2}));
  ASSERT_TRUE(OnnxSetOutputShape(model.handle, 0, {2}));
  float x[2][2] = {{1, 0}, {0, 1}};
  long label[2];
  mql5_array<Output> maps;
  ASSERT_TRUE(OnnxRun(model.handle, ONNX_DEFAULT, x, label, maps)) << model.last_line();
  ASSERT_EQ(maps.size(), 2u);
  ASSERT_EQ(ArraySize(maps[1].label), 3);
  EXPECT_EQ(maps[1].label[2], 30);
  EXPECT_FLOAT_EQ(maps[0].proba[0], -0.625f);
  EXPECT_FLOAT_EQ(maps[1].proba[0], 0.625f);
  vectorf wrong(3);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, label, wrong), model, 5806, "structs of two arrays");
}

TEST(Onnx, NamesInTheLogAreEscaped) {
  Opened model("hostile");
  vectorf x(1), y(1);
  expect_refused(OnnxRun(model.handle, ONNX_DEFAULT, x, y), model, 5808, R"(input 0 "x\"\n\x1b[31mred")");
  EXPECT_EQ(OnnxGetInputName(model.handle, 0), "x\"\n\x1b[31mred");
}

TEST(Onnx, LogLevels) {
  const auto lines = [](uint flags) {
    Opened model("lstm120", flags);
    return model.journal.log.size();
  };
  EXPECT_EQ(lines(ONNX_DEFAULT), 0u);
  EXPECT_EQ(lines(ONNX_LOGLEVEL_ERROR), 0u);
  EXPECT_EQ(lines(ONNX_DEBUG_LOGS), 2u);
  EXPECT_GT(lines(ONNX_LOGLEVEL_VERBOSE), 2u);
  EXPECT_EQ(lines(ONNX_USE_CPU_ONLY | ONNX_GPU_DEVICE_0 | ONNX_ENABLE_PROFILING), 0u);
}

TEST(Onnx, HandlesOfSeveralThreads) {
  const auto work = [](int seed) {
    const long handle = OnnxCreate(model_path("fixed"), ONNX_DEFAULT);
    for (int i = 0; i < 50; ++i) {
      vectorf x = vectorf::Full(6, static_cast<float>(seed + i)), y(6);
      ASSERT_TRUE(OnnxRun(handle, ONNX_NO_CONVERSION, x, y));
      ASSERT_EQ(y[3], 2 * x[3]);
    }
    ASSERT_TRUE(OnnxRelease(handle));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, 1000 * i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
