#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/zip.h"
#include "tensor/tensor.h"

namespace anyshape {

// Arrays of NumPy. Text of either kind (U, S) becomes strings of UTF-8 or of bytes; NumPy itself drops zeros at a
// text's end. Types NumPy has not are written as the narrowest it has that keeps every value: bf16, f8* and f4 as
// float32, i4 and i2 as int8, u4 and u2 as uint8. They are read from there again where the reader wants them, and from
// what the package ml_dtypes saves: raw elements of 2 bytes (V2) for bf16, of 1 byte (V1, f1) for the others.
//
// `wanted`: the element type the reader has use for. It matters only where it is one of the types NumPy has not; then
// float32 is rounded to the nearest value, integers must be in range, and raw bytes get their meaning. Without it V2 is
// bf16, f1 is f8e5m2, and V1 is refused.
//
// Codes: npy.format, npy.header, npy.dtype, npy.length, npy.text, npy.range; zip.*, file.open, tensor.memory.
Result<Tensor> read_npy(const std::filesystem::path& path, DType wanted = DType::undefined);
// Aligned to 64 bytes; shares the bytes, kept alive by `owner`, where they can be used as they are.
Result<Tensor> parse_npy(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                         DType wanted = DType::undefined);
Status write_npy(const std::filesystem::path& path, const Tensor& tensor);

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// A .npz file: arrays by name.
class NpzFile {
 public:
  static Result<NpzFile> open(const std::filesystem::path& path);

  // In the order of the file.
  const std::vector<std::string>& names() const { return names_; }
  bool has(std::string_view name) const;
  // Usage error "npz.name" when there is none of this name.
  Result<Tensor> read(std::string_view name, DType wanted = DType::undefined) const;

 private:
  explicit NpzFile(ZipReader zip) : zip_(std::move(zip)) {}

  std::string path_;
  ZipReader zip_;
  std::vector<std::string> names_;
};

// Not compressed, elements aligned, so that a reader may map the file.
Status write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

// The bytes of a .npy file: `header`, then the elements, which are the tensor's own or, where they had to be converted,
// held by `converted`.
struct NpyBytes {
  std::string header;
  std::span<const std::byte> elements;
  Tensor converted;
  std::vector<std::byte> text;
};
Result<NpyBytes> encode_npy(const Tensor& tensor);

}  // namespace anyshape
