// anyshape_roundtrip LIST: one job per line, fields separated by tabs, one line of output per job ("ok" or the error):
//   model IN OUT [external=NAME] [threshold=N] [largest=N]    reads a model file and writes it
//   proto|tensor|sequence|optional IN OUT                     the same for a message alone: model, or test data
//   bytes IN OUT                                              the elements of a tensor, as raw_data would hold them
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/os/file.h"
#include "format/onnx/file.h"
#include "format/onnx/proto.h"

namespace anyshape {
namespace {

// Without AtomicFile's fsync, which would be most of the time of thousands of small files.
Status write_pieces(const std::string& path, const std::vector<onnx::Bytes>& pieces) {
  std::ofstream out(path, std::ios::binary);
  for (auto piece : pieces) {
    out.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
  }
  out.close();
  if (!out) return system_error("file.write", "{} cannot be written", path);
  return {};
}

template <class Parse>
Status copy_message(const std::vector<std::string>& job, Parse parse) {
  TRY(auto file, MappedFile::open(job[1]));
  TRY(auto message, parse(file->bytes()));
  return write_pieces(job[2], onnx::serialize(message).pieces());
}

Status copy_model(const std::vector<std::string>& job) {
  onnx::WriteOptions options;
  for (size_t i = 3; i < job.size(); ++i) {
    const size_t split = job[i].find('=');
    const std::string key = job[i].substr(0, split);
    const std::string value = job[i].substr(split + 1);
    if (key == "external") options.external_data = value;
    if (key == "threshold") options.external_threshold = std::stoull(value);
    if (key == "largest") options.largest_model = std::stoull(value);
  }
  TRY(onnx::ModelFile model, onnx::read_model(job[1]));
  return onnx::write_model(model, job[2], options);
}

Status write_elements(const std::vector<std::string>& job) {
  TRY(auto file, MappedFile::open(job[1]));
  TRY(auto tensor, onnx::parse_tensor(file->bytes()));
  TRY(auto elements, onnx::tensor_bytes(tensor));
  std::vector<onnx::Bytes> pieces = {elements.bytes};
  for (std::string_view text : elements.strings) pieces.push_back(std::as_bytes(std::span(text)));
  return write_pieces(job[2], pieces);
}

Status run(const std::vector<std::string>& job) {
  if (job.size() < 3) return usage("usage", "a job needs a kind, an input and an output");
  if (job[0] == "model") return copy_model(job);
  if (job[0] == "bytes") return write_elements(job);
  if (job[0] == "proto") return copy_message(job, onnx::parse_model);
  if (job[0] == "tensor") return copy_message(job, onnx::parse_tensor);
  if (job[0] == "sequence") return copy_message(job, onnx::parse_sequence);
  if (job[0] == "optional") return copy_message(job, onnx::parse_optional);
  return usage("usage", "no such kind of job: {}", job[0]);
}

}  // namespace
}  // namespace anyshape

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: anyshape_roundtrip LIST\n";
    return 2;
  }
  std::ifstream list(argv[1]);
  for (std::string line; std::getline(list, line);) {
    std::vector<std::string> job;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) job.push_back(field);
    const anyshape::Status status = anyshape::run(job);
    std::cout << (status ? std::string("ok") : status.error().text()) << '\n';
  }
  return 0;
}
