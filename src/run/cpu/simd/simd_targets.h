#pragma once

// The instruction sets the SIMD kernels are compiled for: what the compiler may assume anyway, AVX2, AVX-512 and
// NEON; the best one of the machine is taken at run time. To be included before any header of Highway.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
