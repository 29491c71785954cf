#include "run/cpu/reference.h"

#include <algorithm>
#include <utility>

#include "ir/call.h"
#include "ir/infer.h"
#include "run/cpu/own.h"

namespace anyshape {
namespace {

constexpr int kDepthLimit = 64;

// What a run and its bodies may use, and do use.
struct Usage {
  const RunLimits& limits;
  int64_t bytes;
};

// The values of one graph while it runs.
class Frame final : public BodyRunner {
 public:
  Frame(const Graph& graph, const Frame* outer, uint64_t seed, Usage& usage)
      : graph_(graph),
        seed_(seed),
        depth_(outer ? outer->depth_ + 1 : 0),
        usage_(usage),
        values_(graph.values.size()),
        charged_(graph.values.size(), 0) {
    if (!outer) return;
    for (const auto& capture : graph.captures) values_[capture.inner] = outer->values_[capture.outer];
  }
  ~Frame() override {
    for (int64_t bytes : charged_) usage_.bytes -= bytes;
  }

  Result<std::vector<Datum>> evaluate(std::vector<Datum> inputs) {
    const auto required = graph_.required_inputs();
    if (inputs.size() != required.size())
      return refuse("run.inputs", "{} inputs are needed, {} are given", required.size(), inputs.size());
    for (ValueId id = 0; id < values_.size(); ++id) TRY_OK(load_constant(id));
    for (size_t i = 0; i < inputs.size(); ++i) values_[required[i]] = std::move(inputs[i]);
    count_uses();
    TRY_OK(usage_.limits.check_cancelled());
    for (const Node& node : graph_.nodes) {
      TRY_OK(usage_.limits.check_cancelled());
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
    return Frame(body, this, seed_++, usage_).evaluate(std::move(inputs));
  }

 private:
  Status load_constant(ValueId id) {
    const Value& value = graph_.values[id];
    if (!value.is_initializer || !value.constant.constant) return {};
    TRY(Tensor tensor, value.constant.constant->aligned());
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
      for (const Attribute& attribute : node.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute.value))
          for (const auto& capture : (*body)->captures) keep(capture.outer);
    }
    for (ValueId id : graph_.outputs) keep(id);
  }

  void release(ValueId id) {
    if (id == kNoValue || uses_[id] == kAlways) return;
    if (--uses_[id] != 0) return;
    values_[id] = {};
    usage_.bytes -= std::exchange(charged_[id], 0);
  }

  Status set(ValueId id, Datum datum) {
    values_[id] = std::move(datum);
    const auto& outputs = graph_.outputs;
    if (depth_ == 0 && std::find(outputs.begin(), outputs.end(), id) != outputs.end()) return {};
    charged_[id] = bytes_in(values_[id]);
    usage_.bytes += charged_[id];
    return usage_.limits.check_bytes(usage_.bytes);
  }

  Status run_node(const Node& node) {
    std::vector<Datum> in;
    for (ValueId id : node.in) in.push_back(id == kNoValue ? Datum() : values_[id]);
    TRY(std::vector<Datum> out, node.body ? call_function(node, std::move(in)) : call_kernel(node, in));
    for (size_t i = 0; i < node.out.size() && i < out.size(); ++i)
      if (node.out[i] != kNoValue) TRY_OK(set(node.out[i], std::move(out[i])));
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
  Usage& usage_;
  std::vector<Datum> values_;
  std::vector<int64_t> charged_;  // by value
  std::vector<uint32_t> uses_;
};

}  // namespace

Result<std::vector<Datum>> run_reference(const Graph& graph, std::vector<Datum> inputs, uint64_t seed,
                                         const RunLimits& limits, int64_t used) {
  Usage usage{limits, used};
  return Frame(graph, nullptr, seed, usage).evaluate(std::move(inputs));
}

}  // namespace anyshape
