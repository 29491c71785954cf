#include "format/onnx/tensor.h"

#include <gtest/gtest.h>

#include <limits>

#include "format/onnx/wire_test.h"
#include "tensor/tensor.h"

namespace anyshape::onnx {
namespace {

using wire::block;
using wire::hex;
using wire::number;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

struct Row {
  const char* name;
  std::vector<int64_t> dims;
  int32_t dtype;
  std::string fields;
  std::string expected;  // a code, or the bytes as hex
};

std::string hex_of(Bytes bytes) {
  std::string out;
  for (std::byte b : bytes) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", static_cast<unsigned>(b));
  return out;
}

std::string answer(const Row& row) {
  std::string source = number(2, row.dtype) + row.fields;
  for (int64_t dim : row.dims) source += number(1, dim);
  const wire::Exact exact(source);
  auto tensor = parse_tensor(exact.bytes());
  if (!tensor) return tensor.error().code;
  auto elements = tensor_bytes(*tensor);
  if (!elements) return elements.error().code;
  EXPECT_EQ(static_cast<int64_t>(elements->bytes.size()), packed_bytes(elements->dtype, elements->count).value());
  return hex_of(elements->bytes);
}

std::string raw(std::string_view text) { return block(9, hex(text)); }
std::string int32s(std::string_view text) { return block(5, hex(text)); }

TEST(Tensor, Elements) {
  const Row rows[] = {
      {"raw float", {1}, 1, raw("00 00 80 3f"), "00 00 80 3f"},
      {"scalar", {}, 2, raw("07"), "07"},
      {"typed float", {2}, 1, block(4, hex("00 00 80 3f 00 00 00 40")), "00 00 80 3f 00 00 00 40"},
      {"floats one by one", {2}, 1, hex("25 00 00 80 3f 25 00 00 00 40"), "00 00 80 3f 00 00 00 40"},
      {"complex64", {1}, 14, block(4, hex("00 00 80 3f 00 00 00 40")), "00 00 80 3f 00 00 00 40"},
      {"double", {1}, 11, block(10, hex("00 00 00 00 00 00 f0 3f")), "00 00 00 00 00 00 f0 3f"},
      {"int64",
       {2},
       7,
       block(7, hex("01 ff ff ff ff ff ff ff ff ff 01")),
       "01 00 00 00 00 00 00 00 ff ff ff ff ff ff ff ff"},
      {"int64 in two pieces",
       {2},
       7,
       block(7, hex("01")) + number(7, 2),
       "01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00"},
      {"uint32 in uint64_data", {1}, 12, block(11, hex("ff ff ff ff 0f")), "ff ff ff ff"},
      {"int8 in int32_data", {2}, 3, int32s("ff ff ff ff ff ff ff ff ff 01 05"), "ff 05"},
      {"float16 in int32_data", {1}, 10, int32s("80 78"), "00 3c"},
      {"bool is 0 or 1", {2}, 9, int32s("02 00"), "01 00"},
      {"int4 raw, odd", {3}, 22, raw("21 03"), "21 03"},
      {"int4 typed, odd", {3}, 22, int32s("21 03"), "21 03"},
      {"uint2 raw", {5}, 25, raw("e4 01"), "e4 01"},
      {"uint2 typed", {5}, 25, int32s("e4 01 01"), "e4 01"},
      {"float4 typed", {4}, 23, int32s("21 43"), "21 43"},
      {"float6 raw", {4}, 27, raw("01 02 03"), "01 02 03"},
      {"float6 typed", {4}, 27, int32s("01 02 03 04"), "81 30 10"},
      {"float6 typed, short group", {1}, 28, int32s("3f"), "3f"},
      {"no elements", {0, 3}, 1, "", ""},
      {"no elements although huge", {kMost, kMost, 0}, 1, "", ""},
      {"empty raw", {0}, 1, block(9, ""), ""},

      {"negative dim", {-1}, 1, raw("00 00 80 3f"), "tensor.dims"},
      {"smallest dim", {std::numeric_limits<int64_t>::min()}, 1, "", "tensor.dims"},
      {"largest dim of int4", {kMost}, 22, "", "tensor.dims"},
      {"largest dim of bytes", {kMost}, 2, "", "tensor.length"},
      {"bytes overflow", {kMost}, 1, "", "tensor.dims"},
      {"product overflows", {int64_t{1} << 32, int64_t{1} << 32}, 2, "", "tensor.dims"},
      {"product overflows to 0", {int64_t{1} << 32, int64_t{1} << 32, 1}, 2, "", "tensor.dims"},
      {"negative after zero", {0, -5}, 2, "", "tensor.dims"},
      {"nothing there", {1}, 1, "", "tensor.length"},
      {"raw too short", {2}, 1, raw("00 00 80 3f"), "tensor.length"},
      {"raw too long", {1}, 2, raw("00 00"), "tensor.length"},
      {"raw for no elements", {0}, 2, raw("00"), "tensor.length"},
      {"typed too short", {3}, 7, block(7, hex("01 02")), "tensor.length"},
      {"typed count of a huge tensor", {int64_t{1} << 40}, 7, block(7, hex("01 02")), "tensor.length"},
      {"float6 too long", {1}, 27, int32s("01 02"), "tensor.length"},
      {"two fields", {1}, 1, raw("00 00 80 3f") + block(4, hex("00 00 80 3f")), "tensor.length"},
      {"wrong field", {1}, 1, block(7, hex("01")), "tensor.dtype"},
      {"broken varint", {1}, 7, block(7, hex("01 80")), "onnx.malformed"},
      {"varint of eleven bytes", {1}, 7, block(7, hex("ff ff ff ff ff ff ff ff ff ff 01")), "onnx.malformed"},
      {"no dtype", {1}, 0, raw("00"), "tensor.dtype"},
      {"unknown dtype", {1}, 29, raw("00"), "tensor.dtype"},
      {"negative dtype", {1}, -1, raw("00"), "tensor.dtype"},
      {"raw strings", {1}, 8, raw("61"), "tensor.dtype"},
      {"too few strings", {2}, 8, block(6, "a"), "tensor.length"},
      {"huge string tensor", {kMost}, 8, block(6, "a"), "tensor.length"},
      {"segment", {1}, 2, raw("00") + block(3, ""), "tensor.length"},
      {"external without a folder",
       {1},
       2,
       number(14, 1) + block(13, block(1, "location") + block(2, "a")),
       "external.path"},
  };
  for (const Row& row : rows) EXPECT_EQ(answer(row), row.expected) << row.name;
}

TEST(Tensor, AnyBoolByteButZeroIsTrue) {
  const std::byte bytes[] = {std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  const anyshape::Tensor tensor = anyshape::Tensor::borrow(anyshape::DType::boolean, {4}, bytes, nullptr);
  EXPECT_FALSE(tensor.at<bool>(0));
  for (int64_t i = 1; i < 4; ++i) EXPECT_TRUE(tensor.at<bool>(i));
}

TEST(Tensor, Strings) {
  const std::string source = number(1, 2) + number(2, 8) + block(6, std::string_view("a\0b", 3)) + block(6, "");
  const auto tensor = parse_tensor(wire::bytes(source));
  ASSERT_TRUE(tensor.has_value());
  const auto elements = tensor_bytes(*tensor);
  ASSERT_TRUE(elements.has_value()) << elements.error().text();
  EXPECT_EQ(elements->strings, (std::vector<std::string_view>{std::string_view("a\0b", 3), ""}));
}

TEST(Tensor, OwnsOnlyWhatItDecodes) {
  for (const auto& [source, decoded] : {std::pair{number(1, 1) + number(2, 1) + raw("00 00 80 3f"), false},
                                        std::pair{number(1, 1) + number(2, 1) + block(4, hex("00 00 80 3f")), false},
                                        std::pair{number(1, 1) + number(2, 7) + block(7, hex("01")), true}}) {
    const auto tensor = parse_tensor(wire::bytes(source));
    ASSERT_TRUE(tensor.has_value());
    EXPECT_EQ(tensor_bytes(*tensor)->owner != nullptr, decoded);
  }
}

TEST(Tensor, ErrorsNameTheTensor) {
  const std::string source = number(1, -1) + number(2, 1) + block(8, "weight");
  const auto tensor = parse_tensor(wire::bytes(source));
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor_bytes(*tensor).error().text(),
            "error[tensor.dims] tensor \"weight\": a dim is -1, but sizes cannot be negative");
}

TEST(Tensor, DecodesPackedFields) {
  const std::string source = block(5, hex("01 ff ff ff ff ff ff ff ff ff 01")) + block(4, hex("00 00 80 3f"));
  const auto tensor = parse_tensor(wire::bytes(source));
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(decode(tensor->int32_data).value(), (std::vector<int32_t>{1, -1}));
  EXPECT_EQ(decode(tensor->float_data).value(), std::vector<float>{1.0F});
  EXPECT_TRUE(decode(tensor->double_data)->empty());
}

}  // namespace
}  // namespace anyshape::onnx
