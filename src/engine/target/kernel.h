#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/error.h"
#include "tensor/view.h"

namespace anyshape {

class Call;

// What a kernel of an engine works on. Absent inputs and outputs are Views that convert to false. Addresses are those
// of the engine's memory.
struct ViewArgs {
  std::span<const View> in, out;
  const void* prepared = nullptr;  // what prepare() made
  std::byte* scratch = nullptr;    // aligned to 64 bytes, shared by all tasks
  const void* bound = nullptr;     // what bind() made at these sizes; null where it was not asked
};

// The form of a kernel that plans are made of: all that does not change between runs is done once. One without tasks()
// runs on the thread of the caller in the scope of a TemporaryMemory, like a reference kernel: it may make Temporaries
// and tensors as long as their sizes do not depend on entries. One with tasks() has its scratch only.
struct EngineKernel {
  std::string_view name;
  // Empty: takes this node. Otherwise why not, as a clause for `anyshape plan` ("the weights are not constant").
  std::string_view (*accepts)(const Call&);
  // Attributes decoded, constant inputs packed where the kernel wants them; only the kernel looks into it. Null:
  // nothing to prepare. Called once per plan. An error of kind `unknown` is no fault: its message says, as accepts()
  // does, why the kernel does not take the node, where only the work of preparing tells.
  Result<std::shared_ptr<const void>> (*prepare)(const Call&) = nullptr;
  // Bytes of scratch at these sizes (data pointers are null); null: none.
  int64_t (*scratch)(const ViewArgs&) = nullptr;
  // Into how many independent tasks the work splits at these sizes; null: one.
  int64_t (*tasks)(const ViewArgs&) = nullptr;
  // Once in each run, before any task, by the thread of the caller: what tasks share in the scratch. Null: nothing.
  Status (*begin)(const ViewArgs&) = nullptr;
  // What run() would work out from sizes alone, into `bound_bytes` bytes aligned to 64 (data pointers are null):
  // trivial types only. Asked at each new shape; null: nothing.
  void (*bind)(const ViewArgs&, std::byte* to) = nullptr;
  int64_t bound_bytes = 0;
  // Tasks first..last - 1. Allocates nothing. Outputs are not zero-filled.
  Status (*run)(const ViewArgs&, int64_t first, int64_t last);
  // Which of several ways is taken at these sizes, for people; null or empty: there is one.
  std::string_view (*way)(const ViewArgs&) = nullptr;
  // Bit i: input i may have any strides; others are dense.
  uint32_t strided = 0;
  // Bit i: output 0 may take the buffer of input i when that has the same dtype and dims.
  uint32_t in_place = 0;
  // Bit i: input i, where it is constant, is read by prepare() only: what it was packed from may leave memory.
  uint32_t packed = 0;
  // Bit i: input i is read in host memory, wherever the engine's memory is.
  uint32_t on_host = 0;
};

}  // namespace anyshape
