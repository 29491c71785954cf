#include "format/torchscript/pickle.h"

#include <gtest/gtest.h>

#include <random>

namespace anyshape::torchscript {
namespace {

using namespace std::string_literals;

Result<Pickle> run(const std::string& text, const TensorSource& source = {}) {
  return unpickle(std::as_bytes(std::span(text)), source);
}

std::string show(const Pickled& value) {
  using Kind = Pickled::Kind;
  std::string items;
  for (const Pickled* item : value.items) items += fmt::format("{}{}", items.empty() ? "" : " ", show(*item));
  switch (value.kind) {
    case Kind::none:
      return "None";
    case Kind::boolean:
      return value.integer != 0 ? "True" : "False";
    case Kind::integer:
      return std::to_string(value.integer);
    case Kind::real:
      return fmt::format("{}f", value.real);
    case Kind::complex:
      return fmt::format("{}+{}j", value.real, value.imaginary);
    case Kind::text:
      return fmt::format("'{}'", value.text);
    case Kind::device:
      return fmt::format("device({})", value.text);
    case Kind::tensor:
      return fmt::format("{}[{}]@{}+{}", name(value.tensor->view.dtype), fmt::join(value.tensor->view.sizes, ","),
                         value.tensor->view.key, value.tensor->view.offset);
    case Kind::list:
      return fmt::format("[{}]", items);
    case Kind::tuple:
      return fmt::format("({})", items);
    case Kind::dict:
      return fmt::format("{{{}}}", items);
    case Kind::object:
    case Kind::enumerator:
      return fmt::format("{}<{}>", value.text, items);
    default:
      return "?";
  }
}

std::string unicode(const std::string& text) { return "X"s + static_cast<char>(text.size()) + "\0\0\0"s + text; }

const std::string kStorage =
    "("s + unicode("storage") + "ctorch\nFloatStorage\n"s + unicode("7") + unicode("cpu") + "K\x0ctQ";
const std::string kTensor = "ctorch._utils\n_rebuild_tensor_v2\n("s + kStorage + "K\x02(K\x02K\x03t(K\x03K\x01t\x88" +
                            "ccollections\nOrderedDict\n)RtR";
// With what stands between strides and requires_grad.
std::string quantised(const std::string& scheme) {
  const std::string storage =
      "("s + unicode("storage") + "ctorch\nQInt8Storage\n"s + unicode("7") + unicode("cpu") + "K\x0ctQ";
  return "ctorch._utils\n_rebuild_qtensor\n("s + storage + "K\x02(K\x02K\x03t(K\x03K\x01t" + scheme + "\x89}tR";
}

// (the scheme's name, two numbers as a vector of `count` entries each, axis 0)
std::string by_channel(const std::string& type, const std::string& count) {
  const auto vector = [&](const std::string& storage) {
    return "ctorch._utils\n_rebuild_tensor_v2\n(("s + unicode("storage") + "ctorch\n" + storage + "\n" + unicode("8") +
           unicode("cpu") + "K\x02tQK\x00(K"s + count + "t(K\x01t\x89}tR";
  };
  return "(ctorch\nper_channel_affine\n" + vector(type) + vector("LongStorage") + "K\x00t"s;
}

const std::string kOneScale = "(ctorch\nper_tensor_affine\nG\x3f\xe0\0\0\0\0\0\0K\x03t"s;

TEST(Pickle, QuantisedTensors) {
  auto pickle = run(quantised(kOneScale) + ".");
  ASSERT_TRUE(pickle) << pickle.error().text();
  ASSERT_TRUE(pickle->root->tensor->quantizer);
  EXPECT_EQ(show(*pickle->root), "i8[2,3]@7+2");
  EXPECT_EQ(pickle->root->tensor->quantizer->zero_point.int_at(0), 3);
  EXPECT_EQ(pickle->root->tensor->quantizer->scale.dtype(), DType::f64);
  pickle = run(quantised(by_channel("DoubleStorage", "\x02")) + ".");
  ASSERT_TRUE(pickle) << pickle.error().text();
  EXPECT_EQ(pickle->root->tensor->quantizer->axis, 0);
}

TEST(Pickle, Rows) {
  const struct {
    std::string bytes, shown;
  } rows[] = {
      {"\x80\x02N.", "None"},
      {"(\x88\x89t.", "(True False)"},
      {"K\xff.", "255"},
      {"M\x01\x02.", "513"},
      {"J\xfe\xff\xff\xff.", "-2"},
      {"\x8a\x08\0\0\0\0\0\0\0\x80."s, "-9223372036854775808"},
      {"\x8a\x02\xff\xff."s, "-1"},
      {"\x8a\x00."s, "0"},
      {"G\x3f\xf8\0\0\0\0\0\0."s, "1.5f"},
      {unicode("hi") + ".", "'hi'"},
      {"](K\x01K\x02"
       "e.",
       "[1 2]"},
      {"]K\x01"
       "a.",
       "[1]"},
      {"}("s + unicode("a") + "K\x01u.", "{'a' 1}"},
      {"K\x01K\x02\x86.", "(1 2)"},
      {"]q\x05h\x05\x86.", "([] [])"},
      {"c__torch__.a\nM\n)\x81}"s + unicode("x") + "K\x01sb.", "__torch__.a.M<{'x' 1}>"},
      {"c__torch__\nC\nK\x01R.", "__torch__.C<1>"},
      {"ctorch.jit._pickle\nbuild_intlist\n]K\x01"
       "a\x85R.",
       "[1]"},
      {"ctorch.jit._pickle\nrestore_type_tag\n}"s + unicode("Dict[str, int]") + "\x86R.", "{}"},
      {"ctorch\ndevice\n"s + unicode("cpu") + "\x85R.", "device(cpu)"},
      {"cbuiltins\ncomplex\nG\x3f\xf0\0\0\0\0\0\0G@\0\0\0\0\0\0\0\x86R."s, "1+2j"},
      {kTensor + ".", "f32[2,3]@7+2"},
      {"ctorch._utils\n_rebuild_parameter\n("s + kTensor +
           "\x88"
           "}tR.",
       "f32[2,3]@7+2"},
      {"ctorch\nSize\nK\x01\x85\x85R.", "(1)"},
  };
  for (const auto& row : rows) {
    const auto pickle = run(row.bytes);
    ASSERT_TRUE(pickle) << row.shown << ": " << pickle.error().text();
    EXPECT_EQ(show(*pickle->root), row.shown);
  }
}

TEST(Pickle, OneObjectIsOnePointer) {
  const auto pickle = run("]q\x01h\x01\x86.");
  ASSERT_TRUE(pickle);
  EXPECT_EQ(pickle->root->items[0], pickle->root->items[1]);
}

TEST(Pickle, Attributes) {
  const auto pickle = run("c__torch__\nM\n)\x81}("s + unicode("x") + "K\x01"s + unicode("x") + "K\x02ub.");
  ASSERT_TRUE(pickle) << pickle.error().text();
  ASSERT_NE(pickle->root->find("x"), nullptr);
  EXPECT_EQ(pickle->root->find("x")->integer, 2);
  EXPECT_EQ(pickle->root->find("y"), nullptr);
}

TEST(Pickle, Hostile) {
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "]";
  for (int i = 0; i < 999; ++i) deep += "a";
  const struct {
    std::string bytes, code;
  } rows[] = {
      {"", "pickle.truncated"},
      {"cos\nsystem\n"s + unicode("ls") + "\x85R.", "pickle.global"},
      {"cbuiltins\neval\n.", "pickle.global"},
      {"ctorch.serialization\nload\n.", "pickle.global"},
      {"c__torch__\nM\n.", "pickle.malformed"},
      {"cos", "pickle.truncated"},
      {"X\xff\xff\xff\xff"
       "a",
       "pickle.truncated"},
      {"\x8a\xff", "pickle.malformed"},
      {"i", "pickle.opcode"},
      {"\x82\x01.", "pickle.opcode"},
      {"h\x01.", "pickle.malformed"},
      {"t.", "pickle.malformed"},
      {"NN.", "pickle.malformed"},
      {"(.", "pickle.malformed"},
      {".", "pickle.malformed"},
      {"]q\x01h\x01"
       "a.",
       "pickle.malformed"},
      {deep + ".", "pickle.depth"},
      {"}K\x01(u.", "pickle.malformed"},
      {"}(K\x01u.", "pickle.malformed"},
      {"K\x01)R.", "pickle.malformed"},
      {"K\x01Q.", "pickle.malformed"},
      {kStorage + ".", "pickle.malformed"},
      {"ctorch\nFloatStorage\n)R.", "pickle.malformed"},
      {"ctorch._utils\n_rebuild_tensor_v2\n)R.", "pickle.tensor"},
      {"ctorch._utils\n_rebuild_tensor_v2\n("s + kStorage + "K\x00(J\xff\xff\xff\xfft(K\x01t\x89}tR."s,
       "pickle.tensor"},
      {"ctorch._utils\n_rebuild_tensor_v2\n("s + kStorage + "K\x00(K\x01t)\x89}tR."s, "pickle.tensor"},
      {"ctorch._utils\n_rebuild_tensor_v2\n(NK\x00))\x89}tR."s, "pickle.tensor"},
      {"c__torch__\nM\n)\x81}b}b.", "pickle.malformed"},
      {quantised("N") + ".", "pickle.tensor"},
      {quantised("(ctorch\nper_tensor_affine\nK\x01K\x03t") + ".", "pickle.tensor"},
      {quantised(by_channel("DoubleStorage", "\x03")) + ".", "pickle.tensor"},
      {quantised(by_channel("FloatStorage", "\x02")) + ".", "pickle.tensor"},
      {kOneScale + ".", "pickle.malformed"},
  };
  for (const auto& row : rows) {
    const auto pickle = run(row.bytes);
    ASSERT_FALSE(pickle) << row.code << " " << row.bytes.substr(0, 40);
    EXPECT_EQ(pickle.error().code, row.code) << row.bytes.substr(0, 40) << " " << pickle.error().message;
  }
}

// Small pickles that would be large in memory, or for whoever walks through them.
TEST(Pickle, IsAsLargeAsItsFileIsWorth) {
  constexpr uint64_t kMost = 100'000;
  const auto repeated = [](const std::string& what) {
    std::string out;
    for (int i = 0; i < 1000; ++i) out += what;
    return out;
  };
  const std::string word(200, 'a'), class_of = "c__torch__\n" + word + "\nq\x01";
  const std::string laughs = [] {
    std::string out = ")";
    for (int i = 0; i < 50; ++i) out += "q\x01h\x01h\x01\x87";
    return out;
  }();
  const struct {
    std::string bytes, code;
  } rows[] = {
      {"](" + repeated("") + "e.", ""},
      {"](" + repeated("N") + "e.", "pickle.size"},
      {"](" + repeated("]") + "e.", "pickle.size"},
      {"](" + repeated("]q\x01") + "e.", "pickle.size"},
      {repeated("("), "pickle.truncated"},
      {"](" + class_of + repeated("h\x01)\x81") + "e.", "pickle.size"},
      {"](ctorch\ndevice\nq\x01"s + unicode(word.substr(0, 100)) + "\x85q\x02R" + repeated("h\x01h\x02R") + "e.",
       "pickle.size"},
      {"N" + repeated("h\x01") + ".", "pickle.malformed"},
      {laughs + ".", "pickle.size"},
      {"(Nq\x01" + repeated("h\x01") + "t.", ""},
  };
  for (const auto& row : rows) {
    const auto pickle = unpickle(std::as_bytes(std::span(row.bytes)), {}, kMost);
    EXPECT_EQ(pickle ? "" : pickle.error().code, row.code) << row.bytes.substr(0, 40);
  }
  EXPECT_EQ(run(laughs + ".").error().code, "pickle.size");
}

TEST(Pickle, TheBytesComeFromTheSource) {
  StorageView asked;
  const auto pickle = run(kTensor + ".", [&](const StorageView& view) -> Result<Tensor> {
    asked = view;
    return Tensor::allocate(view.dtype, view.sizes);
  });
  ASSERT_TRUE(pickle);
  EXPECT_EQ(asked.key, "7");
  EXPECT_EQ(asked.count, 12);
  EXPECT_EQ(asked.strides, (std::vector<int64_t>{3, 1}));
  EXPECT_TRUE(pickle->root->tensor->requires_grad);
  EXPECT_EQ(pickle->root->tensor->tensor.count(), 6);
}

TEST(Pickle, MutatedPicklesNeverCrash) {
  constexpr uint32_t kSeed = 20261;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  std::mt19937 random(kSeed);
  const std::string original = "c__torch__\nM\n)\x81}q\x01("s + unicode("w") + kTensor + "q\x02"s + unicode("d") +
                               "](h\x02" +
                               "h\x02"
                               "e"s +
                               unicode("n") + "h\x02K\x07\x86ub.";
  ASSERT_TRUE(run(original));
  const std::string opcodes = "(.0KMJNXQRbcahjqrstu})]\x81\x85\x86\x87\x88\x89\x8aGe";
  int good = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = original;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t where = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[where] = static_cast<char>(random());
          break;
        case 1:
          text.erase(where, 1 + random() % 4);
          break;
        default:
          text.insert(where, 1, opcodes[random() % opcodes.size()]);
      }
      if (text.empty()) text.push_back('.');
    }
    const auto pickle = run(text);
    good += pickle ? 1 : 0;
    if (pickle) show(*pickle->root);
  }
  EXPECT_GT(good, 50);
}

}  // namespace
}  // namespace anyshape::torchscript
