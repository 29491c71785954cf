#include "anyshape/terminal.h"

#include <cstdlib>
#include <span>

#include "base/nearest.h"
#include "base/os/file.h"
#include "base/os/terminal.h"

namespace anyshape {

bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return stdout_is_terminal() && (no_colour == nullptr || *no_colour == '\0');
}

bool progress_wanted() { return stderr_is_terminal(); }

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) { return nearest(word, words); }

Status write_text(const std::filesystem::path& path, std::string_view text) {
  TRY(AtomicFile file, AtomicFile::create(path));
  TRY_OK(file.write(std::as_bytes(std::span(text))));
  TRY_OK(file.flush());
  return file.commit();
}

}  // namespace anyshape
