// roundtrip LIST: each line "IN<tab>OUT"; reads the model IN and writes it to OUT. One line of output per pair.
#include <fstream>
#include <iostream>
#include <string>

#include "base/os/file.h"
#include "format/onnx/proto.h"

namespace anyshape {
namespace {

Status copy_model(const std::string& in, const std::string& out) {
  TRY(auto file, MappedFile::open(in));
  TRY(onnx::ModelProto model, onnx::parse_model(file->bytes()));
  TRY(AtomicFile target, AtomicFile::create(out));
  const onnx::Encoded encoded = onnx::serialize(model);
  for (auto piece : encoded.pieces()) TRY_OK(target.write(piece));
  return target.commit();
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
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    const anyshape::Status status = anyshape::copy_model(line.substr(0, tab), line.substr(tab + 1));
    std::cout << (status ? std::string("ok") : status.error().text()) << '\n';
  }
  return 0;
}
