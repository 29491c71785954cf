#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "kernels/program_scalar.h"
#include "run/cpu/simd/program_simd.h"

namespace anyshape::simd {
namespace {

constexpr int64_t kChunk = 512;  // entries worked on at a time: all registers stay in the L1 cache
constexpr int64_t kLeastRow = 64;
constexpr int kMostAxes = 24;

// The axes of the output, neighbours that every input walks in one step joined; the strides of each input along them.
struct Space {
  int rank = 0;
  int64_t size[kMostAxes];
  int64_t stride[kMostElementwiseInputs][kMostAxes];
};

int64_t stride_along(const View& v, size_t axis, size_t out_rank) {
  if (axis + v.rank() < out_rank) return 0;
  const size_t own = axis + v.rank() - out_rank;
  return v.dims[own] == 1 ? 0 : v.strides[own];
}

bool joins(const Space& s, int outer, int inner, size_t inputs) {
  for (size_t i = 0; i < inputs; ++i)
    if (s.stride[i][outer] != s.stride[i][inner] * s.size[inner]) return false;
  return true;
}

// False when there are more axes than fit.
bool make_space(std::span<const View> in, const View& out, Space& s) {
  for (size_t axis = 0; axis < out.rank(); ++axis) {
    if (out.dims[axis] == 1) continue;
    if (s.rank == kMostAxes) return false;
    const int last = s.rank++;
    s.size[last] = out.dims[axis];
    for (size_t i = 0; i < in.size(); ++i)
      s.stride[i][last] = in[i] && in[i].count() != 1 ? stride_along(in[i], axis, out.rank()) : 0;
    if (last > 0 && joins(s, last - 1, last, in.size())) {
      s.size[last - 1] *= s.size[last];
      for (size_t i = 0; i < in.size(); ++i) s.stride[i][last - 1] = s.stride[i][last];
      --s.rank;
    }
  }
  if (s.rank == 0) {
    s.rank = 1;
    s.size[0] = 1;
    for (size_t i = 0; i < in.size(); ++i) s.stride[i][0] = 0;
  }
  return true;
}

// Operands that lie dense or are one number, told apart before the loop: the compiler makes vectors of it.
template <class T, ElementOp op, class A, class B>
void loop_of_two(int64_t n, A a, B b, T* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = kernels::scalar<T>(op, a(i), b(i), T(0));
}

template <class T, ElementOp op>
void loop(int64_t n, Operand<T> a, Operand<T> b, Operand<T> c, T* out) {
  constexpr int kOperands = info_of(op).operands;
  if constexpr (std::is_integral_v<T> && kOperands == 2) {
    const auto dense = [](const T* data) { return [data](int64_t i) { return data[i]; }; };
    const auto number = [](T value) { return [value](int64_t) { return value; }; };
    if (a.step == 1 && b.step == 1) return loop_of_two<T, op>(n, dense(a.data), dense(b.data), out);
    if (a.step == 1) return loop_of_two<T, op>(n, dense(a.data), number(*b.data), out);
    if (b.step == 1) return loop_of_two<T, op>(n, number(*a.data), dense(b.data), out);
  }
  for (int64_t i = 0; i < n; ++i)
    out[i] = kernels::scalar<T>(op, a.data[i * a.step], kOperands > 1 ? b.data[i * b.step] : T(0),
                                kOperands > 2 ? c.data[i * c.step] : T(0));
}

template <class T>
using Loop = void (*)(int64_t, Operand<T>, Operand<T>, Operand<T>, T*);

template <class T, size_t... I>
constexpr std::array<Loop<T>, std::size(kElementOps)> all_loops(std::index_sequence<I...>) {
  return {loop<T, static_cast<ElementOp>(I)>...};
}

template <class T>
void run_op(ElementOp op, int64_t n, Operand<T> a, Operand<T> b, Operand<T> c, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    run_f32(op, n, a, b, c, out);
  } else {
    static constexpr auto kLoops = all_loops<T>(std::make_index_sequence<std::size(kElementOps)>());
    kLoops[static_cast<size_t>(op)](n, a, b, c, out);
  }
}

int64_t splats_of(const ElementwiseProgram& p) { return p.inputs + static_cast<int64_t>(p.constants.size()); }
int64_t operand_bytes(const ElementwiseProgram& p) { return (p.registers() * 16 + 63) / 64 * 64; }

template <class T>
class Runner {
 public:
  Runner(const ElementwisePlan& plan, std::span<const View> in, const View& out, const Space& space, std::byte* scratch)
      : plan_(plan), program_(plan.program), in_(in), out_(out), space_(space) {
    static_assert(sizeof(Operand<T>) <= 16);
    registers_ = reinterpret_cast<Operand<T>*>(scratch);
    splats_ = reinterpret_cast<T*>(scratch + operand_bytes(program_));
    copies_ = splats_ + splats_of(program_) * kSplat;
    slots_ = copies_ + (program_.inputs + 1) * kChunk;
    for (size_t i = 0; i < program_.constants.size(); ++i)
      splat(program_.inputs + static_cast<int>(i), static_cast<T>(program_.constants[i]));
    const int first = program_.inputs + static_cast<int>(program_.constants.size());
    for (size_t i = 0; i < program_.code.size(); ++i)
      registers_[first + static_cast<int>(i)] = {plan_.slot[i] < 0 ? nullptr : slots_ + plan_.slot[i] * kChunk, 1};
  }

  void run(int64_t first, int64_t last) {
    const int64_t row = space_.size[space_.rank - 1];
    if (space_.rank == 1 || row >= kLeastRow)
      by_rows(first, last, row);
    else if (short_rows_repeat() && first % row == 0)
      by_rows(first, last, row * space_.size[space_.rank - 2]);
    else
      by_chunks(first, last);
  }

 private:
  // The same entries in all rows along the last axis but one: channels, where they are blocked.
  bool repeats(size_t input) const {
    const int64_t* end = space_.stride[input] + space_.rank;
    return space_.rank > 1 && end[-1] == 1 && end[-2] == 0;
  }

  // Rows are short, whole ones fill a chunk, and each input repeats or walks on from one to the next.
  bool short_rows_repeat() const {
    const int64_t row = space_.size[space_.rank - 1];
    if (kChunk % row != 0) return false;
    for (size_t i = 0; i < in_.size(); ++i) {
      const int64_t* end = space_.stride[i] + space_.rank;
      if (in_[i] && !repeats(i) && end[-2] != end[-1] * row) return false;
    }
    return true;
  }

  // Chunks that stay within a row, so that inputs are read in place. A row may be several short ones.
  void by_rows(int64_t first, int64_t last, int64_t row) {
    const bool several = row != space_.size[space_.rank - 1];
    int64_t offsets[kMostElementwiseInputs], current = -1;
    for (int64_t at = first, n = 0; at < last; at += n) {
      const int64_t column = at % row;
      n = std::min({row - column, kChunk, last - at});
      if (at / row != current) {
        current = at / row;
        for (size_t i = 0; i < in_.size(); ++i) {
          offsets[i] = offset_of(i, at - column);
          if (in_[i] && several && repeats(i)) repeat(i, offsets[i], std::min(row, kChunk));
        }
      }
      for (size_t i = 0; i < in_.size(); ++i) {
        const int64_t stride = space_.stride[i][space_.rank - 1];
        if (in_[i] && !(several && repeats(i))) bind(static_cast<int>(i), offsets[i] + column * stride, stride, n);
      }
      execute(at, n);
    }
  }

  // Rows are short: chunks go across them, and inputs that are not laid out like the output are copied.
  void by_chunks(int64_t first, int64_t last) {
    for (int64_t at = first, n = 0; at < last; at += n) {
      n = std::min(kChunk, last - at);
      for (size_t i = 0; i < in_.size(); ++i) {
        if (!in_[i]) continue;
        if (walks_like_output(i))
          bind(static_cast<int>(i), at, 1, n);
        else if (in_[i].count() == 1)
          bind(static_cast<int>(i), 0, 0, n);
        else
          gather(static_cast<int>(i), at, n);
      }
      execute(at, n);
    }
  }

  bool walks_like_output(size_t input) const {
    int64_t step = 1;
    for (int axis = space_.rank; axis-- > 0; step *= space_.size[axis])
      if (space_.stride[input][axis] != step) return false;
    return true;
  }

  int64_t offset_of(size_t input, int64_t at) const {
    int64_t offset = 0;
    for (int axis = space_.rank; axis-- > 0; at /= space_.size[axis])
      offset += at % space_.size[axis] * space_.stride[input][axis];
    return offset;
  }

  T read(const View& v, int64_t at) const {
    return v.dtype == DType::boolean ? static_cast<T>(v.as<const uint8_t>()[at] != 0) : v.as<const T>()[at];
  }

  void splat(int reg, T value) {
    T* to = splats_ + reg * kSplat;
    std::fill_n(to, kSplat, value);
    registers_[reg] = {to, 0};
  }

  void bind(int input, int64_t at, int64_t stride, int64_t n) {
    const View& v = in_[static_cast<size_t>(input)];
    if (stride == 0) return splat(input, read(v, at));
    if (stride == 1 && v.dtype != DType::boolean) {
      registers_[input] = {v.as<const T>() + at, 1};
      return;
    }
    T* to = copies_ + input * kChunk;
    copy(v, at, stride, n, to);
    registers_[input] = {to, 1};
  }

  void copy(const View& v, int64_t at, int64_t stride, int64_t n, T* to) const {
    if (v.dtype == DType::boolean) {
      const uint8_t* from = v.as<const uint8_t>() + at;
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i * stride] != 0);
      return;
    }
    const T* from = v.as<const T>() + at;
    if (stride == 0)
      std::fill_n(to, n, *from);
    else if (stride == 1)
      std::copy_n(from, n, to);
    else
      for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }

  // n entries, a short row again and again.
  void repeat(size_t input, int64_t at, int64_t n) {
    const int64_t row = space_.size[space_.rank - 1];
    T* to = copies_ + static_cast<int64_t>(input) * kChunk;
    registers_[input] = {to, 1};
    copy(in_[input], at, 1, row, to);
    for (int64_t made = row, more = 0; made < n; made += more) {
      more = std::min(made, n - made);
      std::copy_n(to, more, to + made);
    }
  }

  void gather(int input, int64_t at, int64_t n) {
    const int64_t* strides = space_.stride[input];
    const int inner = space_.rank - 1;
    T* to = copies_ + input * kChunk;
    registers_[input] = {to, 1};
    int64_t index[kMostAxes], offset = 0, rest = at;
    for (int axis = space_.rank; axis-- > 0; rest /= space_.size[axis]) {
      index[axis] = rest % space_.size[axis];
      offset += index[axis] * strides[axis];
    }
    while (n > 0) {
      const int64_t run = std::min(n, space_.size[inner] - index[inner]);
      copy(in_[static_cast<size_t>(input)], offset, strides[inner], run, to);
      to += run;
      n -= run;
      offset -= index[inner] * strides[inner];
      index[inner] = 0;
      for (int axis = inner; axis-- > 0;) {
        offset += strides[axis];
        if (++index[axis] < space_.size[axis]) break;
        offset -= strides[axis] * index[axis];
        index[axis] = 0;
      }
    }
  }

  void execute(int64_t at, int64_t n) {
    const bool to_bool = out_.dtype == DType::boolean;
    T* result = to_bool ? copies_ + program_.inputs * kChunk : out_.as<T>() + at;
    for (size_t i = 0; i < program_.code.size(); ++i) {
      const auto& instruction = program_.code[i];
      T* to = plan_.slot[i] < 0 ? result : slots_ + plan_.slot[i] * kChunk;
      run_op<T>(instruction.op, n, registers_[instruction.a], registers_[instruction.b], registers_[instruction.c], to);
    }
    if (!to_bool) return;
    uint8_t* bytes = out_.as<uint8_t>() + at;
    for (int64_t i = 0; i < n; ++i) bytes[i] = result[i] != T(0);
  }

  const ElementwisePlan& plan_;
  const ElementwiseProgram& program_;
  std::span<const View> in_;
  const View& out_;
  const Space& space_;
  Operand<T>* registers_;
  T *splats_, *copies_, *slots_;
};

}  // namespace

int64_t elementwise_scratch(const ElementwisePlan& plan) {
  const ElementwiseProgram& p = plan.program;
  return operand_bytes(p) +
         static_cast<int64_t>(sizeof(double)) * (splats_of(p) * kSplat + (p.inputs + 1 + plan.slots) * kChunk);
}

Status run_elementwise(const ElementwisePlan& plan, DType type, std::span<const View> in, const View& out,
                       int64_t first, int64_t last, std::byte* scratch) {
  Space space;
  in = in.first(std::min(in.size(), static_cast<size_t>(plan.program.inputs)));
  if (!make_space(in, out, space)) return unknown("kernel.rank", "more than {} axes", kMostAxes);
  if (first >= last) return {};
  switch (type) {
    case DType::f32:
      Runner<float>(plan, in, out, space, scratch).run(first, last);
      return {};
    case DType::f64:
      Runner<double>(plan, in, out, space, scratch).run(first, last);
      return {};
    case DType::i32:
      Runner<int32_t>(plan, in, out, space, scratch).run(first, last);
      return {};
    case DType::i64:
      Runner<int64_t>(plan, in, out, space, scratch).run(first, last);
      return {};
    default:
      return unknown("dtype", "no kernel for elements of type {}", name(type));
  }
}

}  // namespace anyshape::simd
