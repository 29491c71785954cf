#include "tensor/npy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "tensor/bools.h"
#include "tensor/half.h"
#include "tensor/npy_header.h"
#include "tensor/real.h"
#include "tensor/small_float.h"

namespace anyshape {

static_assert(std::endian::native == std::endian::little, "elements are used as they lie in the file");

namespace {

using Bytes = std::span<const std::byte>;

// Arrays of empty texts have no bytes that would bound their count.
constexpr int64_t kMostEmptyTexts = 1 << 24;

bool numpy_has(DType dtype) { return dtype != DType::bf16 && bits(dtype) >= 8 && !is_small_float(dtype); }

// undefined: raw bytes whose meaning only the reader may know.
DType dtype_of(const NpyHeader& header) {
  const uint64_t n = header.item_bytes;
  switch (header.kind) {
    case 'b':
      return DType::boolean;
    case 'i':
      return n == 1 ? DType::i8 : n == 2 ? DType::i16 : n == 4 ? DType::i32 : DType::i64;
    case 'u':
      return n == 1 ? DType::u8 : n == 2 ? DType::u16 : n == 4 ? DType::u32 : DType::u64;
    case 'f':
      return n == 1 ? DType::f8e5m2 : n == 2 ? DType::f16 : n == 4 ? DType::f32 : DType::f64;
    case 'c':
      return n == 8 ? DType::c64 : DType::c128;
    case 'V':
      return n == 2 ? DType::bf16 : DType::undefined;
    default:
      return DType::string;
  }
}

// Elements of any width brought into row-major order and this machine's byte order.
class Reorder {
 public:
  explicit Reorder(const NpyHeader& header)
      : width_(header.item_bytes), part_(part_of(header)), dims_(header.dims), fortran_(header.fortran_order) {}

  bool needed() const {
    const auto real_axes = std::count_if(dims_.begin(), dims_.end(), [](int64_t d) { return d != 1; });
    return part_ > 1 || (fortran_ && real_axes > 1);
  }

  // REQUIRES: both hold every element.
  void run(const std::byte* from, std::byte* to) const {
    const std::vector<uint64_t> strides = source_strides();
    std::vector<int64_t> index(dims_.size(), 0);
    for (int64_t left = element_count(dims_).value_or(0); left > 0; --left) {
      uint64_t offset = 0;
      for (size_t axis = 0; axis < dims_.size(); ++axis) offset += static_cast<uint64_t>(index[axis]) * strides[axis];
      std::memcpy(to, from + offset, width_);
      if (part_ > 1)
        for (uint64_t at = 0; at < width_; at += part_) std::reverse(to + at, to + at + part_);
      to += width_;
      for (size_t axis = dims_.size(); axis-- > 0 && ++index[axis] == dims_[axis];) index[axis] = 0;
    }
  }

 private:
  // What is turned round as one: a number, each half of a complex one, a character.
  static uint64_t part_of(const NpyHeader& header) {
    if (!header.big_endian || header.kind == 'S') return 1;
    return header.kind == 'U' ? 4 : header.kind == 'c' ? header.item_bytes / 2 : header.item_bytes;
  }

  std::vector<uint64_t> source_strides() const {
    std::vector<uint64_t> strides(dims_.size());
    uint64_t step = width_;
    for (size_t i = 0; i < dims_.size(); ++i) {
      const size_t axis = fortran_ ? i : dims_.size() - 1 - i;
      strides[axis] = step;
      step *= static_cast<uint64_t>(dims_[axis]);
    }
    return strides;
  }

  uint64_t width_, part_;
  const std::vector<int64_t>& dims_;
  bool fortran_;
};

// One text without the zeros that fill its place; nullopt when it is not Unicode.
std::optional<std::string> text_of(const NpyHeader& header, const std::byte* item) {
  std::string out;
  if (header.kind == 'S') {
    out.assign(reinterpret_cast<const char*>(item), header.item_bytes);
    out.resize(out.find_last_not_of('\0') + 1);
    return out;
  }
  std::u32string points(header.item_bytes / 4, U'\0');
  if (!points.empty()) std::memcpy(points.data(), item, header.item_bytes);
  points.resize(points.find_last_not_of(U'\0') + 1);
  for (char32_t point : points)
    if (!utf8_append(out, point)) return std::nullopt;
  return out;
}

Result<Tensor> parse_texts(const NpyHeader& header, Bytes elements, int64_t count) {
  std::vector<std::byte> ordered;
  const Reorder reorder(header);
  if (reorder.needed()) {
    ordered.resize(elements.size());
    reorder.run(elements.data(), ordered.data());
    elements = ordered;
  }
  std::vector<std::string> texts;
  texts.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    auto text = text_of(header, elements.data() + static_cast<uint64_t>(i) * header.item_bytes);
    if (!text) return refuse("npy.text", "text {} of the array is not Unicode", i);
    texts.push_back(*std::move(text));
  }
  return Tensor::of_strings(header.dims, std::move(texts));
}

// Raw bytes, one per element, packed as a type under 8 bits is.
Result<Tensor> pack(const Tensor& bytes, DType dtype) {
  TRY(Tensor out, Tensor::allocate(dtype, bytes.dims()));
  for (int64_t i = 0; i < bytes.count(); ++i) set_code(out, i, bytes.at<uint8_t>(i));
  return out;
}

tl::unexpected<Error> out_of_range(int64_t i, std::string_view value, DType dtype) {
  return refuse("npy.range", "element {} is {}, which {} cannot hold", i, value, name(dtype));
}

Result<Tensor> narrow_floats(const Tensor& wide, DType dtype) {
  TRY(Tensor out, Tensor::allocate(dtype == DType::bf16 ? DType::bf16 : DType::u8, wide.dims()));
  for (int64_t i = 0; i < wide.count(); ++i) {
    const auto value = wide.at<float>(i);
    if (dtype == DType::bf16) {
      out.as_mutable<BFloat16>()[static_cast<size_t>(i)] = BFloat16(value);
      continue;
    }
    const bool has_none = (!has_nan(dtype) && std::isnan(value)) || (dtype == DType::f8e8m0 && !(value > 0));
    if (has_none) return out_of_range(i, fmt::format("{}", value), dtype);
    out.as_mutable<uint8_t>()[static_cast<size_t>(i)] = small_float_code(dtype, value, true, PowerRounding::nearest);
  }
  return dtype == DType::bf16 ? out : pack(out, dtype);
}

Result<Tensor> narrow_integers(const Tensor& wide, DType dtype) {
  const int width = bits(dtype);
  const int64_t lowest = is_signed_integer(dtype) ? -(int64_t{1} << (width - 1)) : 0;
  const int64_t highest = lowest + (int64_t{1} << width) - 1;
  for (int64_t i = 0; i < wide.count(); ++i)
    if (const int64_t value = wide.int_at(i); value < lowest || value > highest)
      return out_of_range(i, fmt::format("{}", value), dtype);
  return pack(wide, dtype);
}

// What the file has as the wanted type NumPy has not, where it is one of the forms in which it is kept.
Result<Tensor> as_wanted(Tensor tensor, const NpyHeader& header, DType wanted) {
  const bool raw = header.kind == 'V' || (header.kind == 'f' && header.item_bytes == 1);
  if (wanted == DType::undefined || numpy_has(wanted) || dtype_of(header) == wanted) {
    if (dtype_of(header) == DType::undefined)
      return refuse("npy.dtype", "the array holds raw bytes, and nothing says which type they are");
    return tensor;
  }
  if (raw) {
    if ((header.item_bytes == 2) != (wanted == DType::bf16))
      return refuse("npy.dtype", "the array holds raw elements of {} bytes, which are no {}", header.item_bytes,
                    name(wanted));
    return pack(tensor, wanted);
  }
  if (is_float(wanted) && tensor.dtype() == DType::f32) return narrow_floats(tensor, wanted);
  const DType kept = is_signed_integer(wanted) ? DType::i8 : DType::u8;
  if (is_integer(wanted) && tensor.dtype() == kept) return narrow_integers(tensor, wanted);
  return tensor;
}

Result<Tensor> parse_numbers(const NpyHeader& header, Bytes elements, const std::shared_ptr<const void>& owner) {
  const DType dtype = dtype_of(header);
  // Raw bytes pass as unsigned ones until the wanted type gives them their meaning.
  const DType held = dtype == DType::undefined ? DType::u8 : dtype;
  const Reorder reorder(header);
  if (!reorder.needed()) return Tensor::borrow(held, header.dims, elements, owner).aligned();
  TRY(Tensor out, Tensor::allocate(held, header.dims));
  reorder.run(elements.data(), out.data());
  return out;
}

}  // namespace

Result<Tensor> parse_npy(Bytes bytes, const std::shared_ptr<const void>& owner, DType wanted) {
  TRY(const NpyHeader header, parse_npy_header(bytes));
  const auto count = element_count(header.dims);
  uint64_t size = 0;
  if (!count || __builtin_mul_overflow(static_cast<uint64_t>(*count), header.item_bytes, &size))
    return refuse("npy.length", "the shape ({}) has more elements than any file", fmt::join(header.dims, ", "));
  const Bytes elements = bytes.subspan(header.length);
  if (elements.size() != size)
    return refuse("npy.length", "the file holds {} bytes of elements, but its header tells of {}", elements.size(),
                  size);
  if (header.item_bytes == 0 && *count > kMostEmptyTexts)
    return refuse("npy.length", "{} empty texts are too many", *count);
  if (dtype_of(header) == DType::string) return parse_texts(header, elements, *count);
  TRY(Tensor tensor, parse_numbers(header, elements, owner));
  if (tensor.dtype() == DType::boolean) return clean_bools(std::move(tensor));
  return as_wanted(std::move(tensor), header, wanted);
}

Result<Tensor> read_npy(const std::filesystem::path& path, DType wanted) {
  TRY(const auto file, MappedFile::open(path));
  auto tensor = parse_npy(file->bytes(), file, wanted);
  if (!tensor) return at(path.string(), std::move(tensor).error());
  return tensor;
}

}  // namespace anyshape
