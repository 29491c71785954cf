#include "passes/pipeline.h"

#include <fmt/ranges.h>

#include <chrono>
#include <utility>

#include "base/among.h"
#include "base/bug.h"
#include "base/work.h"
#include "passes/print.h"

namespace anyshape {
namespace {

constexpr Pass kPasses[] = {
    {"branch", "of an If whose condition is known one branch is left, in its place", take_known_branches},
    {"invariant", "what a Loop carries and never changes is read from outside of its body", capture_invariants},
    {"quantized", "operators between dequantising and quantising work on 8-bit integers", fuse_quantized},
    {"quantized-lstm", "recurrent layers whose quantised weights are constant have them as f32", dequantize_recurrent},
    {"einsum", "sums of products over letters become products of matrices", spell_out_einsums},
    {"fold", "what depends on constants only is computed once", fold_constants},
    {"exponents", "constant whole exponents of floats become floats", retype_exponents},
    {"no-ops", "nodes that hand their input on are left out", remove_no_ops},
    {"share", "nodes that compute the same are computed once", share_equal_nodes},
    {"skip-norms", "normalisations of a sum, as ONNX Runtime writes them, become the sum and a normalisation",
     spell_out_skip_norms},
    {"half", "what is computed on f16 is computed in f32 from there on", widen_halves},
    {"limits", "the greater and the smaller of a value and numbers are one step", join_limits},
    {"pad", "zeros put around the input of a convolution become its padding", fold_pads},
    {"recurrent-loops", "loops that are an LSTM, GRU or RNN step by step become that layer", find_recurrent_layers},
    {"zero-state", "initial states of zeros are left out", drop_zero_states},
    {"batch-first", "recurrent layers write their results where they are wanted", put_batch_first},
    {"reshapes", "a Transpose between two Reshapes that split what it moves needs one at most", join_reshapes},
    {"one-hot", "products of one-hot rows and constant weights pick rows of the weights", pick_rows},
    {"norms", "normalisations over the last axes that are written out become one step", find_norms},
    {"attention", "two matrix products and the softmax between them become one step", fuse_attention},
    {"batch-norm", "scale and shift after a convolution go into its weights", fold_batch_norm},
    {"bias", "constants added to channels of a convolution, or multiplied with them, go into its weights", fold_bias},
    {"residual", "values added after a convolution are added with it", fuse_residuals},
    {"activation", "activations after a convolution are computed with it", fuse_activations},
    {"products", "what follows a matrix product is computed with it", fuse_products},
    {"row-order", "rows are multiplied by a matrix in the order in which they lie", order_rows},
    {"scale", "scale and shift that are left are computed entry by entry", spell_out_batch_norm},
    {"integer-products", "scales and bias after a product of 8-bit integers are computed with it",
     fuse_integer_products},
    {"requantize", "what happens by channel between dequantising and quantising is one step", fuse_requantizing},
    {"unread", "what the passes above have left unread is dropped", remove_dead_nodes},
    {"elementwise", "chains of elementwise operators become one step", fuse_elementwise},
    {"channels-last", "chains of convolutions of 8-bit integers work on values whose channels are the last axis",
     put_channels_last},
    {"dead", "nodes nobody reads are dropped", remove_dead_nodes},
    {"stack", "recurrent layers that follow each other become one step", stack_recurrent},
    {"layout", "chains of convolutions work on blocked channels", choose_layouts},
};

// Every value is made before it is read, by one node.
void verify(const Draft& draft) {
  ANYSHAPE_CHECK(draft.facts.size() == draft.graph.values.size());
  std::vector<bool> there(draft.graph.values.size(), false);
  for (ValueId id = 0; id < there.size(); ++id) there[id] = draft.graph.values[id].is_initializer;
  for (ValueId id : draft.graph.inputs) there[id] = true;
  for (const Node& node : draft.graph.nodes) {
    for (ValueId id : node.in) ANYSHAPE_CHECK(id == kNoValue || there[id] || draft.facts[id].constant);
    for (ValueId id : node.out) {
      if (id == kNoValue) continue;
      ANYSHAPE_CHECK(!there[id]);
      there[id] = true;
    }
  }
  for (ValueId id : draft.graph.outputs) ANYSHAPE_CHECK(there[id] || draft.facts[id].constant);
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status check_names(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const Pass& pass : kPasses) known.push_back(pass.name);
  for (const std::string& name : names)
    if (!among(name, known))
      return usage("pass.unknown", "there is no pass {:?}; the passes are {}", name, fmt::join(known, ", "));
  return {};
}

// What both ways begin with.
Status begin(const Typed& typed, const PassOptions& options) {
  TRY_OK(check_names(options.without));
  if (options.dump) options.dump("source", print_graph(typed.graph(), typed.facts()));
  return {};
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

Result<RunGraph> unchanged(const Typed& typed, const PassOptions& options) {
  TRY_OK(begin(typed, options));
  return RunGraph{std::make_shared<Graph>(typed.graph()), typed.facts(), {}, {}};
}

Result<RunGraph> rewritten(const Typed& typed, const Target& target, const PassOptions& options) {
  TRY_OK(begin(typed, options));
  RunGraph out;
  Draft draft(typed, target);
  for (const Pass& pass : kPasses) {
    if (among(pass.name, options.without)) continue;
    const size_t before = draft.graph.nodes.size();
    const int64_t start = now_ns();
    TRY_OK(Work::check());
    TRY_OK(pass.run(draft));
    out.passes.push_back({std::string(pass.name), before, draft.graph.nodes.size(), now_ns() - start,
                          std::exchange(draft.note, std::string())});
    if (options.verify || options.dump) verify(draft);
    if (options.dump) options.dump(pass.name, print_graph(draft.graph, draft.facts));
  }
  out.graph = std::make_shared<Graph>(std::move(draft.graph));
  out.facts = std::move(draft.facts);
  out.sources = std::move(draft.sources);
  return out;
}

}  // namespace anyshape
