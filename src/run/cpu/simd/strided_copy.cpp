#include "run/cpu/simd/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "run/cpu/simd/turn.h"

namespace anyshape::simd {
namespace {

constexpr int kMostAxes = static_cast<int>(kMostCopyAxes);
constexpr int64_t kBlock = 16;   // of a transposition: lines of both sides stay in the L1 cache
constexpr int64_t kTurned = 32;  // of one by vectors, which work on 4 lines at least

struct Axis {
  int64_t size, from, to;
};

// The axes without those of size 1, neighbours joined where both sides walk them in one step.
struct Axes {
  int count = 0;
  Axis axis[kMostAxes];
  bool empty = false;

  Axes(const View& from, const View& to) {
    for (size_t i = 0; i < to.rank(); ++i) {
      if (to.dims[i] == 0) empty = true;
      if (to.dims[i] == 1) continue;
      const Axis a{to.dims[i], from.strides[i], to.strides[i]};
      Axis* last = count > 0 ? &axis[count - 1] : nullptr;
      if (last && last->from == a.from * a.size && last->to == a.to * a.size)
        *last = {last->size * a.size, a.from, a.to};
      else
        axis[count++] = a;
    }
    if (count == 0) axis[count++] = {1, 0, 0};
  }
};

template <class T>
void copy_line(const T* from, T* to, const Axis& a) {
  if (a.from == 1 && a.to == 1) {
    std::memcpy(to, from, static_cast<size_t>(a.size) * sizeof(T));
  } else if (a.from == 0 && a.to == 1) {
    std::fill_n(to, a.size, *from);
  } else {
    for (int64_t i = 0; i < a.size; ++i) to[i * a.to] = from[i * a.from];
  }
}

// Two axes, the outer one of which is the nearer one in `from`.
template <class T>
void copy_turned(const T* from, T* to, const Axis& outer, const Axis& inner) {
  for (int64_t i = 0; i < outer.size; i += kBlock) {
    const int64_t end = std::min(outer.size, i + kBlock);
    for (int64_t j = 0; j < inner.size; j += kBlock) {
      const int64_t stop = std::min(inner.size, j + kBlock);
      for (int64_t r = i; r < end; ++r)
        for (int64_t c = j; c < stop; ++c) to[r * outer.to + c * inner.to] = from[r * outer.from + c * inner.from];
    }
  }
}

// The same where both sides lie dense along one of the two.
void turn_blocks(const float* from, float* to, const Axis& outer, const Axis& inner) {
  for (int64_t i = 0; i < outer.size; i += kTurned)
    for (int64_t j = 0; j < inner.size; j += kTurned)
      turn(from + i + j * inner.from, inner.from, std::min(kTurned, inner.size - j), std::min(kTurned, outer.size - i),
           to + i * outer.to + j, outer.to);
}

template <class T>
void copy_pair(const T* from, T* to, const Axis& outer, const Axis& inner) {
  if constexpr (sizeof(T) == sizeof(float))
    if (outer.from == 1 && inner.to == 1 && outer.size >= 4)
      return turn_blocks(reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to), outer, inner);
  copy_turned(from, to, outer, inner);
}

template <class T>
void copy_axes(const T* from, T* to, const Axis* axis, int count) {
  if (count == 1) return copy_line(from, to, axis[0]);
  if (count == 2 && axis[1].from != 0 && std::abs(axis[0].from) < std::abs(axis[1].from))
    return copy_pair(from, to, axis[0], axis[1]);
  for (int64_t i = 0; i < axis[0].size; ++i)
    copy_axes(from + i * axis[0].from, to + i * axis[0].to, axis + 1, count - 1);
}

// The axis of `from` that is nearest in memory next to the innermost one, so that pairs of them are turned in blocks.
void put_turned_axis_last(Axes& axes) {
  const int inner = axes.count - 1;
  if (axes.count < 3 || axes.axis[inner].from == 1) return;
  for (int i = 0; i < inner; ++i) {
    if (std::abs(axes.axis[i].from) != 1) continue;
    std::rotate(axes.axis + i, axes.axis + i + 1, axes.axis + inner);
    return;
  }
}

template <class T>
void copy_typed(const View& from, const View& to, Axes axes, int64_t first, int64_t last) {
  const Axis outer = axes.axis[0];
  const T* source = from.as<const T>() + first * outer.from;
  T* target = to.as<T>() + first * outer.to;
  axes.axis[0].size = last - first;
  put_turned_axis_last(axes);
  copy_axes(source, target, axes.axis, axes.count);
}

struct Wide {
  uint64_t half[2];
};

}  // namespace

int64_t copy_pieces(const View& from, const View& to) {
  const Axes axes(from, to);
  return axes.empty ? 1 : axes.axis[0].size;
}

void copy_view(const View& from, const View& to, int64_t first, int64_t last) {
  const Axes axes(from, to);
  if (axes.empty || first >= last) return;
  switch (bits(to.dtype)) {
    case 8:
      return copy_typed<uint8_t>(from, to, axes, first, last);
    case 16:
      return copy_typed<uint16_t>(from, to, axes, first, last);
    case 32:
      return copy_typed<uint32_t>(from, to, axes, first, last);
    case 64:
      return copy_typed<uint64_t>(from, to, axes, first, last);
    default:
      return copy_typed<Wide>(from, to, axes, first, last);
  }
}

void copy_view(const View& from, const View& to) { copy_view(from, to, 0, copy_pieces(from, to)); }

}  // namespace anyshape::simd
