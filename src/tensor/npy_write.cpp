#include <algorithm>
#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "tensor/npy.h"
#include "tensor/npy_header.h"
#include "tensor/real.h"

namespace anyshape {
namespace {

constexpr uint64_t kMostText = uint64_t{1} << 34;

std::string_view descr_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return "|b1";
    case DType::i8:
      return "|i1";
    case DType::u8:
      return "|u1";
    case DType::i16:
      return "<i2";
    case DType::u16:
      return "<u2";
    case DType::i32:
      return "<i4";
    case DType::u32:
      return "<u4";
    case DType::i64:
      return "<i8";
    case DType::u64:
      return "<u8";
    case DType::f16:
      return "<f2";
    case DType::f32:
      return "<f4";
    case DType::f64:
      return "<f8";
    case DType::c64:
      return "<c8";
    case DType::c128:
      return "<c16";
    default:
      return "";
  }
}

// The type NumPy gets instead of one it has not.
DType widened(DType dtype) {
  if (is_float(dtype)) return DType::f32;
  return is_signed_integer(dtype) ? DType::i8 : DType::u8;
}

Result<Tensor> widen(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  TRY(Tensor out, Tensor::allocate(widened(dtype), tensor.dims()));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (is_integer(dtype)) {
      out.set_int(i, tensor.int_at(i));
    } else {
      set_real(out, i, *real_at(tensor, i));
    }
  }
  return out;
}

// Text in UCS-4, or as bytes where some string is not UTF-8.
Result<NpyBytes> encode_text(const Tensor& tensor) {
  std::vector<std::u32string> decoded;
  uint64_t longest = 1, longest_bytes = 1;
  bool utf8 = true;
  for (const std::string& text : tensor.strings()) {
    longest_bytes = std::max<uint64_t>(longest_bytes, text.size());
    auto points = utf8 ? utf8_decode(text) : std::nullopt;
    utf8 = points.has_value();
    if (!points) continue;
    longest = std::max<uint64_t>(longest, points->size());
    decoded.push_back(*std::move(points));
  }
  const uint64_t item = utf8 ? longest * 4 : longest_bytes, count = tensor.strings().size();
  if (count > kMostText / item)
    return refuse("npy.text", "{} texts of up to {} bytes each do not fit into one NumPy array", count, item);
  NpyBytes out;
  out.header = make_npy_header(utf8 ? fmt::format("<U{}", longest) : fmt::format("|S{}", item), tensor.dims());
  out.text.resize(count * item);
  for (size_t i = 0; i < count; ++i) {
    const auto bytes = utf8 ? std::as_bytes(std::span(decoded[i])) : std::as_bytes(std::span(tensor.strings()[i]));
    std::copy(bytes.begin(), bytes.end(), out.text.begin() + static_cast<std::ptrdiff_t>(i * item));
  }
  out.elements = out.text;
  return out;
}

}  // namespace

Result<NpyBytes> encode_npy(const Tensor& tensor) {
  if (tensor.dtype() == DType::string) return encode_text(tensor);
  NpyBytes out;
  if (descr_of(tensor.dtype()).empty()) {
    TRY(out.converted, widen(tensor));
  } else {
    out.converted = tensor;
  }
  out.header = make_npy_header(descr_of(out.converted.dtype()), tensor.dims());
  out.elements = out.converted.bytes();
  return out;
}

Status write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  auto bytes = encode_npy(tensor);
  if (!bytes) return at(path.string(), std::move(bytes).error());
  TRY(AtomicFile file, AtomicFile::create(path));
  TRY_OK(file.write(std::as_bytes(std::span(bytes->header))));
  TRY_OK(file.write(bytes->elements));
  return file.commit();
}

}  // namespace anyshape
