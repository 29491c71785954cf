#include <algorithm>

#include "kernels/reals.h"
#include "ops/ml/svm.h"

namespace anyshape::ops {
namespace {

std::span<const float> floats_of_svm_kernel(const Call& call, std::string_view name) {
  const auto* list = call.floats(name);
  return list ? std::span<const float>(*list) : std::span<const float>();
}

Result<kernels::SvmKernel> svm_kernel(const Call& call) {
  constexpr std::pair<std::string_view, kernels::SvmKernel::Type> kTypes[] = {
      {"LINEAR", kernels::SvmKernel::Type::linear},
      {"POLY", kernels::SvmKernel::Type::poly},
      {"RBF", kernels::SvmKernel::Type::rbf},
      {"SIGMOID", kernels::SvmKernel::Type::sigmoid}};
  const std::string_view text = call.s("kernel_type");
  const auto parameters = floats_of_svm_kernel(call, "kernel_params");
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

// A list of at least `needed` numbers.
Status read_list(const Call& call, std::string_view name, size_t needed, std::span<const float>& out) {
  out = floats_of_svm_kernel(call, name);
  return check_size(name, out.size(), needed);
}

// The similarities of a row to all vectors.
Temporary<double> similarities(const Svm& svm, std::span<const double> row) {
  Temporary<double> out;
  for (size_t v = 0; v < svm.vectors; ++v)
    out.push_back(kernels::similarity(svm.kernel, row, svm.support.subspan(v * row.size(), row.size())));
  return out;
}

SvmRow linear_classes(const Svm& svm, std::span<const double> near) {
  SvmRow out;
  for (double score : near) out.scores.push_back(score + static_cast<double>(svm.rho[0]));
  if (svm.classes == 0) return out;
  out.label = static_cast<size_t>(std::max_element(out.scores.begin(), out.scores.end()) - out.scores.begin());
  const double most = out.scores[out.label];
  if (svm.classes == 2 && (svm.positive ? most >= 0.5 : most > 0)) out.label = 1;
  if (svm.classes == 1) out.label = most > 0 ? 1 : 0;
  return out;
}

SvmRow classes_of_pairs(const Svm& svm, std::span<const double> near) {
  auto votes = kernels::vote({svm.per_class, svm.coefficients, svm.rho}, near);
  SvmRow out;
  out.label = static_cast<size_t>(std::max_element(votes.votes.begin(), votes.votes.end()) - votes.votes.begin());
  out.scores = std::move(votes.scores);
  // The machines of pairs are coupled to shares of classes.
  if (!svm.prob_a.empty()) out.scores = kernels::couple(svm.classes, out.scores, svm.prob_a, svm.prob_b);
  return out;
}

}  // namespace

Result<Svm> read_svm_classifier(const Call& call, size_t features) {
  Svm svm;
  svm.features = features;
  TRY(svm.transform, transform_of(call));
  TRY(svm.kernel, svm_kernel(call));
  if (const auto* per_class = call.ints("vectors_per_class")) svm.per_class = *per_class;
  const auto coefficients = floats_of_svm_kernel(call, "coefficients");
  svm.positive = std::all_of(coefficients.begin(), coefficients.end(), [](float c) { return c >= 0; });
  if (svm.per_class.empty()) {
    svm.kernel = {};
    svm.classes = svm.vectors = static_cast<size_t>(labels_of(call, "classlabels_ints", "classlabels_strings").count);
    TRY_OK(read_list(call, "coefficients", svm.classes * features, svm.support));
    TRY_OK(read_list(call, "rho", 1, svm.rho));
    return svm;
  }
  svm.classes = svm.per_class.size();
  for (int64_t n : svm.per_class) svm.vectors += static_cast<size_t>(n);
  const size_t pairs = svm.classes * (svm.classes - 1) / 2;
  TRY_OK(read_list(call, "support_vectors", svm.vectors * features, svm.support));
  TRY_OK(read_list(call, "coefficients", svm.vectors * (svm.classes - 1), svm.coefficients));
  TRY_OK(read_list(call, "rho", pairs, svm.rho));
  if (floats_of_svm_kernel(call, "prob_a").empty()) return svm;
  TRY_OK(read_list(call, "prob_a", pairs, svm.prob_a));
  TRY_OK(read_list(call, "prob_b", pairs, svm.prob_b));
  return svm;
}

Result<Svm> read_svm_regressor(const Call& call, size_t features) {
  Svm svm;
  svm.features = features;
  TRY(svm.kernel, svm_kernel(call));
  const bool linear = call.i("n_supports") <= 0;
  if (linear) svm.kernel = {};
  svm.vectors = linear ? 1 : static_cast<size_t>(call.i("n_supports"));
  svm.support = floats_of_svm_kernel(call, linear ? "coefficients" : "support_vectors");
  if (svm.vectors > svm.support.size()) return refuse("svm.size", "there are no {} support vectors", svm.vectors);
  TRY_OK(check_size("support_vectors", svm.support.size(), svm.vectors * features));
  if (!linear) TRY_OK(read_list(call, "coefficients", svm.vectors, svm.coefficients));
  TRY_OK(read_list(call, "rho", 1, svm.rho));
  svm.one_class = call.i("one_class") != 0;
  return svm;
}

SvmRow svm_classes(const Svm& svm, std::span<const double> near) {
  SvmRow found = svm.per_class.empty() ? linear_classes(svm, near) : classes_of_pairs(svm, near);
  const bool signed_margin = svm.transform == kernels::PostTransform::none;
  if (found.scores.size() == 1 && svm.classes == 2) {
    found.scores.resize(2);
    kernels::two_scores(svm.transform, found.scores[0], !signed_margin, std::span(found.scores).first<2>());
  } else if (svm.classes > 1 || svm.transform == kernels::PostTransform::probit) {
    kernels::transform_scores(svm.transform, found.scores);
  }
  return found;
}

double svm_value(const Svm& svm, std::span<const double> near) {
  double sum = static_cast<double>(svm.rho[0]);
  for (size_t v = 0; v < svm.vectors; ++v)
    sum += near[v] * (svm.coefficients.empty() ? 1 : static_cast<double>(svm.coefficients[v]));
  return !svm.one_class ? sum : sum > 0 ? 1 : -1;
}

Status run_svm_classifier(const Call& call, KernelArgs& args) {
  TRY(const FeatureRows rows, feature_rows(args.in(0)));
  TRY(const Svm svm, read_svm_classifier(call, rows.features));
  const auto width = static_cast<size_t>(args.out(1).dims()[1]);
  Temporary<double> out;
  for (size_t i = 0; i < rows.count; ++i) {
    SvmRow found = svm_classes(svm, similarities(svm, rows.row(i)));
    write_label(call, "classlabels_ints", "classlabels_strings", found.label, args.out(0), static_cast<int64_t>(i));
    found.scores.resize(width);
    out.insert(out.end(), found.scores.begin(), found.scores.end());
  }
  return kernels::from_reals(out, args.out(1));
}

Status run_svm_regressor(const Call& call, KernelArgs& args) {
  TRY(const FeatureRows rows, feature_rows(args.in(0)));
  TRY(const Svm svm, read_svm_regressor(call, rows.features));
  Temporary<double> out;
  for (size_t i = 0; i < rows.count; ++i) out.push_back(svm_value(svm, similarities(svm, rows.row(i))));
  return kernels::from_reals(out, args.out(0));
}

}  // namespace anyshape::ops
