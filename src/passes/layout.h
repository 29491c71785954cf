#pragma once

#include <optional>
#include <vector>

#include "passes/draft.h"

// Parts of the pass `layout`: how nodes work on blocked channels (ops/nn/blocked.h).
namespace anyshape::layout {

// What a node that works on blocked channels reads.
enum class Operand : uint8_t {
  as_it_is,  // the same for all channels and places, weights, no operand at all
  blocked,   // [n, c, spatial...], blocked
  channels,  // [1 or n, c, 1...]: blocked, be it a constant
  places,    // [1 or n, 1, spatial...]: with one more axis of size 1
  scales,    // a constant with one factor per axis: one more of 1
};

// How a node would work on blocked channels.
struct Form {
  enum class Kind : uint8_t { convolution, transposed, resize, pool, elementwise, concat, reduce };
  Kind kind = Kind::elementwise;
  std::vector<Operand> in;
  // Of a convolution. It may begin a chain: its input is reordered, or where `stem` read as it is.
  bool stem = false, pointwise = false;
  int64_t depth = 0;               // multiply-adds for each entry of the output
  std::vector<int64_t> axes = {};  // that are reduced
};

// Nothing where the node cannot work on channels in blocks of `lanes`.
std::optional<Form> form_of(const Draft& draft, const Node& node, int64_t lanes);

// f32 of rank 3 or 4 with a known number of channels.
bool can_be_blocked(const Fact& fact);
int64_t channels_of(const Fact& fact);

// The node in that form: operator and attributes; its operands and outputs are still those of the plain one.
Node in_form(const Node& node, const Form& form, const Target& target);

}  // namespace anyshape::layout
