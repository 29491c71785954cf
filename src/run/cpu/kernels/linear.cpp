#include <algorithm>
#include <cmath>

#include "ops/ml/common.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"
#include "run/cpu/kernels/ml_views.h"
#include "run/cpu/simd/linear_f32.h"
#include "run/cpu/simd/rows.h"

// LinearClassifier, LinearRegressor, Scaler, Normalizer and Imputer over rows of f32.
namespace anyshape::cpu {
namespace {

using kernels::PostTransform;

using LinearRows = FeatureView;

std::span<const float> list_of(const Call& call, std::string_view name) {
  const auto* list = call.floats(name);
  return list ? std::span<const float>(*list) : std::span<const float>();
}

struct Linear {
  Floats weights, by_feature, intercepts;
  int64_t features = 0, sets = 0, width = 0;
  PostTransform transform = PostTransform::none;
  std::vector<int64_t> labels;

  bool two_of_one() const { return sets == 1 && width == 2; }
  simd::LinearModel model() const { return {features, sets, weights.data(), by_feature.data(), intercepts.data()}; }
};

const Linear& linear_of(const ViewArgs& args) { return prepared_as<Linear>(args); }

bool is_classifier_linear(const Call& call) { return call.type() == "LinearClassifier"; }

int64_t sets_of(const Call& call) {
  return is_classifier_linear(call) ? static_cast<int64_t>(list_of(call, "intercepts").size()) : call.i("targets");
}

std::string_view accepts_linear(const Call& call) {
  if (!is_f32(call, 0)) return "its features are not f32";
  const auto features = features_of(call);
  if (!features) return "the number of its features is not known";
  const auto transform = ops::transform_of(call);
  if (!transform || *transform == PostTransform::probit || *transform == PostTransform::softmax_zero)
    return "its scores are transformed in an unusual way";
  const int64_t sets = sets_of(call);
  int64_t needed = 0;
  if (sets < 1 || __builtin_mul_overflow(sets, *features, &needed) ||
      static_cast<int64_t>(list_of(call, "coefficients").size()) < needed)
    return "it has too few coefficients";
  const auto intercepts = list_of(call, "intercepts").size();
  if (intercepts != 0 && static_cast<int64_t>(intercepts) < sets) return "it has too few intercepts";
  if (!is_classifier_linear(call)) return {};
  const ops::Labels labels = ops::labels_of(call, "classlabels_ints", "classlabels_strings");
  if (labels.dtype != DType::i64) return "its labels are strings";
  return {};
}

Result<std::shared_ptr<const void>> prepare_linear(const Call& call) {
  auto p = std::make_shared<Linear>();
  TRY(p->transform, ops::transform_of(call));
  p->features = features_of(call).value_or(0);
  p->sets = p->width = sets_of(call);
  if (is_classifier_linear(call)) {
    if (const auto* labels = call.ints("classlabels_ints")) p->labels = *labels;
    if (p->sets == 1 && p->labels.size() == 2) p->width = 2;
  }
  const auto weights = list_of(call, "coefficients"), intercepts = list_of(call, "intercepts");
  const int64_t step = round_up(p->sets, simd::kLinearLanes);
  p->weights.assign(weights.begin(), weights.begin() + p->sets * p->features);
  p->by_feature.assign(static_cast<size_t>(p->features * step), 0);
  p->intercepts.assign(static_cast<size_t>(step), 0);
  for (int64_t s = 0; s < p->sets; ++s) {
    for (int64_t k = 0; k < p->features; ++k)
      p->by_feature[static_cast<size_t>(k * step + s)] = weights[static_cast<size_t>(s * p->features + k)];
    if (!intercepts.empty()) p->intercepts[static_cast<size_t>(s)] = intercepts[static_cast<size_t>(s)];
  }
  return p;
}

int64_t linear_tasks(const ViewArgs& args) {
  const Linear& p = linear_of(args);
  return tasks_for(rows_of(args.in[0]).count, static_cast<double>(p.features * p.sets) + 20.0);
}

constexpr int64_t kRowsAtOnce = 64;

int64_t sums_bytes(const Linear& p) { return round_up(kRowsAtOnce * p.sets * int64_t{sizeof(float)}, 64); }

int64_t linear_scratch(const ViewArgs& args) {
  const Linear& p = linear_of(args);
  return p.sets <= simd::kFewSets ? 0 : linear_tasks(args) * sums_bytes(p);
}

int64_t label_at(const Linear& p, int64_t found) {
  return static_cast<size_t>(found) < p.labels.size() ? p.labels[static_cast<size_t>(found)] : found;
}

simd::ScoreTransform score_transform(const Linear& p) {
  using simd::ScoreTransform;
  if (p.transform == PostTransform::logistic) return ScoreTransform::logistic;
  return p.transform == PostTransform::softmax ? ScoreTransform::softmax : ScoreTransform::none;
}

// `labels` and `scores` may be null: nobody wants them.
void few_scores(const Linear& p, const float* x, int64_t rows, int64_t* labels, float* scores) {
  int32_t largest[kRowsAtOnce];
  simd::linear_scores(p.model(), {score_transform(p), p.two_of_one()}, x, rows, scores, labels ? largest : nullptr);
  for (int64_t i = 0; labels && i < rows; ++i) labels[i] = label_at(p, largest[i]);
}

void many_scores(const Linear& p, const float* x, int64_t rows, float* sums, int64_t* labels, float* scores) {
  simd::linear_rows(p.model(), x, rows, sums);
  for (int64_t i = 0; labels && i < rows; ++i) {
    const float* row = sums + i * p.sets;
    labels[i] = label_at(p, std::max_element(row, row + p.sets) - row);
  }
  if (!scores) return;
  if (p.transform == PostTransform::logistic)
    simd::logistic_row(sums, rows * p.sets, scores);
  else if (p.transform == PostTransform::softmax)
    simd::softmax_rows(sums, scores, 0, rows, p.sets, false);
  else
    std::copy_n(sums, rows * p.sets, scores);
}

template <bool classes>
Status run_linear(const ViewArgs& args, int64_t first, int64_t last) {
  const Linear& p = linear_of(args);
  const LinearRows rows = rows_of(args.in[0]);
  const int64_t all = linear_tasks(args), end = share_of(rows.count, all, last - 1).last;
  auto* sums = reinterpret_cast<float*>(args.scratch + first * sums_bytes(p));
  const View scores = !classes ? args.out[0] : args.out.size() > 1 ? args.out[1] : View();
  auto* labels = classes && args.out[0] ? args.out[0].as<int64_t>() : nullptr;
  for (int64_t r = share_of(rows.count, all, first).first; r < end; r += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, end - r);
    const float* x = args.in[0].as<const float>() + r * p.features;
    int64_t* to = labels ? labels + r : nullptr;
    float* score = scores ? scores.as<float>() + r * p.width : nullptr;
    p.sets <= simd::kFewSets ? few_scores(p, x, count, to, score) : many_scores(p, x, count, sums, to, score);
  }
  return {};
}

struct Scaler {
  Floats offset, scale;
};

std::string_view accepts_scaler(const Call& call) {
  if (!is_f32(call, 0)) return "its features are not f32";
  const auto offset = list_of(call, "offset"), scale = list_of(call, "scale");
  if (offset.empty() || offset.size() != scale.size()) return "scale and offset are not equally long";
  const auto features = features_of(call);
  if (!features && offset.size() != 1) return "the number of its features is not known";
  return offset.size() == 1 || static_cast<int64_t>(offset.size()) == *features ? "" : "its features are not those";
}

Result<std::shared_ptr<const void>> prepare_scaler(const Call& call) {
  auto p = std::make_shared<Scaler>();
  const auto offset = list_of(call, "offset"), scale = list_of(call, "scale");
  p->offset.assign(offset.begin(), offset.end());
  p->scale.assign(scale.begin(), scale.end());
  return p;
}

int64_t row_tasks(const LinearRows& rows) { return tasks_for(rows.count, 4.0 * static_cast<double>(rows.features)); }

// One pair of numbers is for tensors of any rank.
LinearRows scaled_rows(const ViewArgs& args) {
  const bool one = prepared_as<Scaler>(args).offset.size() == 1;
  return one ? LinearRows{args.in[0].count(), 1} : rows_of(args.in[0]);
}

int64_t scaler_tasks(const ViewArgs& args) { return row_tasks(scaled_rows(args)); }

Status run_scaler(const ViewArgs& args, int64_t first, int64_t last) {
  const auto& p = prepared_as<Scaler>(args);
  const LinearRows rows = scaled_rows(args);
  const int64_t all = row_tasks(rows);
  const int64_t from = share_of(rows.count, all, first).first, to = share_of(rows.count, all, last - 1).last;
  const int64_t at = from * rows.features;
  simd::shift_and_scale_rows(args.in[0].as<const float>() + at, to - from, rows.features, p.offset.data(),
                             p.scale.data(), p.offset.size() == 1 ? 0 : 1, args.out[0].as<float>() + at);
  return {};
}

std::string_view accepts_normalizer(const Call& call) {
  if (!is_f32(call, 0)) return "its features are not f32";
  return call.in(0).dims && !call.in(0).dims->empty() && call.in(0).rank() <= 2 ? "" : "its rank is not known";
}

Result<std::shared_ptr<const void>> prepare_normalizer(const Call& call) {
  const std::string_view norm = call.s("norm");
  using simd::RowNorm;
  return std::make_shared<RowNorm>(norm == "MAX" ? RowNorm::max : norm == "L1" ? RowNorm::l1 : RowNorm::l2);
}

int64_t normalizer_tasks(const ViewArgs& args) { return row_tasks(rows_of(args.in[0])); }

Status run_normalizer(const ViewArgs& args, int64_t first, int64_t last) {
  const LinearRows rows = rows_of(args.in[0]);
  const int64_t all = row_tasks(rows);
  const int64_t from = share_of(rows.count, all, first).first, to = share_of(rows.count, all, last - 1).last;
  simd::normalize_rows(prepared_as<simd::RowNorm>(args), args.in[0].as<const float>() + from * rows.features, to - from,
                       rows.features, args.out[0].as<float>() + from * rows.features);
  return {};
}

struct Imputer {
  std::vector<float> values;
  float replaced = 0;
};

std::string_view accepts_imputer(const Call& call) {
  if (!is_f32(call, 0)) return "its features are not f32";
  return list_of(call, "imputed_value_floats").empty() ? "it has no values" : "";
}

Result<std::shared_ptr<const void>> prepare_imputer(const Call& call) {
  auto p = std::make_shared<Imputer>();
  const auto values = list_of(call, "imputed_value_floats");
  p->values.assign(values.begin(), values.end());
  p->replaced = call.f("replaced_value_float");
  return p;
}

Status run_imputer(const ViewArgs& args, int64_t, int64_t) {
  const auto& p = prepared_as<Imputer>(args);
  const auto* x = args.in[0].as<const float>();
  auto* to = args.out[0].as<float>();
  const bool missing = std::isnan(p.replaced);
  size_t column = 0;
  for (int64_t i = 0, n = args.in[0].count(); i < n; ++i) {
    to[i] = (missing ? std::isnan(x[i]) : x[i] == p.replaced) ? p.values[column] : x[i];
    if (++column == p.values.size()) column = 0;
  }
  return {};
}

template <bool classes>
constexpr EngineKernel kLinear = {.name = "f32 rows",
                                  .accepts = accepts_linear,
                                  .prepare = prepare_linear,
                                  .scratch = linear_scratch,
                                  .tasks = linear_tasks,
                                  .run = run_linear<classes>};

}  // namespace

constexpr EngineKernel kLinearClassifier = kLinear<true>;
constexpr EngineKernel kLinearRegressor = kLinear<false>;
constexpr EngineKernel kScaler = {.name = "f32 rows",
                                  .accepts = accepts_scaler,
                                  .prepare = prepare_scaler,
                                  .tasks = scaler_tasks,
                                  .run = run_scaler,
                                  .in_place = 1};
constexpr EngineKernel kNormalizer = {.name = "f32 rows",
                                      .accepts = accepts_normalizer,
                                      .prepare = prepare_normalizer,
                                      .tasks = normalizer_tasks,
                                      .run = run_normalizer,
                                      .in_place = 1};
constexpr EngineKernel kImputer = {
    .name = "f32 rows", .accepts = accepts_imputer, .prepare = prepare_imputer, .run = run_imputer, .in_place = 1};

}  // namespace anyshape::cpu
