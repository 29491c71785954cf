#include "base/error.h"

#include "base/printable.h"

namespace anyshape {

Error::Error() = default;
Error::Error(Kind of_kind, std::string of_code, std::string of_place, std::string of_message, std::string of_hint)
    : kind(of_kind),
      code(std::move(of_code)),
      place(std::move(of_place)),
      message(std::move(of_message)),
      hint(std::move(of_hint)) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

std::string Error::text() const {
  std::string out = fmt::format("error[{}] ", code);
  if (!place.empty()) out += place + ": ";
  out += message;
  if (!hint.empty()) {
    if (!out.ends_with('.')) out += '.';
    out += " Try: " + hint;
  }
  return printable(out);
}

tl::unexpected<Error> make_error(Error::Kind kind, RuleCode code, fmt::string_view text, fmt::format_args args) {
  Error error(kind, std::string(code.text), {}, fmt::vformat(text, args), {});
  error.lenient = code.lenient;
  return tl::unexpected(std::move(error));
}

tl::unexpected<Error> at(std::string_view outer, Error error) {
  error.place = error.place.empty() ? std::string(outer) : fmt::format("{}: {}", outer, error.place);
  return tl::unexpected(std::move(error));
}

}  // namespace anyshape
