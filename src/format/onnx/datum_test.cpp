#include "format/onnx/datum.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <random>

#include "format/onnx/wire_test.h"

namespace anyshape::onnx {
namespace {

namespace fs = std::filesystem;

Tensor filled(DType dtype, std::vector<int64_t> dims, std::mt19937& random) {
  auto t = Tensor::allocate(dtype, std::move(dims));
  EXPECT_TRUE(t.has_value());
  if (dtype == DType::string)
    for (std::string& text : t->strings_mutable()) text = std::string(random() % 4, 'x') + '\xff';
  for (size_t i = 0; i < t->bytes().size(); ++i)
    t->data()[i] = static_cast<std::byte>(dtype == DType::boolean ? random() % 2 : random());
  return *std::move(t);
}

bool equal(const Datum& a, const Datum& b) {
  if (a.kind() != b.kind() || a.dtype() != b.dtype() || a.items().size() != b.items().size()) return false;
  for (size_t i = 0; i < a.items().size(); ++i)
    if (!equal(a.items()[i], b.items()[i])) return false;
  const Tensor &s = a.tensor(), &t = b.tensor();
  if (s.dims() != t.dims()) return false;
  if (s.dtype() == DType::string) return s.strings() == t.strings();
  return std::equal(s.bytes().begin(), s.bytes().end(), t.bytes().begin(), t.bytes().end());
}

Fact::Kind kind_of(const Datum& datum) {
  switch (datum.kind()) {
    case Datum::Kind::sequence:
      return Fact::Kind::sequence;
    case Datum::Kind::optional:
      return Fact::Kind::optional;
    case Datum::Kind::map:
      return Fact::Kind::map;
    default:
      return Fact::Kind::tensor;
  }
}

Result<Datum> round_trip(const Datum& datum) {
  TRY(auto bytes, serialize_datum(datum, "x"));
  auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
  return parse_datum(*owner, kind_of(datum), owner);
}

void expect_back(const Datum& datum, const std::string& what) {
  const auto back = round_trip(datum);
  ASSERT_TRUE(back.has_value()) << what << ": " << back.error().text();
  EXPECT_TRUE(equal(*back, datum)) << what;
}

TEST(Datum, EveryTypeComesBack) {
  constexpr unsigned kSeed = 11;
  std::mt19937 random(kSeed);
  for (int code = 1; code < kDTypeCount; ++code) {
    const auto dtype = static_cast<DType>(code);
    const std::string what = fmt::format("{} seed {}", name(dtype), kSeed);
    std::vector<Datum> items;
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {3}, {2, 0}, {2, 3, 5}}) {
      const Tensor tensor = filled(dtype, dims, random);
      expect_back(tensor, what);
      expect_back(Datum::optional(tensor), what);
      items.emplace_back(tensor);
    }
    const Datum sequence = Datum::sequence(dtype, items);
    expect_back(sequence, what);
    expect_back(Datum::optional(sequence), what);
    expect_back(Datum::sequence(dtype, {sequence, sequence}), what);
  }
}

TEST(Datum, MapsComeBack) {
  std::mt19937 random(3);
  const int64_t keys[] = {5, -1, 7};
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::u8, DType::string}) {
    const Datum by_number = Datum::map(Tensor::of_ints({3}, keys), filled(dtype, {3}, random));
    const Datum by_text = Datum::map(Tensor::of_strings({3}, {"a", "", "c"}), filled(dtype, {3}, random));
    for (const Datum& map : {by_number, by_text}) {
      expect_back(map, std::string(name(dtype)));
      expect_back(Datum::sequence(dtype, {map, map}), std::string(name(dtype)));
      expect_back(Datum::optional(map), std::string(name(dtype)));
    }
  }
  expect_back(Datum::map(Tensor::of_ints({0}, {}), *Tensor::allocate(DType::f32, {0})), "empty map");
}

TEST(Datum, EmptyContainersComeBackWithoutType) {
  const auto sequence = round_trip(Datum::sequence(DType::f32, {}));
  ASSERT_TRUE(sequence.has_value());
  EXPECT_EQ(sequence->kind(), Datum::Kind::sequence);
  EXPECT_TRUE(sequence->items().empty());
  const auto optional = round_trip(Datum::empty_optional(DType::f32));
  ASSERT_TRUE(optional.has_value());
  EXPECT_EQ(optional->kind(), Datum::Kind::optional);
  EXPECT_TRUE(optional->items().empty());
}

TEST(Datum, WhatHasNoPlaceIsRefused) {
  std::mt19937 random(5);
  const int64_t keys[] = {1, 2};
  const Tensor tensor = filled(DType::f32, {2}, random);
  EXPECT_EQ(serialize_datum(Datum(), "x").error().code, "datum.kind");
  EXPECT_EQ(serialize_datum(Datum::sequence(DType::f32, {tensor, Datum::optional(tensor)}), "x").error().code,
            "datum.kind");
  EXPECT_EQ(serialize_datum(Datum::map(Tensor::of_ints({2}, keys), filled(DType::i4, {2}, random)), "x").error().code,
            "datum.kind");
}

TEST(Datum, WrongMapsAreRefused) {
  using wire::block, wire::number;
  const std::string one = number(2, 1) + block(9, "1234"), two = number(1, 2) + number(2, 1) + block(9, "12345678");
  const auto map = [](const std::string& values) {
    return number(2, 7) + number(3, 1) + number(3, 2) + block(5, values);
  };
  const auto code = [](const std::string& bytes) {
    const wire::Exact exact(bytes);
    const auto datum = parse_datum(exact.bytes(), Fact::Kind::map, nullptr);
    return datum ? std::string("ok") : datum.error().code;
  };
  EXPECT_EQ(code(map(block(3, one) + block(3, one))), "ok");
  EXPECT_EQ(code(map(block(3, one))), "datum.map");
  EXPECT_EQ(code(map(block(3, one) + block(3, two))), "datum.map");
  EXPECT_EQ(code(map(block(3, one) + block(3, number(2, 6) + block(9, "1234")))), "datum.map");
  EXPECT_EQ(code(map(block(3, one) + block(3, number(2, 1) + block(9, "123")))), "tensor.length");
}

TEST(Datum, FilesAppearUnderTheirName) {
  std::string folder = (fs::temp_directory_path() / "anyshape-datum-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const fs::path path = fs::path(folder) / "output_0.pb";
  ASSERT_TRUE(write_datum(path, Tensor::scalar(42), "y").has_value());
  const auto back = read_datum(path, Fact::Kind::tensor);
  ASSERT_TRUE(back.has_value()) << back.error().text();
  EXPECT_EQ(back->tensor().int_at(0), 42);
  EXPECT_EQ(write_datum(path, Datum(), "y").error().place, path.string());
  EXPECT_EQ(write_datum(fs::path(folder) / "none" / "x.pb", Tensor::scalar(1), "y").error().code, "file.write");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace anyshape::onnx
