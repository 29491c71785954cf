#include "handle.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace anyshape::mql5 {
namespace {

struct Handles {
  std::mutex mutex;
  std::map<long, OpenModelPtr> open;
  long next = 1;
};

// Programs release models while static objects are destroyed.
Handles& handles() {
  static Handles& all = *new Handles;
  return all;
}

int64_t size_of(std::string_view dim) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), size);
  return error == std::errc() && end == dim.data() + dim.size() && size >= 0 ? size : -1;
}

ENUM_ONNX_DATA_TYPE data_type(DType type) {
  return type <= DType::bf16 ? static_cast<ENUM_ONNX_DATA_TYPE>(type) : ONNX_DATA_TYPE_UNDEFINED;
}
ENUM_ONNX_DATA_TYPE data_type(std::string_view name) { return data_type(parse_dtype(name).value_or(DType::undefined)); }

// What stands in the brackets of `seq(...)`; empty where `text` is none.
std::string_view inside(std::string_view text, std::string_view kind) {
  if (!text.starts_with(kind) || !text.ends_with(')')) return {};
  text.remove_prefix(kind.size());
  text.remove_suffix(1);
  return text;
}

void add_dimensions(std::string_view dims, mql5_array<long>& out) {
  while (!dims.empty()) {
    const size_t end = std::min(dims.find(", "), dims.size());
    out.resize(out.size() + 1);
    out[out.size() - 1] = size_of(dims.substr(0, end));
    dims.remove_prefix(std::min(dims.size(), end + 2));
  }
}

// From the text of a type, the only form in which the library tells what is inside of a sequence or map.
OnnxTypeInfo type_info(std::string_view type) {
  OnnxTypeInfo out;
  if (const auto item = inside(type, "seq("); !item.empty()) {
    out.type = ONNX_TYPE_SEQUENCE;
    out.sequence = OnnxSequenceTypeInfo(std::make_shared<const OnnxTypeInfo>(type_info(item)));
  } else if (const auto pair = inside(type, "map("); !pair.empty()) {
    const size_t comma = std::min(pair.find(", "), pair.size());
    const std::string_view value = pair.substr(std::min(pair.size(), comma + 2));
    out.type = ONNX_TYPE_MAP;
    out.map = OnnxMapTypeInfo(std::make_shared<const OnnxTypeInfo>(type_info(value)));
    out.map.key_type = data_type(pair.substr(0, comma));
  } else if (const size_t open = type.find('['); open != std::string_view::npos && type.ends_with(']')) {
    out.type = ONNX_TYPE_TENSOR;
    out.tensor.data_type = data_type(type.substr(0, open));
    add_dimensions(type.substr(open + 1, type.size() - open - 2), out.tensor.dimensions);
  }
  return out;
}

void set_type(Port& port, const ValueType& declared) {
  if (port.kind != AnyValue::Kind::tensor) {
    port.info = type_info(declared.type);
    return;
  }
  port.info.type = ONNX_TYPE_TENSOR;
  port.info.tensor.data_type = data_type(port.type);
  if (!declared.dims) return;
  port.dims.emplace();
  port.names = *declared.dims;
  for (const std::string& dim : *declared.dims) port.dims->push_back(size_of(dim));
  port.info.tensor.dimensions = mql5_array<long>(std::span<const long>(*port.dims));
}

const ValueType* named(const std::vector<ValueType>& values, const std::string& name) {
  const auto it = std::find_if(values.begin(), values.end(), [&](const ValueType& v) { return v.name == name; });
  return it == values.end() ? nullptr : &*it;
}

Port make_port(const char* side, size_t index, const IoInfo& io, const std::vector<ValueType>& declared,
               const std::vector<ValueType>& inferred) {
  Port port;
  port.side = side;
  port.index = index;
  port.name = io.name;
  port.kind = io.kind;
  port.type = io.type;
  const ValueType* type = named(declared, io.name);
  // The declared sizes are what MetaTrader shows; what is inferred says more of all else.
  if (!type || !type->dims) type = named(inferred, io.name);
  if (type) set_type(port, *type);
  return port;
}

const OnnxTypeInfo& unknown_type() {
  static const OnnxTypeInfo unknown{ONNX_TYPE_UNKNOWN, {}, OnnxMapTypeInfo(unknown), OnnxSequenceTypeInfo(unknown)};
  return unknown;
}

}  // namespace

std::string sizes_text(const Sizes& sizes) {
  std::string out = "{";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? ", " : "") + std::to_string(sizes[i]);
  return out + "}";
}

std::string Port::text() const { return joined(side, " ", index, " ", in_quotes(name)); }

std::string Port::call() const {
  std::string list;
  for (const std::string& axis : names) list += (list.empty() ? "" : ", ") + axis;
  return joined(side == std::string_view("input") ? "OnnxSetInputShape" : "OnnxSetOutputShape", "(handle, ", index,
                ", {", dims ? list : "...", "})");
}

const Sizes* Port::shape() const {
  if (set) return &*set;
  if (!dims || std::count(dims->begin(), dims->end(), -1)) return nullptr;
  return &*dims;
}

bool OpenModel::logs(uint level) const {
  const uint given =
      log_flags & (ONNX_LOGLEVEL_VERBOSE | ONNX_LOGLEVEL_INFO | ONNX_LOGLEVEL_WARNING | ONNX_LOGLEVEL_ERROR);
  // The lowest bit is the most talkative level.
  const uint chosen = given ? given & -given : uint{ONNX_LOGLEVEL_WARNING};
  return level >= chosen;
}

void add_ports(const Model& model, OpenModel& open) {
  const ModelInfo info = model.info();
  const auto inferred_inputs = model.inputs(), inferred_outputs = model.outputs();
  for (const IoInfo& io : open.session.inputs())
    open.inputs.push_back(make_port("input", open.inputs.size(), io, info.inputs, inferred_inputs));
  for (const IoInfo& io : open.session.outputs())
    open.outputs.push_back(make_port("output", open.outputs.size(), io, info.outputs, inferred_outputs));
}

long add_handle(OpenModelPtr model) {
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  all.open.emplace(all.next, std::move(model));
  return all.next++;
}

OpenModelPtr find_handle(long handle, const char* function) {
  Handles& all = handles();
  OpenModelPtr found;
  {
    const std::lock_guard lock(all.mutex);
    if (const auto it = all.open.find(handle); it != all.open.end()) found = it->second;
  }
  if (!found)
    fail({ERR_INVALID_HANDLE, joined(function, ": no model is open under the handle ", handle,
                                     "; test what OnnxCreate returned against INVALID_HANDLE, and use no handle "
                                     "after OnnxRelease")});
  return found;
}

bool remove_handle(long handle) {
  if (!find_handle(handle, "OnnxRelease")) return false;
  Handles& all = handles();
  const std::lock_guard lock(all.mutex);
  return all.open.erase(handle) > 0;
}

InnerType::InnerType() : InnerType(unknown_type()) {}
InnerType::InnerType(const OnnxTypeInfo& type) : value_type(type) {}
InnerType::InnerType(std::shared_ptr<const OnnxTypeInfo> type) : value_type(*type), owner_(std::move(type)) {}

}  // namespace anyshape::mql5
