// A model given as bytes is imported, solved and asked for two concrete shapes: no input may crash, hang or blow up.
// Where the accepted set is exact it must agree with the numeric walk.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "format/onnx/file.h"
#include "format/onnx/import.h"
#include "ops/all.h"
#include "solve/accepted.h"
#include "solve/contract.h"
#include "solve/walk_shape.h"

using namespace anyshape;

namespace {

constexpr size_t kMaxNodes = 200;

void compare(const Typed& typed, const AcceptedSet& set, int64_t size) {
  const Binding binding = [&](Dim) { return std::optional(size); };
  const Answer walked = walk_shape(typed.graph(), shapes_at(typed, binding)).answer;
  // input.*: an input without declared axes, to which no shape was given.
  if (!set.exact || typed.largest_axis() != 0 || walked.kind == Answer::Kind::unknown ||
      walked.code.starts_with("input."))
    return;
  bool holds = true;
  for (const AcceptedCondition& c : set.conditions) {
    const Tri answer = evaluate(c.condition, binding);
    if (answer == Tri::unknown) return;
    holds = holds && answer == Tri::yes;
  }
  if (holds != (walked.kind == Answer::Kind::accept)) {
    std::fprintf(stderr, "size %lld: the set says %d, the walk says %s %s: %s\n", static_cast<long long>(size), holds,
                 walked.code.c_str(), walked.place.c_str(), walked.sentence.c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  const auto file = onnx::read_model_bytes(std::move(bytes));
  if (!file) return 0;
  const auto graph = onnx::import_model(*file, all_ops());
  if (!graph || (*graph)->nodes.size() > kMaxNodes) return 0;
  const Typed typed = solve(*graph);
  const AcceptedSet set = accepted_set(typed);
  for (const int64_t axis : {1, 6}) compare(typed, set, axis);
  return 0;
}
