#pragma once

#include <filesystem>

#include "base/error.h"

namespace anyshape {

// A shared library opened while the program runs.
class SharedLibrary {
 public:
  // Usage error "library.open" with the loader's reason. Its symbols serve nobody else's lookups.
  static Result<SharedLibrary> open(const std::filesystem::path& path);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  // Unloads it: nothing of it may be in use.
  ~SharedLibrary();

  // Null when the library does not export it.
  void* find(const char* symbol) const;

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}

  void* handle_ = nullptr;
};

}  // namespace anyshape
