#include "format/onnx/split.h"

#include <utility>

namespace anyshape::onnx {
namespace {

constexpr uint64_t kAlignment = 64;

// Takes the elements out of a tensor.
TensorProto elements_of(TensorProto& tensor) {
  TensorProto out;
  out.dims = tensor.dims;
  out.data_type = tensor.data_type;
  out.name = tensor.name;
  out.data_location = tensor.data_location;
  out.external_data = tensor.external_data;
  out.raw_data = std::exchange(tensor.raw_data, {});
  out.float_data = std::exchange(tensor.float_data, {});
  out.int32_data = std::exchange(tensor.int32_data, {});
  out.int64_data = std::exchange(tensor.int64_data, {});
  out.double_data = std::exchange(tensor.double_data, {});
  out.uint64_data = std::exchange(tensor.uint64_data, {});
  return out;
}

}  // namespace

Splitter::Splitter(const ModelFile& model, std::string location, const WriteOptions& options)
    : model_(model), proto_(model.proto), location_(std::move(location)), options_(options) {}

Status Splitter::split() {
  TRY_OK(move_tensors(TensorRole::initializer));
  if (serialized_size(proto_) > options_.largest_model) TRY_OK(move_tensors(TensorRole::other));
  const uint64_t size = serialized_size(proto_);
  if (size <= options_.largest_model) return {};
  return refuse("onnx.size", "without its tensors the model still takes {} bytes; the format allows {}", size,
                options_.largest_model);
}

Status Splitter::write_data(AtomicFile& file) const {
  constexpr std::byte kZeros[kAlignment] = {};
  uint64_t position = 0;
  for (const Stored& stored : stored_) {
    TRY(const TensorBytes tensor, model_.tensor(stored.tensor));
    TRY_OK(file.write(Bytes(kZeros).first(stored.offset - position)));
    TRY_OK(file.write(tensor.bytes));
    position = stored.offset + tensor.bytes.size();
  }
  return file.flush();
}

// External tensors always move, or, below the threshold, into the model.
Status Splitter::move_tensors(TensorRole role) {
  Status status;
  for_each_tensor(proto_, [&](TensorProto& tensor, TensorRole its_role) {
    if (status && (its_role == role || is_external(tensor)) && !moved_.contains(&tensor)) status = move(tensor);
  });
  return status;
}

Status Splitter::move(TensorProto& tensor) {
  if (tensor.data_type == static_cast<int32_t>(DataType::string)) return {};
  const bool external = is_external(tensor);
  Result<TensorBytes> bytes = model_.tensor(tensor);
  if (!bytes) return external ? Status(tl::unexpected(std::move(bytes).error())) : Status();
  const uint64_t size = bytes->bytes.size();
  if (size >= options_.external_threshold && size > 0) {
    store(tensor, size);
  } else if (external) {
    embed(tensor, *bytes);
  }
  return {};
}

void Splitter::store(TensorProto& tensor, uint64_t size) {
  const uint64_t offset = (end_ + kAlignment - 1) / kAlignment * kAlignment;
  end_ = offset + size;
  stored_.push_back({elements_of(tensor), offset});
  tensor.data_location = kDataExternal;
  tensor.external_data = {{"location", location_, {}},
                          {"offset", text_.emplace_back(std::to_string(offset)), {}},
                          {"length", text_.emplace_back(std::to_string(size)), {}}};
  moved_.insert(&tensor);
}

void Splitter::embed(TensorProto& tensor, const TensorBytes& bytes) {
  elements_of(tensor);
  tensor.data_location.reset();
  tensor.external_data.clear();
  tensor.raw_data = bytes.bytes;
  if (bytes.bytes.data() == nullptr) tensor.raw_data = {reinterpret_cast<const std::byte*>(""), 0};
  moved_.insert(&tensor);
}

}  // namespace anyshape::onnx
