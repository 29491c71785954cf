#include <algorithm>

#include "check/rules.h"

namespace anyshape::rules {
namespace {

constexpr uint8_t kCarried = 1, kMultiplied = 2, kActivated = 4;

bool is_product_recurrent(const Node& node) {
  return node.type == "MatMul" || node.type == "Gemm" || node.type == "FusedMatMul" || node.type == "FusedGemm";
}

bool is_activation(const Node& node) {
  return node.domain.empty() && (node.type == "Sigmoid" || node.type == "Tanh" || node.type == "Relu" ||
                                 node.type == "HardSigmoid" || node.type == "Softsign");
}

const Graph* body_of(const Node& node) {
  const Attribute* attribute = node.attribute("body");
  const auto* body = attribute ? std::get_if<std::shared_ptr<Graph>>(&attribute->value) : nullptr;
  return body ? body->get() : nullptr;
}

// The body's inputs and outputs of the state carried from step to step: [first, first + count).
struct Carried {
  size_t first_in = 0, first_out = 0, count = 0;
};

Carried carried(const Node& node, const Graph& body) {
  if (node.type == "Loop") {
    const size_t count = node.in.size() > 2 ? node.in.size() - 2 : 0;
    return {2, 1, std::min(count, body.outputs.empty() ? 0 : body.outputs.size() - 1)};
  }
  const int64_t scanned = node.integer("num_scan_inputs");
  const auto inputs = static_cast<int64_t>(body.inputs.size());
  return {0, 0,
          static_cast<size_t>(std::clamp<int64_t>(inputs - scanned, 0, static_cast<int64_t>(body.outputs.size())))};
}

// A carried state is multiplied by weights and squashed on its way to the next step.
bool is_recurrence(const Node& node, const Graph& body) {
  const Carried state = carried(node, body);
  std::vector<uint8_t> marks(body.values.size(), 0);
  for (size_t i = 0; i < state.count && state.first_in + i < body.inputs.size(); ++i)
    marks[body.inputs[state.first_in + i]] = kCarried;
  for (const Node& inner : body.nodes) {
    uint8_t mark = 0;
    for (ValueId id : inner.in)
      if (id != kNoValue) mark |= marks[id];
    if ((mark & kCarried) && is_product_recurrent(inner)) mark |= kMultiplied;
    if ((mark & kMultiplied) && is_activation(inner)) mark |= kActivated;
    for (ValueId id : inner.out)
      if (id != kNoValue) marks[id] = mark;
  }
  for (size_t i = 0; i < state.count; ++i)
    if (marks[body.outputs[state.first_out + i]] & kActivated) return true;
  return false;
}

void find_loops(const Graph& graph, Findings& out) {
  for (const Node& node : graph.nodes) {
    if (node.domain.empty() && (node.type == "Loop" || node.type == "Scan"))
      if (const Graph* body = body_of(node); body && is_recurrence(node, *body))
        out.add(
            graph.label(node),
            fmt::format("{:?} is a recurrent layer written as {}: most runtimes run each step by itself, far slower "
                        "than one LSTM, GRU or RNN node",
                        graph.label(node), node.type),
            "export the layer as torch.nn.LSTM, GRU or RNN, in Keras without a mask, not as a loop");
    for_each_body(node, [&](const Graph& body) { find_loops(body, out); });
    if (node.body) find_loops(*node.body, out);
  }
}

std::string_view input_name(size_t i) { return i == 5 ? "initial_h" : "initial_c"; }

}  // namespace

void recurrent_loop(const LintContext& context, Findings& out) { find_loops(context.typed.graph(), out); }

void baked_initial_state(const LintContext& context, Findings& out) {
  const Graph& graph = context.typed.graph();
  for (const Node& node : graph.nodes) {
    const bool recurrent = node.domain.empty() && (node.type == "LSTM" || node.type == "GRU" || node.type == "RNN");
    if (!recurrent || node.in.empty() || node.in[0] == kNoValue) continue;
    const bool batch_first = node.integer("layout") == 1;
    const size_t axis = batch_first ? 0 : 1;
    const Fact& x = context.typed.facts()[node.in[0]];
    if (!x.dims || x.rank() != 3 || (*x.dims)[axis].is_constant()) continue;
    for (size_t i = 5; i < std::min<size_t>(node.in.size(), 7); ++i) {
      if (node.in[i] == kNoValue) continue;
      const Fact& state = context.typed.facts()[node.in[i]];
      if (!state.from_shapes || !state.dims || state.rank() != 3 || !(*state.dims)[axis].is_constant()) continue;
      out.add(graph.label(node),
              fmt::format("{} of {:?} is a constant for a batch of {}, while the batch of its input is {}",
                          input_name(i), graph.label(node), print((*state.dims)[axis]), print((*x.dims)[axis])),
              "leave the initial state out (it is zero by default), or make it from the batch size of the input");
    }
  }
}

}  // namespace anyshape::rules
