// Any bytes: an Error, or a model that is the same after writing and reading, whose tensors can all be asked for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "format/onnx/proto.h"
#include "format/onnx/tensor.h"
#include "format/onnx/walk.h"

namespace anyshape::onnx {
namespace {

// abort() rather than ANYSHAPE_CHECK: libFuzzer keeps the input of what aborts.
void must(bool condition) {
  if (!condition) std::abort();
}

// Reads every byte, so that a wrong span is seen.
unsigned touch(const TensorBytes& tensor) {
  unsigned sum = 0;
  for (std::byte b : tensor.bytes) sum += static_cast<unsigned>(b);
  for (std::string_view text : tensor.strings) {
    for (char c : text) sum += static_cast<unsigned char>(c);
  }
  return sum;
}

unsigned read_tensors(const ModelProto& model) {
  unsigned sum = 0;
  for_each_tensor(model, [&](const TensorProto& tensor, TensorRole) {
    if (const auto elements = tensor_bytes(tensor)) sum += touch(*elements);
    static_cast<void>(decode(tensor.int32_data));
    static_cast<void>(decode(tensor.int64_data));
    static_cast<void>(decode(tensor.uint64_data));
    static_cast<void>(decode(tensor.float_data));
    static_cast<void>(decode(tensor.double_data));
  });
  return sum;
}

// Writes and reads a message until it must be a fixed point.
template <class Parse>
void expect_stable(Bytes bytes, Parse parse) {
  const auto message = parse(bytes);
  if (!message) {
    must(!message.error().code.empty() && !message.error().text().empty());
    return;
  }
  const Encoded encoded = serialize(*message);
  const std::vector<std::byte> written = encoded.bytes();
  must(written.size() == encoded.size());
  const auto again = parse(Bytes(written));
  must(again.has_value());
  must(serialize(*again).bytes() == written);
}

void run(Bytes bytes) {
  expect_stable(bytes, parse_model);
  expect_stable(bytes, parse_sequence);
  expect_stable(bytes, parse_optional);
  const auto model = parse_model(bytes);
  if (!model) return;
  const ModelProto copy = *model;
  must(equal(*model, copy));
  static_cast<void>(read_tensors(copy));
}

}  // namespace
}  // namespace anyshape::onnx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  anyshape::onnx::run({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
