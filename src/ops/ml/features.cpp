#include <algorithm>

#include "ops/ml/common.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kExtractorIn[] = {{"X"}, {"Y", Port::value | Port::settled}};
constexpr Port kExtractorOut[] = {{"Z"}};
constexpr Port kVariadicIn[] = {{"X", Port::variadic}};
constexpr AttributeDef kBinarizerAttributes[] = {
    {"threshold", 0.0f},
};
constexpr AttributeDef kCastMapAttributes[] = {
    {"cast_to", "TO_FLOAT"},
    {"map_form", "DENSE"},
    {"max_map", 1},
};
constexpr AttributeDef kCategoryMapperAttributes[] = {
    {"cats_int64s", AttributeDef::integers},
    {"cats_strings", AttributeDef::strings},
    {"default_int64", -1},
    {"default_string", "_Unused"},
};
constexpr AttributeDef kDictVectorizerAttributes[] = {
    {"int64_vocabulary", AttributeDef::integers},
    {"string_vocabulary", AttributeDef::strings},
};
constexpr AttributeDef kFeatureVectorizerAttributes[] = {
    {"inputdimensions", AttributeDef::integers},
};
constexpr AttributeDef kImputerAttributes[] = {
    {"imputed_value_floats", AttributeDef::reals},
    {"imputed_value_int64s", AttributeDef::integers},
    {"replaced_value_float", 0.0f},
    {"replaced_value_int64", 0},
};
constexpr AttributeDef kLabelEncoderAttributes[] = {
    {"default_float", -0.0f, {2}},
    {"default_int64", -1},
    {"default_string", "_Unused"},
    {"default_tensor", AttributeDef::tensor, {4}},
    {"keys_floats", AttributeDef::reals, {2}},
    {"keys_int64s", AttributeDef::integers, {2}},
    {"keys_strings", AttributeDef::strings, {2}},
    {"keys_tensor", AttributeDef::tensor, {4}},
    {"values_floats", AttributeDef::reals, {2}},
    {"values_int64s", AttributeDef::integers, {2}},
    {"values_strings", AttributeDef::strings, {2}},
    {"values_tensor", AttributeDef::tensor, {4}},
    {"classes_strings", AttributeDef::strings, {1, 1}},
};
constexpr AttributeDef kNormalizerAttributes[] = {
    {"norm", "MAX"},
};
constexpr AttributeDef kOneHotEncoderAttributes[] = {
    {"cats_int64s", AttributeDef::integers},
    {"cats_strings", AttributeDef::strings},
    {"zeros", 1},
};
constexpr AttributeDef kScalerAttributes[] = {
    {"offset", AttributeDef::reals},
    {"scale", AttributeDef::reals},
};

size_t size_of_features(const auto* list) { return list ? list->size() : 0; }

Fact with_dtype(const Fact& in, DType dtype) {
  return in.dims ? Fact::tensor(dtype, *in.dims) : Fact::tensor_of_unknown_rank(dtype);
}

Result<Facts> infer_extractor(const Call& call, InferContext& context) {
  TRY_OK(require_min_rank(call, 0, 1));
  TRY(Dims dims, call.dims(0));
  TRY(const Dims indices, call.dims(1));
  const Dim count = product(indices);
  TRY_OK(context.require(Condition::ge(count, 1), "arrayfeatureextractor.indices", "there must be an index, Y is {}",
                         text(indices)));
  const auto bounds = call.in(1).value_bounds();
  if (bounds && bounds->attained) {
    TRY_OK(context.require(Condition::ge(bounds->lo, 0) && Condition::lt(bounds->hi, dims.back()),
                           "arrayfeatureextractor.index", "indices {}..{} must lie in 0..{}-1", print(bounds->lo),
                           print(bounds->hi), print(dims.back())));
  } else if (!bounds || !context.proves(Condition::ge(bounds->lo, 0) && Condition::lt(bounds->hi, dims.back()))) {
    context.data_condition("arrayfeatureextractor.index", "indices must lie in 0..{}-1", print(dims.back()));
  }
  if (dims.size() == 1) dims.insert(dims.begin(), 1);
  dims.back() = count;
  return Facts{Fact::tensor(call.in(0).dtype, std::move(dims))};
}

Result<Facts> infer_binarizer(const Call& call, InferContext&) { return Facts{call.in(0).type_only()}; }

Result<Facts> infer_category(const Call& call, InferContext&) {
  if (size_of_features(call.ints("cats_int64s")) != size_of_features(call.strings("cats_strings")))
    return refuse("categorymapper.categories", "cats_int64s and cats_strings must be equally long");
  return Facts{with_dtype(call.in(0), call.in(0).dtype == DType::string ? DType::i64 : DType::string)};
}

DType encoded_type(const Call& call) {
  if (call.version() < 2) return call.in(0).dtype == DType::string ? DType::i64 : DType::string;
  if (call.has_attr("values_strings")) return DType::string;
  if (call.has_attr("values_int64s")) return DType::i64;
  if (call.has_attr("values_floats")) return DType::f32;
  const Tensor* values = call.version() >= 4 ? call.tensor("values_tensor") : nullptr;
  return values ? values->dtype() : DType::undefined;
}

Result<Facts> infer_label(const Call& call, InferContext&) {
  const DType dtype = encoded_type(call);
  if (dtype == DType::undefined) return refuse("labelencoder.values", "there are no values to encode to");
  return Facts{with_dtype(call.in(0), dtype)};
}

Result<Facts> infer_imputer(const Call& call, InferContext& context) {
  const size_t values = std::max(size_of_features(call.floats("imputed_value_floats")),
                                 size_of_features(call.ints("imputed_value_int64s")));
  if (values == 0) return refuse("imputer.values", "there are no values to impute");
  if (!call.in(0).dims) return Facts{call.in(0).type_only()};
  TRY_OK(require_min_rank(call, 0, 1));
  const Dim features = call.in(0).dims->back();
  if (values != 1)
    TRY_OK(context.require(Condition::eq(features, static_cast<int64_t>(values)), lenient("lenient.imputer"),
                           "there must be an imputed value for each feature: {} values, {} features", values,
                           print(features)));
  return Facts{call.in(0).type_only()};
}

Result<Facts> infer_normalizer_features(const Call& call, InferContext&) {
  const std::string_view norm = call.s("norm");
  if (norm != "MAX" && norm != "L1" && norm != "L2") return refuse("normalizer.norm", "norm {:?} is unknown", norm);
  if (!call.in(0).dims) return Facts{with_dtype(call.in(0), DType::f32)};
  if (call.in(0).rank() < 1 || call.in(0).rank() > 2)
    return refuse("rank", "Normalizer takes [N, C] or [C], the input is {}", text(*call.in(0).dims));
  return Facts{with_dtype(call.in(0), DType::f32)};
}

Result<Facts> infer_one_hot(const Call& call, InferContext&) {
  const size_t ints = size_of_features(call.ints("cats_int64s")),
               strings = size_of_features(call.strings("cats_strings"));
  if ((ints == 0) == (strings == 0))
    return refuse("onehotencoder.categories", "either cats_int64s or cats_strings must be given");
  Fact out = with_dtype(call.in(0), DType::f32);
  if (out.dims) out.dims->push_back(static_cast<int64_t>(ints + strings));
  return Facts{out};
}

Result<Facts> infer_scaler(const Call& call, InferContext& context) {
  const size_t scale = size_of_features(call.floats("scale")), offset = size_of_features(call.floats("offset"));
  if (scale == 0 || scale != offset)
    return refuse("scaler.size", "scale has {} entries and offset {}, they must be equally long", scale, offset);
  if (!call.in(0).dims) return Facts{with_dtype(call.in(0), DType::f32)};
  TRY_OK(require_min_rank(call, 0, 1));
  const Dims& dims = *call.in(0).dims;
  const Dim features = dims.size() == 1 ? dims[0] : dims[1];
  if (scale != 1)
    TRY_OK(context.require(Condition::eq(features, static_cast<int64_t>(scale)), "scaler.features",
                           "the input {1} must have the {0} features the scaler was made for, it has {2}", scale,
                           text(dims), print(features)));
  return Facts{with_dtype(call.in(0), DType::f32)};
}

Result<Facts> infer_vectorizer(const Call& call, InferContext& context) {
  const auto* sizes = call.ints("inputdimensions");
  if (!sizes || sizes->size() != call.inputs())
    return refuse("featurevectorizer.sizes", "inputdimensions must have one entry per input");
  int64_t total = 0;
  std::optional<Dim> rows;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if ((*sizes)[i] < 0 || __builtin_add_overflow(total, (*sizes)[i], &total))
      return refuse("featurevectorizer.sizes", "inputdimensions are out of range");
    if (!call.has(i) || !call.in(i).dims) continue;
    TRY_OK(require_min_rank(call, i, 1));
    const Dim count = call.in(i).rank() == 1 ? Dim(1) : call.in(i).dims->front();
    if (rows)
      TRY_OK(context.require(Condition::eq(*rows, count), "featurevectorizer.rows",
                             "the inputs must have as many rows: {} and {}", print(*rows), print(count)));
    else
      rows = count;
  }
  if (!rows) return unknown("infer.rank", "the rank of the inputs is not known");
  return Facts{Fact::tensor(DType::f32, {*rows, total})};
}

Result<Facts> infer_cast_map(const Call& call, InferContext& context) {
  const std::string_view to = call.s("cast_to"), form = call.s("map_form");
  DType dtype = DType::f32;
  if (to == "TO_STRING")
    dtype = DType::string;
  else if (to == "TO_INT64")
    dtype = DType::i64;
  else if (to != "TO_FLOAT")
    return refuse("castmap.type", "cast_to {:?} is unknown", to);
  if (form == "DENSE") return Facts{Fact::tensor(dtype, {1, context.data_dim("entries")})};
  if (form != "SPARSE") return refuse("castmap.form", "map_form {:?} is unknown", form);
  const int64_t size = call.i("max_map");
  if (size < 1) return refuse("castmap.size", "max_map is {}", size);
  return Facts{Fact::tensor(dtype, {1, size})};
}

Result<Facts> infer_dictionary(const Call& call, InferContext&) {
  const size_t ints = size_of_features(call.ints("int64_vocabulary")),
               strings = size_of_features(call.strings("string_vocabulary"));
  if ((ints == 0) == (strings == 0))
    return refuse("dictvectorizer.vocabulary", "either int64_vocabulary or string_vocabulary must be given");
  const Fact& map = call.in(0);
  if (map.kind != Fact::Kind::map && map.kind != Fact::Kind::unknown)
    return refuse("dictvectorizer.input", "the input must be a map, it is {}", print(map));
  const DType dtype = map.item ? map.item->dtype : DType::undefined;
  return Facts{Fact::tensor(dtype, {1, static_cast<int64_t>(ints + strings)})};
}

constexpr Kernel kArrayFeatureExtractor[] = {{"reference", run_array_feature_extractor}};
constexpr Kernel kBinarizer[] = {{"reference", run_binarizer}};
constexpr Kernel kCastMap[] = {{"reference", run_cast_map}};
constexpr Kernel kCategoryMapper[] = {{"reference", run_category_mapper}};
constexpr Kernel kDictVectorizer[] = {{"reference", run_dict_vectorizer}};
constexpr Kernel kFeatureVectorizer[] = {{"reference", run_feature_vectorizer}};
constexpr Kernel kImputer[] = {{"reference", run_imputer}};
constexpr Kernel kLabelEncoder[] = {{"reference", run_label_encoder}};
constexpr Kernel kNormalizer[] = {{"reference", run_normalizer}};
constexpr Kernel kOneHotEncoder[] = {{"reference", run_one_hot_encoder}};
constexpr Kernel kScaler[] = {{"reference", run_scaler}};

}  // namespace

constexpr OpDef kMlArrayFeatureExtractor1{.name = "ArrayFeatureExtractor",
                                          .domain = kMl,
                                          .sig = {kExtractorIn, kExtractorOut, "chosen columns of the last axis"},
                                          .infer = infer_extractor,
                                          .kernels = kArrayFeatureExtractor};
constexpr OpDef kMlBinarizer1{.name = "Binarizer",
                              .domain = kMl,
                              .sig = {kMlIn, kMlOut, "1 above a threshold, else 0", kBinarizerAttributes},
                              .infer = infer_binarizer,
                              .kernels = kBinarizer};
constexpr OpDef kMlCastMap1{.name = "CastMap",
                            .domain = kMl,
                            .sig = {kMlIn, kMlOut, "the values of a map as a tensor", kCastMapAttributes},
                            .infer = infer_cast_map,
                            .kernels = kCastMap};
constexpr OpDef kMlCategoryMapper1{.name = "CategoryMapper",
                                   .domain = kMl,
                                   .sig = {kMlIn, kMlOut, "strings to integers or back", kCategoryMapperAttributes},
                                   .infer = infer_category,
                                   .kernels = kCategoryMapper};
constexpr OpDef kMlDictVectorizer1{
    .name = "DictVectorizer",
    .domain = kMl,
    .sig = {kMlIn, kMlOut, "a map as a row, ordered by a vocabulary", kDictVectorizerAttributes},
    .infer = infer_dictionary,
    .kernels = kDictVectorizer};
constexpr OpDef kMlFeatureVectorizer1{
    .name = "FeatureVectorizer",
    .domain = kMl,
    .sig = {kVariadicIn, kMlOut, "columns of several inputs side by side", kFeatureVectorizerAttributes},
    .infer = infer_vectorizer,
    .kernels = kFeatureVectorizer};
constexpr OpDef kMlImputer1{.name = "Imputer",
                            .domain = kMl,
                            .sig = {kMlIn, kMlOut, "missing values replaced", kImputerAttributes},
                            .infer = infer_imputer,
                            .kernels = kImputer};
constexpr OpDef kMlLabelEncoder1{.name = "LabelEncoder",
                                 .domain = kMl,
                                 .sig = {kMlIn, kMlOut, "keys to values by a table", kLabelEncoderAttributes},
                                 .infer = infer_label,
                                 .kernels = kLabelEncoder};
constexpr OpDef kMlNormalizer1{.name = "Normalizer",
                               .domain = kMl,
                               .sig = {kMlIn, kMlOut, "rows divided by their norm", kNormalizerAttributes},
                               .infer = infer_normalizer_features,
                               .kernels = kNormalizer};
constexpr OpDef kMlOneHotEncoder1{.name = "OneHotEncoder",
                                  .domain = kMl,
                                  .sig = {kMlIn, kMlOut, "a 1 at each entry's category", kOneHotEncoderAttributes},
                                  .infer = infer_one_hot,
                                  .kernels = kOneHotEncoder};
constexpr OpDef kMlScaler1{.name = "Scaler",
                           .domain = kMl,
                           .sig = {kMlIn, kMlOut, "(x - offset) * scale", kScalerAttributes},
                           .infer = infer_scaler,
                           .kernels = kScaler};

}  // namespace anyshape::ops
