#include <gtest/gtest.h>

#include "base/os/folder_test.h"
#include "format/onnx/file.h"
#include "format/onnx/walk.h"
#include "format/onnx/wire_test.h"

namespace anyshape::onnx {
namespace {

namespace fs = std::filesystem;
using wire::block;
using wire::number;

using ModelFileTest = FolderTest;

std::string entry(std::string_view key, std::string_view value) { return block(13, block(1, key) + block(2, value)); }

// Two tensors of 2,000 bytes: one inside, one in w.bin.
std::string external_model() {
  const std::string shape = number(1, 2000) + number(2, 2);
  return block(7, block(5, shape + block(8, "a") + block(9, std::string(2000, 'a'))) +
                      block(5, shape + block(8, "b") + entry("location", "w.bin") + entry("offset", "3") +
                                   entry("length", "2000") + number(14, 1)));
}

std::string content(const ModelFile& model, size_t index) {
  const auto elements = model.tensor(model.proto.graph->initializer[index]);
  if (!elements) return elements.error().text();
  return {reinterpret_cast<const char*>(elements->bytes.data()), elements->bytes.size()};
}

TEST_F(ModelFileTest, TellsWhatTheFileIs) {
  for (const auto& [text, code, hint] :
       {std::tuple{"", "file.foreign", ""}, std::tuple{"hello world, not a model", "onnx.malformed", ""},
        std::tuple{"version https://git-lfs.github.com/spec/v1\noid", "file.foreign", "git lfs pull"},
        std::tuple{"PK\x03\x04zip", "file.foreign", "unzip -t"}}) {
    const auto model = read_model(put("m.onnx", text));
    ASSERT_FALSE(model.has_value()) << text;
    EXPECT_EQ(model.error().code.substr(0, std::string_view(code).size()), code) << model.error().text();
    EXPECT_NE(model.error().hint.find(hint), std::string::npos);
    EXPECT_EQ(model.error().place.find((folder_ / "m.onnx").string()), 0u);
  }
  EXPECT_EQ(read_model(folder_ / "missing").error().code, "file.open");
}

TEST_F(ModelFileTest, ElementsOutliveTheModel) {
  put("w.bin", "..." + std::string(2000, 'b'));
  TensorBytes inside;
  TensorBytes outside;
  {
    const auto model = read_model(put("m.onnx", external_model()));
    ASSERT_TRUE(model.has_value());
    inside = model->tensor(model->proto.graph->initializer[0]).value();
    outside = model->tensor(model->proto.graph->initializer[1]).value();
  }
  EXPECT_EQ(inside.bytes[1999], std::byte{'a'});
  EXPECT_EQ(outside.bytes[1999], std::byte{'b'});
}

TEST_F(ModelFileTest, ReplacesItsOwnFiles) {
  put("w.bin", "..." + std::string(2000, 'b'));
  const fs::path path = put("m.onnx", external_model());
  const auto model = read_model(path);
  ASSERT_TRUE(model.has_value());
  for (const char* name : {"w.bin", "w.bin", "other.bin"}) {
    const Status status = write_model(*model, path, {.external_data = name});
    ASSERT_TRUE(status.has_value()) << status.error().text();
    EXPECT_EQ(get(folder_ / name), std::string(2000, 'a') + std::string(48, '\0') + std::string(2000, 'b'));
    const auto again = read_model(path);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(content(*again, 0), std::string(2000, 'a'));
    EXPECT_EQ(content(*again, 1), std::string(2000, 'b'));
    EXPECT_EQ(content(*model, 1), std::string(2000, 'b'));
  }
}

TEST_F(ModelFileTest, WithoutExternalDataTheBytesAreTheSame) {
  const fs::path path = put("m.onnx", wire::small_model());
  const auto model = read_model(path);
  ASSERT_TRUE(model.has_value());
  ASSERT_TRUE(write_model(*model, folder_ / "copy.onnx").has_value());
  EXPECT_EQ(get(folder_ / "copy.onnx"), wire::small_model());
}

TEST_F(ModelFileTest, LargeModelsAreSplit) {
  const std::string tensor = number(1, 2000) + number(2, 2) + block(9, std::string(2000, 'a'));
  const std::string constant = block(4, "Constant") + block(5, block(1, "value") + block(5, tensor));
  const auto model = read_model(put("m.onnx", block(7, block(1, constant) + block(5, tensor))));
  ASSERT_TRUE(model.has_value());
  size_t external = 0;
  const auto count = [&](uint64_t largest) -> size_t {
    const Status status = write_model(*model, folder_ / "out.onnx", {.largest_model = largest});
    if (!status) return status.error().code == "onnx.size" ? 99 : 98;
    external = 0;
    const auto out = read_model(folder_ / "out.onnx");
    for_each_tensor(out->proto, [&](const TensorProto& t, TensorRole) { external += is_external(t) ? 1U : 0U; });
    return external;
  };
  EXPECT_EQ(count(5000), 0u);
  EXPECT_EQ(count(3000), 1u) << "initializers first";
  EXPECT_EQ(count(500), 2u) << "then attributes";
  EXPECT_EQ(count(50), 99u);
  EXPECT_EQ(get(folder_ / "out.onnx.data").size(), 2000u + 48 + 2000);
}

TEST_F(ModelFileTest, AFailureLeavesTheOldFiles) {
  const fs::path path = put("m.onnx", external_model());
  const auto model = read_model(path);
  ASSERT_TRUE(model.has_value());
  const Status missing = write_model(*model, path, {.external_data = "new.bin"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, "file.open");
  put("w.bin", "..." + std::string(2000, 'b'));
  fs::create_directory(folder_ / "target.onnx");
  EXPECT_EQ(write_model(*model, folder_ / "target.onnx", {.external_data = "new.bin"}).error().code, "file.write");
  EXPECT_FALSE(fs::exists(folder_ / "new.bin"));
  EXPECT_EQ(get(path), external_model());
  EXPECT_EQ(names(), (std::set<std::string>{"m.onnx", "w.bin"}));
}

TEST_F(ModelFileTest, BytesHaveNoFolder) {
  const std::string source = external_model();
  const Bytes view = wire::bytes(source);
  const auto model = read_model_bytes({view.begin(), view.end()});
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(content(*model, 0), std::string(2000, 'a'));
  EXPECT_EQ(model->tensor(model->proto.graph->initializer[1]).error().code, "external.path");
  EXPECT_EQ(write_model(*model, folder_ / "m.onnx").error().code, "external.path");
  EXPECT_FALSE(fs::exists(folder_ / "m.onnx"));
}

}  // namespace
}  // namespace anyshape::onnx
