#pragma once

#include "lower/aten/nn.h"

namespace anyshape::lower {

struct Attention {
  Ref query, key, value;  // [..., rows, width]
  Ref mask;               // bool: what is seen; else added to the scores; may be absent
  bool causal = false;
  Arg scale;               // None: 1 / sqrt(width)
  bool grouped = false;    // heads of the query may share one of the keys
  double dropout = 0;      // of the weights
  bool blind_nan = false;  // a row that sees nothing is not a number; else it is 0
};

struct Attended {
  Ref value, weights;
};

// Spelled out in products and a softmax.
Attended attend(Lowering& l, Attention attention);
// The operator where there is one, else the same spelled out.
Ref attended(Lowering& l, const Attention& attention);

}  // namespace anyshape::lower
