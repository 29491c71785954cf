#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "solve/rows.h"

namespace anyshape {

// What a value has to do with the rows.
struct RowFlow {
  enum class Kind : uint8_t {
    same,   // nothing: neither its shape nor its entries
    count,  // it is made of their number and of nothing else of them
    rows,   // it has them, each entry made of its own row
    mixed,
  };
  Kind kind = Kind::same;
  RowLayout layout = {};         // rows
  const Graph* graph = nullptr;  // mixed: where, and
  const Node* by = nullptr;      // the node; null: an input of that graph
  std::string_view why = {};     // a static text
};

// One node, as a rule of the table sees it. At least one of its inputs is of kind rows or count, none is mixed.
class RowCall {
 public:
  RowCall(const Node& the_node, const Facts& facts, const std::vector<RowFlow>& flows, Dim row_count)
      : node(the_node), rows(row_count), facts_(facts), flows_(flows) {}

  const Node& node;
  const Dim rows;  // their number

  bool has(size_t input) const { return input < node.in.size() && node.in[input] != kNoValue; }
  const Fact& in(size_t input) const { return facts_[node.in[input]]; }
  const Fact& out(size_t output) const { return facts_[node.out[output]]; }
  const RowFlow& flow(size_t input) const { return flows_[node.in[input]]; }
  // Absent, or without any part in the rows.
  bool same(size_t input) const { return !has(input) || flow(input).kind == RowFlow::Kind::same; }
  bool same_from(size_t first) const;
  // One entry, or all sizes 1.
  bool single(size_t input) const;
  // The layout of an input that has rows.
  const RowLayout* layout(size_t input) const;
  // The same where the input is a tensor of known rank.
  std::optional<size_t> rank(size_t input) const;
  std::optional<size_t> out_rank(size_t output) const;
  // The attribute as an index of one of so many axes.
  std::optional<size_t> axis(std::string_view attribute, size_t rank) const;
  // The axes of an attribute or an input; nullopt: they are not known. `all` where none are named.
  std::optional<std::vector<size_t>> axes(size_t input, size_t rank, bool all) const;

 private:
  const Facts& facts_;
  const std::vector<RowFlow>& flows_;
};

// Where an output has the rows; nullopt: they may be mixed. What it says is believed only where the sizes of the output
// agree with it.
using RowRule = std::optional<RowLayout> (*)(const RowCall& call, size_t output);

// How an operator treats axes.
struct RowTreatment {
  std::string_view domain, type;
  RowRule rule;
};

// Null: nothing is known of the operator, its rows are taken to be mixed.
const RowTreatment* row_treatment(const Node& node);
// The same inputs do not always give the same outputs.
bool draws_at_random(const Node& node, const Facts& facts);

namespace row_rules {

std::optional<RowLayout> elementwise(const RowCall& call, size_t output);
// The others are parameters.
std::optional<RowLayout> unary(const RowCall& call, size_t output);
// Of the others no entry is read.
std::optional<RowLayout> cast_like(const RowCall& call, size_t output);
// Of the quantized inputs 0 and 3, with their scales between them.
std::optional<RowLayout> qlinear_pair(const RowCall& call, size_t output);
std::optional<RowLayout> skip_normalization(const RowCall& call, size_t output);
std::optional<RowLayout> dft(const RowCall& call, size_t output);
std::optional<RowLayout> quantize(const RowCall& call, size_t output);
std::optional<RowLayout> dropout(const RowCall& call, size_t output);
// One axis is mixed, the one of attribute "axis"; the other inputs are parameters.
std::optional<RowLayout> along_axis(const RowCall& call, size_t output);
// As above, the axis is input 1.
std::optional<RowLayout> along_given(const RowCall& call, size_t output);
// Before version 13 all axes from there on.
std::optional<RowLayout> softmax(const RowCall& call, size_t output);
std::optional<RowLayout> from_axis(const RowCall& call, size_t output);
std::optional<RowLayout> last_axis(const RowCall& call, size_t output);
std::optional<RowLayout> last_two(const RowCall& call, size_t output);
std::optional<RowLayout> channels(const RowCall& call, size_t output);
std::optional<RowLayout> batch_normalization(const RowCall& call, size_t output);
std::optional<RowLayout> reduce(const RowCall& call, size_t output);
std::optional<RowLayout> arg_reduce(const RowCall& call, size_t output);
// Axis 0 of the first input, all others are parameters.
std::optional<RowLayout> first_axis(const RowCall& call, size_t output);
std::optional<RowLayout> max_pool(const RowCall& call, size_t output);
// The same of two axes and more: with fewer the whole input is one row.
std::optional<RowLayout> first_of_two(const RowCall& call, size_t output);
// Axis 0 of every input that is no parameter.
std::optional<RowLayout> rotary(const RowCall& call, size_t output);
std::optional<RowLayout> attention(const RowCall& call, size_t output);
std::optional<RowLayout> grid_sample(const RowCall& call, size_t output);
std::optional<RowLayout> resize(const RowCall& call, size_t output);
std::optional<RowLayout> matmul(const RowCall& call, size_t output);
std::optional<RowLayout> qlinear_matmul(const RowCall& call, size_t output);
std::optional<RowLayout> gemm(const RowCall& call, size_t output);
std::optional<RowLayout> einsum(const RowCall& call, size_t output);
std::optional<RowLayout> recurrent(const RowCall& call, size_t output);
// The entries in their order, under other sizes.
std::optional<RowLayout> reshape(const RowCall& call, size_t output);
std::optional<RowLayout> transpose(const RowCall& call, size_t output);
std::optional<RowLayout> concat(const RowCall& call, size_t output);
std::optional<RowLayout> slice(const RowCall& call, size_t output);
std::optional<RowLayout> pad(const RowCall& call, size_t output);
std::optional<RowLayout> expand(const RowCall& call, size_t output);
std::optional<RowLayout> tile(const RowCall& call, size_t output);
std::optional<RowLayout> filled(const RowCall& call, size_t output);
std::optional<RowLayout> gather(const RowCall& call, size_t output);
std::optional<RowLayout> gather_elements(const RowCall& call, size_t output);
std::optional<RowLayout> gather_nd(const RowCall& call, size_t output);
std::optional<RowLayout> one_hot(const RowCall& call, size_t output);
std::optional<RowLayout> reverse_sequence(const RowCall& call, size_t output);

}  // namespace row_rules
}  // namespace anyshape
