#include <algorithm>

#include "kernels/reals.h"
#include "ops/ml/common.h"

namespace anyshape::ops {

Result<FeatureRows> feature_rows(const Tensor& x) {
  FeatureRows rows;
  if (x.rank() != 1 && x.rank() != 2) return refuse("rank", "rows of features are needed");
  rows.count = x.rank() == 2 ? static_cast<size_t>(x.dims()[0]) : 1;
  rows.features = static_cast<size_t>(x.dims().back());
  TRY(rows.values, kernels::to_reals(x));
  if (is_integer(x.dtype()))
    for (double& value : rows.values) value = static_cast<double>(static_cast<float>(value));
  return rows;
}

void write_label(const Call& call, std::string_view ints, std::string_view strings, size_t index, Tensor& out,
                 int64_t i) {
  const auto* numbers = call.ints(ints);
  const auto* names = call.strings(strings);
  if (out.dtype() == DType::string && names && index < names->size())
    out.put_string(i, (*names)[index]);
  else if (out.dtype() != DType::string)
    out.set_int(i, numbers && index < numbers->size() ? (*numbers)[index] : static_cast<int64_t>(index));
}

Result<kernels::PostTransform> transform_of(const Call& call) {
  const std::string_view text = call.s("post_transform");
  if (const auto found = kernels::post_transform(text)) return *found;
  return refuse("ml.transform", "the transform {:?} does not exist", text);
}

namespace {

const std::vector<float>& floats_of_model_kernel(const Call& call, std::string_view name) {
  static const std::vector<float> kNone;
  const auto* list = call.floats(name);
  return list ? *list : kNone;
}

// Scores of `sets` weight vectors, each `features` long, plus intercepts where there are any.
Result<Temporary<double>> linear_scores(const Call& call, std::span<const double> row, size_t sets) {
  const auto &weights = floats_of_model_kernel(call, "coefficients"),
             &intercepts = floats_of_model_kernel(call, "intercepts");
  if (weights.size() < row.size() * sets || (!intercepts.empty() && intercepts.size() < sets))
    return refuse("ml.features", "{} coefficients for {} times {} features", weights.size(), sets, row.size());
  Temporary<double> out;
  for (size_t s = 0; s < sets; ++s) {
    double sum = intercepts.empty() ? 0 : static_cast<double>(intercepts[s]);
    for (size_t k = 0; k < row.size(); ++k) sum += row[k] * static_cast<double>(weights[s * row.size() + k]);
    out.push_back(sum);
  }
  return out;
}

size_t largest(const Temporary<double>& scores) {
  return static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

}  // namespace

Status run_linear_regressor(const Call& call, KernelArgs& args) {
  TRY(const FeatureRows rows, feature_rows(args.in(0)));
  TRY(const auto transform, transform_of(call));
  const auto targets = static_cast<size_t>(args.out(0).dims()[1]);
  Temporary<double> out;
  for (size_t i = 0; i < rows.count; ++i) {
    TRY(auto scores, linear_scores(call, rows.row(i), targets));
    if (targets > 1 || transform == kernels::PostTransform::probit) kernels::transform_scores(transform, scores);
    out.insert(out.end(), scores.begin(), scores.end());
  }
  return kernels::from_reals(out, args.out(0));
}

Status run_linear_classifier(const Call& call, KernelArgs& args) {
  TRY(const FeatureRows rows, feature_rows(args.in(0)));
  TRY(const auto transform, transform_of(call));
  const size_t sets = floats_of_model_kernel(call, "intercepts").size();
  const auto width = static_cast<size_t>(args.out(1).dims()[1]);
  Temporary<double> out;
  for (size_t i = 0; i < rows.count; ++i) {
    TRY(auto scores, linear_scores(call, rows.row(i), sets));
    const size_t label = sets == 1 ? (scores[0] > 0 ? 1 : 0) : largest(scores);
    write_label(call, "classlabels_ints", "classlabels_strings", label, args.out(0), static_cast<int64_t>(i));
    if (sets == 1 && width == 2) {
      scores.resize(2);
      kernels::two_scores(transform, scores[0], true, std::span(scores).first<2>());
    } else if (sets > 1 || transform == kernels::PostTransform::probit) {
      kernels::transform_scores(transform, scores);
    }
    scores.resize(width);
    out.insert(out.end(), scores.begin(), scores.end());
  }
  return kernels::from_reals(out, args.out(1));
}

Status run_zip_map(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  if (x.dtype() != DType::f32) return unknown("dtype", "no kernel for scores of type {}", name(x.dtype()));
  const Labels labels = labels_of(call, "classlabels_int64s", "classlabels_strings");
  TRY(Tensor keys, Tensor::allocate(labels.dtype, {labels.count}));
  for (int64_t k = 0; k < labels.count; ++k)
    write_label(call, "classlabels_int64s", "classlabels_strings", static_cast<size_t>(k), keys, k);
  const int64_t rows = labels.count == 0 ? 0 : x.count() / labels.count;
  if (rows * labels.count != x.count())
    return refuse("zipmap.labels", "{} scores for {} labels", x.count(), labels.count);
  std::vector<Datum> maps;
  for (int64_t i = 0; i < rows; ++i) {
    TRY(Tensor values, Tensor::allocate(DType::f32, {labels.count}));
    for (int64_t k = 0; k < labels.count; ++k)
      values.as_mutable<float>()[static_cast<size_t>(k)] = x.at<float>(i * labels.count + k);
    maps.push_back(Datum::map(keys, std::move(values)));
  }
  args.outputs[0] = Datum::sequence(DType::f32, std::move(maps));
  return {};
}

}  // namespace anyshape::ops
