#pragma once

#include "run/cpu/kernels/quantized_common.h"

// What convolutions of bytes have in common, wherever their channels are.
namespace anyshape::cpu {

// Where an operator has its operands; -1: nowhere.
struct ConvPorts {
  int x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias;
};
inline constexpr ConvPorts kConvIntegerPorts{-1, 2, 1, -1, 3, -1, -1, -1};
inline constexpr ConvPorts kQLinearConvPorts{1, 2, 3, 4, 5, 6, 7, 8};

// Types and counts of operands that planned kernels ask for.
std::string_view accepts_conv(const Call& call, const ConvPorts& ports);
bool has_channels_last(const Call& call);

}  // namespace anyshape::cpu
