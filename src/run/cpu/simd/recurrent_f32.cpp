#include "run/cpu/simd/recurrent_f32.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "run/cpu/simd/gemm.h"
#include "run/cpu/simd/recurrent_step.h"

namespace anyshape::simd {
namespace {

void copy_floats(const std::byte* from, int64_t first, int64_t count, float* to) {
  std::memcpy(to, from + first * static_cast<int64_t>(sizeof(float)), static_cast<size_t>(count) * sizeof(float));
}

float read(const std::byte* from, int64_t i) {
  float x;
  copy_floats(from, i, 1, &x);
  return x;
}

// W as the matrix of all gates side by side, lanes of each in turn.
void pack_input(const Layer& layer, const std::byte* w, float* to) {
  const int64_t lanes = step_lanes(), gates = layer.gates(), depth = layer.input, panel = gemm_panel();
  const int64_t columns = recurrent_columns(layer);
  std::vector<float> rows(static_cast<size_t>(panel * depth));
  for (int64_t first = 0; first < columns; first += panel) {
    const int64_t count = std::min(panel, columns - first);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t block = (first + i) / lanes, u = block / gates * lanes + (first + i) % lanes;
      float* row = rows.data() + i * depth;
      if (u < layer.hidden)
        copy_floats(w, (block % gates * layer.hidden + u) * depth, depth, row);
      else
        std::fill_n(row, depth, 0.0f);
    }
    gemm_pack(reinterpret_cast<const std::byte*>(rows.data()), depth, count, 1, depth, 1, to + first * depth);
  }
}

// Gates g0..g0 + count - 1 of R as blocks [unit / lanes][k][gate][unit % lanes].
void pack_hidden(const Layer& layer, const std::byte* r, int64_t g0, int64_t count, float* to) {
  const int64_t n = layer.hidden, lanes = step_lanes(), wide = count * lanes;
  std::vector<float> row(static_cast<size_t>(n));
  for (int64_t g = 0; g < count; ++g)
    for (int64_t u = 0; u < n; ++u) {
      copy_floats(r, ((g0 + g) * n + u) * n, n, row.data());
      float* unit = to + u / lanes * n * wide + g * lanes + u % lanes;
      for (const float weight : row) {
        *unit = weight;
        unit += wide;
      }
    }
}

void pack_bias(const Layer& layer, const std::byte* bias, const PackTarget& to) {
  const int64_t n = layer.hidden, gates = layer.gates(), lanes = step_lanes();
  const bool apart = layer.cell == Cell::gru && layer.linear_before_reset;
  for (int64_t g = 0; g < gates; ++g) {
    for (int64_t u = 0; u < n; ++u) {
      const float input = read(bias, g * n + u), hidden = read(bias, (gates + g) * n + u);
      const bool split = apart && g == 2;
      to.bias[(u / lanes * gates + g) * lanes + u % lanes] = split ? input : input + hidden;
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
  const int64_t n = layer.hidden;
  const PackedSizes sizes = packed_sizes(layer);
  pack_input(layer, w, to.input);
  // Of units past the last one.
  if (padded_units(n) > n) std::fill_n(to.hidden, sizes.hidden, 0.0f);
  if (layer.cell == Cell::gru && !layer.linear_before_reset) {
    pack_hidden(layer, r, 0, 2, to.hidden);
    pack_hidden(layer, r, 2, 1, to.hidden + n * 2 * padded_units(n));
  } else {
    pack_hidden(layer, r, 0, layer.gates(), to.hidden);
  }
  std::fill_n(to.bias, sizes.bias, 0.0f);
  std::fill_n(to.hidden_bias, sizes.hidden_bias, 0.0f);
  std::fill_n(to.peepholes, sizes.peepholes, 0.0f);
  if (bias) pack_bias(layer, bias, to);
  for (int64_t i = 0; peepholes && i < 3 * n; ++i) to.peepholes[i / n * padded_units(n) + i % n] = read(peepholes, i);
}

}  // namespace anyshape::simd
