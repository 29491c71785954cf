#include <cmath>

#include "base/temporary.h"
#include "kernels/attention.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

struct Steps {
  int64_t batch, steps, keys, values, shared;
};

// The state of one key head, and its steps.
template <class T>
class Line {
 public:
  Line(const LinearAttention& attention, const LinearAttentionInputs& in, const Steps& s, int64_t b, int64_t h)
      : attention_(attention), in_(in), s_(s), b_(b), h_(h) {
    state_.resize(static_cast<size_t>(s.keys * s.values));
    if (in.past)
      std::copy_n(in.past.as<T>().data() + (b * attention.kv_heads + h) * s.keys * s.values, state_.size(),
                  state_.begin());
  }

  void run(Tensor& out, Tensor& present) {
    Temporary<double> value(static_cast<size_t>(s_.values));
    for (int64_t t = 0; t < s_.steps; ++t) {
      const int64_t row = b_ * s_.steps + t;
      const T* key = in_.key.as<T>().data() + (row * attention_.kv_heads + h_) * s_.keys;
      const T* raw = in_.value.as<T>().data() + (row * attention_.kv_heads + h_) * s_.values;
      std::copy_n(raw, s_.values, value.begin());
      decay(row);
      if (in_.beta) correct(row, key, value);
      for (int64_t i = 0; i < s_.keys; ++i)
        for (int64_t j = 0; j < s_.values; ++j)
          state(i, j) += static_cast<double>(key[i]) * value[static_cast<size_t>(j)];
      read(row, out);
    }
    if (!present) return;
    T* to = present.as_mutable<T>().data() + (b_ * attention_.kv_heads + h_) * s_.keys * s_.values;
    for (double entry : state_) *to++ = static_cast<T>(entry);
  }

 private:
  double& state(int64_t i, int64_t j) { return state_[static_cast<size_t>(i * s_.values + j)]; }

  void decay(int64_t row) {
    if (!in_.decay) return;
    const int64_t width = in_.decay.dims()[2];
    const bool per_head = width == attention_.kv_heads;
    for (int64_t i = 0; i < s_.keys; ++i) {
      const int64_t at = row * width + (per_head ? h_ : h_ * s_.keys + i);
      const double factor = std::exp(static_cast<double>(in_.decay.as<T>()[static_cast<size_t>(at)]));
      for (int64_t j = 0; j < s_.values; ++j) state(i, j) *= factor;
    }
  }

  void correct(int64_t row, const T* key, Temporary<double>& value) {
    const int64_t width = in_.beta.dims()[2];
    const auto beta = static_cast<double>(in_.beta.as<T>()[static_cast<size_t>(row * width + (width == 1 ? 0 : h_))]);
    for (int64_t j = 0; j < s_.values; ++j) {
      double held = 0;
      for (int64_t i = 0; i < s_.keys; ++i) held += state(i, j) * static_cast<double>(key[i]);
      value[static_cast<size_t>(j)] = beta * (value[static_cast<size_t>(j)] - held);
    }
  }

  void read(int64_t row, Tensor& out) {
    for (int64_t shared = 0; shared < s_.shared; ++shared) {
      const int64_t head = row * attention_.q_heads + h_ * s_.shared + shared;
      const T* query = in_.query.as<T>().data() + head * s_.keys;
      T* to = out.as_mutable<T>().data() + head * s_.values;
      for (int64_t j = 0; j < s_.values; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < s_.keys; ++i) sum += static_cast<double>(query[i]) * state(i, j);
        to[j] = static_cast<T>(attention_.scale * sum);
      }
    }
  }

  const LinearAttention& attention_;
  const LinearAttentionInputs& in_;
  const Steps& s_;
  int64_t b_, h_;
  Temporary<double> state_;
};

Result<Steps> steps_of(const LinearAttention& a, const LinearAttentionInputs& in, const Tensor& out) {
  const auto misfit = [] { return refuse("kernel.shape", "the tensors of an attention do not fit each other"); };
  if (in.query.rank() != 3 || in.key.rank() != 3 || in.value.rank() != 3 || a.kv_heads < 1 || a.q_heads < 1 ||
      a.q_heads % a.kv_heads != 0)
    return misfit();
  const auto& d = in.query.dims();
  const Steps s{d[0], d[1], d[2] / a.q_heads, in.value.dims()[2] / a.kv_heads, a.q_heads / a.kv_heads};
  const int64_t rows = s.batch * s.steps, keys = rows * a.kv_heads * s.keys, values = rows * a.kv_heads * s.values;
  const auto gate = [&](const Tensor& t, int64_t wide, int64_t narrow) {
    return !t || (t.rank() == 3 && t.count() == rows * t.dims()[2] && (t.dims()[2] == wide || t.dims()[2] == narrow));
  };
  if (in.query.count() != rows * a.q_heads * s.keys || in.key.count() != keys || in.value.count() != values ||
      out.count() != rows * a.q_heads * s.values || !gate(in.decay, a.kv_heads * s.keys, a.kv_heads) ||
      !gate(in.beta, a.kv_heads, 1) || (in.past && in.past.count() != s.batch * a.kv_heads * s.keys * s.values))
    return misfit();
  return s;
}

}  // namespace

Status linear_attention(const LinearAttention& attention, const LinearAttentionInputs& in, Tensor& out,
                        Tensor& present) {
  TRY_OK(require_one_type({&in.query, &in.key, &in.value, &in.past, &in.decay, &in.beta, &out, &present}));
  TRY(const Steps s, steps_of(attention, in, out));
  return visit_real(out.dtype(), [&]<class T>(T) -> Status {
    for (int64_t b = 0; b < s.batch; ++b)
      for (int64_t h = 0; h < attention.kv_heads; ++h) Line<T>(attention, in, s, b, h).run(out, present);
    return {};
  });
}

Status rotary_embedding(const Rotary& rotary, const Tensor& x, const Tensor& cos, const Tensor& sin,
                        const Tensor& positions, Tensor& out) {
  TRY_OK(require_one_type({&x, &cos, &sin, &out}));
  const auto& d = x.dims();
  const int64_t half = rotary.rotated / 2;
  if (d.size() != 4 || out.count() != x.count() || rotary.rotated < 0 || rotary.rotated > d[3] ||
      cos.count() != sin.count() || (positions ? positions.count() != d[0] * d[2] : cos.count() != d[0] * d[2] * half))
    return refuse("kernel.shape", "the tensors of a rotation do not fit each other");
  const int64_t rows = half == 0 ? 0 : cos.count() / half;
  return visit_real(x.dtype(), [&]<class T>(T) -> Status {
    for (int64_t line = 0; line < d[0] * d[1] * d[2]; ++line) {
      const int64_t token = line / (d[1] * d[2]) * d[2] + line % d[2];
      const int64_t row = positions ? positions.int_at(token) : token;
      if (half > 0 && (row < 0 || row >= rows))
        return refuse("rotary.positions", "position {} is not in 0..{}", row, rows - 1);
      const T* from = x.as<T>().data() + line * d[3];
      T* to = out.as_mutable<T>().data() + line * d[3];
      std::copy_n(from, d[3], to);
      for (int64_t i = 0; i < half; ++i) {
        const int64_t a = rotary.interleaved ? 2 * i : i, b = rotary.interleaved ? 2 * i + 1 : i + half;
        const double c = static_cast<double>(cos.as<T>()[static_cast<size_t>(row * half + i)]);
        const double s = static_cast<double>(sin.as<T>()[static_cast<size_t>(row * half + i)]);
        const double real = static_cast<double>(from[a]), imaginary = static_cast<double>(from[b]);
        to[a] = static_cast<T>(c * real - s * imaginary);
        to[b] = static_cast<T>(s * real + c * imaginary);
      }
    }
    return {};
  });
}

}  // namespace anyshape::kernels
