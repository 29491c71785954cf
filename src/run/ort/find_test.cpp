#include "run/ort/find.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "run/ort/api.h"
#include "run/ort/session.h"
#include "run/ort/value.h"

namespace anyshape {
namespace {

namespace fs = std::filesystem;

class OrtFindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "anyshape-ort-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path put(const fs::path& name) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << "x";
    return folder_ / name;
  }
  // Relative to the folder, or the code of the error.
  std::string found(const OrtPlaces& places) {
    const auto library = find_ort_library(places);
    return library ? library->lexically_relative(folder_).string() : library.error().code;
  }

  fs::path folder_;
};

constexpr const char* kCapi = "lib/python3.11/site-packages/onnxruntime/capi/";

TEST_F(OrtFindTest, LooksIntoPythonsFolders) {
  const std::string file = "a/" + std::string(kCapi) + "libonnxruntime.so.1.31.1";
  put(file);
  put("a/" + std::string(kCapi) + "libonnxruntime_providers_shared.so");
  const OrtPlaces places{{}, {}, {folder_ / "none", folder_ / "a"}, {}, {}};
  EXPECT_EQ(found(places), file);
  EXPECT_EQ(found({{}, {}, {}, {folder_ / "a/lib/python3.11/site-packages"}, {}}), file);
  put("b/lib/python3/dist-packages/onnxruntime/capi/libonnxruntime.so");
  EXPECT_EQ(found({{}, {}, {folder_ / "b"}, {}, {}}), "b/lib/python3/dist-packages/onnxruntime/capi/libonnxruntime.so");
}

TEST_F(OrtFindTest, TakesTheHighestVersion) {
  for (const char* version : {"1.9.0", "1.31.1", "1.4.2"}) put(std::string("libonnxruntime.so.") + version);
  put("libonnxruntime.so.1.99.0.sig");
  EXPECT_EQ(found({{}, {}, {}, {}, {folder_}}), "libonnxruntime.so.1.31.1");
  for (const char* python : {"python3.9", "python3.12"})
    put(fs::path("p/lib") / python / "site-packages/onnxruntime/capi/libonnxruntime.so.1.20.0");
  EXPECT_EQ(found({{}, {}, {folder_ / "p"}, {}, {}}),
            "p/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.0");
}

TEST_F(OrtFindTest, WhatIsGivenIsTheOnlyPlace) {
  put("other/libonnxruntime.so");
  const fs::path mine = put("mine/my_runtime.so");
  EXPECT_EQ(found({mine, "--ort-lib", {}, {}, {folder_ / "other"}}), "mine/my_runtime.so");
  EXPECT_EQ(found({folder_ / "other", "--ort-lib", {}, {}, {}}), "other/libonnxruntime.so");
  EXPECT_EQ(found({folder_ / "mine", "--ort-lib", {}, {}, {folder_ / "other"}}), "ort.library");
  EXPECT_EQ(found({folder_ / "none.so", "ANYSHAPE_ORT_LIB", {}, {}, {folder_ / "other"}}), "ort.library");
  const auto missing = find_ort_library({folder_ / "none.so", "ANYSHAPE_ORT_LIB", {}, {}, {}});
  EXPECT_NE(missing.error().message.find("ANYSHAPE_ORT_LIB"), std::string::npos);
}

TEST_F(OrtFindTest, SaysWhereItLooked) {
  const auto missing = find_ort_library({{}, {}, {folder_ / "p"}, {folder_ / "s"}, {folder_ / "f"}});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, Error::Kind::usage);
  for (const char* place : {"/p/lib/python3*/site-packages", "/s", "/f"})
    EXPECT_NE(missing.error().message.find(folder_.string() + place), std::string::npos) << place;
  EXPECT_NE(missing.error().text().find("Try: pip install onnxruntime, or name the library that is to be taken"),
            std::string::npos);
}

TEST_F(OrtFindTest, EnvironmentNamesThePlaces) {
  put("venv/bin/python3");
  put("path/bin/python3");
  fs::create_directories(folder_ / "empty/bin");
  const std::string path = fmt::format("{0}/empty/bin::{0}/path/bin/", folder_.string());
  const auto set = [](const char* name, const std::string& value) { ASSERT_EQ(::setenv(name, value.c_str(), 1), 0); };
  ::unsetenv("ANYSHAPE_ORT_LIB");
  set("VIRTUAL_ENV", (folder_ / "venv").string());
  set("CONDA_PREFIX", "");
  set("PATH", path);
  set("HOME", folder_.string());
  set("PYTHONPATH", (folder_ / "packages").string());
  set("LD_LIBRARY_PATH", (folder_ / "lib").string());
  const OrtPlaces places = ort_places({});
  EXPECT_TRUE(places.given.empty());
  const std::vector<fs::path> prefixes = {folder_ / "venv", folder_ / "path", folder_ / ".local", "/usr/local", "/usr"};
  EXPECT_EQ(places.prefixes, prefixes);
  EXPECT_EQ(places.site_packages, std::vector<fs::path>{folder_ / "packages"});
  EXPECT_EQ(places.folders.at(0), folder_ / "lib");
  set("ANYSHAPE_ORT_LIB", "/x/lib.so");
  EXPECT_EQ(ort_places({}).given, "/x/lib.so");
  EXPECT_EQ(ort_places({}).given_by, "ANYSHAPE_ORT_LIB");
  EXPECT_EQ(ort_places("/y/lib.so").given, "/y/lib.so");
  EXPECT_EQ(ort_places("/y/lib.so").given_by, "--ort-lib");
  ::unsetenv("ANYSHAPE_ORT_LIB");
}

TEST_F(OrtFindTest, OtherLibrariesAreRefused) {
  const auto other = ort::Library::load(ANYSHAPE_OTHER_LIBRARY);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, "ort.library");
  EXPECT_EQ(ort::Library::load(put("libonnxruntime.so")).error().code, "library.open");
  OrtOptions options;
  options.library = folder_ / "none.so";
  EXPECT_EQ(OrtSession::load(options, folder_ / "model.onnx").error().code, "ort.library");
  options.library = ANYSHAPE_OTHER_LIBRARY;
  EXPECT_EQ(OrtSession::load(options, std::span<const std::byte>()).error().code, "ort.library");
}

TEST(OrtValue, ElementTypesGoBothWays) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto code = ort::element_code(dtype);
    if (bits(dtype) == 6) {
      EXPECT_EQ(code.error().code, "ort.value");
      continue;
    }
    ASSERT_TRUE(code.has_value());
    EXPECT_EQ(ort::element_dtype(*code), dtype);
  }
  EXPECT_EQ(ort::element_dtype(0), DType::undefined);
  EXPECT_EQ(ort::element_dtype(1000), DType::undefined);
}

}  // namespace
}  // namespace anyshape
