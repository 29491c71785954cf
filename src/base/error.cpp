#include "base/error.h"

namespace anyshape {

std::string Error::text() const {
  std::string out = fmt::format("error[{}] ", code);
  if (!place.empty()) out += place + ": ";
  out += message;
  if (!hint.empty()) {
    if (!out.ends_with('.')) out += '.';
    out += " Try: " + hint;
  }
  return out;
}

tl::unexpected<Error> at(std::string_view outer, Error error) {
  error.place = error.place.empty() ? std::string(outer) : fmt::format("{}: {}", outer, error.place);
  return tl::unexpected(std::move(error));
}

}  // namespace anyshape
