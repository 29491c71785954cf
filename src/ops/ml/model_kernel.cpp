#include <algorithm>

#include "kernels/reals.h"
#include "kernels/svm.h"
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

const std::vector<float>& floats_of(const Call& call, std::string_view name) {
  static const std::vector<float> kNone;
  const auto* list = call.floats(name);
  return list ? *list : kNone;
}

// Scores of `sets` weight vectors, each `features` long, plus intercepts where there are any.
Result<Temporary<double>> linear_scores(const Call& call, std::span<const double> row, size_t sets) {
  const auto &weights = floats_of(call, "coefficients"), &intercepts = floats_of(call, "intercepts");
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
  const size_t sets = floats_of(call, "intercepts").size();
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

namespace {

Result<kernels::SvmKernel> svm_kernel(const Call& call) {
  constexpr std::pair<std::string_view, kernels::SvmKernel::Type> kTypes[] = {
      {"LINEAR", kernels::SvmKernel::Type::linear},
      {"POLY", kernels::SvmKernel::Type::poly},
      {"RBF", kernels::SvmKernel::Type::rbf},
      {"SIGMOID", kernels::SvmKernel::Type::sigmoid}};
  const std::string_view text = call.s("kernel_type");
  const auto& parameters = floats_of(call, "kernel_params");
  kernels::SvmKernel kernel;
  if (parameters.size() >= 3) {
    kernel.gamma = parameters[0];
    kernel.coef0 = parameters[1];
    kernel.degree = parameters[2];
  }
  for (const auto& [name, type] : kTypes)
    if (name == text) {
      kernel.type = type;
      return kernel;
    }
  return refuse("svm.kernel", "the kernel {:?} does not exist", text);
}

Status check_size(std::string_view what, size_t given, size_t needed) {
  if (given >= needed) return {};
  return refuse("svm.size", "{} has {} numbers, {} are needed", what, given, needed);
}

// The similarities of a row to each support vector.
Temporary<double> similarities(const kernels::SvmKernel& kernel, std::span<const double> row,
                               const std::vector<float>& vectors, size_t count) {
  Temporary<double> out;
  for (size_t v = 0; v < count; ++v)
    out.push_back(kernels::similarity(kernel, row, std::span(vectors).subspan(v * row.size(), row.size())));
  return out;
}

struct Svm {
  size_t classes = 0, vectors = 0;
  Temporary<int64_t> per_class;
  kernels::SvmKernel kernel;
  kernels::PostTransform transform = kernels::PostTransform::none;
  bool shares = false;    // the machines of pairs are coupled to shares of classes
  bool positive = false;  // no coefficient is negative
};

Result<Svm> read_svm(const Call& call, size_t features) {
  Svm svm;
  TRY(svm.transform, transform_of(call));
  TRY(svm.kernel, svm_kernel(call));
  if (const auto* per_class = call.ints("vectors_per_class")) svm.per_class = temporary(*per_class);
  const auto& coefficients = floats_of(call, "coefficients");
  svm.positive = std::all_of(coefficients.begin(), coefficients.end(), [](float c) { return c >= 0; });
  if (svm.per_class.empty()) {
    svm.classes = static_cast<size_t>(labels_of(call, "classlabels_ints", "classlabels_strings").count);
    TRY_OK(check_size("coefficients", coefficients.size(), svm.classes * features));
    TRY_OK(check_size("rho", floats_of(call, "rho").size(), 1));
    return svm;
  }
  svm.classes = svm.per_class.size();
  for (int64_t n : svm.per_class) svm.vectors += static_cast<size_t>(n);
  const size_t pairs = svm.classes * (svm.classes - 1) / 2;
  svm.shares = !floats_of(call, "prob_a").empty();
  TRY_OK(check_size("support_vectors", floats_of(call, "support_vectors").size(), svm.vectors * features));
  TRY_OK(check_size("coefficients", coefficients.size(), svm.vectors * (svm.classes - 1)));
  TRY_OK(check_size("rho", floats_of(call, "rho").size(), pairs));
  for (std::string_view name : {"prob_a", "prob_b"})
    if (svm.shares) TRY_OK(check_size(name, floats_of(call, name).size(), pairs));
  return svm;
}

struct SvmRow {
  size_t label = 0;
  Temporary<double> scores;
};

SvmRow classify_linear(const Call& call, const Svm& svm, std::span<const double> row) {
  kernels::SvmKernel linear;
  SvmRow out;
  out.scores = similarities(linear, row, floats_of(call, "coefficients"), svm.classes);
  for (double& score : out.scores) score += static_cast<double>(floats_of(call, "rho")[0]);
  if (svm.classes == 0) return out;
  out.label = largest(out.scores);
  const double most = out.scores[out.label];
  if (svm.classes == 2 && (svm.positive ? most >= 0.5 : most > 0)) out.label = 1;
  if (svm.classes == 1) out.label = most > 0 ? 1 : 0;
  return out;
}

SvmRow classify_pairs(const Call& call, const Svm& svm, std::span<const double> row) {
  const auto near = similarities(svm.kernel, row, floats_of(call, "support_vectors"), svm.vectors);
  auto votes = kernels::vote({svm.per_class, floats_of(call, "coefficients"), floats_of(call, "rho")}, near);
  SvmRow out;
  out.label = static_cast<size_t>(std::max_element(votes.votes.begin(), votes.votes.end()) - votes.votes.begin());
  out.scores = std::move(votes.scores);
  if (svm.shares)
    out.scores = kernels::couple(svm.classes, out.scores, floats_of(call, "prob_a"), floats_of(call, "prob_b"));
  return out;
}

}  // namespace

Status run_svm_classifier(const Call& call, KernelArgs& args) {
  TRY(const FeatureRows rows, feature_rows(args.in(0)));
  TRY(const Svm svm, read_svm(call, rows.features));
  const auto width = static_cast<size_t>(args.out(1).dims()[1]);
  Temporary<double> out;
  for (size_t i = 0; i < rows.count; ++i) {
    SvmRow found =
        svm.per_class.empty() ? classify_linear(call, svm, rows.row(i)) : classify_pairs(call, svm, rows.row(i));
    write_label(call, "classlabels_ints", "classlabels_strings", found.label, args.out(0), static_cast<int64_t>(i));
    const bool signed_margin = svm.transform == kernels::PostTransform::none;
    if (found.scores.size() == 1 && svm.classes == 2) {
      found.scores.resize(2);
      kernels::two_scores(svm.transform, found.scores[0], !signed_margin, std::span(found.scores).first<2>());
    } else if (svm.classes > 1 || svm.transform == kernels::PostTransform::probit) {
      kernels::transform_scores(svm.transform, found.scores);
    }
    found.scores.resize(width);
    out.insert(out.end(), found.scores.begin(), found.scores.end());
  }
  return kernels::from_reals(out, args.out(1));
}

Status run_svm_regressor(const Call& call, KernelArgs& args) {
  TRY(const FeatureRows rows, feature_rows(args.in(0)));
  TRY(kernels::SvmKernel kernel, svm_kernel(call));
  const bool linear = call.i("n_supports") <= 0;
  if (linear) kernel = {};
  const auto vectors = linear ? size_t{1} : static_cast<size_t>(call.i("n_supports"));
  const auto& coefficients = floats_of(call, "coefficients");
  const auto& supports = linear ? coefficients : floats_of(call, "support_vectors");
  if (vectors > supports.size()) return refuse("svm.size", "there are no {} support vectors", vectors);
  TRY_OK(check_size("support_vectors", supports.size(), vectors * rows.features));
  TRY_OK(check_size("coefficients", coefficients.size(), linear ? 0 : vectors));
  TRY_OK(check_size("rho", floats_of(call, "rho").size(), 1));
  Temporary<double> out;
  for (size_t i = 0; i < rows.count; ++i) {
    const auto near = similarities(kernel, rows.row(i), supports, vectors);
    double sum = static_cast<double>(floats_of(call, "rho")[0]);
    for (size_t v = 0; v < vectors; ++v) sum += near[v] * (linear ? 1 : static_cast<double>(coefficients[v]));
    out.push_back(call.i("one_class") == 0 ? sum : sum > 0 ? 1 : -1);
  }
  return kernels::from_reals(out, args.out(0));
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
