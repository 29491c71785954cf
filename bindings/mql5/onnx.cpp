#include "anyshape/mql5/onnx.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "anyshape/model.h"
#include "handle.h"

namespace anyshape::mql5 {
namespace {

namespace fs = std::filesystem;

struct CommonFolder {
  std::mutex mutex;
  fs::path path;
};

CommonFolder& common_folder() {
  static CommonFolder& folder = *new CommonFolder;
  return folder;
}

// What the reference says about paths: relative to a folder, and a second try with ".onnx" behind the name.
std::optional<fs::path> find_file(const std::string& given, uint flags) {
  std::string name = given;
  std::replace(name.begin(), name.end(), '\\', '/');
  fs::path path = name;
  if (path.is_relative() && (flags & ONNX_COMMON_FOLDER)) {
    CommonFolder& folder = common_folder();
    const std::lock_guard lock(folder.mutex);
    path = folder.path / path;
  }
  std::error_code ignored;
  for (const fs::path& tried : {path, fs::path(path.string() + ".onnx")})
    if (fs::is_regular_file(tried, ignored)) return tried;
  return std::nullopt;
}

long give_up(const Error& error) {
  fail({error.code == "run.missing" ? ERR_ONNX_NOT_SUPPORTED : ERR_ONNX_INTERNAL, error.text()});
  return INVALID_HANDLE;
}

long open_model(const Result<Model>& model, uint flags) {
  if (!model) return give_up(model.error());
  SessionOptions options;
  if (flags & ONNX_LOGLEVEL_VERBOSE) options.log = [](std::string_view line) { log_line(line); };
  const auto session = Session::from_model(*model, options);
  if (!session) return give_up(session.error());
  auto open = std::make_shared<OpenModel>(*session, flags);
  add_ports(*model, *open);
  if (open->logs(ONNX_LOGLEVEL_INFO)) {
    for (const auto* side : {&open->inputs, &open->outputs})
      for (const Port& port : *side)
        log_line(port.text() + (port.shape() ? " has a size of its own" : " has dynamic axes: " + port.call()));
  }
  return add_handle(std::move(open));
}

using Ports = std::vector<Port> OpenModel::*;

// The input or output of that number with its model locked, or nothing and the error.
struct Found {
  OpenModelPtr model;
  std::unique_lock<std::mutex> lock;
  Port* port = nullptr;
};

Found find_port(long handle, Ports side, long index, const char* function) {
  Found out;
  out.model = find_handle(handle, function);
  if (!out.model) return out;
  out.lock = std::unique_lock(out.model->mutex);
  std::vector<Port>& ports = (*out.model).*side;
  if (index >= 0 && std::cmp_less(index, ports.size())) {
    out.port = &ports[static_cast<size_t>(index)];
  } else {
    fail({ERR_ONNX_INVALID_PARAMETER, joined(function, ": the model has ", ports.size(),
                                             " of them, numbered from 0, "
                                             "and so none of number ",
                                             index)});
  }
  return out;
}

long count(long handle, Ports side, const char* function) {
  const OpenModelPtr model = find_handle(handle, function);
  return model ? static_cast<long>(((*model).*side).size()) : -1;
}

string name(long handle, Ports side, long index, const char* function) {
  const Found found = find_port(handle, side, index, function);
  return found.port ? string(found.port->name) : string();
}

bool get_type(long handle, Ports side, long index, OnnxTypeInfo& type, const char* function) {
  const Found found = find_port(handle, side, index, function);
  if (found.port) type = found.port->info;
  return found.port != nullptr;
}

// Why a shape cannot be that of the port; empty: it can.
std::string wrong_shape(const Port& port, const Sizes& sizes) {
  if (port.kind != AnyValue::Kind::tensor) return "it is no tensor and has no shape";
  if (port.dims && port.dims->size() != sizes.size())
    return joined("it has ", port.dims->size(), " axes, and ", sizes_text(sizes), " has ", sizes.size());
  int64_t entries = 1;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] < 1) return joined("axis ", axis, " is ", sizes[axis], ", and must be 1 or more");
    if (port.dims && (*port.dims)[axis] >= 0 && (*port.dims)[axis] != sizes[axis])
      return joined("axis ", axis, " is ", (*port.dims)[axis], " in the file, and cannot be ", sizes[axis]);
    if (__builtin_mul_overflow(entries, sizes[axis], &entries)) return sizes_text(sizes) + " fits no memory";
  }
  return {};
}

bool set_shape(long handle, Ports side, long index, const Sizes& sizes, const char* function) {
  const Found found = find_port(handle, side, index, function);
  if (!found.port) return false;
  if (const std::string why = wrong_shape(*found.port, sizes); !why.empty())
    return fail({ERR_ONNX_WRONG_DIMENSION,
                 joined(found.port->text(), ": ", why, "; call ", found.port->call(), " with numbers for names")});
  found.port->set = sizes;
  found.model->shapes_checked = false;
  return true;
}

}  // namespace

void set_common_folder(std::string_view folder) {
  CommonFolder& common = common_folder();
  const std::lock_guard lock(common.mutex);
  common.path = folder;
}

}  // namespace anyshape::mql5

using namespace anyshape::mql5;

long OnnxCreate(const string& filename, uint flags) {
  if (const auto path = find_file(filename.text(), flags)) return open_model(anyshape::Model::load(*path), flags);
  fail({ERR_FILE_NOT_EXIST, joined("OnnxCreate: there is no file ", in_quotes(filename.text()),
                                   ", nor one with .onnx behind that; a relative path begins in the working folder")});
  return INVALID_HANDLE;
}

long OnnxCreateFromBuffer(std::span<const uchar> buffer, ulong flags) {
  if (buffer.empty()) {
    fail({ERR_ONNX_INVALID_PARAMETER, "OnnxCreateFromBuffer: the buffer is empty; give it the bytes of a model"});
    return INVALID_HANDLE;
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(buffer.data());
  return open_model(anyshape::Model::from_bytes({bytes, bytes + buffer.size()}, "buffer"), static_cast<uint>(flags));
}

bool OnnxRelease(long onnx_handle) { return remove_handle(onnx_handle); }

long OnnxGetInputCount(long onnx_handle) { return count(onnx_handle, &OpenModel::inputs, "OnnxGetInputCount"); }
long OnnxGetOutputCount(long onnx_handle) { return count(onnx_handle, &OpenModel::outputs, "OnnxGetOutputCount"); }

string OnnxGetInputName(long onnx_handle, long index) {
  return name(onnx_handle, &OpenModel::inputs, index, "OnnxGetInputName");
}
string OnnxGetOutputName(long onnx_handle, long index) {
  return name(onnx_handle, &OpenModel::outputs, index, "OnnxGetOutputName");
}

bool OnnxGetInputTypeInfo(long onnx_handle, long index, OnnxTypeInfo& typeinfo) {
  return get_type(onnx_handle, &OpenModel::inputs, index, typeinfo, "OnnxGetInputTypeInfo");
}
bool OnnxGetOutputTypeInfo(long onnx_handle, long index, OnnxTypeInfo& typeinfo) {
  return get_type(onnx_handle, &OpenModel::outputs, index, typeinfo, "OnnxGetOutputTypeInfo");
}

bool OnnxSetInputShape(long onnx_handle, long input_index, const ShapeArgument& shape) {
  return set_shape(onnx_handle, &OpenModel::inputs, input_index, shape.sizes(), "OnnxSetInputShape");
}
bool OnnxSetOutputShape(long onnx_handle, long output_index, const ShapeArgument& shape) {
  return set_shape(onnx_handle, &OpenModel::outputs, output_index, shape.sizes(), "OnnxSetOutputShape");
}
