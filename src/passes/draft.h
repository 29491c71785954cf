#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/target/target.h"
#include "solve/solve.h"

namespace anyshape {

// Only the rule of the node, asked when the node runs, can tell whether the requirement holds: it needs sizes that
// depend on data, or stands in a body and cannot be written.
inline bool asked_at_run_time(const Requirement& r) { return r.on_data || (r.opaque && r.in_body); }

// A graph that is being rewritten, with the fact of every value. Ids of values stay what they are; nodes are replaced,
// added and dropped. What bodies capture and what the graph gives out is never replaced, nor is a node whose rule must
// be asked at run time.
struct Draft {
  // Without a target nothing is joined into operators that only engines have.
  explicit Draft(const Typed& source, const Target& engine = {});

  const Typed& typed;
  Target target;
  Graph graph;
  Facts facts;
  std::unordered_set<ValueId> demanding;  // first outputs of nodes whose rule must be asked at run time
  // Bodies that passes made by copying: the one that was walked. Ids of values are those of it.
  std::unordered_map<const Graph*, const Graph*> sources;
  std::string note;  // what the pass did, for `anyshape plan`; empty: nothing worth it
  // A folded value may take this much more memory than what it is made of.
  int64_t fold_growth = int64_t{1} << 20;
  // Weights that nodes make for products and convolutions may take any, and values on the way to what is folded more.
  bool fold_weights = true;  // false: quantised weights stay such, too

  // How many nodes, outputs and captures read each value.
  std::vector<uint32_t> uses() const;
  // Read by a body, or an output of the graph.
  std::unordered_set<ValueId> pinned() const;
  // The node that makes each value, by index; kNoValue for others.
  std::vector<uint32_t> producers() const;
  // The body that was walked, which facts are known of.
  const Graph* source_of(const Graph* body) const;
  ValueId add_constant(std::string_view name, Tensor tensor);
  // One that a new node makes.
  ValueId add_value(std::string_view name, Fact fact);
  // The rule of the node must be asked at run time: it stays as it is.
  bool is_demanding(const Node& node) const { return demanding.contains(node.first_output()); }
  // The tensor of a value that is constant, else null.
  const Tensor* constant(ValueId id) const;
  // Drops the nodes that are marked.
  void drop(const std::vector<bool>& dead);
};

// True for an operator of ONNX itself by that name.
bool is_op(const Node& node, std::string_view name);

inline bool has_input(const Node& node, size_t i) { return i < node.in.size() && node.in[i] != kNoValue; }

// The engine has a kernel for that operator.
bool takes_op(const Target& target, std::string_view domain, std::string_view type, int64_t version);

// The node computes that operator from now on.
void set_op(Node& node, std::string_view domain, std::string_view type, int64_t version);

// A node that hands a value on.
Node identity(ValueId from, ValueId to, std::string_view name);

// One rewrite. Never changes which values come out, nor makes the graph take fewer shapes.
struct Pass {
  std::string_view name;
  std::string_view does;
  Status (*run)(Draft&);
};

Status take_known_branches(Draft& draft);
Status capture_invariants(Draft& draft);
Status fuse_quantized(Draft& draft);
Status dequantize_recurrent(Draft& draft);
Status spell_out_einsums(Draft& draft);
Status fold_constants(Draft& draft);
Status retype_exponents(Draft& draft);
Status remove_no_ops(Draft& draft);
Status share_equal_nodes(Draft& draft);
Status find_recurrent_layers(Draft& draft);
Status drop_zero_states(Draft& draft);
Status put_batch_first(Draft& draft);
Status stack_recurrent(Draft& draft);
Status join_reshapes(Draft& draft);
Status pick_rows(Draft& draft);
Status find_norms(Draft& draft);
Status fuse_attention(Draft& draft);
Status fold_batch_norm(Draft& draft);
Status fold_bias(Draft& draft);
Status fold_pads(Draft& draft);
Status spell_out_skip_norms(Draft& draft);
Status widen_halves(Draft& draft);
Status join_limits(Draft& draft);
Status spell_out_batch_norm(Draft& draft);
Status fuse_residuals(Draft& draft);
Status fuse_activations(Draft& draft);
Status fuse_products(Draft& draft);
Status order_rows(Draft& draft);
Status fuse_integer_products(Draft& draft);
Status fuse_elementwise(Draft& draft);
Status fuse_requantizing(Draft& draft);
Status put_channels_last(Draft& draft);
Status choose_layouts(Draft& draft);
Status remove_dead_nodes(Draft& draft);

}  // namespace anyshape
