#pragma once

#include <cstdint>

namespace anyshape::bench {

// Does nothing but independent multiply-adds on vectors, `rounds` times; returns how many floating-point operations.
double multiply_add(int rounds);
// Does nothing but read the numbers and add them; a last part smaller than a few vectors is left out.
float add_up(const float* data, int64_t count);

}  // namespace anyshape::bench
