#include "journal.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "anyshape/printable.h"

namespace anyshape::mql5 {
namespace {

thread_local int last_error = ERR_SUCCESS;

// Where lines go; one at a time.
class Lines {
 public:
  explicit Lines(std::FILE* otherwise) : otherwise_(otherwise) {}

  void set(LineSink sink) {
    const std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
  }
  void write(std::string_view line) {
    const std::string text = printable(line);
    const std::lock_guard lock(mutex_);
    if (sink_) return sink_(text);
    std::fprintf(otherwise_, "%s\n", text.c_str());
  }

 private:
  std::mutex mutex_;
  LineSink sink_;
  std::FILE* otherwise_;
};

// Programs print while static objects are made and destroyed.
Lines& log() {
  static Lines& lines = *new Lines(stderr);
  return lines;
}
Lines& prints() {
  static Lines& lines = *new Lines(stdout);
  return lines;
}

constexpr std::array kErrorNames{
    std::pair{ERR_INVALID_HANDLE, "ERR_INVALID_HANDLE"},
    std::pair{ERR_FILE_NOT_EXIST, "ERR_FILE_NOT_EXIST"},
    std::pair{ERR_ONNX_INTERNAL, "ERR_ONNX_INTERNAL"},
    std::pair{ERR_ONNX_NOT_SUPPORTED, "ERR_ONNX_NOT_SUPPORTED"},
    std::pair{ERR_ONNX_RUN_FAILED, "ERR_ONNX_RUN_FAILED"},
    std::pair{ERR_ONNX_INVALID_PARAMETERS_COUNT, "ERR_ONNX_INVALID_PARAMETERS_COUNT"},
    std::pair{ERR_ONNX_INVALID_PARAMETER, "ERR_ONNX_INVALID_PARAMETER"},
    std::pair{ERR_ONNX_INVALID_PARAMETER_TYPE, "ERR_ONNX_INVALID_PARAMETER_TYPE"},
    std::pair{ERR_ONNX_INVALID_PARAMETER_SIZE, "ERR_ONNX_INVALID_PARAMETER_SIZE"},
    std::pair{ERR_ONNX_WRONG_DIMENSION, "ERR_ONNX_WRONG_DIMENSION"},
};

const char* error_name(int code) {
  for (const auto& [number, name] : kErrorNames)
    if (number == code) return name;
  return "";
}

[[noreturn]] void end_program(const std::string& sentence) {
  log().write(sentence);
  std::abort();
}

}  // namespace

void set_last_error(int code) { last_error = code; }

void log_line(std::string_view text) { log().write("ONNX: " + std::string(text)); }

bool fail(const Failure& failure) {
  set_last_error(failure.code);
  log_line(joined("error ", failure.code, " ", error_name(failure.code), ": ", failure.sentence));
  return false;
}

std::string in_quotes(std::string_view name) {
  std::string text = printable_name(name);
  return text.starts_with('"') ? text : '"' + text + '"';
}

void print(std::string_view text) {
  while (true) {
    const size_t end = text.find('\n');
    prints().write(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

void set_log(LineSink sink) { log().set(std::move(sink)); }
void set_print(LineSink sink) { prints().set(std::move(sink)); }

void index_out_of_range(int64_t index, size_t size) {
  end_program(joined("array out of range: index ", index, " of ", size, " entries"));
}
void sizes_differ(size_t a, size_t b) {
  end_program(joined("sizes ", a, " and ", b, " do not fit: vectors and matrices that work together have equal sizes"));
}

}  // namespace anyshape::mql5

int GetLastError() { return anyshape::mql5::last_error; }
void ResetLastError() { anyshape::mql5::last_error = ERR_SUCCESS; }
void SetUserError(ushort code) { anyshape::mql5::last_error = ERR_USER_ERROR_FIRST + code; }
