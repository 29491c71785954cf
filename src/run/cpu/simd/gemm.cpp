#include "run/cpu/simd/gemm.h"

#include <algorithm>

#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/gemm.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/gemm_micro-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

constexpr int64_t kDepth = 1024;       // of a block of B, which stays in the L2 cache
constexpr int64_t kPackedDepth = 384;  // of a block of A or B that is packed: what the rows of A need stays in the L1
constexpr int64_t kPackedPanels = 8;   // of B that are packed into scratch at a time
constexpr int64_t kFewRows = 4;        // need no block of A in the cache

int64_t panel() { return kPanel; }
int64_t max_rows() { return kMaxRows; }

// One panel with n columns.
void pack_panel(const float* from, int64_t k, int64_t n, int64_t row, int64_t column, float scale, float* to) {
  if (n < kPanel) std::fill_n(to, k * kPanel, 0.0f);
  if (column == 1 && n == kPanel) {
    const V by = splat(scale);
    for (int64_t i = 0; i < k; ++i, to += kPanel, from += row) {
      hn::StoreU(hn::Mul(by, hn::LoadU(F(), from)), F(), to);
      hn::StoreU(hn::Mul(by, hn::LoadU(F(), from + kLanes)), F(), to + kLanes);
    }
    return;
  }
  if (row == 1) {
    transpose(from, column, n, k, to, kPanel);
    if (scale != 1)
      for (int64_t i = 0; i < k * kPanel; ++i) to[i] *= scale;
    return;
  }
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) to[i * kPanel + j] = scale * from[i * row + j * column];
}

// `count` floats of any alignment.
void copy_floats(const std::byte* from, int64_t count, float* to) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

// The same of floats of any alignment: some rows at a time are copied to where they are aligned.
void pack_unaligned(const std::byte* from, int64_t k, int64_t n, int64_t row, int64_t column, float scale, float* to) {
  constexpr int64_t kRows = 64, kFloat = sizeof(float);
  HWY_ALIGN float lines[kRows * kPanel];
  for (int64_t i = 0; i < k; i += kRows, from += kRows * row * kFloat, to += kRows * kPanel) {
    const int64_t rows = std::min(kRows, k - i);
    if (row == 1) {
      for (int64_t j = 0; j < n; ++j) copy_floats(from + j * column * kFloat, rows, lines + j * rows);
      pack_panel(lines, rows, n, 1, rows, scale, to);
      continue;
    }
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* line = from + r * row * kFloat;
      if (column == 1)
        copy_floats(line, n, lines + r * n);
      else
        for (int64_t j = 0; j < n; ++j) copy_floats(line + j * column * kFloat, 1, lines + r * n + j);
    }
    pack_panel(lines, rows, n, n, 1, scale, to);
  }
}

void pack(const std::byte* from, int64_t k, int64_t n, int64_t row, int64_t column, float scale, float* to) {
  const bool aligned = reinterpret_cast<uintptr_t>(from) % alignof(float) == 0;
  for (int64_t j = 0; j < n; j += kPanel, to += k * kPanel) {
    const int64_t width = std::min(kPanel, n - j);
    const std::byte* panel = from + j * column * static_cast<int64_t>(sizeof(float));
    if (aligned)
      pack_panel(reinterpret_cast<const float*>(panel), k, width, row, column, scale, to);
    else
      pack_unaligned(panel, k, width, row, column, scale, to);
  }
}

bool in_wide_blocks(int64_t rows) { return rows <= kWideRows || (kManyRegisters && rows > kMaxRows); }

// Rows of A that lie a multiple of the page size apart fall on each other in the L1 cache: a few do not mind.
bool packs_a(const Gemm& g, int64_t rows) {
  if (g.a_column != 1 && g.a_row != 1) return true;
  return g.a_column == 1 && rows > kFewRows && !(kManyRegisters && in_wide_blocks(rows)) && g.n > 2 * kPanel &&
         g.a_row % 512 == 0;
}

bool reads_plain_b(const Gemm& g, int64_t rows) {
  return !g.b_packed && g.b_column == 1 && g.b_scale == 1 && rows <= 2 * kMaxRows;
}

// Whole runs, so that blocks sum in the same order.
int64_t depth_of(const Gemm& g, int64_t rows) {
  const bool packs = !g.b_packed || packs_a(g, rows);
  if (!packs && rows <= kFewRows) return std::max<int64_t>(g.k, 1);
  const int64_t most = packs ? kPackedDepth : kDepth;
  const int64_t blocks = std::max<int64_t>((g.k + most - 1) / most, 1);
  return std::max<int64_t>((g.k + blocks * kRun - 1) / (blocks * kRun), 1) * kRun;
}

bool may_pack_a(const Gemm& g) { return g.a_column != 1 ? g.a_row != 1 : g.m > kFewRows && g.a_row % 512 == 0; }
int64_t packed_a_floats(const Gemm& g) { return may_pack_a(g) ? kPackedDepth * kMaxRows : 0; }

int64_t scratch(const Gemm& g) {
  const int64_t panels = std::min(kPackedPanels, (g.n + kPanel - 1) / kPanel);
  return packed_a_floats(g) + (g.b_packed ? 0 : kPackedDepth * panels * kPanel);
}

Addend moved(Addend add, int64_t i, int64_t j) {
  if (add.data) add.data += i * add.row + j * add.column;
  return add;
}

void limits_of(const ActivationSpec& activation, float& low, float& high) {
  low = -std::numeric_limits<float>::infinity();
  high = -low;
  if (activation.kind == Activation::relu) low = 0;
  if (activation.kind == Activation::clip) low = activation.a, high = activation.b;
}

bool only_limits(Activation kind) {
  return kind == Activation::none || kind == Activation::relu || kind == Activation::clip;
}

// A depth of k0..k1 of some columns, for all rows of a tile.
struct Slab {
  int64_t k0 = 0, k1 = 0, j0 = 0, j1 = 0;
  const float* b = nullptr;  // entry (k0, j0)
  int64_t step = 0, panel = 0;
};

// Full stores of what is added as it lies need no masks and no second pass.
void set_simple(Block& t, int panels) {
  const Addend &bias = t.bias, &more = t.residual;
  if (t.columns != panels * kPanel) return;
  if (bias.data && (bias.scale != 1 || bias.row + bias.column != 1)) return;
  if (more.data && (more.scale != 1 || more.column != 1)) return;
  t.simple = true;
  t.per_entry = more.data;
  (bias.column == 1 ? t.per_column : t.per_row) = bias.data;
}

// One call of the innermost loop with its epilogue, at row i and column j.
Block block_of(const Gemm& g, const Slab& s, int64_t i, int64_t j, int panels) {
  Block t;
  t.k = s.k1 - s.k0;
  t.b = s.b + (j - s.j0) / kPanel * s.panel;
  t.b_step = s.step;
  t.b_panel = s.panel;
  t.c = g.c + i * g.c_row + j;
  t.c_row = g.c_row;
  t.columns = std::min(s.j1 - j, panels * kPanel);
  if (s.k0 == 0) {
    t.bias = moved(g.epilogue.bias, i, j);
    t.residual = moved(g.epilogue.residual, i, j);
  } else {
    t.residual = {t.c, t.c_row, 1};
  }
  const ActivationSpec& activation = g.epilogue.activation;
  t.limited = s.k1 == g.k && activation.kind != Activation::none && only_limits(activation.kind);
  limits_of(activation, t.low, t.high);
  set_simple(t, panels);
  return t;
}

void activate_rows(const ActivationSpec& activation, float* data, int64_t rows, int64_t n, int64_t row);

void multiply_slab_rows(const Gemm& g, const Slab& s, int64_t i, int rows, float* packed_a) {
  const float* a = g.a + i * g.a_row + s.k0 * g.a_column;
  int64_t a_step = g.a_column == 1 ? g.a_row : g.a_column;
  bool by_columns = g.a_column != 1;
  if (packed_a) {
    if (g.a_column == 1) {
      transpose(a, g.a_row, rows, s.k1 - s.k0, packed_a, rows);
    } else {
      for (int64_t k = 0; k < s.k1 - s.k0; ++k)
        for (int64_t r = 0; r < rows; ++r) packed_a[k * rows + r] = a[r * g.a_row + k * g.a_column];
    }
    a = packed_a;
    a_step = rows;
    by_columns = true;
  }
  const bool activates = s.k1 == g.k && !only_limits(g.epilogue.activation.kind);
  for (int64_t j = s.j0; j < s.j1;) {
    const int panels = panels_at_once(rows, (s.j1 - j) / kPanel);
    Block t = block_of(g, s, i, j, panels);
    t.a = a;
    t.a_step = a_step;
    if (by_columns)
      multiply_rows<true>(t, rows, panels);
    else
      multiply_rows<false>(t, rows, panels);
    if (activates) activate_rows(g.epilogue.activation, t.c, rows, t.columns, t.c_row);
    j += panels * kPanel;
  }
}

// Blocks of nearly equal height: one of a single row would waste the loads of B.
void multiply_slab_blocks(const Gemm& g, const Slab& s, int64_t i0, int64_t i1, int64_t most, float* packed_a) {
  for (int64_t i = i0; i < i1;) {
    const int64_t left = i1 - i, blocks = (left + most - 1) / most;
    const int64_t rows = (left + blocks - 1) / blocks;
    multiply_slab_rows(g, s, i, static_cast<int>(rows), packed_a);
    i += rows;
  }
}

// Pairs of panels go in wide blocks, what is left of them in high ones, unless the rows are few.
void multiply_slab(const Gemm& g, Slab s, int64_t i0, int64_t i1, float* packed_a) {
  if (in_wide_blocks(i1 - i0)) {
    Slab wide = s;
    const int64_t panels = (s.j1 - s.j0) / (2 * kPanel) * 2;
    if (i1 - i0 > kMaxRows) wide.j1 = s.j0 + panels * kPanel;
    if (wide.j1 > wide.j0) multiply_slab_blocks(g, wide, i0, i1, kWideRows, packed_a);
    s.b += panels * s.panel;
    s.j0 = wide.j1;
  }
  if (s.j0 < s.j1) multiply_slab_blocks(g, s, i0, i1, kMaxRows, packed_a);
}

// Columns j0..j1 of B at one depth: read in place as far as whole panels go, or packed into `packed`.
void multiply_unpacked(const Gemm& g, Slab s, int64_t i0, int64_t i1, float* packed_a, float* packed) {
  const int64_t j1 = s.j1, depth = s.k1 - s.k0;
  if (reads_plain_b(g, i1 - i0)) {
    s.j1 = s.j0 + (j1 - s.j0) / kPanel * kPanel;
    s.b = g.b + s.k0 * g.b_row + s.j0;
    s.step = g.b_row;
    s.panel = kPanel;
    if (s.j1 > s.j0) multiply_slab(g, s, i0, i1, packed_a);
    s.j0 = s.j1;
  }
  s.step = kPanel;
  s.panel = depth * kPanel;
  s.b = packed;
  for (; s.j0 < j1; s.j0 = s.j1) {
    s.j1 = std::min(j1, s.j0 + kPackedPanels * kPanel);
    const float* from = g.b + s.k0 * g.b_row + s.j0 * g.b_column;
    pack(reinterpret_cast<const std::byte*>(from), depth, s.j1 - s.j0, g.b_row, g.b_column, g.b_scale, packed);
    multiply_slab(g, s, i0, i1, packed_a);
  }
}

void tile(const Gemm& g, int64_t i0, int64_t i1, int64_t j0, int64_t j1, float* scratch_floats) {
  if (i0 >= i1 || j0 >= j1) return;
  float* packed_a = packs_a(g, i1 - i0) ? scratch_floats : nullptr;
  const int64_t depth = depth_of(g, i1 - i0);
  int64_t k0 = 0;
  do {
    const int64_t k1 = std::min(g.k, k0 + depth);
    Slab s{k0, k1, j0, j1};
    if (g.b_packed) {
      s.b = g.b + j0 * g.k + k0 * kPanel;
      s.step = kPanel;
      s.panel = g.k * kPanel;
      multiply_slab(g, s, i0, i1, packed_a);
    } else {
      multiply_unpacked(g, s, i0, i1, packed_a, scratch_floats + packed_a_floats(g));
    }
    k0 = k1;
  } while (k0 < g.k);
}

template <class Fn>
HWY_INLINE void on_rows(float* data, int64_t rows, int64_t n, int64_t row, Fn fn) {
  for (int64_t r = 0; r < rows; ++r) {
    float* at = data + r * row;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) hn::StoreU(fn(hn::LoadU(F(), at + i)), F(), at + i);
    if (i < n) store_part(fn(load_part(at + i, n - i)), at + i, n - i);
  }
}

void activate_rows(const ActivationSpec& activation, float* data, int64_t rows, int64_t n, int64_t row) {
  float low, high;
  limits_of(activation, low, high);
  const float slope = activation.a;
  switch (activation.kind) {
    case Activation::none:
      return;
    case Activation::relu:
    case Activation::clip:
      return on_rows(data, rows, n, row, [=](V x) HWY_ATTR { return at_most(at_least(x, splat(low)), splat(high)); });
    case Activation::leaky_relu:
      return on_rows(data, rows, n, row,
                     [=](V x) HWY_ATTR { return hn::IfThenElse(hn::Lt(x, splat(0)), hn::Mul(x, splat(slope)), x); });
    case Activation::sigmoid:
      return on_rows(data, rows, n, row, [](V x) HWY_ATTR { return sigmoid_v(x); });
    case Activation::tanh:
      return on_rows(data, rows, n, row, [](V x) HWY_ATTR { return tanh_v(x); });
    case Activation::gelu:
      return on_rows(data, rows, n, row, [](V x) HWY_ATTR { return gelu_v(x); });
    case Activation::gelu_tanh:
      return on_rows(data, rows, n, row, [](V x) HWY_ATTR { return gelu_tanh_v(x); });
    case Activation::silu:
      return on_rows(data, rows, n, row, [](V x) HWY_ATTR { return silu_v(x); });
    case Activation::hard_swish:
      return on_rows(data, rows, n, row, [](V x) HWY_ATTR { return hard_swish_v(x); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(panel);
HWY_EXPORT(max_rows);
HWY_EXPORT(pack);
HWY_EXPORT(scratch);
HWY_EXPORT(tile);
HWY_EXPORT(activate_rows);

int64_t gemm_panel() { return HWY_DYNAMIC_DISPATCH(panel)(); }
int64_t gemm_rows() { return HWY_DYNAMIC_DISPATCH(max_rows)(); }

int64_t gemm_packed_size(int64_t k, int64_t n) {
  const int64_t width = gemm_panel();
  return (n + width - 1) / width * width * k;
}

void gemm_pack(const std::byte* from, int64_t k, int64_t n, int64_t row, int64_t column, float scale, float* to) {
  HWY_DYNAMIC_DISPATCH(pack)(from, k, n, row, column, scale, to);
}

int64_t gemm_scratch(const Gemm& g) { return HWY_DYNAMIC_DISPATCH(scratch)(g); }

double gemm_cost(int64_t m, int64_t n, int64_t k) {
  // Few rows wait for B.
  constexpr double kFewest = 2.5;
  return std::max(static_cast<double>(m), kFewest) * static_cast<double>(n) * static_cast<double>(k + 1);
}

GemmTiles gemm_tiles(int64_t m, int64_t n, int64_t k, bool b_packed) {
  // A tile of fewer multiplications is not worth its hand-over.
  constexpr double kLeast = 1 << 16;
  constexpr int64_t kMost = 32, kLeastRows = 24, kFewestTiles = 4;
  GemmTiles t{m, n, 1, 1};
  const int64_t wanted = static_cast<int64_t>(std::min(gemm_cost(m, n, k) / kLeast, static_cast<double>(kMost)));
  if (m <= 0 || n <= 0 || wanted <= 1) return t;
  const auto cut = [](int64_t size, int64_t parts, int64_t unit) {
    const int64_t units = (size + unit - 1) / unit;
    return (units + parts - 1) / parts * unit;
  };
  // As many panels as the innermost loop takes at once; more where all of A would be read or copied for a few columns.
  int64_t panels = m == 1 || m >= 8 * kLeastRows ? 4 : m <= 3 ? 2 : 1;
  // One row waits for B only, and two caches bring it sooner than one.
  if (m == 1 && n < std::min(wanted, kFewestTiles) * panels * gemm_panel()) panels = 2;
  const int64_t unit = std::max(panels * gemm_panel(), k % 512 == 0 ? int64_t{64} : int64_t{0});
  t.columns = cut(n, std::min(wanted, (n + unit - 1) / unit), unit);
  t.across = (n + t.columns - 1) / t.columns;
  // Packing a B is work of its own, so its columns are not shared by tiles unless A is tall.
  const int64_t least_rows = b_packed ? kLeastRows : 64 * gemm_rows();
  t.rows = std::min(m, cut(m, std::max<int64_t>(std::min(wanted / t.across, m / least_rows), 1), 4));
  t.down = (m + t.rows - 1) / t.rows;
  return t;
}

void gemm_tile(const Gemm& g, int64_t i0, int64_t i1, int64_t j0, int64_t j1, float* scratch_floats) {
  HWY_DYNAMIC_DISPATCH(tile)(g, i0, i1, j0, j1, scratch_floats);
}

void activate(const ActivationSpec& activation, float* data, int64_t rows, int64_t n, int64_t row) {
  HWY_DYNAMIC_DISPATCH(activate_rows)(activation, data, rows, n, row);
}

}  // namespace anyshape::simd
#endif
