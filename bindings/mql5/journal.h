#pragma once

#include <string>
#include <string_view>

#include "anyshape/mql5/onnx.h"

namespace anyshape::mql5 {

// Why a call fails: what GetLastError() says then, and the sentence for the log.
struct Failure {
  int code;
  std::string sentence;
};

void set_last_error(int code);
// One line of the log of models, escaped.
void log_line(std::string_view text);
// Sets the last error and logs the sentence; false, for callers to return.
bool fail(const Failure& failure);

// A name of a file in a sentence, always in quotes.
std::string in_quotes(std::string_view name);

}  // namespace anyshape::mql5
