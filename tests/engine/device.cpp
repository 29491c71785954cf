#include "device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/bug.h"
#include "ir/call.h"
#include "kernels/dense_copy.h"
#include "ops/all.h"

namespace anyshape::testing {
namespace {

// Set in no address of a program, on any processor we run on: reading there ends the process.
constexpr uintptr_t kFar = uintptr_t{1} << 55;

DeviceCounts counts;

std::byte* far_address(void* near) { return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(near) | kFar); }

std::byte* near_address(const std::byte* far) {
  if (!far) return nullptr;  // of nothing
  ANYSHAPE_CHECK((reinterpret_cast<uintptr_t>(far) & kFar) != 0);
  return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(far) & ~kFar);
}

View near_view(const View& view) {
  return view ? View{view.dtype, view.dims, view.strides, near_address(view.data)} : View();
}

class DeviceMemory final : public EngineMemory {
 public:
  Result<std::shared_ptr<std::byte>> allocate(int64_t bytes) const override {
    const auto padded = static_cast<size_t>((bytes + 64) / 64 * 64);
    void* near = std::aligned_alloc(64, padded);
    if (!near) return system_error("tensor.memory", "out of memory: {} bytes are needed", bytes);
    // What nobody has written is no number that a test expects.
    std::memset(near, 0xa5, padded);
    return std::shared_ptr<std::byte>(far_address(near), [near](std::byte*) { std::free(near); });
  }
  Status write(std::byte* to, std::span<const std::byte> from) const override {
    ++counts.written;
    if (!from.empty()) std::memcpy(near_address(to), from.data(), from.size());
    return {};
  }
  Status read(std::span<std::byte> to, const std::byte* from) const override {
    ++counts.read;
    if (!to.empty()) std::memcpy(to.data(), near_address(from), to.size());
    return {};
  }
};

// A node as its reference kernel sees it.
struct Prepared {
  Node node;
  std::string label;
  Facts facts;
  uint32_t on_host = 0;

  std::vector<const Fact*> inputs() const {
    std::vector<const Fact*> out;
    for (size_t i = 0; i < facts.size(); ++i) out.push_back(node.in[i] == kNoValue ? nullptr : &facts[i]);
    return out;
  }
};

constexpr uint32_t kAllButFirst = ~1u;

template <uint32_t on_host>
Result<std::shared_ptr<const void>> prepare(const Call& call) {
  auto out = std::make_shared<Prepared>(Prepared{call.node(), std::string(call.label()), {}, on_host});
  for (size_t i = 0; i < call.inputs(); ++i) {
    const bool known = call.has(i) && call.in(i).constant;
    const DType dtype = call.has(i) ? call.in(i).dtype : DType::undefined;
    out->facts.push_back(known ? call.in(i) : Fact::tensor_of_unknown_rank(dtype));
  }
  return out;
}

std::string_view accepts(const Call& call) {
  if (call.op()->kernels.empty()) return "it has no reference kernel";
  if (!call.op()->pure) return "it draws random numbers";
  return call.node().has_graph_attribute() ? "it has bodies" : "";
}

// All inputs but the first decide about sizes.
std::string_view accepts_entries(const Call& call) {
  const auto ports = call.op()->sig.in;
  const auto decides = [](const Port& port) { return (port.flags & Port::value) != 0; };
  if (ports.size() < 2 || !std::all_of(ports.begin() + 1, ports.end(), decides)) return "its inputs are data";
  return accepts(call);
}

Datum datum_of(const View& view, std::byte* data) {
  Datum out;
  if (!view) return out;
  ANYSHAPE_CHECK(view.count() == 0 || view.dense());
  out.tensor().point_at(view.dtype, view.dims, data);
  out.settle();
  return out;
}

Status run(const ViewArgs& args, int64_t, int64_t) {
  const auto& prepared = *static_cast<const Prepared*>(args.prepared);
  std::vector<Datum> in, out;
  for (size_t i = 0; i < args.in.size(); ++i) {
    const bool host = i < 32 && (prepared.on_host >> i & 1);
    in.push_back(datum_of(args.in[i], host || !args.in[i] ? args.in[i].data : near_address(args.in[i].data)));
  }
  for (const View& view : args.out) {
    out.push_back(datum_of(view, view ? near_address(view.data) : nullptr));
    if (const size_t size = out.back().tensor().bytes().size(); size > 0) std::memset(near_address(view.data), 0, size);
  }
  KernelArgs kernel_args{in, out};
  const auto facts = prepared.inputs();
  TRY_OK(prepared.node.op->kernels.back().run(Call(prepared.node, prepared.label, facts), kernel_args));
  for (size_t i = 0; i < out.size(); ++i) {
    const auto made = out[i].tensor().bytes();
    if (args.out[i] && !made.empty() && made.data() != near_address(args.out[i].data))
      std::memcpy(near_address(args.out[i].data), made.data(), made.size());
  }
  return {};
}

// A call of a kernel. What its views say of sizes stays as it is while the shape is bound.
struct Recorded {
  const EngineKernel* kernel = nullptr;  // null: a copy from in[0] to out[0]
  std::vector<View> in, out;
  ViewArgs args;
};
using Recording = std::vector<Recorded>;

class DeviceQueue final : public Queue {
 public:
  Status run(const EngineKernel& kernel, const ViewArgs& args, int64_t, const RunLimits&) override {
    if (!recording_) return kernel.run(args, 0, 1);
    note(&kernel, args);
    return {};
  }
  Status copy(const View& from, const View& to) override {
    if (recording_)
      note(nullptr, {{&from, 1}, {&to, 1}});
    else
      kernels::dense_copy(near_view(from), near_view(to));
    return {};
  }

  bool records() const override { return true; }
  void begin_recording() override { recording_ = std::make_shared<Recording>(); }
  Result<std::shared_ptr<const void>> end_recording() override {
    ++counts.recorded;
    return std::shared_ptr<const void>(std::move(recording_));
  }
  Status replay(const void* recording) override {
    ++counts.replayed;
    for (const Recorded& one : *static_cast<const Recording*>(recording)) {
      const ViewArgs args{one.in, one.out, one.args.prepared, one.args.scratch};
      TRY_OK(one.kernel ? one.kernel->run(args, 0, 1) : copy(one.in[0], one.out[0]));
    }
    return {};
  }

 private:
  void note(const EngineKernel* kernel, const ViewArgs& args) {
    recording_->push_back({kernel, {args.in.begin(), args.in.end()}, {args.out.begin(), args.out.end()}, args});
  }

  std::shared_ptr<Recording> recording_;
};

constexpr EngineKernel kEntries{.name = "device, entries on the host",
                                .accepts = accepts_entries,
                                .prepare = prepare<kAllButFirst>,
                                .run = run,
                                .on_host = kAllButFirst};
constexpr EngineKernel kReference{.name = "device", .accepts = accepts, .prepare = prepare<0>, .run = run};

}  // namespace

const DeviceCounts& device_counts() { return counts; }

const EngineMemory& device_memory() {
  static const DeviceMemory memory;
  return memory;
}

const Target& device_target() {
  static const KernelRow rows[] = {{&kEntries, all_ops().records()}, {&kReference, all_ops().records()}};
  static const Target target{.rows = rows, .memory = &device_memory()};
  return target;
}

Result<std::unique_ptr<Executable>> load_device(const EngineModel& model, const EngineOptions& options) {
  static const PlanEngine engine{"device", device_target(), [](const Threads&) -> std::unique_ptr<Queue> {
                                   return std::make_unique<DeviceQueue>();
                                 }};
  return load_planned(engine, model, options);
}

}  // namespace anyshape::testing
