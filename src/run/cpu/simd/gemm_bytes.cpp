#include "run/cpu/simd/gemm_bytes.h"

#include <algorithm>

#define HWY_WANT_AVX3_DL
#include "run/cpu/simd/simd_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "run/cpu/simd/gemm_bytes.cpp"
#include <hwy/foreach_target.h>

#include "run/cpu/simd/dot_bytes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace anyshape::simd {
namespace HWY_NAMESPACE {

// Sums of this many rows and vectors of columns stay in registers.
constexpr int kMostRows = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
constexpr int kMostVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

int64_t columns_of_vector() { return kLanes; }
int64_t columns_of_panel() { return kMostVectors * kLanes; }

HWY_INLINE VI four_bytes(const std::byte* from, size_t n = 4) {
  int32_t x = 0;
  std::memcpy(&x, from, n);
  return hn::Set(I(), x);
}

// The sum of the k bytes of a row, as unsigned ones.
int32_t sum_of_row(const std::byte* a, int64_t k, bool is_signed) {
  uint64_t sum = 0;
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  const hn::ScalableTag<uint64_t> d64;
  constexpr int64_t kBytes = kLanes * 4;
  const auto flip = hn::Set(d, is_signed ? uint8_t{128} : uint8_t{0});
  auto sums = hn::Zero(d64);
  for (; i + kBytes <= k; i += kBytes)
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(hn::LoadU(d, reinterpret_cast<const uint8_t*>(a) + i), flip)));
  sum = hn::GetLane(hn::SumOfLanes(d64, sums));
#endif
  for (; i < k; ++i) sum += static_cast<uint8_t>(a[i]) ^ (is_signed ? 128u : 0u);
  return static_cast<int32_t>(static_cast<uint32_t>(sum));
}

HWY_INLINE const std::byte* row_of(const ByteGemm& g, int64_t i) { return g.a + (g.rows ? g.rows[i] : i * g.a_row); }

int32_t sum_of_runs(const ByteGemm& g, int64_t i) {
  int32_t sum = 0;
  for (int64_t r = 0; r < g.run_count; ++r) sum += sum_of_row(row_of(g, i) + (g.runs ? g.runs[r] : 0), g.k, g.a_signed);
  return sum;
}

// What is added to all sums of a column of a panel.
struct ByteColumns {
  HWY_ALIGN int32_t more[kMostVectors * kLanes];

  ByteColumns(const ByteGemm& g, int64_t j, int64_t j1) {
    const VI a_zero = hn::Set(I(), g.a_zero), depth = hn::Set(I(), static_cast<int32_t>(g.depth()));
    for (int64_t v = 0; v < kMostVectors && j + v * kLanes < j1; ++v) {
      VI weights = hn::LoadU(I(), g.b_sums + j + v * kLanes);
      if (g.b_zeros) weights = hn::Sub(weights, hn::Mul(hn::LoadU(I(), g.b_zeros + j + v * kLanes), depth));
      const VI offset = g.offsets ? hn::LoadU(I(), g.offsets + j + v * kLanes) : hn::Zero(I());
      hn::Store(hn::Sub(offset, hn::Mul(a_zero, weights)), I(), more + v * kLanes);
    }
  }
};

// The whole sums of a block.
struct ByteBlock {
  const int32_t* sums;  // row r, vector v at [(r * vectors + v) * kLanes]
  const int32_t* more;  // of the columns
  int64_t i, j, j1;
  int rows, vectors;
};

// fn(entries without their zero points, first column, how many, where in C) for each vector.
template <class Fn>
HWY_INLINE void for_each_vector(const ByteGemm& g, const ByteBlock& block, Fn fn) {
  const int64_t used = (block.j1 - block.j + kLanes - 1) / kLanes;
  for (int r = 0; r < block.rows; ++r) {
    const int64_t i = block.i + r;
    const VI row_sum = hn::Set(I(), g.b_zeros ? sum_of_runs(g, i) : 0);
    for (int64_t v = 0; v < used; ++v) {
      const int64_t j = block.j + v * kLanes;
      VI x =
          hn::Add(hn::Load(I(), block.sums + (r * block.vectors + v) * kLanes), hn::Load(I(), block.more + v * kLanes));
      if (g.b_zeros) x = hn::Sub(x, hn::Mul(hn::LoadU(I(), g.b_zeros + j), row_sum));
      fn(x, j, std::min(kLanes, block.j1 - j), i * g.c_row + j);
    }
  }
}

template <class Byte>
HWY_INLINE void finish_bytes(const ByteGemm& g, const ByteBlock& block) {
  const ToBytes<Byte> to_bytes(g.zero);
  for_each_vector(g, block, [&](VI x, int64_t j, int64_t n, int64_t at) HWY_ATTR {
    const V y = hn::Mul(hn::ConvertTo(F(), x), hn::LoadU(F(), g.factors + j));
    store_bytes(to_bytes(y), static_cast<Byte*>(g.c) + at, n);
  });
}

HWY_INLINE void finish_floats(const ByteGemm& g, const ByteBlock& block) {
  for_each_vector(g, block, [&](VI x, int64_t j, int64_t n, int64_t at) HWY_ATTR {
    V y = hn::Mul(hn::ConvertTo(F(), x), hn::LoadU(F(), g.factors + j));
    if (g.bias) y = hn::Add(y, hn::LoadU(F(), g.bias + j));
    store_n(y, static_cast<float*>(g.c) + at, n);
  });
}

HWY_INLINE void finish_wide(const ByteGemm& g, const ByteBlock& block) {
  const Wide d;
  const auto scale = hn::Set(d, g.scale);
  for_each_vector(g, block, [&](VI x, int64_t j, int64_t n, int64_t at) HWY_ATTR {
    const auto part = [&](auto sums, auto factors, auto more) HWY_ATTR {
      const auto y = hn::Mul(hn::Mul(hn::PromoteTo(d, sums), scale), hn::PromoteTo(d, factors));
      return hn::DemoteTo(PartF(), g.bias ? hn::Add(y, hn::PromoteTo(d, more)) : y);
    };
    const V bias = g.bias ? hn::LoadU(F(), g.bias + j) : hn::Zero(F());
    store_n(by_halves(F(), part, x, hn::LoadU(F(), g.factors + j), bias), static_cast<float*>(g.c) + at, n);
  });
}

HWY_INLINE void finish_sums(const ByteGemm& g, const ByteBlock& block) {
  for_each_vector(g, block, [&](VI x, int64_t, int64_t n, int64_t at) HWY_ATTR {
    // Moved as they are.
    store_n(hn::BitCast(F(), x), static_cast<float*>(g.c) + at, n);
  });
}

HWY_NOINLINE void finish(const ByteGemm& g, const ByteBlock& block) {
  switch (g.kind) {
    case ByteProduct::i32:
      return finish_sums(g, block);
    case ByteProduct::u8:
      return finish_bytes<uint8_t>(g, block);
    case ByteProduct::i8:
      return finish_bytes<int8_t>(g, block);
    case ByteProduct::f32:
      return finish_floats(g, block);
    case ByteProduct::f32_wide:
      return finish_wide(g, block);
  }
}

template <int R, int W, bool kSigned>
HWY_NOINLINE void multiply(const ByteGemm& g, const ByteColumns& columns, int64_t i, int64_t j, int64_t j1) {
  const auto* b = reinterpret_cast<const int32_t*>(g.b) + g.groups() * j;
  VI sums[R][W];
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) sums[r][v] = hn::Zero(I());
  const VI flip = hn::Set(I(), static_cast<int32_t>(0x80808080u));
  const int64_t whole = g.slack ? (g.k + 3) / 4 * 4 : g.k / 4 * 4;
  for (int64_t run = 0; run < g.run_count; ++run) {
    const std::byte* a[R];
    ANYSHAPE_UNROLL
    for (int r = 0; r < R; ++r) a[r] = row_of(g, i + r) + (g.runs ? g.runs[run] : 0);
    const auto add = [&](int64_t k, size_t bytes) HWY_ATTR {
      ANYSHAPE_UNROLL
      for (int r = 0; r < R; ++r) {
        VI left = four_bytes(a[r] + k, bytes);
        if (kSigned) left = hn::Xor(left, flip);
        ANYSHAPE_UNROLL
        for (int v = 0; v < W; ++v) sums[r][v] = dot4(sums[r][v], left, hn::LoadU(I(), b + v * kLanes));
      }
      b += W * kLanes;
    };
    for (int64_t k = 0; k < whole; k += 4) add(k, 4);
    if (whole < g.k) add(whole, static_cast<size_t>(g.k - whole));
  }
  HWY_ALIGN int32_t all[R * W * kLanes];
  ANYSHAPE_UNROLL
  for (int r = 0; r < R; ++r) ANYSHAPE_UNROLL
  for (int v = 0; v < W; ++v) hn::Store(sums[r][v], I(), all + (r * W + v) * kLanes);
  finish(g, {all, columns.more, i, j, j1, R, W});
}

template <int R, int W>
HWY_INLINE void multiply_signed(const ByteGemm& g, const ByteColumns& columns, int64_t i, int64_t j, int64_t j1) {
  g.a_signed ? multiply<R, W, true>(g, columns, i, j, j1) : multiply<R, W, false>(g, columns, i, j, j1);
}

template <int R>
void multiply_rows(const ByteGemm& g, const ByteColumns& columns, int64_t i, int64_t j, int64_t j1) {
  const int64_t vectors = (j1 - j + kLanes - 1) / kLanes;
  if (vectors == 1) return multiply_signed<R, 1>(g, columns, i, j, j1);
  if (kMostVectors == 2 || vectors == 2) return multiply_signed<R, 2>(g, columns, i, j, j1);
  multiply_signed<R, kMostVectors>(g, columns, i, j, j1);
}

void tile(const ByteGemm& g, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  constexpr int64_t kPanel = kMostVectors * kLanes;
  for (int64_t j = j0; j < j1; j += kPanel) {
    const int64_t end = std::min(j1, j + kPanel);
    const ByteColumns columns(g, j, end);
    int64_t i = i0;
    for (; i + kMostRows <= i1; i += kMostRows) multiply_rows<kMostRows>(g, columns, i, j, end);
    if constexpr (kMostRows > 4)
      for (; i + 4 <= i1; i += 4) multiply_rows<4>(g, columns, i, j, end);
    for (; i + 2 <= i1; i += 2) multiply_rows<2>(g, columns, i, j, end);
    for (; i < i1; ++i) multiply_rows<1>(g, columns, i, j, end);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace anyshape::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace anyshape::simd {

HWY_EXPORT(columns_of_panel);
HWY_EXPORT(columns_of_vector);
HWY_EXPORT(tile);

int64_t byte_panel() { return HWY_DYNAMIC_DISPATCH(columns_of_panel)(); }

int64_t byte_columns(int64_t n) {
  const int64_t panel = byte_panel(), vector = HWY_DYNAMIC_DISPATCH(columns_of_vector)();
  const int64_t rest = n % panel;
  // One, two or all vectors of a panel.
  return n - rest + (rest == 0 ? 0 : rest <= vector ? vector : rest <= 2 * vector ? 2 * vector : panel);
}

int64_t byte_packed_size(int64_t k, int64_t n) { return byte_columns(n) * ((k + 3) / 4 * 4); }

void byte_pack(const std::byte* from, bool is_signed, int64_t k, int64_t n, int64_t row, int64_t column, int8_t* to,
               int32_t* sums) {
  const int64_t panel = byte_panel(), columns = byte_columns(n);
  const unsigned flip = is_signed ? 0 : 128;
  std::fill_n(sums, columns, 0);
  std::fill_n(to, byte_packed_size(k, n), int8_t{0});
  for (int64_t j = 0; j < n; j += panel) {
    const int64_t width = std::min(panel, n - j), step = std::min(panel, columns - j) * 4;
    for (int64_t i = 0; i < k; ++i) {
      const std::byte* at = from + i * row + j * column;
      int8_t* out = to + i / 4 * step + i % 4;
      for (int64_t c = 0; c < width; ++c) {
        out[c * 4] = static_cast<int8_t>(static_cast<uint8_t>(at[c * column]) ^ flip);
        sums[j + c] = static_cast<int32_t>(static_cast<uint32_t>(sums[j + c]) + static_cast<uint32_t>(out[c * 4]));
      }
    }
    to += (k + 3) / 4 * step;
  }
}

void byte_gemm(const ByteGemm& g, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  HWY_DYNAMIC_DISPATCH(tile)(g, i0, i1, j0, j1);
}

}  // namespace anyshape::simd
#endif
