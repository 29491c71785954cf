#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/os/file.h"

namespace anyshape {

// A file whose first bytes, or members, tell what it is.
struct KnownFormat {
  enum class Holds { program, model, other };
  Holds holds = Holds::other;  // program: what `anyshape export` reads; model: what all other commands read
  std::string sentence;        // "the file holds weights in the form of safetensors, and no graph"
  std::string hint;            // the command or line to try; may be empty
};

// Nothing: any file, a damaged one perhaps. `path` is for the hint.
std::optional<KnownFormat> known_format(const std::shared_ptr<const MappedFile>& file, std::string_view path);

// The refusal of a file of another format, "file.foreign".
Error foreign_file(const KnownFormat& format);

}  // namespace anyshape
