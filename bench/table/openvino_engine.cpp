#include <cstdlib>
#include <numeric>

#include "base/os/library.h"
#include "engine.h"

namespace anyshape::bench {
namespace {

// What OpenVINO's C interface hands out is opaque; only what is used here is declared.
struct Shape {
  int64_t rank;
  int64_t* dims;
};
using Handle = void*;

struct Functions {
  int (*create_core)(Handle*);
  int (*compile)(Handle, const char*, const char*, size_t, Handle*, ...);
  int (*create_request)(Handle, Handle*);
  int (*input_count)(Handle, size_t*);
  int (*input_port)(Handle, size_t, Handle*);
  int (*output_count)(Handle, size_t*);
  int (*port_name)(Handle, char**);
  int (*port_type)(Handle, int*);
  int (*make_tensor)(int, Shape, void*, Handle*);
  int (*set_input)(Handle, size_t, Handle);
  int (*get_output)(Handle, size_t, Handle*);
  int (*infer)(Handle);
  int (*tensor_shape)(Handle, Shape*);
  int (*tensor_bytes)(Handle, size_t*);
  int (*tensor_data)(Handle, void**);
  void (*free_model)(Handle);
  void (*free_request)(Handle);
  void (*free_tensor)(Handle);
  void (*free_port)(Handle);
  int (*free_shape)(Shape*);
  void (*free_text)(const char*);
  const char* (*last_message)();
};

struct Library {
  SharedLibrary file;
  Functions f{};
  Handle core = nullptr;

  Status check(int status) const {
    if (status == 0) return {};
    return refuse("openvino", "{} ({})", f.last_message != nullptr ? f.last_message() : "", status);
  }
};

Result<File> find_library() {
  if (const char* given = std::getenv("ANYSHAPE_OPENVINO_LIB"); given != nullptr) return File(given);
  std::error_code ignored;
  for (const auto& python : std::filesystem::directory_iterator("build/venv/lib", ignored))
    for (const auto& entry :
         std::filesystem::directory_iterator(python.path() / "site-packages/openvino/libs", ignored))
      if (entry.path().filename().string().starts_with("libopenvino_c.so")) return entry.path();
  return usage("openvino.library", "build/venv has no C library of OpenVINO");
}

template <class Function>
bool take(const SharedLibrary& file, const char* name, Function& out) {
  out = reinterpret_cast<Function>(file.find(name));
  return out != nullptr;
}

bool take_all(const SharedLibrary& file, Functions& f) {
  take(file, "ov_get_last_err_msg", f.last_message);
  return take(file, "ov_core_create", f.create_core) && take(file, "ov_core_compile_model_from_file", f.compile) &&
         take(file, "ov_compiled_model_create_infer_request", f.create_request) &&
         take(file, "ov_compiled_model_inputs_size", f.input_count) &&
         take(file, "ov_compiled_model_input_by_index", f.input_port) &&
         take(file, "ov_compiled_model_outputs_size", f.output_count) &&
         take(file, "ov_port_get_any_name", f.port_name) && take(file, "ov_port_get_element_type", f.port_type) &&
         take(file, "ov_tensor_create_from_host_ptr", f.make_tensor) &&
         take(file, "ov_infer_request_set_input_tensor_by_index", f.set_input) &&
         take(file, "ov_infer_request_get_output_tensor_by_index", f.get_output) &&
         take(file, "ov_infer_request_infer", f.infer) && take(file, "ov_tensor_get_shape", f.tensor_shape) &&
         take(file, "ov_tensor_get_byte_size", f.tensor_bytes) && take(file, "ov_tensor_data", f.tensor_data) &&
         take(file, "ov_compiled_model_free", f.free_model) && take(file, "ov_infer_request_free", f.free_request) &&
         take(file, "ov_tensor_free", f.free_tensor) && take(file, "ov_output_const_port_free", f.free_port) &&
         take(file, "ov_shape_free", f.free_shape) && take(file, "ov_free", f.free_text);
}

// One for the process; it stays in it, for its threads may be at work until the end.
Result<const Library*> library() {
  static const Library* loaded = nullptr;
  if (loaded != nullptr) return loaded;
  TRY(const File path, find_library());
  TRY(SharedLibrary file, SharedLibrary::open(path));
  auto made = std::make_unique<Library>(Library{std::move(file)});
  if (!take_all(made->file, made->f)) return usage("openvino.library", "{} lacks a function", path.string());
  TRY_OK(made->check(made->f.create_core(&made->core)));
  return loaded = made.release();
}

class OpenvinoRunner : public Runner {
 public:
  explicit OpenvinoRunner(const Library& library) : library_(library), f_(library.f) {}
  ~OpenvinoRunner() override {
    for (const Handle tensor : tensors_) f_.free_tensor(tensor);
    if (request_ != nullptr) f_.free_request(request_);
    if (model_ != nullptr) f_.free_model(model_);
  }
  Status load(const File& model, int threads);
  Status bind(const Feed& feed) override;
  Status run() override { return library_.check(f_.infer(request_)); }
  Result<std::vector<AnyValue>> outputs() override;
  Result<RunnerPtr> twin() override { return refuse("openvino.twin", "one request of a model is all that is used"); }

 private:
  Status set_input(size_t i, const Feed& feed);
  Result<AnyValue> output(size_t i) const;

  const Library& library_;
  const Functions& f_;
  Handle model_ = nullptr, request_ = nullptr;
  std::vector<Handle> tensors_;
};

Status OpenvinoRunner::load(const File& model, int threads) {
  TRY_OK(library_.check(f_.compile(library_.core, model.c_str(), "CPU", 4, &model_, "INFERENCE_PRECISION_HINT", "f32",
                                   "INFERENCE_NUM_THREADS", std::to_string(threads).c_str())));
  return library_.check(f_.create_request(model_, &request_));
}

Status OpenvinoRunner::set_input(size_t i, const Feed& feed) {
  Handle port = nullptr;
  char* name = nullptr;
  int type = 0;
  TRY_OK(library_.check(f_.input_port(model_, i, &port)));
  TRY_OK(library_.check(f_.port_name(port, &name)));
  TRY_OK(library_.check(f_.port_type(port, &type)));
  for (const auto& [input, value] : feed) {
    if (input != name) continue;
    std::vector<int64_t> dims = value.shape();
    Handle tensor = nullptr;
    const Shape shape{static_cast<int64_t>(dims.size()), dims.data()};
    TRY_OK(library_.check(f_.make_tensor(type, shape, const_cast<void*>(value.data()), &tensor)));
    tensors_.push_back(tensor);
    TRY_OK(library_.check(f_.set_input(request_, i, tensor)));
  }
  f_.free_text(name);
  f_.free_port(port);
  return {};
}

Status OpenvinoRunner::bind(const Feed& feed) {
  size_t count = 0;
  TRY_OK(library_.check(f_.input_count(model_, &count)));
  for (size_t i = 0; i < count; ++i) TRY_OK(set_input(i, feed));
  return run();
}

// Entries of four bytes are floats in the models at hand, those of eight are integers.
Result<AnyValue> OpenvinoRunner::output(size_t i) const {
  Handle tensor = nullptr;
  Shape shape{};
  size_t bytes = 0;
  void* data = nullptr;
  TRY_OK(library_.check(f_.get_output(request_, i, &tensor)));
  TRY_OK(library_.check(f_.tensor_shape(tensor, &shape)));
  TRY_OK(library_.check(f_.tensor_bytes(tensor, &bytes)));
  TRY_OK(library_.check(f_.tensor_data(tensor, &data)));
  std::vector<int64_t> dims(shape.dims, shape.dims + shape.rank);
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  const DType type = static_cast<int64_t>(bytes) == 8 * count ? DType::i64 : DType::f32;
  auto value = AnyValue::copy_of(type, std::move(dims), data, bytes);
  f_.free_shape(&shape);
  f_.free_tensor(tensor);
  return value;
}

Result<std::vector<AnyValue>> OpenvinoRunner::outputs() {
  size_t count = 0;
  TRY_OK(library_.check(f_.output_count(model_, &count)));
  std::vector<AnyValue> out;
  for (size_t i = 0; i < count; ++i) {
    TRY(AnyValue value, output(i));
    out.push_back(std::move(value));
  }
  return out;
}

}  // namespace

Result<RunnerPtr> load_openvino(const File& model, int threads) {
  TRY(const Library* loaded, library());
  auto runner = std::make_unique<OpenvinoRunner>(*loaded);
  TRY_OK(runner->load(model, threads));
  return runner;
}

}  // namespace anyshape::bench
