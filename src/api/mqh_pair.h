#pragma once

#include <vector>

#include "anyshape/model.h"
#include "mqh/class_description.h"
#include "mqh/scaler.h"

namespace anyshape {

// Draws inputs, runs the model and puts both into the program, with the sizes at which it ran. Where no size is left to
// set, the sizes of outputs become those of the run. Refused: mql5.pair (no input that was tried can be run, or the
// model draws random numbers), mql5.output-size (an output without entries), and what a Session refuses.
Status add_stored_pair(const Model& model, const std::vector<mqh::Scaling>& scalings, mqh::ClassDescription& described);

}  // namespace anyshape
