#pragma once

namespace anyshape::bench {

// Does nothing but independent multiply-adds on vectors, `rounds` times; returns how many floating-point operations.
double multiply_add(int rounds);

}  // namespace anyshape::bench
