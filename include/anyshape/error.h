#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "anyshape/api.h"

namespace anyshape {

// Every failure a file, an argument or a tensor can cause. Bugs of anyshape itself are never Errors (see base/bug.h).
struct Error {
  enum class Kind {
    refused,  // the model, shape or request breaks a rule: exit code 3
    unknown,  // no rule can tell: the verdict is "unknown", never a guess
    usage,    // a wrong argument, or a path that cannot be opened or written: exit code 2
    system,   // out of memory, disk full: exit code 1
  };
  Kind kind = Kind::refused;
  std::string code;      // stable and dotted, for scripts: "reshape.count"
  std::string place;     // file, node, axis: `model.onnx: node "/enc/Reshape_3"`; may be empty
  std::string message;   // one sentence a user can act on
  std::string hint;      // optional: the command or line to try
  bool lenient = false;  // of a rule: ONNX Runtime runs it all the same

  // Out of line: a Result is destroyed and moved at every call that can fail.
  ANYSHAPE_API Error();
  ANYSHAPE_API Error(Kind of_kind, std::string of_code, std::string of_place, std::string of_message,
                     std::string of_hint);
  ANYSHAPE_API Error(const Error&);
  ANYSHAPE_API Error(Error&&) noexcept;
  ANYSHAPE_API Error& operator=(const Error&);
  ANYSHAPE_API Error& operator=(Error&&) noexcept;
  ANYSHAPE_API ~Error();

  // `error[CODE] place: message. Try: hint`
  ANYSHAPE_API std::string text() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

}  // namespace anyshape
