#include "kernels/pool.h"

#include <cmath>
#include <limits>
#include <span>

#include "base/temporary.h"
#include "kernels/copy.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

constexpr int64_t kBlock = 256;
// Windows of more cells are not run: their offsets would not fit into memory.
constexpr int64_t kMostCells = int64_t{1} << 26;

struct Planes {
  int64_t count = 0, in = 0, out = 0;
};

Result<Planes> planes_of(const Pool& pool, const Tensor& x, const Tensor& out) {
  const Windows& w = pool.windows;
  const size_t rank = w.in.size();
  const auto in = element_count(w.in), to = element_count(w.out);
  const bool sized = w.kernel.size() == rank && w.out.size() == rank && w.strides.size() == rank &&
                     w.dilations.size() == rank && w.pads.size() == rank && pool.pads_end.size() == rank;
  if (!sized || x.rank() != rank + 2 || out.rank() != rank + 2 || !in || !to)
    return refuse("kernel.shape", "the windows of a pool do not fit its input");
  if (element_count(w.kernel).value_or(kMostCells) >= kMostCells)
    return unknown("kernel.window", "no kernel for windows of that many cells");
  const Planes planes{x.dims()[0] * x.dims()[1], *in, *to};
  if (x.count() != planes.count * planes.in || out.count() != planes.count * planes.out)
    return refuse("kernel.shape", "the output of a pool does not fit its input");
  return planes;
}

// visit(plane, position, offsets of the cells inside the input) for every window.
template <class Visit>
void for_each_window(const Pool& pool, const Planes& planes, Visit visit) {
  WindowReader reader(pool.windows);
  Temporary<int64_t> inside;
  Temporary<size_t> ends;
  const int64_t block = std::clamp<int64_t>((1 << 16) / std::max<int64_t>(1, reader.kernel_plane()), 1, kBlock);
  for (int64_t first = 0; first < planes.out; first += block) {
    const int64_t count = std::min(block, planes.out - first);
    const auto& offsets = reader.offsets(first, count);
    inside.clear();
    ends.clear();
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t k = 0; k < reader.kernel_plane(); ++k)
        if (const int64_t at = offsets[static_cast<size_t>(k * count + i)]; at >= 0) inside.push_back(at);
      ends.push_back(inside.size());
    }
    for (int64_t plane = 0; plane < planes.count; ++plane)
      for (size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++])
        visit(plane, first + static_cast<int64_t>(i), std::span(inside).subspan(begin, ends[i] - begin));
  }
}

int64_t column_major_offset(int64_t flat, std::span<const int64_t> sizes) {
  Temporary<int64_t> index(sizes.size());
  unravel(flat, sizes, index);
  int64_t offset = 0;
  for (size_t a = sizes.size(); a-- > 0;) offset = offset * sizes[a] + index[a];
  return offset;
}

// The cells of a window between the first cell of padding and the last one.
int64_t padded_cells(const Pool& pool, int64_t position) {
  const Windows& w = pool.windows;
  Temporary<int64_t> index(w.out.size());
  unravel(position, w.out, index);
  int64_t cells = 1;
  for (size_t a = 0; a < index.size(); ++a) {
    const int64_t room = w.in[a] + w.pads[a] + pool.pads_end[a] - index[a] * w.strides[a];
    cells *= std::clamp<int64_t>((room + w.dilations[a] - 1) / w.dilations[a], 0, w.kernel[a]);
  }
  return cells;
}

double power(double value, double p) {
  if (p == 1) return value;
  if (p == 2) return value * value;
  return std::pow(value, p);
}

// Each output is total(sum of entry(x) over the cells of its window, its position, how many cells), in f64.
template <class Entry, class Total>
Status sum_pool(const Pool& pool, const Tensor& x, Tensor& out, Entry entry, Total total) {
  TRY_OK(require_one_type({&x, &out}));
  TRY(const Planes planes, planes_of(pool, x, out));
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    const T* from = x.as<T>().data();
    T* to = out.as_mutable<T>().data();
    for_each_window(pool, planes, [&](int64_t plane, int64_t position, std::span<const int64_t> cells) {
      double sum = 0;
      for (int64_t cell : cells) sum += entry(static_cast<double>(from[plane * planes.in + cell]));
      to[plane * planes.out + position] = static_cast<T>(total(sum, position, cells.size()));
    });
    return {};
  });
}

}  // namespace

Pool global_pool(const Tensor& x) {
  Pool pool;
  Windows& w = pool.windows;
  if (x.rank() > 2) w.in.assign(x.dims().begin() + 2, x.dims().end());
  w.kernel = w.in;
  w.out.assign(w.in.size(), 1);
  w.strides = w.dilations = w.out;
  w.pads.assign(w.in.size(), 0);
  pool.pads_end = w.pads;
  return pool;
}

Status max_pool(const Pool& pool, const Tensor& x, bool column_major, Tensor& out, Tensor& indices) {
  TRY_OK(require_one_type({&x, &out}));
  TRY(const Planes planes, planes_of(pool, x, out));
  const auto run = [&]<class T>(T) -> Status {
    const T* from = x.as<T>().data();
    T* to = out.as_mutable<T>().data();
    for_each_window(pool, planes, [&](int64_t plane, int64_t position, std::span<const int64_t> cells) {
      const T* data = from + plane * planes.in;
      T best = std::numeric_limits<T>::lowest();
      int64_t at = -1;
      for (int64_t cell : cells)
        if (at < 0 || data[cell] > best || best != best) best = data[at = cell];
      to[plane * planes.out + position] = best;
      if (!indices) return;
      at = std::max<int64_t>(at, 0);
      const int64_t local = column_major ? column_major_offset(at, pool.windows.in) : at;
      indices.as_mutable<int64_t>()[static_cast<size_t>(plane * planes.out + position)] = plane * planes.in + local;
    });
    return {};
  };
  return is_float(x.dtype()) ? visit_real(x.dtype(), run) : visit_type<kInts>(x.dtype(), run);
}

Status average_pool(const Pool& pool, const Tensor& x, bool count_padding, Tensor& out) {
  return sum_pool(
      pool, x, out, [](double entry) { return entry; },
      [&](double sum, int64_t position, size_t cells) {
        return sum / static_cast<double>(count_padding ? padded_cells(pool, position) : static_cast<int64_t>(cells));
      });
}

Status lp_pool(const Pool& pool, const Tensor& x, double p, Tensor& out) {
  return sum_pool(
      pool, x, out, [p](double entry) { return power(std::abs(entry), p); },
      [p](double sum, int64_t, size_t) { return p == 2 ? std::sqrt(sum) : power(sum, 1 / p); });
}

Status max_unpool(const Tensor& x, const Tensor& indices, std::span<const int64_t> plain, Tensor& out) {
  TRY_OK(require_one_type({&x, &out}));
  const auto cells = element_count(plain);
  if (!cells || plain.size() != out.rank() || indices.count() != x.count())
    return refuse("kernel.shape", "the indices of MaxUnpool do not fit its input");
  Temporary<int64_t> place(plain.size());
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t index = indices.int_at(i);
    if (index < 0 || index >= *cells) return refuse("maxunpool.index", "index {} is not in 0..{}", index, *cells - 1);
    unravel(index, plain, place);
    int64_t offset = 0;
    bool inside = true;
    for (size_t a = 0; a < place.size(); ++a) {
      inside &= place[a] < out.dims()[a];
      offset = offset * out.dims()[a] + place[a];
    }
    if (inside) copy_elements(out, offset, x, i, 1);
  }
  return {};
}

}  // namespace anyshape::kernels
