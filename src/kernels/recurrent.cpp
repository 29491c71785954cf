#include "kernels/recurrent.h"

#include <algorithm>
#include <cmath>

#include "base/temporary.h"
#include "kernels/multiply.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

struct Sizes {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 0;
  bool batch_first = false;

  int64_t x(int64_t t, int64_t b) const { return (batch_first ? b * steps + t : t * batch + b) * input; }
  int64_t y(int64_t t, int64_t d, int64_t b) const {
    return (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
  int64_t state(int64_t d, int64_t b) const { return (batch_first ? b * directions + d : d * batch + b) * hidden; }
};

Result<Sizes> sizes_of(const Recurrent& layer, const RecurrentInputs& in, const RecurrentOutputs& out) {
  TRY_OK(require_one_type(
      {&in.x, &in.w, &in.r, &in.bias, &in.initial_h, &in.initial_c, &in.peepholes, &out.y, &out.h, &out.c}));
  const auto misfit = [] { return refuse("kernel.shape", "the tensors of a recurrent layer do not fit each other"); };
  if (in.x.rank() != 3 || in.w.rank() != 3 || in.r.rank() != 3) return misfit();
  Sizes s{.batch_first = layer.batch_first};
  s.steps = in.x.dims()[layer.batch_first ? 1 : 0];
  s.batch = in.x.dims()[layer.batch_first ? 0 : 1];
  s.input = in.x.dims()[2];
  s.hidden = in.r.dims()[2];
  s.directions = static_cast<int64_t>(layer.reverse.size());
  const int64_t rows = layer.gates() * s.hidden, state = s.directions * s.batch * s.hidden;
  const auto is = [](const Tensor& t, int64_t count) { return !t || t.count() == count; };
  if (!is(in.w, s.directions * rows * s.input) || !is(in.r, s.directions * rows * s.hidden) ||
      !is(in.bias, s.directions * rows * 2) || !is(in.initial_h, state) || !is(in.initial_c, state) ||
      !is(in.peepholes, s.directions * s.hidden * 3) || !is(in.lengths, s.batch) || !is(out.y, state * s.steps) ||
      !is(out.h, state) || !is(out.c, state) ||
      layer.activations.size() != static_cast<size_t>(s.directions) * layer.functions())
    return misfit();
  return s;
}

Result<Temporary<int64_t>> lengths_of(const Sizes& s, const Tensor& lengths) {
  Temporary<int64_t> out(static_cast<size_t>(s.batch), s.steps);
  if (!lengths) return out;
  if (!is_integer(lengths.dtype())) return unknown("dtype", "no lengths of type {}", name(lengths.dtype()));
  for (size_t b = 0; b < out.size(); ++b) {
    out[b] = lengths.int_at(static_cast<int64_t>(b));
    if (out[b] < 0 || out[b] > s.steps)
      return refuse("rnn.sequence_lens", "sequence {} has {} steps, at most {} are there", b, out[b], s.steps);
  }
  return out;
}

// One direction of a layer: weights transposed once, states in double.
template <class T>
class Pass {
 public:
  Pass(const Recurrent& layer, const Sizes& s, const RecurrentInputs& in, int64_t direction)
      : layer_(layer), s_(s), direction_(direction), width_(layer.gates() * s.hidden) {
    w_ = transposed(in.w.as<T>().data() + direction * width_ * s.input, width_, s.input);
    r_ = transposed(in.r.as<T>().data() + direction * width_ * s.hidden, width_, s.hidden);
    if (in.bias) bias_ = in.bias.as<T>().data() + direction * 2 * width_;
    if (in.peepholes) peepholes_ = in.peepholes.as<T>().data() + direction * 3 * s.hidden;
    f_ = layer.activations.data() + static_cast<size_t>(direction) * layer.functions();
    const auto count = static_cast<size_t>(s.batch * s.hidden);
    h_ = initial(in.initial_h, count);
    c_ = initial(in.initial_c, count);
    x_.resize(static_cast<size_t>(s.batch * s.input));
    from_x_.resize(static_cast<size_t>(s.batch * width_));
    from_h_.resize(from_x_.size());
    reset_.resize(count);
  }

  void run(const Tensor& x, std::span<const int64_t> lengths, RecurrentOutputs& out) {
    const bool reverse = layer_.reverse[static_cast<size_t>(direction_)];
    for (int64_t step = 0; step < s_.steps; ++step) {
      const auto time = [&](int64_t b) {
        const int64_t length = lengths[static_cast<size_t>(b)];
        return step >= length ? -1 : reverse ? length - 1 - step : step;
      };
      for (int64_t b = 0; b < s_.batch; ++b)
        if (const int64_t t = time(b); t >= 0)
          std::copy_n(x.as<T>().data() + s_.x(t, b), s_.input, x_.data() + b * s_.input);
      products();
      for (int64_t b = 0; b < s_.batch; ++b)
        if (const int64_t t = time(b); t >= 0)
          advance(b, out.y ? out.y.as_mutable<T>().data() + s_.y(t, direction_, b) : nullptr);
    }
    for (int64_t b = 0; b < s_.batch; ++b)
      if (lengths[static_cast<size_t>(b)] == 0) {
        std::fill_n(h_.begin() + b * s_.hidden, s_.hidden, 0.0);
        std::fill_n(c_.begin() + b * s_.hidden, s_.hidden, 0.0);
      }
    store(h_, out.h);
    store(c_, out.c);
  }

 private:
  static Temporary<T> transposed(const T* from, int64_t rows, int64_t columns) {
    Temporary<T> out(static_cast<size_t>(rows * columns));
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) out[static_cast<size_t>(j * rows + i)] = from[i * columns + j];
    return out;
  }

  Temporary<double> initial(const Tensor& given, size_t count) const {
    Temporary<double> out(count);
    if (given)
      for (int64_t b = 0; b < s_.batch; ++b)
        std::copy_n(given.as<T>().data() + s_.state(direction_, b), s_.hidden, out.begin() + b * s_.hidden);
    return out;
  }

  void store(const Temporary<double>& state, Tensor& to) const {
    if (!to) return;
    for (int64_t b = 0; b < s_.batch; ++b)
      for (int64_t i = 0; i < s_.hidden; ++i)
        to.as_mutable<T>()[static_cast<size_t>(s_.state(direction_, b) + i)] =
            static_cast<T>(state[static_cast<size_t>(b * s_.hidden + i)]);
  }

  double bias(int64_t i) const { return bias_ ? static_cast<double>(bias_[i]) : 0.0; }
  double clipped(double x) const { return layer_.clip ? std::clamp(x, -*layer_.clip, *layer_.clip) : x; }
  double apply(size_t function, double x) const { return f_[function](clipped(x)); }

  // x W^T + Wb and h R^T + Rb for all sequences.
  void products() {
    for (int64_t b = 0; b < s_.batch; ++b)
      for (int64_t i = 0; i < width_; ++i) {
        from_x_[static_cast<size_t>(b * width_ + i)] = bias(i);
        from_h_[static_cast<size_t>(b * width_ + i)] = bias(width_ + i);
      }
    multiply_add(Matrix<T>{x_.data(), s_.input, 1}, Matrix<T>{w_.data(), width_, 1}, s_.batch, width_, s_.input,
                 from_x_.data());
    multiply_add(Matrix<double>{h_.data(), s_.hidden, 1}, Matrix<T>{r_.data(), width_, 1}, s_.batch, width_, s_.hidden,
                 from_h_.data());
  }

  void advance(int64_t b, T* y) {
    const double *from_x = from_x_.data() + b * width_, *from_h = from_h_.data() + b * width_;
    double *h = h_.data() + b * s_.hidden, *c = c_.data() + b * s_.hidden;
    if (layer_.cell == Recurrent::Cell::rnn)
      for (int64_t i = 0; i < s_.hidden; ++i) h[i] = apply(0, from_x[i] + from_h[i]);
    else if (layer_.cell == Recurrent::Cell::gru)
      advance_gru(from_x, from_h, h);
    else
      advance_lstm(from_x, from_h, h, c);
    if (y)
      for (int64_t i = 0; i < s_.hidden; ++i) y[i] = static_cast<T>(h[i]);
  }

  // Gates in the order update, reset, hidden.
  void advance_gru(const double* from_x, const double* from_h, double* h) {
    const int64_t n = s_.hidden;
    for (int64_t i = 0; i < n; ++i) reset_[static_cast<size_t>(i)] = apply(0, from_x[n + i] + from_h[n + i]);
    Temporary<double> candidate(from_h + 2 * n, from_h + 3 * n);
    if (layer_.linear_before_reset) {
      for (int64_t i = 0; i < n; ++i) candidate[static_cast<size_t>(i)] *= reset_[static_cast<size_t>(i)];
    } else {
      for (int64_t i = 0; i < n; ++i) {
        reset_[static_cast<size_t>(i)] *= h[i];
        candidate[static_cast<size_t>(i)] = bias(width_ + 2 * n + i);
      }
      multiply_add(Matrix<double>{reset_.data(), n, 1}, Matrix<T>{r_.data() + 2 * n, width_, 1}, 1, n, n,
                   candidate.data());
    }
    for (int64_t i = 0; i < n; ++i) {
      const double update = apply(0, from_x[i] + from_h[i]);
      const double fresh = apply(1, from_x[2 * n + i] + candidate[static_cast<size_t>(i)]);
      h[i] = (1 - update) * fresh + update * h[i];
    }
  }

  // Gates in the order input, output, forget, cell; peepholes input, output, forget.
  void advance_lstm(const double* from_x, const double* from_h, double* h, double* c) {
    const int64_t n = s_.hidden;
    const auto gate = [&](int64_t k, int64_t i) { return from_x[k * n + i] + from_h[k * n + i]; };
    const auto peep = [&](int64_t k, int64_t i, double cell) {
      return peepholes_ ? static_cast<double>(peepholes_[k * n + i]) * cell : 0.0;
    };
    for (int64_t i = 0; i < n; ++i) {
      const double input = apply(0, gate(0, i) + peep(0, i, c[i]));
      const double forget = layer_.input_forget ? 1 - input : apply(0, gate(2, i) + peep(2, i, c[i]));
      c[i] = forget * c[i] + input * apply(1, gate(3, i));
      h[i] = apply(0, gate(1, i) + peep(1, i, c[i])) * f_[2](c[i]);
    }
  }

  const Recurrent& layer_;
  const Sizes& s_;
  int64_t direction_, width_;
  Temporary<T> w_, r_, x_;
  const T *bias_ = nullptr, *peepholes_ = nullptr;
  const Activation* f_ = nullptr;
  Temporary<double> h_, c_, from_x_, from_h_, reset_;
};

}  // namespace

Status recurrent(const Recurrent& layer, const RecurrentInputs& in, RecurrentOutputs& out) {
  TRY(const Sizes s, sizes_of(layer, in, out));
  TRY(const Temporary<int64_t> lengths, lengths_of(s, in.lengths));
  return visit_real(in.x.dtype(), [&]<class T>(T) -> Status {
    for (int64_t d = 0; d < s.directions; ++d) Pass<T>(layer, s, in, d).run(in.x, lengths, out);
    return {};
  });
}

}  // namespace anyshape::kernels
