#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "anyshape/mql5/onnx.h"
#include "anyshape/session.h"
#include "journal.h"

namespace anyshape::mql5 {

using Sizes = std::vector<int64_t>;

// An input or output of a model.
struct Port {
  const char* side = "";  // "input" or "output"
  size_t index = 0;
  std::string name;
  AnyValue::Kind kind = AnyValue::Kind::tensor;
  DType type = DType::undefined;
  // As the file declares them, -1 for a dynamic axis; absent where it declares no rank.
  std::optional<Sizes> dims;
  std::vector<std::string> names;  // of the axes: the number, or the symbol
  std::optional<Sizes> set;        // by OnnxSetInputShape and OnnxSetOutputShape
  OnnxTypeInfo info;
  bool warned = false;  // that its container has another type, with ONNX_NO_CONVERSION

  // `input 0 "x"`
  std::string text() const;
  // `OnnxSetInputShape(handle, 0, {batch, 120, 1})`
  std::string call() const;
  // The sizes, where all of them are known; else null.
  const Sizes* shape() const;
};

// `{1, 120, 1}`
std::string sizes_text(const Sizes& sizes);

// A model behind a handle.
struct OpenModel {
  OpenModel(const Session& of, uint level_flags) : session(of), context(of, 1), log_flags(level_flags) {}

  std::mutex mutex;
  Session session;
  Context context;
  std::vector<Port> inputs, outputs;
  uint log_flags;
  bool shapes_checked = false;  // the model takes what is set now

  bool logs(uint level) const;
};

using OpenModelPtr = std::shared_ptr<OpenModel>;

// Fills `inputs` and `outputs` with what the file says of them.
void add_ports(const Model& model, OpenModel& open);

long add_handle(OpenModelPtr model);
// Null and ERR_INVALID_HANDLE where there is none.
OpenModelPtr find_handle(long handle, const char* function);
bool remove_handle(long handle);

}  // namespace anyshape::mql5
