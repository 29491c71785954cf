// Any bytes: an Error, or a program whose weights can be read and whose expressions can be printed and converted. Bytes
// that are no archive are read as the JSON of a program.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/zip.h"
#include "format/pt2/decode.h"
#include "format/pt2/program.h"

namespace anyshape::pt2 {
namespace {

// abort() rather than ANYSHAPE_CHECK: libFuzzer keeps the input of what aborts.
void must(bool condition) {
  if (!condition) std::abort();
}

size_t walk(const Size& size) { return size.number ? 0 : print(size.expression).size(); }

size_t walk(const Graph& graph);

size_t walk(const Argument& argument) {
  size_t sum = argument.text.size();
  for (const Argument& item : argument.items) sum += walk(item);
  if (argument.kind == Argument::Kind::graph) sum += walk(*argument.graph);
  return sum;
}

size_t walk(const Graph& graph) {
  size_t sum = 0;
  for (const Node& node : graph.nodes) {
    for (const NamedArgument& input : node.inputs) sum += walk(input.value);
    for (const Argument& output : node.outputs) sum += walk(output);
  }
  for (const auto& [name, meta] : graph.tensors) {
    for (const Size& size : meta.sizes) sum += walk(size);
  }
  return sum;
}

// Reads every byte, so that a wrong span is seen.
size_t touch(const Tensor& tensor) {
  size_t sum = 0;
  for (const std::byte b : tensor.bytes()) sum += static_cast<size_t>(b);
  return sum;
}

void use(const Result<ExportedProgram>& program) {
  if (!program) {
    must(!program.error().code.empty() && !program.error().message.empty());
    return;
  }
  size_t sum = walk(program->graph);
  for (const auto& [fqn, weight] : program->weights) sum += touch(weight.tensor);
  size_t user = 0;
  must(program->inputs.size() == program->graph.inputs.size() &&
       program->outputs.size() == program->graph.outputs.size());
  for (const InputSpec& spec : program->inputs) user += spec.kind == InputSpec::Kind::user ? 1 : 0;
  must(user == program->input_paths.size());
  for (const std::string& path : program->input_paths) sum += input_named(*program, path).has_value() ? 1 : 0;
  static_cast<void>(sum);
}

Result<ExportedProgram> read_text(std::span<const std::byte> text) {
  ExportedProgram out;
  TRY_OK(with_json(text, json_into(out, read_exported_program)));
  return out;
}

}  // namespace
}  // namespace anyshape::pt2

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anyshape;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  if (size > 1 && data[0] == 'P' && data[1] == 'K') {
    pt2::use(pt2::read_program(ZipFile(MappedFile::from_bytes({bytes.begin(), bytes.end()}))));
  } else {
    pt2::use(pt2::read_text(bytes));
  }
  return 0;
}
