#include "run/ort/find.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace anyshape {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "ANYSHAPE_ORT_LIB";
constexpr std::string_view kName = "libonnxruntime.so";

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The entries of a list like PATH.
std::vector<fs::path> folders_of(std::string_view list) {
  std::vector<fs::path> out;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) out.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The numbers in a name, for comparing versions: "libonnxruntime.so.1.31.1" gives 1, 31, 1.
std::vector<unsigned long> numbers_of(std::string_view text) {
  std::vector<unsigned long> out;
  bool inside = false;
  for (char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) out.push_back(0);
    if (digit) out.back() = out.back() * 10 + static_cast<unsigned long>(c - '0');
    inside = digit;
  }
  return out;
}

// The entries whose name starts so, highest version first.
std::vector<fs::path> entries(const fs::path& folder, std::string_view start) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with(start)) out.push_back(it->path());
  std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string(), y = b.filename().string();
    const auto m = numbers_of(x), n = numbers_of(y);
    return m != n ? m > n : x < y;
  });
  return out;
}

std::optional<fs::path> in_folder(const fs::path& folder) {
  for (const fs::path& file : entries(folder, kName)) {
    const std::string rest = file.filename().string().substr(kName.size());
    if (rest.find_first_not_of("0123456789.") == std::string::npos && is_there(file)) return file;
  }
  return std::nullopt;
}

std::optional<fs::path> in_packages(const fs::path& site_packages) {
  return in_folder(site_packages / "onnxruntime" / "capi");
}

std::optional<fs::path> in_prefix(const fs::path& prefix) {
  for (const char* lib : {"lib", "lib64"})
    for (const fs::path& python : entries(prefix / lib, "python3"))
      for (const char* packages : {"site-packages", "dist-packages"})
        if (auto found = in_packages(python / packages)) return found;
  return std::nullopt;
}

std::string searched(const OrtPlaces& places) {
  std::vector<std::string> all;
  for (const fs::path& prefix : places.prefixes) all.push_back((prefix / "lib/python3*/site-packages").string());
  for (const fs::path& folder : places.site_packages) all.push_back(folder.string());
  for (const fs::path& folder : places.folders) all.push_back(folder.string());
  return fmt::format("{}", fmt::join(all, ", "));
}

void add_once(std::vector<fs::path>& list, const fs::path& path) {
  if (!path.empty() && std::find(list.begin(), list.end(), path) == list.end()) list.push_back(path);
}

Result<fs::path> find_given(const OrtPlaces& places) {
  std::error_code ignored;
  if (!fs::is_directory(places.given, ignored)) {
    if (is_there(places.given)) return places.given;
    return at(places.given.string(),
              usage("ort.library", "there is no such file, though {} says so", places.given_by).value());
  }
  if (auto found = in_folder(places.given)) return *found;
  if (auto found = in_packages(places.given)) return *found;
  if (auto found = in_prefix(places.given)) return *found;
  return at(places.given.string(),
            usage("ort.library", "the folder given by {} has no {}*", places.given_by, kName).value());
}

}  // namespace

OrtPlaces ort_places(const fs::path& given) {
  OrtPlaces places;
  if (!given.empty()) return {given, "--ort-lib", {}, {}, {}};
  if (const std::string named = environment(kVariable); !named.empty()) return {named, kVariable, {}, {}, {}};
  add_once(places.prefixes, environment("VIRTUAL_ENV"));
  add_once(places.prefixes, environment("CONDA_PREFIX"));
  for (const fs::path& entry : folders_of(environment("PATH"))) {
    // A slash at the end would be a folder of its own.
    const fs::path bin = entry.has_filename() ? entry : entry.parent_path();
    if (bin.is_absolute() && (is_there(bin / "python3") || is_there(bin / "python")))
      add_once(places.prefixes, bin.parent_path());
  }
  if (const std::string home = environment("HOME"); !home.empty()) add_once(places.prefixes, fs::path(home) / ".local");
  add_once(places.prefixes, "/usr/local");
  add_once(places.prefixes, "/usr");
  places.site_packages = folders_of(environment("PYTHONPATH"));
  for (const fs::path& folder : folders_of(environment("LD_LIBRARY_PATH"))) add_once(places.folders, folder);
  for (const char* folder :
       {"/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"})
    add_once(places.folders, folder);
  return places;
}

Result<fs::path> find_ort_library(const OrtPlaces& places) {
  if (!places.given.empty()) return find_given(places);
  for (const fs::path& folder : places.site_packages)
    if (auto found = in_packages(folder)) return *found;
  for (const fs::path& prefix : places.prefixes)
    if (auto found = in_prefix(prefix)) return *found;
  for (const fs::path& folder : places.folders)
    if (auto found = in_folder(folder)) return *found;
  Error error =
      usage("ort.library", "ONNX Runtime's library ({}*) was not found; searched: {}", kName, searched(places)).value();
  error.hint = "pip install onnxruntime, or name the library that is to be taken";
  return tl::unexpected(std::move(error));
}

}  // namespace anyshape
