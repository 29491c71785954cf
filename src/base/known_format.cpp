#include "base/known_format.h"

#include <algorithm>
#include <cctype>

#include "base/printable.h"
#include "base/zip.h"

namespace anyshape {
namespace {

using Holds = KnownFormat::Holds;
using namespace std::string_view_literals;

constexpr std::string_view kExportIt = "torch.export.save(torch.export.export(model, example), \"model.pt2\")";

// What has these bytes at this place. "{}" of the hint is the path.
struct Magic {
  size_t at;
  std::string_view bytes;
  std::string_view sentence, hint;
};

constexpr Magic kMagic[] = {
    {0, "version https://git-lfs.github.com/", "the file is a pointer of Git LFS: the model itself was not fetched",
     "git lfs pull --include {}"},
    {0, "\x1f\x8b"sv, "the file is packed with gzip", "gunzip -k {}"},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "the file is packed with xz", "unxz -k {}"},
    {0, "BZh"sv, "the file is packed with bzip2", "bunzip2 -k {}"},
    {0, "\x28\xb5\x2f\xfd"sv, "the file is packed with zstd", "unzstd {}"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "the file is a 7z archive", "7z x {}"},
    {257, "ustar"sv, "the file is a tar archive", "tar -xf {}"},
    {0, "GGUF"sv,
     "the file holds weights and settings of a language model (GGUF), and no graph: export the model it was made of",
     kExportIt},
    {0, "\x89HDF\r\n\x1a\n"sv,
     "the file is HDF5, as Keras saves models and weights (.h5): it holds layers, and no ONNX graph",
     "python -c 'import sys, keras; keras.models.load_model(sys.argv[1]).export(\"model.onnx\", format=\"onnx\")' {}"},
    {4, "TFL3"sv, "the file is a model of TensorFlow Lite",
     "python -m tf2onnx.convert --tflite {} --output model.onnx"},
    {4, "ORTM"sv, "the file is in ONNX Runtime's own format (.ort): take the .onnx file it was made of", ""},
    {0, "\x93NUMPY"sv, "the file is an array of NumPy, and no model", ""},
    {0, "\x80\x02"sv,
     "the file is a pickle, as torch.save wrote it before PyTorch 1.6: it holds weights or Python objects, and no "
     "graph",
     kExportIt},
    {0, "\x80\x03"sv, "the file is a pickle of Python: it holds objects, and no graph", kExportIt},
    {0, "\x80\x04"sv, "the file is a pickle of Python: it holds objects, and no graph", kExportIt},
    {0, "\x80\x05"sv, "the file is a pickle of Python: it holds objects, and no graph", kExportIt},
    {0, "ptrt"sv, "the file is an engine that TensorRT has built: take the .onnx file it was made of", ""},
    {0, "ftrt"sv, "the file is an engine that TensorRT has built: take the .onnx file it was made of", ""},
    {0, "7767517"sv, "the file is the graph of an NCNN model", ""},
    {0,
     "\x7f"
     "ELF"sv,
     "the file is a program or a library of this system, and no model", ""},
    {0, "MZ"sv, "the file is a program or a library of Windows, and no model", ""},
};

std::string with_path(std::string_view hint, std::string_view path) {
  const size_t place = hint.rfind("{}");
  if (place == std::string_view::npos) return std::string(hint);
  return std::string(hint.substr(0, place)) + shell_word(path) + std::string(hint.substr(place + 2));
}

KnownFormat other(std::string_view sentence, std::string_view hint, std::string_view path) {
  return {Holds::other, std::string(sentence), with_path(hint, path)};
}

uint64_t little_endian(std::string_view bytes) {
  uint64_t out = 0;
  for (size_t i = bytes.size(); i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[i]);
  return out;
}

// Eight bytes of length, and so many of JSON.
bool is_safetensors(std::string_view text) {
  return text.size() > 9 && text[8] == '{' && little_endian(text.substr(0, 8)) <= text.size() - 8;
}

// The text from the first that is no space, in small letters.
std::string beginning(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  std::string out(text.substr(begin, 64));
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

std::optional<KnownFormat> text_format(std::string_view text, std::string_view path) {
  const std::string begin = beginning(text);
  if (begin.starts_with("<!doctype html") || begin.starts_with("<html"))
    return other("the file is a web page: the download was answered with a page instead of the model", "", path);
  if (begin.starts_with("<?xml") || begin.starts_with("<net "))
    return other("the file is XML, as OpenVINO writes its models, and no ONNX", "", path);
  if (begin.starts_with("{\"") || begin.starts_with("{\n") || begin.starts_with("{\r") || begin.starts_with("[{"))
    return other("the file is JSON, and no model", "", path);
  return std::nullopt;
}

// A field of length-delimited bytes at the beginning of a message: its content, cut where the text ends.
std::optional<std::string_view> first_field(std::string_view text, char tag) {
  if (text.empty() || text[0] != tag) return std::nullopt;
  uint64_t size = 0;
  size_t at = 1;
  for (int shift = 0; at < text.size() && shift < 63; shift += 7) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    size |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return text.substr(at, size);
  }
  return std::nullopt;
}

// A GraphDef begins with a node: its name, then its operator. A SavedModel with its version, 1, and then a graph with
// its own information, where an ONNX model has the name of a program.
std::optional<KnownFormat> tensorflow_format(std::string_view text, std::string_view path) {
  if (const auto node = first_field(text, '\x0a'))
    if (const auto name = first_field(*node, '\x0a');
        name && name->data() + name->size() < text.data() + text.size() && name->data()[name->size()] == '\x12')
      return other("the file is a GraphDef of TensorFlow",
                   "python -m tf2onnx.convert --inputs INPUT:0 --outputs OUTPUT:0 --output model.onnx --graphdef {}",
                   path);
  if (!text.starts_with("\x08\x01")) return std::nullopt;
  const auto graph = first_field(text.substr(2), '\x12');
  if (!graph || !first_field(*graph, '\x0a')) return std::nullopt;
  const size_t slash = path.rfind('/');
  return other("the file is a SavedModel of TensorFlow, which is a whole folder",
               "python -m tf2onnx.convert --output model.onnx --saved-model {}",
               slash == std::string_view::npos ? "." : path.substr(0, slash));
}

bool ends_with_any(const ZipReader& zip, std::initializer_list<std::string_view> ends) {
  return std::any_of(zip.members().begin(), zip.members().end(), [&](const ZipMember& member) {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return member.name.ends_with(end); });
  });
}

std::optional<KnownFormat> zip_format(const ZipReader& zip, std::string_view path) {
  const auto program = [&](std::string_view what) {
    return KnownFormat{Holds::program, std::string(what), with_path("anyshape export -o model.onnx {}", path)};
  };
  if (ends_with_any(zip, {"archive_format", "serialized_exported_program.json"}))
    return program("the file is a program of torch.export (.pt2), not yet ONNX");
  if (ends_with_any(zip, {"/data.pkl"}))
    return ends_with_any(zip, {"/constants.pkl"}) ? program("the file is a program of TorchScript (.pt), not yet ONNX")
                                                  : other(
                                                        "the file was written by torch.save: it holds weights (a "
                                                        "state_dict) or Python objects, and no graph",
                                                        kExportIt, path);
  if (zip.find("config.json") != nullptr && ends_with_any(zip, {".weights.h5"}))
    return other("the file is a model of Keras 3 (.keras): it holds layers, and no ONNX graph",
                 "python -c 'import sys, keras; keras.models.load_model(sys.argv[1]).export(\"model.onnx\", "
                 "format=\"onnx\")' {}",
                 path);
  if (ends_with_any(zip, {".onnx"}))
    return other("the file is a zip archive with an ONNX model in it", "unzip {}", path);
  if (ends_with_any(zip, {".npy"})) return other("the file holds arrays of NumPy (.npz), and no graph", "", path);
  if (ends_with_any(zip, {".mlmodel"})) return other("the file is a package of Core ML", "", path);
  return other("the file is a zip archive, and none of PyTorch", "unzip -l {}", path);
}

}  // namespace

std::optional<KnownFormat> known_format(const std::shared_ptr<const MappedFile>& file, std::string_view path) {
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (text.empty()) return other("the file is empty: it was not fetched or not written to its end", "", path);
  for (const Magic& magic : kMagic)
    if (text.size() > magic.at && text.substr(magic.at).starts_with(magic.bytes))
      return other(magic.sentence, magic.hint, path);
  if (text.starts_with("PK\x03\x04")) {
    const auto zip = ZipReader::parse(file);
    // Refused for what it would take, not for its form.
    if (!zip && zip.error().code == "zip.ratio") return std::nullopt;
    if (!zip) return other("the file is a zip archive that is damaged or cut short", "unzip -t {}", path);
    return zip_format(*zip, path);
  }
  if (is_safetensors(text))
    return other(
        "the file holds weights in the form of safetensors, and no graph: export the model that they belong to",
        kExportIt, path);
  if (auto format = text_format(text, path)) return format;
  if (auto format = tensorflow_format(text, path)) return format;
  // The version of the format comes first in all that writers of ONNX write.
  if (text.size() > 2 && text[0] == '\x08' && text[1] > 0 && text[1] < 32)
    return KnownFormat{Holds::model, "the file is an ONNX model already", with_path("anyshape check {}", path)};
  return std::nullopt;
}

Error foreign_file(const KnownFormat& format) {
  return {Error::Kind::refused, "file.foreign", "", format.sentence, format.hint};
}

}  // namespace anyshape
