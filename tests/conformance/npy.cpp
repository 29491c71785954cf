// npy IN OUT [DTYPE]: reads a .npy or .npz file, every array as DTYPE where NumPy has no such type, and writes it
// again. Prints `dtype[dims]` per array.
#include "tensor/npy.h"

#include <fmt/format.h>

using namespace anyshape;

namespace {

void print(std::string_view name, const Tensor& tensor) {
  fmt::print("{} {}[{}]\n", name, anyshape::name(tensor.dtype()), fmt::join(tensor.dims(), ","));
}

Status rewrite(const std::filesystem::path& in, const std::filesystem::path& out, DType wanted) {
  if (in.extension() == ".npy") {
    TRY(const Tensor tensor, read_npy(in, wanted));
    print("array", tensor);
    return write_npy(out, tensor);
  }
  TRY(const NpzFile file, NpzFile::open(in));
  std::vector<NamedTensor> all;
  for (const std::string& name : file.names()) {
    TRY(Tensor tensor, file.read(name, wanted));
    print(name, tensor);
    all.push_back({name, std::move(tensor)});
  }
  return write_npz(out, all);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const DType wanted = argc > 3 ? parse_dtype(argv[3]).value_or(DType::undefined) : DType::undefined;
  const Status done = rewrite(argv[1], argv[2], wanted);
  if (!done) fmt::print(stderr, "{}\n", done.error().text());
  return done ? 0 : 3;
}
