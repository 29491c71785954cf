#pragma once

#include <optional>

#include "solve/solve.h"

// ONNX Runtime does not load a Resize of a tensor whose rank it knows by `sizes` whose number it does not know; where
// it knows neither, it does. So who tells it ranks tells it how many sizes there are.
namespace anyshape::fixes {

// The facts with the number of the sizes of each Resize, as far as nodes of the graph make them; nothing where these
// are the facts as they are.
std::optional<Facts> with_counted_sizes(const Graph& graph, const Facts& facts);
// The number of the sizes of some Resize cannot be told: the model is loaded only where the ranks are not told, either.
bool has_uncounted_sizes(const Typed& typed);

}  // namespace anyshape::fixes
