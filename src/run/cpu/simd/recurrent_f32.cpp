#include "run/cpu/simd/recurrent_f32.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/recurrent_step.h"

namespace anyshape::simd {
namespace {

float read(const std::byte* from, int64_t i) {
  float x;
  std::memcpy(&x, from + i * static_cast<int64_t>(sizeof(float)), sizeof(float));
  return x;
}

// Column of unit u of gate g when `gates` stand side by side.
int64_t column_of(int64_t gates, int64_t g, int64_t u) {
  const int64_t lanes = step_lanes();
  return (u / lanes * gates + g) * lanes + u % lanes;
}

// Gates g0..g0 + count - 1 of R as blocks [unit / lanes][k][gate][unit % lanes].
void pack_hidden(const Layer& layer, const std::byte* r, int64_t g0, int64_t count, float* to) {
  const int64_t n = layer.hidden, lanes = step_lanes();
  for (int64_t g = 0; g < count; ++g)
    for (int64_t u = 0; u < n; ++u)
      for (int64_t k = 0; k < n; ++k)
        to[((u / lanes * n + k) * count + g) * lanes + u % lanes] = read(r, ((g0 + g) * n + u) * n + k);
}

void pack_bias(const Layer& layer, const std::byte* bias, const PackTarget& to) {
  const int64_t n = layer.hidden, gates = layer.gates();
  const bool apart = layer.cell == Cell::gru && layer.linear_before_reset;
  for (int64_t g = 0; g < gates; ++g) {
    for (int64_t u = 0; u < n; ++u) {
      const float input = read(bias, g * n + u), hidden = read(bias, (gates + g) * n + u);
      const bool split = apart && g == 2;
      to.bias[column_of(gates, g, u)] = split ? input : input + hidden;
      if (split) to.hidden_bias[u] = hidden;
    }
  }
}

}  // namespace

int64_t padded_units(int64_t hidden) {
  const int64_t lanes = step_lanes();
  return (hidden + lanes - 1) / lanes * lanes;
}

int64_t recurrent_columns(const Layer& layer) { return padded_units(layer.hidden) * layer.gates(); }

PackedSizes packed_sizes(const Layer& layer) {
  const int64_t columns = recurrent_columns(layer), padded = padded_units(layer.hidden);
  return {gemm_packed_size(layer.input, columns), layer.hidden * columns, columns, padded, 3 * padded};
}

void pack_recurrent(const Layer& layer, const std::byte* w, const std::byte* r, const std::byte* bias,
                    const std::byte* peepholes, const PackTarget& to) {
  const int64_t n = layer.hidden, gates = layer.gates(), columns = recurrent_columns(layer);
  const PackedSizes sizes = packed_sizes(layer);
  std::vector<float> turned(static_cast<size_t>(layer.input * columns), 0.0f);
  for (int64_t g = 0; g < gates; ++g)
    for (int64_t u = 0; u < n; ++u)
      for (int64_t k = 0; k < layer.input; ++k)
        turned[static_cast<size_t>(k * columns + column_of(gates, g, u))] = read(w, (g * n + u) * layer.input + k);
  gemm_pack(reinterpret_cast<const std::byte*>(turned.data()), layer.input, columns, columns, 1, 1, to.input);
  std::fill_n(to.hidden, sizes.hidden, 0.0f);
  if (layer.cell == Cell::gru && !layer.linear_before_reset) {
    pack_hidden(layer, r, 0, 2, to.hidden);
    pack_hidden(layer, r, 2, 1, to.hidden + n * 2 * padded_units(n));
  } else {
    pack_hidden(layer, r, 0, gates, to.hidden);
  }
  std::fill_n(to.bias, sizes.bias, 0.0f);
  std::fill_n(to.hidden_bias, sizes.hidden_bias, 0.0f);
  std::fill_n(to.peepholes, sizes.peepholes, 0.0f);
  if (bias) pack_bias(layer, bias, to);
  for (int64_t i = 0; peepholes && i < 3 * n; ++i) to.peepholes[i / n * padded_units(n) + i % n] = read(peepholes, i);
}

}  // namespace anyshape::simd
