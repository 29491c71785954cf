#include "format/torchscript/archive.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

namespace anyshape::torchscript {
namespace {

const std::filesystem::path kFixtures = "tests/fixtures/script_reader";

Result<Script> read_file(const char* name) {
  TRY(auto file, MappedFile::open(kFixtures / name));
  return read_script(ZipFile(std::move(file)));
}

Result<Script> read_bytes(std::vector<std::byte> bytes) {
  return read_script(ZipFile(MappedFile::from_bytes(std::move(bytes))));
}

Script script(const char* file) {
  auto read = read_file(file);
  EXPECT_TRUE(read) << read.error().text();
  return read ? *std::move(read) : Script{};
}

const PickledTensor& tensor(const Pickled* value) {
  static const PickledTensor kNone;
  EXPECT_NE(value, nullptr);
  return value == nullptr || !value->tensor ? kNone : *value->tensor;
}

TEST(Archive, TracedLinear) {
  const Script s = script("traced_linear.pt");
  EXPECT_EQ(s.data.root->text, "__torch__.torch.nn.modules.linear.Linear");
  const Class& linear = s.classes.at(s.data.root->text);
  EXPECT_EQ(linear.parameters, (std::vector<std::string>{"weight", "bias"}));
  EXPECT_EQ(linear.methods.at("forward").parameters.size(), 2u);
  const Tensor& weight = tensor(s.data.root->find("weight")).tensor;
  EXPECT_EQ(weight.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(weight.dtype(), DType::f32);
  EXPECT_NE(weight.at<float>(0), 0.0f);
  EXPECT_TRUE(tensor(s.data.root->find("weight")).requires_grad);
  ASSERT_EQ(s.example_inputs().size(), 1u);
  EXPECT_EQ(s.example_inputs()[0]->tensor->view.sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(s.example_inputs()[0]->tensor->tensor);
}

TEST(Archive, TracedLstm) {
  const Script s = script("traced_lstm.pt");
  const Pickled* lstm = s.data.root->find("lstm");
  ASSERT_NE(lstm, nullptr);
  EXPECT_EQ(tensor(lstm->find("weight_hh_l1")).tensor.dims(), (std::vector<int64_t>{12, 3}));
  EXPECT_EQ(s.example_inputs().at(0)->tensor->view.sizes, (std::vector<int64_t>{1, 5, 2}));
  EXPECT_GT(s.version, 0);
}

TEST(Archive, TiedWeightsAreOneStorage) {
  const Script s = script("traced_tied.pt");
  const auto& a = tensor(s.data.root->find("a")->find("weight"));
  const auto& b = tensor(s.data.root->find("b")->find("weight"));
  EXPECT_EQ(a.view.key, b.view.key);
  EXPECT_EQ(a.tensor.bytes().data(), b.tensor.bytes().data());
  ASSERT_EQ(s.example_inputs().size(), 2u);
  EXPECT_EQ(s.example_inputs()[1]->kind, Pickled::Kind::dict);
}

TEST(Archive, ScriptedWithOneOfEach) {
  const Script s = script("scripted.pt");
  const Pickled& root = *s.data.root;
  const Tensor& turned = tensor(root.find("turned")).tensor;
  EXPECT_EQ(turned.dims(), (std::vector<int64_t>{3, 2}));
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(turned.at<float>(i), static_cast<float>(i / 2 + 3 * (i % 2)));
  const Tensor& spread = tensor(root.find("spread")).tensor;
  EXPECT_EQ(spread.dims(), (std::vector<int64_t>{4}));
  EXPECT_EQ(spread.at<float>(3), 1.0f);
  EXPECT_EQ(root.find("text")->text, "q\"u\n'\xc3\xa9");
  EXPECT_EQ(root.find("colour")->text, "__torch__.Colour");
  EXPECT_EQ(root.find("numbers")->items.size(), 2u);
  EXPECT_EQ(root.find("z")->imaginary, 2.0);
  EXPECT_EQ(root.find("nothing")->kind, Pickled::Kind::none);
  EXPECT_EQ(s.classes.at("__torch__.Pair").base, "NamedTuple");
  EXPECT_EQ(s.classes.at("__torch__.Colour").attributes.size(), 2u);
  EXPECT_EQ(s.classes.at(root.text).methods.size(), 2u);
  EXPECT_EQ(s.functions.count("__torch__.torch.nn.functional.relu"), 1u);
  EXPECT_TRUE(s.example_inputs().empty());
}

TEST(Archive, FrozenWeightsAreConstants) {
  const Script s = script("frozen.pt");
  EXPECT_GE(s.constants.root->items.size(), 10u);
  for (const Pickled* item : s.constants.root->items) EXPECT_TRUE(tensor(item).tensor);
}

TEST(Archive, OtherFilesSayWhatToDo) {
  const struct {
    const char *file, *code;
  } rows[] = {{"state_dict.pt", "script.state_dict"}, {"legacy.pt", "script.legacy"}};
  for (const auto& row : rows) {
    const auto read = read_file(row.file);
    ASSERT_FALSE(read) << row.file;
    EXPECT_EQ(read.error().code, row.code);
    EXPECT_NE(read.error().hint.find("torch.jit.trace"), std::string::npos);
  }
  EXPECT_EQ(read_bytes(std::vector<std::byte>(100)).error().code, "script.layout");
}

TEST(Archive, DamagedArchivesNeverCrash) {
  constexpr uint32_t kSeed = 20262;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  std::mt19937 random(kSeed);
  std::ifstream in(kFixtures / "scripted.pt", std::ios::binary);
  const std::string original((std::istreambuf_iterator<char>(in)), {});
  ASSERT_GT(original.size(), 1000u);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bytes(original.size());
    std::memcpy(bytes.data(), original.data(), original.size());
    for (int edits = 0; edits < 3; ++edits) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto read = read_bytes(std::move(bytes));
    EXPECT_TRUE(read || !read.error().code.empty());
  }
}

}  // namespace
}  // namespace anyshape::torchscript
