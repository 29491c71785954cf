#include "base/os/library.h"

#include <dlfcn.h>

#include <utility>

namespace anyshape {

Result<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path) {
  // A name without a slash would be looked up in the loader's own places.
  const std::filesystem::path file = path.has_parent_path() ? path : "." / path;
  if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return SharedLibrary(handle);
  const char* reason = ::dlerror();
  return at(path.string(),
            usage("library.open", "the library cannot be loaded: {}", reason ? reason : "no reason given").value());
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* SharedLibrary::find(const char* symbol) const { return ::dlsym(handle_, symbol); }

}  // namespace anyshape
