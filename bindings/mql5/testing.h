#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "anyshape/mql5.h"

// A model of tools/fixtures/make_mql5.py.
inline std::string model_path(const std::string& name) { return "tests/fixtures/mql5/" + name + ".onnx"; }

// Collects what is logged and printed while it lives.
class Journal {
 public:
  Journal() {
    anyshape::mql5::set_log([this](std::string_view line) { log.emplace_back(line); });
    anyshape::mql5::set_print([this](std::string_view line) { prints.emplace_back(line); });
  }
  ~Journal() {
    anyshape::mql5::set_log(nullptr);
    anyshape::mql5::set_print(nullptr);
  }

  std::vector<std::string> log, prints;
};

// An open model; the last error and the journal are its own.
class Opened {
 public:
  explicit Opened(const std::string& name, uint flags = ONNX_DEFAULT) : handle(OnnxCreate(model_path(name), flags)) {
    EXPECT_NE(handle, INVALID_HANDLE) << name << ": " << last_line();
    ResetLastError();
  }
  ~Opened() { OnnxRelease(handle); }

  std::string last_line() const { return journal.log.empty() ? "" : journal.log.back(); }

  Journal journal;
  long handle;
};

// The call fails with this error and logs one line, in which these words occur.
inline void expect_refused(bool result, const Opened& model, int code, const std::string& words) {
  EXPECT_FALSE(result);
  EXPECT_EQ(GetLastError(), code) << model.last_line();
  EXPECT_EQ(model.journal.log.size(), 1u);
  EXPECT_NE(model.last_line().find(words), std::string::npos) << model.last_line();
  ResetLastError();
  const_cast<Opened&>(model).journal.log.clear();
}
