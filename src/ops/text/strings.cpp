#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernels/elementwise.h"
#include "kernels/ngrams.h"
#include "kernels/regex.h"
#include "kernels/text.h"
#include "ops/elementwise/elementwise.h"
#include "ops/records.h"

// StringConcat, StringNormalizer, StringSplit, RegexFullMatch, TfIdfVectorizer.
namespace anyshape::ops {
namespace {

constexpr Port kIn[] = {{"X"}};
constexpr Port kConcatIn[] = {{"X"}, {"Y"}};
constexpr Port kOut[] = {{"Y"}};
constexpr Port kSplitOut[] = {{"Y"}, {"Z", Port::optional}};
constexpr AttributeDef kRegexFullMatchAttributes[] = {
    {"pattern", AttributeDef::string},
};
constexpr AttributeDef kStringNormalizerAttributes[] = {
    {"case_change_action", "NONE"},
    {"is_case_sensitive", 0},
    {"locale", AttributeDef::string},
    {"stopwords", AttributeDef::strings},
};
constexpr AttributeDef kStringSplitAttributes[] = {
    {"delimiter", AttributeDef::string},
    {"maxsplit", -1},
};
constexpr AttributeDef kTfIdfVectorizerAttributes[] = {
    {"max_gram_length", 1},
    {"max_skip_count", AttributeDef::integer, AttributeDef::required},
    {"min_gram_length", 1},
    {"mode", AttributeDef::string, AttributeDef::required},
    {"ngram_counts", AttributeDef::integers, AttributeDef::required},
    {"ngram_indexes", AttributeDef::integers, AttributeDef::required},
    {"pool_int64s", AttributeDef::integers},
    {"pool_strings", AttributeDef::strings},
    {"weights", AttributeDef::reals},
};

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
Result<Facts> infer_normalizer_strings(const Call& call, InferContext& context) {
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
  const int64_t splits = call.i("maxsplit");
  if (splits >= 0 && splits < int64_t{1} << 40) most = Dim(splits + 1);
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

Status run_concat(const Call&, KernelArgs& args) {
  const Tensor &a = args.in(0), &b = args.in(1);
  Tensor& out = args.out(0);
  if (!kernels::broadcasts(a.dims(), out.dims()) || !kernels::broadcasts(b.dims(), out.dims()))
    return refuse("kernel.shape", "the inputs do not broadcast to the output");
  kernels::BroadcastIndex ia(a.dims(), out.dims()), ib(b.dims(), out.dims());
  for (int64_t i = 0; i < out.count(); ++i) {
    out.put_string(i, a.strings()[static_cast<size_t>(ia.offset())], b.strings()[static_cast<size_t>(ib.offset())]);
    ia.next();
    ib.next();
  }
  return {};
}

Status run_match(const Call& call, KernelArgs& args) {
  TRY(const auto regex, kernels::Regex::compile(call.s("pattern")));
  for (int64_t i = 0; i < args.in(0).count(); ++i)
    args.out(0).set_int(i, regex.full_match(args.in(0).strings()[static_cast<size_t>(i)]));
  return {};
}

Status run_normalizer(const Call& call, KernelArgs& args) {
  const Tensor& in = args.in(0);
  const std::string_view action = call.s("case_change_action");
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    return refuse("normalizer.case", "case_change_action is {:?}, not NONE, LOWER or UPPER", action);
  const bool exact = call.i("is_case_sensitive") != 0;
  std::unordered_set<std::string> stops;
  if (const auto* words = call.strings("stopwords"))
    for (const std::string& word : *words) stops.insert(exact ? word : kernels::to_lower(word));
  std::vector<std::string> left;
  for (const std::string& word : in.strings()) {
    if (!stops.empty() && stops.contains(exact ? word : kernels::to_lower(word))) continue;
    left.push_back(action == "LOWER" ? kernels::to_lower(word) : action == "UPPER" ? kernels::to_upper(word) : word);
  }
  if (left.empty()) left.emplace_back();
  std::vector<int64_t> dims(in.rank() == 2 ? 2 : 1, 1);
  dims.back() = static_cast<int64_t>(left.size());
  args.out(0) = Tensor::of_strings(std::move(dims), std::move(left));
  return {};
}

using Parts = std::vector<std::string>;

// At most `most` cuts at runs of white space; the rest is the last part.
Parts split_at_spaces(std::string_view text, int64_t most) {
  constexpr std::string_view kSpaces = " \t\n\r\v\f";
  Parts out;
  while (true) {
    const size_t start = text.find_first_not_of(kSpaces);
    if (start == text.npos) return out;
    text.remove_prefix(start);
    const size_t end = most == 0 ? text.npos : text.find_first_of(kSpaces);
    out.emplace_back(text.substr(0, end));
    if (end == text.npos) return out;
    text.remove_prefix(end);
    --most;
  }
}

Parts split_at(std::string_view text, std::string_view delimiter, int64_t most) {
  if (delimiter.empty()) return split_at_spaces(text, most);
  Parts out;
  while (true) {
    const size_t end = most == 0 ? text.npos : text.find(delimiter);
    out.emplace_back(text.substr(0, end));
    if (end == text.npos) return out;
    text.remove_prefix(end + delimiter.size());
    --most;
  }
}

Status run_split(const Call& call, KernelArgs& args) {
  const Tensor& in = args.in(0);
  const int64_t most = call.i("maxsplit");
  std::vector<Parts> all;
  size_t widest = 0;
  for (const std::string& text : in.strings()) {
    all.push_back(split_at(text, call.s("delimiter"), most));
    widest = std::max(widest, all.back().size());
  }
  std::vector<int64_t> dims = in.dims();
  dims.push_back(static_cast<int64_t>(widest));
  TRY(Tensor out, Tensor::allocate(DType::string, std::move(dims)));
  TRY(Tensor counts, Tensor::allocate(DType::i64, in.dims()));
  for (size_t i = 0; i < all.size(); ++i) {
    counts.set_int(static_cast<int64_t>(i), static_cast<int64_t>(all[i].size()));
    for (size_t k = 0; k < all[i].size(); ++k) out.put_string(static_cast<int64_t>(i * widest + k), all[i][k]);
  }
  args.out(0) = std::move(out);
  if (args.outputs.size() > 1) args.out(1) = std::move(counts);
  return {};
}

// Words as numbers: integers are themselves, strings are their first place in the pool.
class Words {
 public:
  explicit Words(const std::vector<std::string>* pool) {
    for (size_t i = 0; pool && i < pool->size(); ++i) numbers_.try_emplace((*pool)[i], static_cast<int64_t>(i));
  }
  int64_t number(const Tensor& x, int64_t i) const {
    return x.dtype() == DType::string ? number(x.strings()[static_cast<size_t>(i)]) : x.int_at(i);
  }
  int64_t number(const std::string& word) const {
    const auto it = numbers_.find(word);
    return it == numbers_.end() ? -1 : it->second;
  }

 private:
  std::unordered_map<std::string, int64_t> numbers_;
};

Result<kernels::NgramRules> ngram_rules(const Call& call, const Words& words, bool text) {
  kernels::NgramRules rules;
  const std::string_view mode = call.s("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return refuse("tfidf.mode", "mode is {:?}, not TF, IDF or TFIDF", mode);
  using Mode = kernels::NgramRules::Mode;
  rules.mode = mode == "TF" ? Mode::count : mode == "IDF" ? Mode::present : Mode::weighted;
  rules.least = call.i("min_gram_length");
  rules.most = call.i("max_gram_length");
  rules.skips = call.i("max_skip_count");
  if (const auto* counts = call.ints("ngram_counts")) rules.counts = temporary(*counts);
  if (const auto* indexes = call.ints("ngram_indexes")) rules.indexes = temporary(*indexes);
  if (const auto* weights = call.floats("weights")) rules.weights = temporary(*weights);
  if (const auto* pool = text ? nullptr : call.ints("pool_int64s")) rules.pool = temporary(*pool);
  if (const auto* pool = text ? call.strings("pool_strings") : nullptr)
    for (const std::string& word : *pool) rules.pool.push_back(words.number(word));
  return rules;
}

Status run_tfidf(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  const bool text = x.dtype() == DType::string;
  if (!text && !is_integer(x.dtype())) return unknown("dtype", "TfIdfVectorizer of {}", name(x.dtype()));
  const Words words(text ? call.strings("pool_strings") : nullptr);
  TRY(const auto rules, ngram_rules(call, words, text));
  const int64_t rows = x.rank() == 2 ? x.dims()[0] : 1, length = x.rank() == 0 ? 1 : x.dims().back();
  Temporary<Temporary<int64_t>> numbers(static_cast<size_t>(rows));
  for (int64_t i = 0; i < x.count(); ++i) numbers[static_cast<size_t>(i / length)].push_back(words.number(x, i));
  return kernels::count_ngrams(rules, numbers, args.out(0));
}

constexpr Kernel kConcatKernels[] = {{"reference", run_concat}};
constexpr Kernel kMatchKernels[] = {{"reference", run_match}};
constexpr Kernel kNormalizerKernels[] = {{"reference", run_normalizer}};
constexpr Kernel kSplitKernels[] = {{"reference", run_split}};
constexpr Kernel kTfidfKernels[] = {{"reference", run_tfidf}};

}  // namespace

constexpr OpDef kRegexFullMatch20{.name = "RegexFullMatch",
                                  .since = 20,
                                  .sig = {kIn, kOut, "which strings match a pattern", kRegexFullMatchAttributes},
                                  .infer = infer_match,
                                  .kernels = kMatchKernels};
constexpr OpDef kStringConcat20{.name = "StringConcat",
                                .since = 20,
                                .sig = {kConcatIn, kOut, "strings joined, with broadcasting"},
                                .infer = infer_concat,
                                .kernels = kConcatKernels};
constexpr OpDef kStringNormalizer10{
    .name = "StringNormalizer",
    .since = 10,
    .sig = {kIn, kOut, "strings without stop words, in another case", kStringNormalizerAttributes},
    .infer = infer_normalizer_strings,
    .kernels = kNormalizerKernels};
constexpr OpDef kStringSplit20{.name = "StringSplit",
                               .since = 20,
                               .sig = {kIn, kSplitOut, "strings cut at a delimiter", kStringSplitAttributes},
                               .infer = infer_split,
                               .kernels = kSplitKernels};
constexpr OpDef kTfIdfVectorizer9{.name = "TfIdfVectorizer",
                                  .since = 9,
                                  .sig = {kIn, kOut, "counts of n-grams", kTfIdfVectorizerAttributes},
                                  .infer = infer_tfidf,
                                  .kernels = kTfidfKernels};

}  // namespace anyshape::ops
