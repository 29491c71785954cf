#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"

namespace anyshape::ort {

// What ONNX Runtime's C interface hands out: all opaque. Only what is used here is declared, under our own names.
struct StatusObject;
struct Env;
struct Options;
struct SessionObject;
struct Value;
struct TypeInfo;
struct TensorInfo;
struct SequenceInfo;
struct MemoryInfo;
struct Allocator;
struct RunOptions;

// The kinds of values.
enum Kind : int { kUnknown = 0, kTensor = 1, kSequence = 2, kMap = 3, kOpaque = 4, kSparse = 5, kOptional = 6 };

template <class... Args>
using Call = StatusObject* (*)(Args...);

// The functions in use. Each stands at a fixed place of the library's table, which only ever grows at its end.
struct Functions {
  int (*error_code)(const StatusObject*);
  const char* (*error_message)(const StatusObject*);
  Call<int, const char*, Env**> create_env;
  Call<const Env*, const char*, const Options*, SessionObject**> create_session;
  Call<const Env*, const void*, size_t, const Options*, SessionObject**> create_session_from_bytes;
  Call<SessionObject*, const RunOptions*, const char* const*, const Value* const*, size_t, const char* const*, size_t,
       Value**>
      run;
  Call<Options**> create_options;
  Call<Options*> disable_memory_pattern;
  Call<Options*> disable_arena;
  Call<Options*, int> set_optimization;
  Call<Options*, int> set_threads;
  Call<Options*, int> set_parallel_nodes;
  Call<RunOptions**> create_run_options;
  Call<RunOptions*> set_terminate;
  Call<const SessionObject*, size_t*> input_count;
  Call<const SessionObject*, size_t*> output_count;
  Call<const SessionObject*, size_t, TypeInfo**> input_type;
  Call<const SessionObject*, size_t, TypeInfo**> output_type;
  Call<const SessionObject*, size_t, Allocator*, char**> input_name;
  Call<const SessionObject*, size_t, Allocator*, char**> output_name;
  Call<Allocator*, const int64_t*, size_t, int, Value**> create_tensor;
  Call<const MemoryInfo*, void*, size_t, const int64_t*, size_t, int, Value**> create_tensor_over;
  Call<Value*, void**> tensor_data;
  Call<Value*, const char* const*, size_t> fill_strings;
  Call<const Value*, size_t*> string_bytes;
  Call<const Value*, void*, size_t, size_t*, size_t> copy_strings;
  Call<const TypeInfo*, const TensorInfo**> as_tensor;
  Call<const TypeInfo*, int*> kind_of_type;
  Call<const TensorInfo*, int*> element_type;
  Call<const TensorInfo*, size_t*> rank;
  Call<const TensorInfo*, int64_t*, size_t> dims;
  Call<const Value*, TensorInfo**> tensor_info;
  Call<const Value*, int*> kind_of_value;
  Call<int, int, MemoryInfo**> create_cpu_memory;
  Call<Allocator*, void*> free;
  Call<Allocator**> default_allocator;
  Call<const Value*, int, Allocator*, Value**> item;
  Call<const Value*, size_t*> item_count;
  Call<const Value* const*, size_t, int, Value**> create_container;
  Call<const TypeInfo*, const SequenceInfo**> as_sequence;
  Call<const SequenceInfo*, TypeInfo**> sequence_item_type;
  Call<const Value*, int*> has_value;
  void (*release_status)(StatusObject*);
  void (*release_session)(SessionObject*);
  void (*release_value)(Value*);
  void (*release_type)(TypeInfo*);
  void (*release_tensor_info)(TensorInfo*);
  void (*release_options)(Options*);
  void (*release_run_options)(RunOptions*);
};

// A loaded library, shared by all sessions of it. It stays in the process until its end: its threads may still be at
// work when the last session is gone.
class Library {
 public:
  // One per file, however often it is asked for. Usage errors: "library.open", "ort.library" (not ONNX Runtime, or
  // older than 1.10).
  static Result<std::shared_ptr<const Library>> load(const std::filesystem::path& path);

  const Functions& functions() const { return functions_; }
  const std::string& version() const { return version_; }
  const std::filesystem::path& path() const { return path_; }
  Env* env() const { return env_; }
  Allocator* allocator() const { return allocator_; }
  MemoryInfo* cpu_memory() const { return cpu_memory_; }

  // Releases the status. A failure has ONNX Runtime's message and a code by its kind: ort.argument, ort.graph, ...
  Status check(StatusObject* status) const;

 private:
  Library() = default;
  Status prepare(const std::filesystem::path& path);

  Functions functions_{};
  std::string version_;
  std::filesystem::path path_;
  Env* env_ = nullptr;
  Allocator* allocator_ = nullptr;
  MemoryInfo* cpu_memory_ = nullptr;
};

}  // namespace anyshape::ort
