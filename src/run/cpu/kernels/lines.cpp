#include <algorithm>
#include <type_traits>

#include "ops/common.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"

// ArgMax, ArgMin, TopK and CumSum of f32, f64, i64 and i32: every line along one axis on its own.
namespace anyshape::cpu {
namespace {

bool is_counted(DType t) { return t == DType::f32 || t == DType::f64 || t == DType::i64 || t == DType::i32; }

std::string_view accepts_numbers(const Call& call) {
  if (!call.in(0).is_tensor() || !is_counted(call.in(0).dtype)) return "its element type is not f32, f64, i64 or i32";
  if (!call.in(0).dims) return "its rank is not known";
  return {};
}

template <class Visit>
void visit_numbers(DType dtype, Visit visit) {
  if (dtype == DType::f32) visit(float());
  if (dtype == DType::f64) visit(double());
  if (dtype == DType::i64) visit(int64_t());
  if (dtype == DType::i32) visit(int32_t());
}

struct LinesPrepared {
  size_t axis = 0;
  bool largest = true, last = false;          // ArgMax, ArgMin, TopK
  bool exclusive = false, backwards = false;  // CumSum
};

// Line l has its entries at start(l), start(l) + inner, ...
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;

  int64_t count() const { return outer * inner; }
  int64_t start(int64_t line, int64_t entries) const { return line / inner * entries * inner + line % inner; }
};

Lines lines_of(const ViewArgs& args) {
  const auto dims = args.in[0].dims;
  const size_t axis = prepared_as<LinesPrepared>(args).axis;
  Lines l;
  for (size_t i = 0; i < axis; ++i) l.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) l.inner *= dims[i];
  l.size = dims[axis];
  return l;
}

template <bool largest>
Result<std::shared_ptr<const void>> prepare_arg(const Call& call) {
  TRY(const size_t axis, ops::normalize_axis(call.i("axis"), call.in(0).rank()));
  return std::make_shared<LinesPrepared>(
      LinesPrepared{.axis = axis, .largest = largest, .last = call.i("select_last_index") != 0});
}

// Whether x takes the place of the best so far; one that is no number is the most extreme, of equal ones the last wins.
template <class T>
bool replaced(T best, T x, bool largest) {
  if (best != best) return x != x;
  return x != x || (largest ? x >= best : x <= best);
}

// The first of the most extreme entries.
template <bool largest, class T>
int64_t first_extreme(const T* x, int64_t size, int64_t step) {
  int64_t at = 0;
  T best = *x;
  for (int64_t k = 1; k < size && best == best; ++k) {
    const T value = x[k * step];
    // Also where the value is no number.
    if (!(largest ? value <= best : value >= best)) at = k, best = value;
  }
  return at;
}

template <class T>
int64_t last_extreme(const T* x, int64_t size, int64_t step, bool largest) {
  int64_t at = 0;
  for (int64_t k = 1; k < size; ++k)
    if (replaced(x[at * step], x[k * step], largest)) at = k;
  return at;
}

// The first of the most extreme entries of `count` neighbouring lines, place by place.
inline constexpr int64_t kLinesAtOnce = 64;
template <bool largest, class T>
void first_extremes(const T* x, int64_t size, int64_t step, int64_t count, int64_t* out) {
  T best[kLinesAtOnce];
  int64_t at[kLinesAtOnce] = {};
  std::copy_n(x, count, best);
  for (int64_t k = 1; k < size; ++k) {
    const T* row = x + k * step;
    for (int64_t j = 0; j < count; ++j) {
      const T value = row[j];
      const bool better = !(largest ? value <= best[j] : value >= best[j]) & (best[j] == best[j]);
      best[j] = better ? value : best[j];
      at[j] = better ? k : at[j];
    }
  }
  std::copy_n(at, count, out);
}

// Lines first..last - 1, as many neighbours at once as there are.
template <bool largest, class T>
void first_extremes_of(const Lines& l, const T* x, int64_t first, int64_t last, int64_t* out) {
  for (int64_t line = first; line < last;) {
    const int64_t count = std::min({last - line, l.inner - line % l.inner, kLinesAtOnce});
    first_extremes<largest>(x + l.start(line, l.size), l.size, l.inner, count, out + line);
    line += count;
  }
}

int64_t arg_tasks(const ViewArgs& args) {
  const Lines l = lines_of(args);
  return tasks_for(l.count(), 2.0 * static_cast<double>(l.size) + 1);
}

Status run_arg(const ViewArgs& args, int64_t first, int64_t last) {
  const Lines l = lines_of(args);
  const LinesPrepared& p = prepared_as<LinesPrepared>(args);
  const int64_t tasks = arg_tasks(args), end = share_of(l.count(), tasks, last - 1).last;
  if (l.size == 0 && l.count() > 0) return refuse("arg.empty", "the axis has no entries");
  const int64_t begin = share_of(l.count(), tasks, first).first;
  int64_t* out = args.out[0].as<int64_t>();
  visit_numbers(args.in[0].dtype, [&]<class T>(T) {
    const T* all = args.in[0].as<const T>();
    if (l.inner > 1 && !p.last)
      return p.largest ? first_extremes_of<true>(l, all, begin, end, out)
                       : first_extremes_of<false>(l, all, begin, end, out);
    for (int64_t line = begin; line < end; ++line) {
      const T* x = all + l.start(line, l.size);
      out[line] = p.last      ? last_extreme(x, l.size, l.inner, p.largest)
                  : p.largest ? first_extreme<true>(x, l.size, l.inner)
                              : first_extreme<false>(x, l.size, l.inner);
    }
  });
  return {};
}

std::string_view accepts_top(const Call& call) {
  if (const auto why = accepts_numbers(call); !why.empty()) return why;
  return call.in(0).rank() == 0 ? "it is a scalar" : "";
}

Result<std::shared_ptr<const void>> prepare_top(const Call& call) {
  TRY(const size_t axis, ops::normalize_axis(call.i("axis"), call.in(0).rank()));
  return std::make_shared<LinesPrepared>(
      LinesPrepared{.axis = axis, .largest = call.version() < 11 || call.i("largest") != 0});
}

int64_t top_tasks(const ViewArgs& args) {
  const Lines l = lines_of(args);
  return tasks_for(l.count(), 10.0 * static_cast<double>(l.size) + 1);
}

// The positions of a line for each task.
int64_t top_scratch(const ViewArgs& args) {
  return top_tasks(args) * lines_of(args).size * static_cast<int64_t>(sizeof(int64_t));
}

// By value, then by position: no two are equal.
template <class T>
struct Before {
  const T* x;
  int64_t step;
  bool largest;

  bool operator()(int64_t a, int64_t b) const {
    const T p = x[a * step], q = x[b * step];
    if constexpr (std::is_floating_point_v<T>) {
      const bool p_nan = p != p, q_nan = q != q;
      if (p_nan != q_nan) return largest ? p_nan : q_nan;
      if (p_nan) return a < b;
    }
    if (p == q) return a < b;
    return largest ? q < p : p < q;
  }
};

// The first k positions in order, of k that are few: one after the other takes its place among those before it.
template <class T>
void pick_few(const Before<T>& before, int64_t size, int64_t k, int64_t* order) {
  int64_t kept = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (kept == k) {
      // No number compares so: it goes on.
      const T x = before.x[i * before.step], worst = before.x[order[k - 1] * before.step];
      if (before.largest ? x <= worst : x >= worst) continue;
      if (!before(i, order[k - 1])) continue;
    } else {
      ++kept;
    }
    int64_t at = kept - 1;
    for (; at > 0 && before(i, order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
}

// Positions in order: a heap of few, or all that are wanted brought to the front first.
template <class T>
void pick_many(const Before<T>& before, int64_t size, int64_t k, int64_t* order) {
  for (int64_t i = 0; i < size; ++i) order[i] = i;
  if (k * 8 > size && k < size) std::nth_element(order, order + k, order + size, before);
  if (k * 8 > size)
    std::sort(order, order + k, before);
  else
    std::partial_sort(order, order + k, order + size, before);
}

template <class T>
void top_line(const ViewArgs& args, const Lines& l, int64_t line, int64_t* order) {
  const LinesPrepared& p = prepared_as<LinesPrepared>(args);
  const View& shaped = args.out[0] ? args.out[0] : args.out[1];
  const int64_t k = std::min(shaped.dims[p.axis], l.size), to = l.start(line, k);
  const T* x = args.in[0].as<const T>() + l.start(line, l.size);
  const Before<T> before{x, l.inner, p.largest};
  constexpr int64_t kFew = 16;
  if (k > 0 && k <= kFew)
    pick_few(before, l.size, k, order);
  else
    pick_many(before, l.size, k, order);
  for (int64_t n = 0; n < k; ++n) {
    if (args.out[0]) args.out[0].as<T>()[to + n * l.inner] = x[order[n] * l.inner];
    if (args.out.size() > 1 && args.out[1]) args.out[1].as<int64_t>()[to + n * l.inner] = order[n];
  }
}

Status run_top(const ViewArgs& args, int64_t first, int64_t last) {
  const Lines l = lines_of(args);
  const int64_t tasks = top_tasks(args);
  for (int64_t task = first; task < last; ++task) {
    const Share share = share_of(l.count(), tasks, task);
    int64_t* order = reinterpret_cast<int64_t*>(args.scratch) + task * l.size;
    visit_numbers(args.in[0].dtype, [&]<class T>(T) {
      for (int64_t line = share.first; line < share.last; ++line) top_line<T>(args, l, line, order);
    });
  }
  return {};
}

std::string_view accepts_running(const Call& call) {
  if (const auto why = accepts_numbers(call); !why.empty()) return why;
  const auto axis = ops::known_numbers(call, 1);
  return !axis || axis->size() != 1 ? "its axis is not constant" : "";
}

Result<std::shared_ptr<const void>> prepare_running(const Call& call) {
  TRY(const size_t axis, ops::normalize_axis(ops::known_numbers(call, 1)->front(), call.in(0).rank()));
  return std::make_shared<LinesPrepared>(
      LinesPrepared{.axis = axis, .exclusive = call.i("exclusive") != 0, .backwards = call.i("reverse") != 0});
}

int64_t running_tasks(const ViewArgs& args) {
  const Lines l = lines_of(args);
  return tasks_for(l.outer, static_cast<double>(l.size * l.inner) + 1);
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

// All lines of one outer place, entry by entry.
template <class T>
void running_sums(const LinesPrepared& p, const Lines& l, const T* x, T* y) {
  const auto at = [&](int64_t k) { return (p.backwards ? l.size - 1 - k : k) * l.inner; };
  for (int64_t k = 0; k < l.size; ++k) {
    T* to = y + at(k);
    const T* from = x + at(p.exclusive ? std::max<int64_t>(k - 1, 0) : k);
    const T* before = y + at(std::max<int64_t>(k - 1, 0));
    if (k > 0)
      for (int64_t i = 0; i < l.inner; ++i) to[i] = plus(before[i], from[i]);
    else
      for (int64_t i = 0; i < l.inner; ++i) to[i] = p.exclusive ? T(0) : plus(T(0), from[i]);
  }
}

Status run_running(const ViewArgs& args, int64_t first, int64_t last) {
  const Lines l = lines_of(args);
  const int64_t tasks = running_tasks(args), end = share_of(l.outer, tasks, last - 1).last;
  visit_numbers(args.in[0].dtype, [&]<class T>(T) {
    for (int64_t o = share_of(l.outer, tasks, first).first; o < end; ++o) {
      const int64_t start = o * l.size * l.inner;
      running_sums<T>(prepared_as<LinesPrepared>(args), l, args.in[0].as<const T>() + start,
                      args.out[0].as<T>() + start);
    }
  });
  return {};
}

}  // namespace

constexpr EngineKernel kArgMax = {
    .name = "lines", .accepts = accepts_numbers, .prepare = prepare_arg<true>, .tasks = arg_tasks, .run = run_arg};
constexpr EngineKernel kArgMin = {
    .name = "lines", .accepts = accepts_numbers, .prepare = prepare_arg<false>, .tasks = arg_tasks, .run = run_arg};
constexpr EngineKernel kTopK = {.name = "lines",
                                .accepts = accepts_top,
                                .prepare = prepare_top,
                                .scratch = top_scratch,
                                .tasks = top_tasks,
                                .run = run_top};
constexpr EngineKernel kCumSum = {.name = "lines",
                                  .accepts = accepts_running,
                                  .prepare = prepare_running,
                                  .tasks = running_tasks,
                                  .run = run_running};

}  // namespace anyshape::cpu
