#include "tensor/npy.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <random>

#include "tensor/npy_header.h"
#include "tensor/real.h"

namespace anyshape {
namespace {

namespace fs = std::filesystem;

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

// A file of version 1 with this header.
std::string npy(const std::string& header, const std::string& elements) {
  const auto length = static_cast<uint16_t>(header.size());
  return std::string("\x93NUMPY\1\0", 8) + raw({length}) + header + elements;
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& elements,
                const std::string& order = "False") {
  return npy("{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n", elements);
}

Result<Tensor> parse(std::string_view file, DType wanted = DType::undefined) {
  const auto* first = reinterpret_cast<const std::byte*>(file.data());
  const auto mapped = MappedFile::from_bytes({first, first + file.size()});
  return parse_npy(mapped->bytes(), mapped, wanted);
}

std::string element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::string:
      return t.strings()[static_cast<size_t>(i)];
    case DType::c64:
      return fmt::format("{}+{}j", t.at<float>(2 * i), t.at<float>(2 * i + 1));
    case DType::c128:
      return fmt::format("{}+{}j", t.at<double>(2 * i), t.at<double>(2 * i + 1));
    case DType::u64:
      return fmt::format("{}", t.at<uint64_t>(i));
    default:
      if (is_integer(t.dtype()) || t.dtype() == DType::boolean) return fmt::format("{}", t.int_at(i));
      if (const auto value = real_at(t, i)) return fmt::format("{}", *value);
      return fmt::format("0x{:02x}", static_cast<unsigned>(t.bytes()[static_cast<size_t>(i * bits(t.dtype()) / 8)]));
  }
}

// "f32[2,3] 0 1 2 3 4 5", or the code of the error.
std::string told(const Result<Tensor>& t) {
  if (!t) return t.error().code;
  std::string out = fmt::format("{}[{}]", name(t->dtype()), fmt::join(t->dims(), ","));
  for (int64_t i = 0; i < t->count(); ++i) out.append(" ").append(element(*t, i));
  return out;
}

TEST(Npy, ReadsEveryTypeOfNumpy) {
  const std::pair<std::string, std::string> rows[] = {
      {npy("<f4", "(2,)", raw({1.5F, -2.F})), "f32[2] 1.5 -2"},
      {npy("<f8", "()", raw({2.5})), "f64[] 2.5"},
      {npy("<f2", "(1,)", raw({uint16_t{0x3e00}})), "f16[1] 1.5"},
      {npy("|b1", "(3,)", std::string("\0\1\x7f", 3)), "bool[3] 0 1 1"},
      {npy("?", "(1,)", "\1"), "bool[1] 1"},
      {npy("|i1", "(2,)", "\x01\xff"), "i8[2] 1 -1"},
      {npy("|u1", "(2,)", "\x01\xff"), "u8[2] 1 255"},
      {npy("<i2", "(1,)", raw({int16_t{-300}})), "i16[1] -300"},
      {npy("<u2", "(1,)", raw({uint16_t{65535}})), "u16[1] 65535"},
      {npy("<i4", "(1, 1)", raw({int32_t{-70000}})), "i32[1,1] -70000"},
      {npy("<u4", "(1,)", raw({uint32_t{0xFFFFFFFF}})), "u32[1] 4294967295"},
      {npy("<i8", "(0, 3)", ""), "i64[0,3]"},
      {npy("<u8", "(1,)", raw({~uint64_t{0}})), "u64[1] 18446744073709551615"},
      {npy("<c8", "(1,)", raw({1.F, 2.F})), "c64[1] 1+2j"},
      {npy("<c16", "(1,)", raw({1., 2.})), "c128[1] 1+2j"},
      {npy("<U2", "(2,)", raw<uint32_t>({'a', 0xfc, 'b', 0})), "string[2] aü b"},
      {npy("|S3", "(2,)", std::string("abc\0d\0", 6)), std::string("string[2] abc \0d", 16)},
      {npy("<U0", "(2,)", ""), "string[2]  "},
  };
  for (const auto& [file, want] : rows) EXPECT_EQ(told(parse(file)), want) << file;
}

TEST(Npy, ReadsBigEndian) {
  EXPECT_EQ(told(parse(npy(">i4", "(2,)", std::string("\0\0\1\0\xff\xff\xff\xff", 8)))), "i32[2] 256 -1");
  EXPECT_EQ(told(parse(npy(">f4", "(1,)", std::string("\x3f\xc0\0\0", 4)))), "f32[1] 1.5");
  EXPECT_EQ(told(parse(npy(">c8", "(1,)", std::string("\x3f\x80\0\0\x40\0\0\0", 8)))), "c64[1] 1+2j");
  EXPECT_EQ(told(parse(npy(">U1", "(2,)", std::string("\0\0\0a\0\0\0\xfc", 8)))), "string[2] a ü");
}

TEST(Npy, ReadsFortranOrder) {
  EXPECT_EQ(told(parse(npy("<i4", "(2, 3)", raw({0, 3, 1, 4, 2, 5}), "True"))), "i32[2,3] 0 1 2 3 4 5");
  EXPECT_EQ(told(parse(npy("<i4", "(3,)", raw({0, 1, 2}), "True"))), "i32[3] 0 1 2");
  EXPECT_EQ(told(parse(npy("|i1", "(2, 2, 2)", std::string("\0\4\2\6\1\5\3\7", 8), "True"))),
            "i8[2,2,2] 0 1 2 3 4 5 6 7");
  EXPECT_EQ(told(parse(npy("|S1", "(2, 2)", "acbd", "True"))), "string[2,2] a b c d");
  EXPECT_EQ(told(parse(npy("<i4", "(0, 3)", "", "True"))), "i32[0,3]");
}

TEST(Npy, ReadsEveryVersionAndSpelling) {
  const std::string header = R"({"shape":(2L,1),"descr":"<i2","fortran_order":False})",
                    elements = raw({int16_t{1}, int16_t{2}});
  for (char version : {'\1', '\2', '\3'}) {
    const auto length = static_cast<uint32_t>(header.size());
    const std::string size = version == '\1' ? raw({static_cast<uint16_t>(length)}) : raw({length});
    EXPECT_EQ(told(parse(std::string("\x93NUMPY") + version + '\0' + size + header + elements)), "i16[2,1] 1 2");
  }
}

TEST(Npy, AlignedElementsAreShared) {
  auto file = encode_npy(Tensor::scalar(7));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->header.size() % 64, 0U);
  auto held = Tensor::allocate(DType::u8, {static_cast<int64_t>(file->header.size() + 8)});
  std::copy(file->header.begin(), file->header.end(), reinterpret_cast<char*>(held->data()));
  const auto owner = std::make_shared<int>(0);
  const auto tensor = parse_npy(held->bytes(), owner);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor->bytes().data(), held->bytes().data() + file->header.size());
  EXPECT_EQ(owner.use_count(), 2);
}

TEST(Npy, WrongFilesAreRefused) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "npy.format"},
      {"\x93NUMPX\1", "npy.format"},
      {"\x93NUMPY\1", "npy.header"},
      {std::string("\x93NUMPY\4\0\1\0{}\0\0", 14), "npy.header"},
      {std::string("\x93NUMPY\1\0\xff\xff{}", 12), "npy.header"},
      {std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14), "npy.header"},
      {npy("", ""), "npy.header"},
      {npy("{}", ""), "npy.header"},
      {npy("{'descr': '<f4', 'fortran_order': False}", ""), "npy.header"},
      {npy("{'descr': '<f4', 'descr': '<f4', 'shape': ()}", ""), "npy.header"},
      {npy("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", ""), "npy.header"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}", ""), "npy.header"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': ()} + x", "1234"), "npy.header"},
      {npy("{'descr': '<f4' 'fortran_order': False, 'shape': ()}", "1234"), "npy.header"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "12345678"), "npy.header"},
      {npy("{'descr': '<f4, 'fortran_order': False, 'shape': ()}", ""), "npy.dtype"},
      {npy("{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}", "1234"), "npy.header"},
      {npy("{'descr': __import__('os'), 'fortran_order': False, 'shape': ()}", ""), "npy.header"},
      {npy("<f4", "(-1,)", ""), "npy.header"},
      {npy("<f4", "(99999999999999999999,)", ""), "npy.header"},
      {npy("<f4", "1", "1234"), "npy.header"},
      {npy("", "()", ""), "npy.header"},
      {npy("|O", "(1,)", "x"), "npy.dtype"},
      {npy("<M8[s]", "(1,)", "12345678"), "npy.dtype"},
      {npy("<f3", "(1,)", "123"), "npy.dtype"},
      {npy("<f16", "(1,)", "0123456789abcdef"), "npy.dtype"},
      {npy("|V3", "(1,)", "123"), "npy.dtype"},
      {npy("|V1", "(1,)", "1"), "npy.dtype"},
      {npy("<U99999999999999", "(1,)", "123"), "npy.dtype"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "1234"), "npy.dtype"},
      {npy("<f4", "(2,)", "1234"), "npy.length"},
      {npy("<f4", "(1,)", "12345"), "npy.length"},
      {npy("<f4", "(4611686018427387904, 4)", ""), "npy.length"},
      {npy("<f4", "(4611686018427387904,)", ""), "npy.length"},
      {npy("<U0", "(4611686018427387904,)", ""), "npy.length"},
      {npy("<U1", "(1,)", raw({uint32_t{0xd800}})), "npy.text"},
      {npy("<U1", "(1,)", raw({uint32_t{0x110000}})), "npy.text"},
  };
  for (const auto& [file, want] : rows) EXPECT_EQ(told(parse(file)), want) << file;
  EXPECT_NE(parse(npy("|O", "(1,)", "x")).error().message.find("Python objects"), std::string::npos);
}

TEST(Npy, RawBytesGetTheirMeaning) {
  const std::string two = npy("<V2", "(1,)", raw({uint16_t{0x3fc0}})), one = npy("|V1", "(3,)", "\x01\x0e\x03");
  EXPECT_EQ(told(parse(two)), "bf16[1] 1.5");
  EXPECT_EQ(told(parse(two, DType::bf16)), "bf16[1] 1.5");
  EXPECT_EQ(told(parse(two, DType::f8e5m2)), "npy.dtype");
  EXPECT_EQ(told(parse(one, DType::f8e4m3fn)), "f8e4m3fn[3] 0.001953125 0.02734375 0.005859375");
  EXPECT_EQ(told(parse(one, DType::i4)), "i4[3] 1 -2 3");
  EXPECT_EQ(told(parse(one, DType::u2)), "u2[3] 1 2 3");
  EXPECT_EQ(told(parse(one, DType::bf16)), "npy.dtype");
  EXPECT_EQ(told(parse(one, DType::u8)), "npy.dtype");
  EXPECT_EQ(told(parse(npy("<f1", "(1,)", "\x3c"))), "f8e5m2[1] 1");
}

TEST(Npy, WantedTypesAreRounded) {
  const std::string floats = npy("<f4", "(2,)", raw({1.001F, -0.26F}));
  EXPECT_EQ(told(parse(floats, DType::bf16)), "bf16[2] 1 -0.259765625");
  EXPECT_EQ(told(parse(floats, DType::f4e2m1)), "f4e2m1[2] 1 -0.5");
  EXPECT_EQ(told(parse(floats, DType::f16)), told(parse(floats)));
  EXPECT_EQ(told(parse(floats, DType::i4)), told(parse(floats)));
  EXPECT_EQ(told(parse(npy("<f4", "(1,)", raw({NAN})), DType::f4e2m1)), "npy.range");
  EXPECT_EQ(told(parse(npy("|i1", "(2,)", "\x07\xf8"), DType::i4)), "i4[2] 7 -8");
  EXPECT_EQ(told(parse(npy("|i1", "(1,)", "\x08"), DType::i4)), "npy.range");
  EXPECT_EQ(told(parse(npy("|u1", "(1,)", "\x04"), DType::u2)), "npy.range");
}

Tensor filled(DType dtype, std::vector<int64_t> dims, std::mt19937& random) {
  auto t = Tensor::allocate(dtype, std::move(dims));
  EXPECT_TRUE(t.has_value());
  if (dtype == DType::string)
    for (std::string& text : t->strings_mutable()) text = std::string(random() % 4, 'x') + "ü";
  for (size_t i = 0; i < t->bytes().size(); ++i)
    t->data()[i] = static_cast<std::byte>(dtype == DType::boolean ? random() % 2 : random() % 120);
  // The bits behind the last element are no part of the tensor.
  const auto used = static_cast<size_t>(t->count()) * static_cast<size_t>(bits(dtype)) % 8;
  if (used != 0) t->data()[t->bytes().size() - 1] &= static_cast<std::byte>((1U << used) - 1);
  return *std::move(t);
}

bool equal(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::string) return a.strings() == b.strings();
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

class NpyFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "anyshape-npy-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(NpyFileTest, EveryTypeComesBack) {
  constexpr unsigned kSeed = 7;
  std::mt19937 random(kSeed);
  std::vector<NamedTensor> all;
  for (int code = 1; code < kDTypeCount; ++code)
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {3}, {2, 0}, {2, 3, 5}}) {
      const Tensor tensor = filled(static_cast<DType>(code), dims, random);
      ASSERT_TRUE(write_npy(folder_ / "a.npy", tensor).has_value());
      const auto back = read_npy(folder_ / "a.npy", tensor.dtype());
      ASSERT_TRUE(back.has_value()) << back.error().text();
      EXPECT_TRUE(equal(*back, tensor)) << name(tensor.dtype()) << " rank " << dims.size() << " seed " << kSeed;
      all.push_back({fmt::format("{}/{}", name(tensor.dtype()), dims.size()), tensor});
    }
  ASSERT_TRUE(write_npz(folder_ / "a.npz", all).has_value());
  const auto npz = NpzFile::open(folder_ / "a.npz");
  ASSERT_TRUE(npz.has_value()) << npz.error().text();
  EXPECT_EQ(npz->names().size(), all.size());
  for (const NamedTensor& one : all) {
    const auto back = npz->read(one.name, one.tensor.dtype());
    ASSERT_TRUE(back.has_value()) << back.error().text();
    EXPECT_TRUE(equal(*back, one.tensor)) << one.name;
  }
}

TEST_F(NpyFileTest, TextsThatAreNotUtf8AreBytes) {
  const Tensor tensor = Tensor::of_strings({2}, {"\xff\xfe", "abc"});
  EXPECT_EQ(encode_npy(tensor)->header.find("'|S3'"), size_t{10 + 10});
  ASSERT_TRUE(write_npy(folder_ / "a.npy", tensor).has_value());
  EXPECT_TRUE(equal(*read_npy(folder_ / "a.npy"), tensor));
}

TEST_F(NpyFileTest, NamesOfArrays) {
  ASSERT_TRUE(write_npz(folder_ / "a.npz", std::vector<NamedTensor>{{"input:0", Tensor::scalar(1)}}).has_value());
  const auto npz = NpzFile::open(folder_ / "a.npz");
  ASSERT_TRUE(npz.has_value());
  EXPECT_TRUE(npz->has("input:0"));
  EXPECT_FALSE(npz->has("input"));
  EXPECT_EQ(npz->read("input:1").error().code, "npz.name");
  const std::vector<NamedTensor> twice{{"a", Tensor::scalar(1)}, {"a", Tensor::scalar(2)}};
  EXPECT_EQ(write_npz(folder_ / "b.npz", twice).error().code, "zip.duplicate");
  EXPECT_FALSE(fs::exists(folder_ / "b.npz"));
}

TEST(Npy, SurvivesDamage) {
  constexpr unsigned kSeed = 99;
  std::mt19937 random(kSeed);
  const std::string good = npy("<i4", "(2, 3)", raw({0, 1, 2, 3, 4, 5}), "True");
  const std::string_view alphabet = "'{}(),:<>|0123456789 LTrueFalsdcVSUOi\xff\\";
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (unsigned change = 0; change <= random() % 3; ++change)
      bad[random() % bad.size()] = alphabet[random() % alphabet.size()];
    refused += parse(bad).has_value() ? 0 : 1;
  }
  EXPECT_GT(refused, 5000) << "seed " << kSeed;
}

}  // namespace
}  // namespace anyshape
