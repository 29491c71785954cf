#include <algorithm>

#include "ir/call.h"
#include "ops/elementwise/program_of.h"
#include "passes/draft.h"

namespace anyshape {
namespace {

constexpr size_t kMostInstructions = 64;

// A node, or several joined, as one elementwise program over these values.
struct Chain {
  ElementwiseProgram program;
  std::vector<ValueId> inputs;
  size_t nodes = 1;
};

bool is_tensor_of(const Draft& draft, ValueId id, std::initializer_list<DType> types) {
  const Fact& fact = draft.facts[id];
  return fact.is_tensor() && fact.dims && std::find(types.begin(), types.end(), fact.dtype) != types.end();
}

// The node as a program on f32 that the engine takes; nothing for all others.
std::optional<Chain> chain_of(const Draft& draft, const Node& node) {
  if (!node.op || node.out.size() != 1 || node.out[0] == kNoValue) return std::nullopt;
  if (node.in.empty() || !is_tensor_of(draft, node.out[0], {DType::f32, DType::boolean})) return std::nullopt;
  bool any_float = false;
  std::vector<const Fact*> facts;
  for (ValueId id : node.in) {
    if (id == kNoValue || !is_tensor_of(draft, id, {DType::f32, DType::boolean})) return std::nullopt;
    any_float = any_float || draft.facts[id].dtype == DType::f32;
    facts.push_back(&draft.facts[id]);
  }
  const std::string label = draft.graph.label(node);
  const Call call(node, label, facts);
  auto program = any_float ? ops::program_of(call) : Result<ElementwiseProgram>(unknown("type", "no floats"));
  if (!program || !draft.target.choose(call).kernel) return std::nullopt;
  return Chain{*std::move(program), node.in};
}

// `chain` with its input `at` computed by `first`; nothing when that is more than one step can take.
std::optional<Chain> joined(const Chain& chain, size_t at, const Chain& first) {
  Chain out;
  out.nodes = chain.nodes + first.nodes;
  const auto input_of = [&](ValueId id) {
    const auto it = std::find(out.inputs.begin(), out.inputs.end(), id);
    if (it != out.inputs.end()) return static_cast<int>(it - out.inputs.begin());
    out.inputs.push_back(id);
    return static_cast<int>(out.inputs.size() - 1);
  };
  std::vector<int> first_inputs, chain_inputs;
  for (ValueId id : first.inputs) first_inputs.push_back(input_of(id));
  for (size_t i = 0; i < chain.inputs.size(); ++i) chain_inputs.push_back(i == at ? -1 : input_of(chain.inputs[i]));
  ElementwiseProgram& p = out.program;
  p.inputs = static_cast<int>(out.inputs.size());
  p.constants = first.program.constants;
  p.constants.insert(p.constants.end(), chain.program.constants.begin(), chain.program.constants.end());
  const int code_start = p.inputs + static_cast<int>(p.constants.size());
  const auto add = [&](const ElementwiseProgram& part, const std::vector<int>& inputs, int constants, int code) {
    const int from_code = part.inputs + static_cast<int>(part.constants.size());
    const auto moved = [&](int reg) {
      if (reg < part.inputs) return inputs[static_cast<size_t>(reg)];
      return reg < from_code ? constants + reg - part.inputs : code + reg - from_code;
    };
    for (const auto& x : part.code) p.code.push_back({x.op, moved(x.a), moved(x.b), moved(x.c)});
  };
  add(first.program, first_inputs, p.inputs, code_start);
  const int result = code_start + static_cast<int>(first.program.code.size()) - 1;
  chain_inputs[at] = result;
  add(chain.program, chain_inputs, p.inputs + static_cast<int>(first.program.constants.size()), result + 1);
  if (p.inputs > kMostElementwiseInputs || p.code.size() > kMostInstructions) return std::nullopt;
  return out;
}

Node node_of(const Chain& chain, const Node& last, const std::string& label) {
  Node node;
  node.name = label;
  set_op(node, "anyshape", "Elementwise", 1);
  node.in = chain.inputs;
  node.out = last.out;
  node.attributes.push_back({"code", encode_code(chain.program)});
  node.attributes.push_back({"constants", chain.program.constants});
  return node;
}

}  // namespace

Status fuse_elementwise(Draft& draft) {
  if (!takes_op(draft.target, "anyshape", "Elementwise", 1)) return {};
  const auto uses = draft.uses();
  const auto pinned = draft.pinned();
  const auto producers = draft.producers();
  std::vector<std::optional<Chain>> chains(draft.graph.nodes.size());
  std::vector<bool> dead(draft.graph.nodes.size(), false);
  for (size_t i = 0; i < draft.graph.nodes.size(); ++i) {
    const Node& node = draft.graph.nodes[i];
    if (!draft.is_demanding(node)) chains[i] = chain_of(draft, node);
    if (!chains[i]) continue;
    for (size_t at = 0; at < chains[i]->inputs.size();) {
      const ValueId id = chains[i]->inputs[at];
      const uint32_t maker = producers[id];
      // A smaller result would be computed again for every place it is broadcast to.
      const bool alone = maker != kNoValue && chains[maker] && !dead[maker] && uses[id] == 1 && !pinned.contains(id) &&
                         *draft.facts[id].dims == *draft.facts[node.out[0]].dims;
      auto one = alone ? joined(*chains[i], at, *chains[maker]) : std::nullopt;
      if (!one) {
        ++at;
        continue;
      }
      chains[i] = *std::move(one);
      dead[maker] = true;
      at = 0;
    }
  }
  for (size_t i = 0; i < chains.size(); ++i) {
    if (dead[i] || !chains[i] || chains[i]->nodes < 2) continue;
    draft.graph.nodes[i] = node_of(*chains[i], draft.graph.nodes[i], draft.graph.label(draft.graph.nodes[i]));
  }
  draft.drop(dead);
  return {};
}

}  // namespace anyshape
