#include "run/ort/api.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>

#include "base/os/library.h"

namespace anyshape::ort {
namespace {

// The lowest version of the table that has every function used: that of ONNX Runtime 1.10.
constexpr uint32_t kTableVersion = 10;
constexpr int kLogFatal = 4;

struct Base {
  void* const* (*table)(uint32_t version);
  const char* (*version)();
};

template <class Function>
void take(Function& function, void* const* table, size_t place) {
  function = reinterpret_cast<Function>(table[place]);
}

void take_session(Functions& f, void* const* table) {
  take(f.error_code, table, 1);
  take(f.error_message, table, 2);
  take(f.create_env, table, 3);
  take(f.create_session, table, 7);
  take(f.create_session_from_bytes, table, 8);
  take(f.run, table, 9);
  take(f.create_options, table, 10);
  take(f.disable_memory_pattern, table, 17);
  take(f.disable_arena, table, 19);
  take(f.set_optimization, table, 23);
  take(f.set_threads, table, 24);
  take(f.set_parallel_nodes, table, 25);
  take(f.input_count, table, 30);
  take(f.output_count, table, 31);
  take(f.input_type, table, 33);
  take(f.output_type, table, 34);
  take(f.input_name, table, 36);
  take(f.output_name, table, 37);
  take(f.create_run_options, table, 39);
  take(f.set_terminate, table, 46);
}

void take_values(Functions& f, void* const* table) {
  take(f.create_tensor, table, 48);
  take(f.create_tensor_over, table, 49);
  take(f.tensor_data, table, 51);
  take(f.fill_strings, table, 52);
  take(f.string_bytes, table, 53);
  take(f.copy_strings, table, 54);
  take(f.as_tensor, table, 55);
  take(f.kind_of_type, table, 56);
  take(f.element_type, table, 60);
  take(f.rank, table, 61);
  take(f.dims, table, 62);
  take(f.tensor_info, table, 65);
  take(f.kind_of_value, table, 67);
  take(f.create_cpu_memory, table, 69);
  take(f.free, table, 76);
  take(f.default_allocator, table, 78);
  take(f.item, table, 80);
  take(f.item_count, table, 81);
  take(f.create_container, table, 82);
  take(f.as_sequence, table, 104);
  take(f.sequence_item_type, table, 107);
  take(f.has_value, table, 192);
}

void take_releases(Functions& f, void* const* table) {
  take(f.release_status, table, 93);
  take(f.release_session, table, 95);
  take(f.release_value, table, 96);
  take(f.release_type, table, 98);
  take(f.release_tensor_info, table, 99);
  take(f.release_options, table, 100);
  take(f.release_run_options, table, 97);
}

std::string_view code_of(int number) {
  constexpr std::string_view kCodes[] = {"ort.fail",   "ort.fail",        "ort.argument", "ort.file",
                                         "ort.model",  "ort.engine",      "ort.run",      "ort.protobuf",
                                         "ort.loaded", "ort.unsupported", "ort.graph",    "ort.provider"};
  return number >= 0 && static_cast<size_t>(number) < std::size(kCodes) ? kCodes[number] : kCodes[0];
}

bool is_out_of_memory(std::string_view message) {
  return message.find("bad_alloc") != std::string_view::npos ||
         message.find("Failed to allocate memory") != std::string_view::npos;
}

}  // namespace

Status Library::check(StatusObject* status) const {
  if (status == nullptr) return {};
  const int number = functions_.error_code(status);
  std::string message = functions_.error_message(status);
  functions_.release_status(status);
  message.resize(message.find_last_not_of(" \n\t.") + 1);
  std::replace(message.begin(), message.end(), '\n', ' ');
  constexpr int kNoSuchFile = 3;
  if (number == kNoSuchFile) return usage(code_of(number), "{}", message);
  if (is_out_of_memory(message)) return system_error("ort.memory", "{}", message);
  return refuse(code_of(number), "ONNX Runtime {}: {}", version_, message);
}

Status Library::prepare(const std::filesystem::path& path) {
  TRY(SharedLibrary library, SharedLibrary::open(path));
  const auto base_of = reinterpret_cast<const Base* (*)()>(library.find("OrtGetApiBase"));
  const Base* base = base_of != nullptr ? base_of() : nullptr;
  if (base == nullptr) return at(path.string(), usage("ort.library", "this is not ONNX Runtime's C library").value());
  version_ = base->version();
  void* const* table = base->table(kTableVersion);
  if (table == nullptr)
    return at(path.string(),
              usage("ort.library", "ONNX Runtime {} is too old; 1.10 or newer is needed", version_).value());
  path_ = path;
  take_session(functions_, table);
  take_values(functions_, table);
  take_releases(functions_, table);
  // From here on threads of the library may run: it stays.
  new SharedLibrary(std::move(library));
  TRY_OK(check(functions_.create_env(kLogFatal, "anyshape", &env_)));
  TRY_OK(check(functions_.default_allocator(&allocator_)));
  return check(functions_.create_cpu_memory(0, 0, &cpu_memory_));
}

Result<std::shared_ptr<const Library>> Library::load(const std::filesystem::path& path) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::filesystem::path, std::shared_ptr<const Library>>;
  std::error_code unresolved;
  std::filesystem::path key = std::filesystem::canonical(path, unresolved);
  if (unresolved) key = path;
  const std::lock_guard lock(mutex);
  if (const auto found = loaded.find(key); found != loaded.end()) return found->second;
  std::shared_ptr<Library> library(new Library);
  TRY_OK(library->prepare(path));
  loaded.emplace(key, library);
  return library;
}

}  // namespace anyshape::ort
