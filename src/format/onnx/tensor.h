#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "format/onnx/external.h"
#include "format/onnx/proto.h"

namespace anyshape::onnx {

// Bits of one element; 0 for string and for codes that are no type of ONNX.
int element_bits(DataType type);

// Bytes of `count` elements as raw_data holds them: elements under 8 bits lie as one little-endian bit stream, each
// tensor padded to a whole byte. Refused with tensor.dims beyond int64.
Result<int64_t> packed_bytes(DataType type, int64_t count);

// The number of elements. tensor.dims: a negative dim, or a product beyond int64.
Result<int64_t> element_count(const std::vector<int64_t>& dims);

// The numbers of a packed field. onnx.malformed when the varints are broken.
Result<std::vector<float>> decode(const Packed<float>& packed);
Result<std::vector<double>> decode(const Packed<double>& packed);
Result<std::vector<int32_t>> decode(const Packed<int32_t>& packed);
Result<std::vector<int64_t>> decode(const Packed<int64_t>& packed);
Result<std::vector<uint64_t>> decode(const Packed<uint64_t>& packed);

// The elements of a tensor, wherever the message keeps them.
struct TensorBytes {
  DataType dtype = DataType::undefined;
  std::vector<int64_t> dims;
  int64_t count = 0;
  // Row-major, little-endian, exactly packed_bytes(dtype, count) long; no promise of alignment. Empty for strings.
  Bytes bytes;
  std::vector<std::string_view> strings;
  // Keeps `bytes` alive when they were decoded or lie in an external file; null when they lie where the message
  // points to, in the buffer that was parsed.
  std::shared_ptr<const void> owner;
};

// Codes: tensor.dtype, tensor.dims, tensor.length; external.* and file.open for external data, which needs `external`.
Result<TensorBytes> tensor_bytes(const TensorProto& tensor, ExternalFiles* external = nullptr);

}  // namespace anyshape::onnx
