#include "kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/temporary.h"
#include "kernels/copy.h"
#include "kernels/elementwise.h"
#include "kernels/multiply.h"
#include "kernels/wide.h"

namespace anyshape::kernels {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t batch = 0, heads = 0, shared = 1, queries = 0, keys = 0, size = 0;
};

// `q` and `k` with equal last axes; `shared` query heads use one key head.
Result<Sizes> sizes_of(const Tensor& q, const Tensor& k) {
  const auto misfit = [] { return refuse("kernel.shape", "the tensors of an attention do not fit each other"); };
  if (q.rank() != 4 || k.rank() != 4) return misfit();
  const auto &dq = q.dims(), &dk = k.dims();
  if (dq[0] != dk[0] || dq[3] != dk[3] || dk[1] < 1 || dq[1] % dk[1] != 0) return misfit();
  return Sizes{dq[0], dq[1], dq[1] / dk[1], dq[2], dk[2], dq[3]};
}

Status require_dims(const Tensor& tensor, std::initializer_list<int64_t> dims) {
  if (tensor && !std::ranges::equal(tensor.dims(), dims))
    return refuse("kernel.shape", "the tensors of an attention do not fit each other");
  return {};
}

// out[i * keys + j] = scale * q_i k_j of one head.
template <class T>
void head_scores(const Sizes& s, double scale, const Tensor& q, const Tensor& k, int64_t head, Temporary<double>& out) {
  std::fill(out.begin(), out.end(), 0.0);
  multiply_add(Matrix<T>{q.as<T>().data() + head * s.queries * s.size, s.size, 1},
               Matrix<T>{k.as<T>().data() + head / s.shared * s.keys * s.size, 1, s.size}, s.queries, s.keys, s.size,
               out.data());
  for (double& score : out) score *= scale;
}

template <class T>
void head_values(const Sizes& s, const double* weights, const Tensor& v, int64_t head, Tensor& y) {
  const int64_t width = v.dims()[3];
  Temporary<double> sums(static_cast<size_t>(s.queries * width));
  multiply_add(Matrix<double>{weights, s.keys, 1},
               Matrix<T>{v.as<T>().data() + head / s.shared * s.keys * width, width, 1}, s.queries, width, s.keys,
               sums.data());
  T* to = y.as_mutable<T>().data() + head * s.queries * width;
  for (double sum : sums) *to++ = static_cast<T>(sum);
}

void round_all(DType storage, Temporary<double>& values) {
  if (storage != DType::f16 && storage != DType::bf16) return;
  for (double& value : values) value = rounded(storage, value);
}

// The tensor times the rounded factor, rounded.
Result<Tensor> scaled(const Tensor& tensor, double factor, DType storage) {
  TRY(Tensor out, Tensor::allocate(tensor.dtype(), tensor.dims()));
  TRY_OK(visit_real(tensor.dtype(), [&]<class T>(T) -> Status {
    auto to = out.as_mutable<T>();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<T>(rounded(storage, static_cast<double>(tensor.as<T>()[i]) * rounded(storage, factor)));
    return {};
  }));
  return out;
}

// What is added to the scores.
class Bias {
 public:
  static Result<Bias> make(const Attention& attention, const AttentionInputs& in, const Sizes& s) {
    Bias bias(attention, in, s);
    if (in.lengths && (in.lengths.count() != s.batch || !is_integer(in.lengths.dtype())))
      return refuse("kernel.shape", "one number of keys per batch is needed");
    if (!in.mask) return bias;
    bias.covered_ = in.mask.rank() > 0 && attention.short_mask ? in.mask.dims().back() : s.keys;
    Temporary<int64_t> covered{s.batch, s.heads, s.queries, bias.covered_};
    if (bias.covered_ > s.keys || !broadcasts(in.mask.dims(), covered))
      return refuse("kernel.shape", "the mask does not broadcast to the scores");
    TRY(bias.mask_, converted(in.mask, DType::f64));
    if (in.mask.dtype() == DType::boolean)
      for (double& entry : bias.mask_.as_mutable<double>()) entry = entry == 0 ? kMasked : 0;
    int64_t step = 1;
    for (size_t i = 0; i < in.mask.rank(); ++i) {
      const int64_t size = in.mask.dims()[in.mask.rank() - 1 - i];
      bias.strides_[3 - i] = size == 1 ? 0 : step;
      step *= size;
    }
    return bias;
  }

  // The bias of one query to all keys.
  void row(int64_t head, int64_t query, Temporary<double>& out) const {
    const int64_t batch = head / s_.heads, length = in_.lengths ? in_.lengths.int_at(batch) : s_.keys;
    const int64_t offset = in_.lengths ? length - s_.queries : attention_.past, place = query + offset;
    const int64_t base = batch * strides_[0] + head % s_.heads * strides_[1] + query * strides_[2];
    for (int64_t key = 0; key < s_.keys; ++key) {
      const bool masked = key >= length || key >= covered_ || (attention_.causal && key > place) ||
                          (attention_.left >= 0 && key < place - attention_.left) ||
                          (attention_.right >= 0 && key - attention_.right > place);
      const double own = mask_ && !masked ? mask_.as<double>()[static_cast<size_t>(base + key * strides_[3])] : 0;
      out[static_cast<size_t>(key)] = masked ? kMasked : own;
    }
  }

 private:
  Bias(const Attention& attention, const AttentionInputs& in, const Sizes& s)
      : attention_(attention), in_(in), s_(s), covered_(s.keys) {}

  const Attention& attention_;
  const AttentionInputs& in_;
  const Sizes& s_;
  Tensor mask_;
  int64_t covered_;
  int64_t strides_[4] = {0, 0, 0, 0};
};

// The softmax of one row, in place; a row whose bias masks all of it becomes 0.
void soften(DType storage, double* scores, const Temporary<double>& bias) {
  double top = kMasked, sum = 0;
  bool all_masked = true;
  for (size_t i = 0; i < bias.size(); ++i) {
    all_masked &= bias[i] == kMasked;
    top = scores[i] > top || std::isnan(scores[i]) ? scores[i] : top;
  }
  for (size_t i = 0; i < bias.size(); ++i) {
    const double below = rounded(storage, scores[i] - top);
    scores[i] = top == kMasked ? 0 : rounded(storage, std::exp(below));
    sum = rounded_sum(storage, sum + scores[i]);
  }
  sum = rounded(storage, sum);
  for (size_t i = 0; i < bias.size(); ++i) scores[i] = all_masked || sum == 0 ? 0 : scores[i] / sum;
}

template <class T>
void keep(const Temporary<double>& values, int64_t head, Tensor& scores) {
  T* to = scores.as_mutable<T>().data() + head * static_cast<int64_t>(values.size());
  for (double value : values) *to++ = static_cast<T>(value);
}

template <class T>
void run_attention(const Attention& attention, const AttentionInputs& in, const Sizes& s, const Bias& bias, Tensor& y,
                   Tensor& scores) {
  Temporary<double> all(static_cast<size_t>(s.queries * s.keys)), row(static_cast<size_t>(s.keys));
  const auto wants = [&](Attention::Scores stage) { return scores && attention.scores == stage; };
  for (int64_t head = 0; head < s.batch * s.heads; ++head) {
    head_scores<T>(s, attention.scale, in.q, in.k, head, all);
    round_all(attention.storage, all);
    if (wants(Attention::Scores::raw)) keep<T>(all, head, scores);
    if (attention.softcap > 0)
      for (double& score : all) score = attention.softcap * std::tanh(score / attention.softcap);
    round_all(attention.storage, all);
    if (wants(Attention::Scores::capped)) keep<T>(all, head, scores);
    for (int64_t query = 0; query < s.queries; ++query) {
      bias.row(head, query, row);
      for (int64_t key = 0; key < s.keys; ++key)
        all[static_cast<size_t>(query * s.keys + key)] += row[static_cast<size_t>(key)];
    }
    round_all(attention.storage, all);
    if (wants(Attention::Scores::masked)) keep<T>(all, head, scores);
    for (int64_t query = 0; query < s.queries; ++query) {
      bias.row(head, query, row);
      soften(attention.softmax, all.data() + query * s.keys, row);
    }
    round_all(attention.storage, all);
    if (wants(Attention::Scores::softmax)) keep<T>(all, head, scores);
    head_values<T>(s, all.data(), in.v, head, y);
  }
}

}  // namespace

Status attention(Attention attention, AttentionInputs in, Tensor& y, Tensor& scores) {
  TRY_OK(require_one_type({&in.q, &in.k, &in.v, &y, &scores}));
  TRY(const Sizes s, sizes_of(in.q, in.k));
  if (in.v.rank() != 4) return refuse("kernel.shape", "the tensors of an attention do not fit each other");
  TRY_OK(require_dims(in.v, {s.batch, s.heads / s.shared, s.keys, in.v.dims()[3]}));
  TRY_OK(require_dims(y, {s.batch, s.heads, s.queries, in.v.dims()[3]}));
  TRY_OK(require_dims(scores, {s.batch, s.heads, s.queries, s.keys}));
  if (attention.storage == DType::f16 || attention.storage == DType::bf16) {
    TRY(in.q, scaled(in.q, std::sqrt(attention.scale), attention.storage));
    TRY(in.k, scaled(in.k, std::sqrt(attention.scale), attention.storage));
    attention.scale = 1;
  }
  TRY(const Bias bias, Bias::make(attention, in, s));
  return visit_real(y.dtype(), [&]<class T>(T) -> Status {
    run_attention<T>(attention, in, s, bias, y, scores);
    return {};
  });
}

Status attention_scores(double scale, const Tensor& q, const Tensor& k, Tensor& scores) {
  TRY_OK(require_one_type({&q, &k, &scores}));
  TRY(const Sizes s, sizes_of(q, k));
  TRY_OK(require_dims(scores, {s.batch, s.heads, s.queries, s.keys}));
  return visit_real(scores.dtype(), [&]<class T>(T) -> Status {
    Temporary<double> all(static_cast<size_t>(s.queries * s.keys));
    for (int64_t head = 0; head < s.batch * s.heads; ++head) {
      head_scores<T>(s, scale, q, k, head, all);
      keep<T>(all, head, scores);
    }
    return {};
  });
}

Status attention_values(const Tensor& weights, const Tensor& v, Tensor& y) {
  TRY_OK(require_one_type({&weights, &v, &y}));
  if (weights.rank() != 4 || v.rank() != 4 || v.dims()[1] < 1 || weights.dims()[1] % v.dims()[1] != 0)
    return refuse("kernel.shape", "the tensors of an attention do not fit each other");
  const auto& d = weights.dims();
  const Sizes s{d[0], d[1], d[1] / v.dims()[1], d[2], d[3], 0};
  TRY_OK(require_dims(v, {s.batch, s.heads / s.shared, s.keys, v.dims()[3]}));
  TRY_OK(require_dims(y, {s.batch, s.heads, s.queries, v.dims()[3]}));
  return visit_real(y.dtype(), [&]<class T>(T) -> Status {
    const auto from = weights.as<T>();
    const auto plane = static_cast<ptrdiff_t>(s.queries * s.keys);
    for (int64_t head = 0; head < s.batch * s.heads; ++head) {
      const Temporary<double> wide(from.begin() + head * plane, from.begin() + (head + 1) * plane);
      head_values<T>(s, wide.data(), v, head, y);
    }
    return {};
  });
}

Result<Tensor> split_heads(const Tensor& packed, int64_t heads) {
  if (packed.rank() != 3 || heads < 1 || packed.dims()[2] % heads != 0)
    return refuse("kernel.shape", "the last axis does not split into {} heads", heads);
  const int64_t batch = packed.dims()[0], length = packed.dims()[1], size = packed.dims()[2] / heads;
  TRY(Tensor out, Tensor::allocate(packed.dtype(), {batch, heads, length, size}));
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < length; ++i)
        copy_elements(out, ((b * heads + h) * length + i) * size, packed, ((b * length + i) * heads + h) * size, size);
  return out;
}

Status merge_heads(const Tensor& split, Tensor& packed) {
  if (split.rank() != 4 || packed.count() != split.count() || packed.dtype() != split.dtype())
    return refuse("kernel.shape", "the heads do not fit the output");
  const auto& d = split.dims();
  for (int64_t b = 0; b < d[0]; ++b)
    for (int64_t h = 0; h < d[1]; ++h)
      for (int64_t i = 0; i < d[2]; ++i)
        copy_elements(packed, ((b * d[2] + i) * d[1] + h) * d[3], split, ((b * d[1] + h) * d[2] + i) * d[3], d[3]);
  return {};
}

}  // namespace anyshape::kernels
