#include "ops/ml/svm.h"

#include <algorithm>
#include <cmath>

#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/ml_views.h"
#include "run/cpu/simd/linear_f32.h"

// SVMClassifier and SVMRegressor over rows of f32: similarities in vectors of float, the rest as the reference does it.
namespace anyshape::cpu {
namespace {

using ops::Svm;

// A list of the node, kept.
template <class T>
void keep(std::span<const T>& list, std::vector<T>& copy) {
  copy.assign(list.begin(), list.end());
  list = copy;
}

struct SvmPrepared {
  Svm svm;
  std::vector<float> coefficients, rho, prob_a, prob_b;
  std::vector<int64_t> per_class, labels;
  Floats by_feature;
  simd::SupportVectors vectors;
  int64_t columns() const { return round_up(vectors.count, simd::kSupportLanes); }
};

constexpr int64_t kHighestDegree = 16;

std::string_view why_not(const Svm& svm) {
  if (svm.vectors == 0) return "it has no vectors";
  const double degree = svm.kernel.degree;
  if (svm.kernel.type == kernels::SvmKernel::Type::poly &&
      (degree != std::floor(degree) || degree < 1 || degree > kHighestDegree))
    return "the degree of its polynomial is not a small whole number";
  const auto negative = [](int64_t n) { return n < 0; };
  return std::any_of(svm.per_class.begin(), svm.per_class.end(), negative) ? "a class has a negative number of vectors"
                                                                           : "";
}

bool is_classifier_svm(const Call& call) { return call.type() == "SVMClassifier"; }

using SvmRead = Result<Svm> (*)(const Call&, size_t features);

template <SvmRead read>
std::string_view accepts_svm(const Call& call) {
  if (!is_f32(call, 0)) return "its features are not f32";
  const auto features = features_of(call);
  if (!features || *features < 1) return "the number of its features is not known";
  const auto svm = read(call, static_cast<size_t>(*features));
  if (!svm) return "its vectors are not legal";
  if (is_classifier_svm(call)) {
    const ops::Labels labels = ops::labels_of(call, "classlabels_ints", "classlabels_strings");
    if (labels.dtype != DType::i64) return "its labels are strings";
  }
  return why_not(*svm);
}

simd::SupportVectors::Kind kind_of(kernels::SvmKernel::Type type) {
  using Type = kernels::SvmKernel::Type;
  using Kind = simd::SupportVectors::Kind;
  if (type == Type::poly) return Kind::poly;
  if (type == Type::rbf) return Kind::rbf;
  return type == Type::sigmoid ? Kind::sigmoid : Kind::linear;
}

void turn(const Svm& svm, SvmPrepared& p) {
  p.vectors = {.kind = kind_of(svm.kernel.type),
               .gamma = static_cast<float>(svm.kernel.gamma),
               .coef0 = static_cast<float>(svm.kernel.coef0),
               .degree = std::clamp<int64_t>(static_cast<int64_t>(svm.kernel.degree), 1, kHighestDegree),
               .features = static_cast<int64_t>(svm.features),
               .count = static_cast<int64_t>(svm.vectors)};
  const auto columns = static_cast<size_t>(p.columns());
  p.by_feature.assign(svm.features * columns, 0);
  for (size_t v = 0; v < svm.vectors; ++v)
    for (size_t k = 0; k < svm.features; ++k) p.by_feature[k * columns + v] = svm.support[v * svm.features + k];
  p.vectors.by_feature = p.by_feature.data();
}

template <SvmRead read>
Result<std::shared_ptr<const void>> prepare_svm(const Call& call) {
  auto p = std::make_shared<SvmPrepared>();
  TRY(p->svm, read(call, static_cast<size_t>(features_of(call).value_or(0))));
  turn(p->svm, *p);
  p->svm.support = {};
  keep(p->svm.coefficients, p->coefficients);
  keep(p->svm.rho, p->rho);
  keep(p->svm.prob_a, p->prob_a);
  keep(p->svm.prob_b, p->prob_b);
  keep(p->svm.per_class, p->per_class);
  if (is_classifier_svm(call))
    if (const auto* labels = call.ints("classlabels_ints")) p->labels = *labels;
  return p;
}

void put_classes(const SvmPrepared& p, std::span<const double> near, const ViewArgs& args, int64_t row) {
  const ops::SvmRow found = ops::svm_classes(p.svm, near);
  if (args.out[0])
    args.out[0].as<int64_t>()[row] =
        found.label < p.labels.size() ? p.labels[found.label] : static_cast<int64_t>(found.label);
  if (args.out.size() < 2 || !args.out[1]) return;
  const auto width = static_cast<size_t>(args.out[1].dims[1]);
  float* to = args.out[1].as<float>() + static_cast<size_t>(row) * width;
  for (size_t k = 0; k < width; ++k) to[k] = k < found.scores.size() ? static_cast<float>(found.scores[k]) : 0;
}

template <bool classes>
Status run_svm(const ViewArgs& args, int64_t, int64_t) {
  const auto& p = prepared_as<SvmPrepared>(args);
  const FeatureView rows = rows_of(args.in[0]);
  Temporary<float> near(static_cast<size_t>(p.columns()));
  Temporary<double> wide(p.svm.vectors);
  for (int64_t r = 0; r < rows.count; ++r) {
    simd::similarities(p.vectors, args.in[0].as<const float>() + r * rows.features, near.data());
    std::copy_n(near.begin(), wide.size(), wide.begin());
    if constexpr (classes)
      put_classes(p, wide, args, r);
    else
      args.out[0].as<float>()[r] = static_cast<float>(ops::svm_value(p.svm, wide));
  }
  return {};
}

template <SvmRead read, bool classes>
constexpr EngineKernel kSvm = {
    .name = "f32 vectors", .accepts = accepts_svm<read>, .prepare = prepare_svm<read>, .run = run_svm<classes>};

}  // namespace

constexpr EngineKernel kSvmClassifier = kSvm<ops::read_svm_classifier, true>;
constexpr EngineKernel kSvmRegressor = kSvm<ops::read_svm_regressor, false>;

}  // namespace anyshape::cpu
