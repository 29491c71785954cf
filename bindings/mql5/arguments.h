#pragma once

#include <span>

#include "handle.h"

namespace anyshape::mql5 {

using Checked = tl::expected<void, Failure>;

tl::unexpected<Failure> refuse(int code, std::string sentence);

// Do the containers fit the inputs and outputs of the model, with the shapes that are set?
Checked check_arguments(OpenModel& model, ulong flags, std::span<const RunArgument> arguments);

}  // namespace anyshape::mql5
