#pragma once

namespace anyshape {

// Floats are the same within absolute + relative * |expected|.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-5;
};

}  // namespace anyshape
