#include "base/known_format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/zip.h"

namespace anyshape {
namespace {

using namespace std::string_literals;

std::shared_ptr<const MappedFile> file_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return MappedFile::from_bytes({begin, begin + text.size()});
}

std::string tarred() {
  std::string out(300, 'x');
  out.replace(257, 5, "ustar");
  return out;
}

TEST(KnownFormat, ByTheFirstBytes) {
  // Bytes, a part of the sentence, a part of the hint.
  const std::tuple<std::string, std::string, std::string> rows[] = {
      {"", "is empty", ""},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n", "Git LFS", "git lfs pull --include 'a b'"},
      {"\x1f\x8b\x08\0"s, "gzip", "gunzip -k 'a b'"},
      {"\xfd"
       "7zXZ\0\0"s,
       "xz", "unxz"},
      {tarred(), "tar archive", "tar -xf"},
      {"GGUF\3\0\0\0"s, "GGUF", "torch.export"},
      {"\x89HDF\r\n\x1a\n", "HDF5", "keras.models.load_model"},
      {"\x1c\0\0\0TFL3"s, "TensorFlow Lite", "--tflite 'a b' --output"},
      {"\x20\0\0\0ORTM"s, ".ort", ""},
      {"\x80\x02}q\0."s, "torch.save", "torch.export"},
      {"\x02\0\0\0\0\0\0\0{}"s, "safetensors", "torch.export"},
      {"<!DOCTYPE html>\n<html>", "web page", ""},
      {"\n  <HTML lang=en>", "web page", ""},
      {"<?xml version=\"1.0\"?><net>", "OpenVINO", ""},
      {"{\"model\": 1}", "JSON", ""},
      {"PK\x03\x04zip", "damaged", "unzip -t"},
      {"\x0a\x07\x0a\x01x\x12\x02OpX"s, "GraphDef", "--graphdef 'a b'"},
      {"\x08\x01\x12\x06\x0a\x04\x0a\x02OpX"s, "SavedModel", "--saved-model ."},
      {"\x08\x08\x3a\x02\x0a\0"s, "ONNX model already", "anyshape check 'a b'"},
  };
  for (const auto& [bytes, sentence, hint] : rows) {
    const auto format = known_format(file_of(bytes), "a b");
    ASSERT_TRUE(format) << sentence;
    EXPECT_NE(format->sentence.find(sentence), std::string::npos) << format->sentence;
    EXPECT_NE(format->hint.find(hint), std::string::npos) << format->hint;
    EXPECT_EQ(format->holds == KnownFormat::Holds::model, sentence == "ONNX model already");
  }
  for (const std::string& bytes : {"x"s, "hello world, not a model"s, "\xff\xff\xff\xff"s, "\x0a\x7f"s,
                                   "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s})
    EXPECT_FALSE(known_format(file_of(bytes), "f")) << bytes;
}

TEST(KnownFormat, ByTheMembersOfAnArchive) {
  const std::tuple<std::vector<std::string>, std::string, KnownFormat::Holds> rows[] = {
      {{"m/archive_format", "m/models/model.json"}, "torch.export", KnownFormat::Holds::program},
      {{"m/data.pkl", "m/constants.pkl", "m/code/a.py"}, "TorchScript", KnownFormat::Holds::program},
      {{"m/data.pkl", "m/data/0"}, "state_dict", KnownFormat::Holds::other},
      {{"config.json", "model.weights.h5"}, "Keras 3", KnownFormat::Holds::other},
      {{"a/model.onnx"}, "with an ONNX model in it", KnownFormat::Holds::other},
      {{"x.npy"}, "NumPy", KnownFormat::Holds::other},
      {{"readme"}, "none of PyTorch", KnownFormat::Holds::other},
  };
  std::string folder = (std::filesystem::temp_directory_path() / "anyshape-known-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto path = std::filesystem::path(folder) / "file.zip";
  for (const auto& [members, sentence, holds] : rows) {
    auto zip = ZipWriter::create(path);
    ASSERT_TRUE(zip);
    for (const std::string& name : members) ASSERT_TRUE(zip->add(name, {}));
    ASSERT_TRUE(zip->finish());
    const auto format = known_format(*MappedFile::open(path), path.string());
    ASSERT_TRUE(format);
    EXPECT_NE(format->sentence.find(sentence), std::string::npos) << format->sentence;
    EXPECT_EQ(format->holds, holds);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace anyshape
