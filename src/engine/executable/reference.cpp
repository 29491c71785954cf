#include "engine/executable/reference.h"

#include "base/memory_meter.h"
#include "ir/call.h"
#include "ir/infer.h"

namespace anyshape {
namespace {

constexpr int kDepthLimit = 64;

// The values of one graph while it runs.
class Frame final : public BodyRunner {
 public:
  Frame(const Graph& graph, const Frame* outer, uint64_t seed, const RunLimits& limits)
      : graph_(graph),
        seed_(seed),
        depth_(outer ? outer->depth_ + 1 : 0),
        limits_(limits),
        values_(graph.values.size()) {
    if (!outer) return;
    for (const auto& capture : graph.captures) values_[capture.inner] = outer->values_[capture.outer];
  }

  Result<std::vector<Datum>> evaluate(std::vector<Datum> inputs) {
    const auto required = graph_.required_inputs();
    if (inputs.size() != required.size())
      return refuse("run.inputs", "{} inputs are needed, {} are given", required.size(), inputs.size());
    for (ValueId id = 0; id < values_.size(); ++id) TRY_OK(load_constant(id));
    for (size_t i = 0; i < inputs.size(); ++i) values_[required[i]] = std::move(inputs[i]);
    count_uses();
    TRY_OK(limits_.check_cancelled());
    for (const Node& node : graph_.nodes) {
      TRY_OK(limits_.check_cancelled());
      auto ran = run_node(node);
      if (!ran) return at(fmt::format("node {:?}", graph_.label(node)), std::move(ran).error());
      for (ValueId id : node.in) release(id);
    }
    std::vector<Datum> out;
    for (ValueId id : graph_.outputs) out.push_back(values_[id]);
    return out;
  }

  Result<std::vector<Datum>> run(const Graph& body, std::vector<Datum> inputs) override {
    if (depth_ >= kDepthLimit) return refuse("graph.depth", "bodies are nested more than {} deep", kDepthLimit);
    return Frame(body, this, seed_++, limits_).evaluate(std::move(inputs));
  }

 private:
  Status load_constant(ValueId id) {
    const Value& value = graph_.values[id];
    if (!value.is_initializer || !value.constant->constant) return {};
    TRY(Tensor tensor, value.constant->constant->aligned());
    values_[id] = std::move(tensor);
    return {};
  }

  // Values a body captures and outputs are never released.
  void count_uses() {
    uses_.assign(values_.size(), 0);
    const auto keep = [&](ValueId id) { uses_[id] = kAlways; };
    for (const Node& node : graph_.nodes) {
      for (ValueId id : node.in)
        if (id != kNoValue && uses_[id] != kAlways) ++uses_[id];
      for_each_body(node, [&](const Graph& body) {
        for (const auto& capture : body.captures) keep(capture.outer);
      });
    }
    for (ValueId id : graph_.outputs) keep(id);
  }

  void release(ValueId id) {
    if (id == kNoValue || uses_[id] == kAlways) return;
    if (--uses_[id] != 0) return;
    values_[id] = {};
  }

  Status run_node(const Node& node) {
    std::vector<Datum> in;
    for (ValueId id : node.in) in.push_back(id == kNoValue ? Datum() : values_[id]);
    TRY(std::vector<Datum> out, node.body ? call_function(node, std::move(in)) : call_kernel(node, in));
    for (size_t i = 0; i < node.out.size() && i < out.size(); ++i)
      if (node.out[i] != kNoValue) values_[node.out[i]] = std::move(out[i]);
    return {};
  }

  Result<std::vector<Datum>> call_function(const Node& node, std::vector<Datum> in) {
    std::erase_if(in, [](const Datum& datum) { return !datum; });
    return run(*node.body, std::move(in));
  }

  Result<std::vector<Datum>> call_kernel(const Node& node, const std::vector<Datum>& in) {
    if (!node.op || node.op->kernels.empty())
      return refuse("run.missing", "there is no kernel for operator {}{}{} (version {})", node.domain,
                    node.domain.empty() ? "" : ".", node.type, node.version);
    std::vector<Fact> facts;
    for (const Datum& datum : in) facts.push_back(Fact::of(datum));
    std::vector<const Fact*> pointers;
    for (size_t i = 0; i < in.size(); ++i) pointers.push_back(in[i] ? &facts[i] : nullptr);
    const std::string label = graph_.label(node);
    const Call call(node, label, pointers);
    // The sizes an operator with bodies gives are those its bodies give.
    if (node.has_graph_attribute()) return anyshape::run_reference(call, in, {}, this, seed_++);
    TRY(const Facts out, infer_node(graph_, node, pointers));
    return anyshape::run_reference(call, in, out, this, seed_++);
  }

  static constexpr uint32_t kAlways = ~0u;

  const Graph& graph_;
  uint64_t seed_;
  int depth_;
  const RunLimits& limits_;
  std::vector<Datum> values_;
  std::vector<uint32_t> uses_;
};

}  // namespace

Result<std::vector<Datum>> run_reference(const Graph& graph, std::vector<Datum> inputs, uint64_t seed,
                                         const RunLimits& limits) {
  const auto evaluate = [&] { return Frame(graph, nullptr, seed, limits).evaluate(std::move(inputs)); };
  // Within a run all that it makes counts already.
  if (limits.max_bytes == 0 || MemoryMeter::counts()) return evaluate();
  const auto meter = std::make_shared<MemoryMeter>(limits.max_bytes);
  const MemoryMeter::Scope scope(meter.get());
  return evaluate();
}

}  // namespace anyshape
