// Any bytes: an Error, or values that form a tree of bounded depth with shared parts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <unordered_set>

#include "format/torchscript/pickle.h"

namespace anyshape::torchscript {
namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

// Every value once, however often it is shared.
void visit(const Pickled& value, std::unordered_set<const Pickled*>& seen, int depth) {
  must(depth <= kMaxDepth);
  must(value.kind != Pickled::Kind::global && value.kind != Pickled::Kind::storage);
  if (!seen.insert(&value).second) return;
  if (value.kind == Pickled::Kind::tensor) must(value.tensor->view.sizes.size() == value.tensor->view.strides.size());
  for (const Pickled* item : value.items) visit(*item, seen, depth + 1);
  static_cast<void>(value.find("forward"));
}

void run(std::span<const std::byte> bytes) {
  const auto pickle = unpickle(bytes, {});
  if (!pickle) {
    must(!pickle.error().code.empty() && !pickle.error().text().empty());
    return;
  }
  std::unordered_set<const Pickled*> seen;
  visit(*pickle->root, seen, 1);
}

}  // namespace
}  // namespace anyshape::torchscript

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  anyshape::torchscript::run({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
