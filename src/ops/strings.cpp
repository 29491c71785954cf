#include <algorithm>

#include "ops/elementwise.h"
#include "ops/records.h"

// StringConcat, StringNormalizer, StringSplit, RegexFullMatch, TfIdfVectorizer.
namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"X"}};
constexpr Port kConcatIn[] = {{"X"}, {"Y"}};
constexpr Port kOut[] = {{"Y"}};
constexpr Port kSplitOut[] = {{"Y"}, {"Z", Port::optional}};

Result<Facts> infer_concat(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskString));
  TRY_OK(require_tensor(call, 1, kMaskString));
  TRY(auto dims, elementwise_dims(call, context));
  return Facts{typed(DType::string, std::move(dims))};
}

Result<Facts> infer_match(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskString));
  return Facts{typed(DType::boolean, call.in(0).dims)};
}

// How many words are left is a matter of the data, unless no stop word is named. Nothing left: one empty string.
Result<Facts> infer_normalizer(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskString));
  TRY(const Dims in, call.dims(0));
  if (in.empty() || in.size() > 2)
    return refuse("rank", "StringNormalizer takes a tensor of shape [C] or [1, C], not {}", text(in));
  if (in.size() == 2)
    TRY_OK(context.require(Condition::eq(in[0], 1), "normalizer.rows",
                           "StringNormalizer takes a tensor of shape [C] or [1, C], not {}", text(in)));
  const auto* stopwords = call.strings("stopwords");
  const Dim most = max(in.back(), 1);
  const bool keeps_all = !stopwords || stopwords->empty();
  const Dim left = keeps_all ? context.simplify(most) : context.data_dim("words", 1, most);
  return Facts{Fact::tensor(DType::string, in.size() == 2 ? Dims{1, left} : Dims{left})};
}

Result<Facts> infer_split(const Call& call, InferContext& context) {
  TRY_OK(require_tensor(call, 0, kMaskString));
  TRY(Dims dims, call.dims(0));
  Fact counts = Fact::tensor(DType::i64, dims);
  std::optional<Dim> most;
  const int64_t splits = call.i("maxsplit", -1);
  if (call.has_attr("maxsplit") && splits >= 0 && splits < int64_t{1} << 40) most = Dim(splits + 1);
  dims.push_back(context.data_dim("parts", 0, most));
  return Facts{Fact::tensor(DType::string, std::move(dims)), counts};
}

Result<Facts> infer_tfidf(const Call& call, InferContext&) {
  TRY_OK(require_tensor(call, 0, kMaskInt | kMaskString));
  const auto* indexes = call.ints("ngram_indexes");
  if (!indexes || indexes->empty()) return refuse("attr.missing", "TfIdfVectorizer needs entries in \"ngram_indexes\"");
  const int64_t last = *std::max_element(indexes->begin(), indexes->end());
  if (*std::min_element(indexes->begin(), indexes->end()) < 0 || last >= int64_t{1} << 40)
    return refuse("tfidf.indexes", "an entry of \"ngram_indexes\" is negative or too large");
  TRY(const Dims in, call.dims(0));
  if (in.size() > 2) return refuse("rank", "TfIdfVectorizer takes a tensor of shape [C] or [N, C], not {}", text(in));
  return Facts{Fact::tensor(DType::f32, in.size() == 2 ? Dims{in[0], last + 1} : Dims{last + 1})};
}

}  // namespace

constexpr OpDef kRegexFullMatch20{
    .name = "RegexFullMatch", .since = 20, .sig = {kIn, kOut, "which strings match a pattern"}, .infer = infer_match};
constexpr OpDef kStringConcat20{.name = "StringConcat",
                                .since = 20,
                                .sig = {kConcatIn, kOut, "strings joined, with broadcasting"},
                                .infer = infer_concat};
constexpr OpDef kStringNormalizer10{.name = "StringNormalizer",
                                    .since = 10,
                                    .sig = {kIn, kOut, "strings without stop words, in another case"},
                                    .infer = infer_normalizer};
constexpr OpDef kStringSplit20{
    .name = "StringSplit", .since = 20, .sig = {kIn, kSplitOut, "strings cut at a delimiter"}, .infer = infer_split};
constexpr OpDef kTfIdfVectorizer9{
    .name = "TfIdfVectorizer", .since = 9, .sig = {kIn, kOut, "counts of n-grams"}, .infer = infer_tfidf};

}  // namespace anyshape::ops
