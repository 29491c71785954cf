#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "kernels/copy.h"
#include "kernels/reals.h"
#include "ops/ml/label_table.h"

namespace anyshape::ops {

// Keys of one kind with the number of the entry they stand for. The first of equal keys counts.
class KeyTable {
 public:
  // `equal_nans`: NaN is a key like others; otherwise nothing equals it.
  explicit KeyTable(bool equal_nans = true) : equal_nans_(equal_nans) {}

  void add(const std::string& key, size_t i) { strings_.emplace(key, i); }
  void add(int64_t key, size_t i) { ints_.emplace(key, i); }
  void add(double key, size_t i) {
    if (!std::isnan(key))
      reals_.emplace(key, i);
    else if (equal_nans_ && !nan_)
      nan_ = i;
  }

  // The keys of a tensor.
  Status add_all(const Tensor& keys) {
    if (keys.dtype() == DType::string) {
      for (size_t i = 0; i < keys.strings().size(); ++i) add(keys.strings()[i], i);
      return {};
    }
    if (is_integer(keys.dtype())) {
      for (int64_t i = 0; i < keys.count(); ++i) add(keys.int_at(i), static_cast<size_t>(i));
      return {};
    }
    TRY(const auto values, kernels::to_reals(keys));
    for (size_t i = 0; i < values.size(); ++i) add(values[i], i);
    return {};
  }

  // visit(i, entry) for entry i of x; entry: none where no key is equal.
  template <class Visit>
  Status look_up(const Tensor& x, Visit visit) const {
    if (x.dtype() == DType::string) {
      for (size_t i = 0; i < x.strings().size(); ++i) visit(i, find(strings_, x.strings()[i]));
      return {};
    }
    if (is_integer(x.dtype())) {
      for (int64_t i = 0; i < x.count(); ++i) visit(static_cast<size_t>(i), find(ints_, x.int_at(i)));
      return {};
    }
    TRY(const auto values, kernels::to_reals(x));
    for (size_t i = 0; i < values.size(); ++i) visit(i, std::isnan(values[i]) ? nan_ : find(reals_, values[i]));
    return {};
  }

 private:
  template <class Map, class Key>
  static std::optional<size_t> find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }

  std::unordered_map<std::string, size_t> strings_;
  std::unordered_map<int64_t, size_t> ints_;
  std::unordered_map<double, size_t> reals_;
  std::optional<size_t> nan_;
  bool equal_nans_;
};

namespace {

Result<Tensor> floats_tensor(const std::vector<float>& values) {
  TRY(Tensor tensor, Tensor::allocate(DType::f32, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.as_mutable<float>().begin());
  return tensor;
}

Tensor strings_tensor(std::vector<std::string> values) {
  const auto size = static_cast<int64_t>(values.size());
  return Tensor::of_strings({size}, std::move(values));
}

// The attribute `stem`_strings, _int64s, _floats or _tensor as a tensor of one axis; an empty Tensor when absent.
Result<Tensor> list_of(const Call& call, const std::string& stem) {
  if (const auto* strings = call.strings(stem + "_strings")) return strings_tensor(*strings);
  if (const auto* ints = call.ints(stem + "_int64s"))
    return Tensor::of_ints({static_cast<int64_t>(ints->size())}, *ints);
  if (const auto* floats = call.floats(stem + "_floats")) return floats_tensor(*floats);
  const Tensor* tensor = call.version() >= 4 ? call.tensor(stem + "_tensor") : nullptr;
  if (!tensor) return Tensor();
  return tensor->aligned();
}

// What unknown keys become, as a tensor with one entry of that type.
Result<Tensor> default_of(const Call& call, DType dtype) {
  const Tensor* tensor = call.version() >= 4 ? call.tensor("default_tensor") : nullptr;
  if (tensor && tensor->dtype() == dtype && tensor->count() == 1) return tensor->aligned();
  if (dtype == DType::string) return strings_tensor({std::string(call.s("default_string"))});
  TRY(Tensor one, Tensor::allocate(dtype, {1}));
  if (is_integer(dtype)) {
    one.set_int(0, call.i("default_int64"));
    return one;
  }
  const double value[] = {static_cast<double>(call.f("default_float"))};
  TRY_OK(kernels::from_reals(value, one));
  return one;
}

}  // namespace

struct LabelTable {
  KeyTable table;
  Tensor values, otherwise;  // `otherwise`: one entry, for keys that are not there

  Status run(const Tensor& x, Tensor& out) const {
    if (values.dtype() != out.dtype())
      return refuse("labelencoder.values", "the values are {}, the output is {}", name(values.dtype()),
                    name(out.dtype()));
    return table.look_up(x, [&](size_t i, std::optional<size_t> entry) {
      kernels::copy_elements(out, static_cast<int64_t>(i), entry ? values : otherwise,
                             entry ? static_cast<int64_t>(*entry) : 0, 1);
    });
  }
};

namespace {

// For inputs of type `in`; keys[i] stands for values[i].
Result<LabelTable> make_encoder(DType in, const Tensor& keys, Tensor values, Tensor otherwise, bool equal_nans) {
  const auto same_kind = [&](auto is) { return is(in) == is(keys.dtype()); };
  if (!same_kind([](DType d) { return d == DType::string; }) || !same_kind(is_integer))
    return refuse("labelencoder.keys", "the keys are {}, the input is {}", name(keys.dtype()), name(in));
  if (keys.count() != values.count())
    return refuse("labelencoder.values", "there are {} keys and {} values", keys.count(), values.count());
  LabelTable encoder{KeyTable(equal_nans), std::move(values), std::move(otherwise)};
  TRY_OK(encoder.table.add_all(keys));
  return encoder;
}

// Names and numbers that stand for each other, in whichever direction the input asks.
Status translate_either(const Call& call, KernelArgs& args, const std::vector<std::string>& names,
                        std::span<const int64_t> numbers) {
  const Tensor strings = strings_tensor(names), ints = Tensor::of_ints({static_cast<int64_t>(numbers.size())}, numbers);
  const bool from_names = args.in(0).dtype() == DType::string;
  TRY(const Tensor otherwise, default_of(call, from_names ? DType::i64 : DType::string));
  TRY(const LabelTable encoder,
      make_encoder(args.in(0).dtype(), from_names ? strings : ints, from_names ? ints : strings, otherwise, false));
  return encoder.run(args.in(0), args.out(0));
}

}  // namespace

Status run_category_mapper(const Call& call, KernelArgs& args) {
  const auto* ints = call.ints("cats_int64s");
  const auto* strings = call.strings("cats_strings");
  if (!ints || !strings) return refuse("categorymapper.categories", "the categories are missing");
  return translate_either(call, args, *strings, *ints);
}

namespace {

Result<LabelTable> read_encoder(const Call& call) {
  TRY(const Tensor keys, list_of(call, "keys"));
  TRY(Tensor values, list_of(call, "values"));
  if (!keys || !values) return refuse("labelencoder.keys", "the keys or the values are missing");
  TRY(Tensor otherwise, default_of(call, values.dtype()));
  return make_encoder(call.in(0).dtype, keys, std::move(values), std::move(otherwise), call.version() >= 4);
}

}  // namespace

Status run_label_encoder(const Call& call, KernelArgs& args) {
  if (call.version() < 2) {
    const auto* classes = call.strings("classes_strings");
    if (!classes) return refuse("labelencoder.keys", "the classes are missing");
    Temporary<int64_t> numbers;
    for (size_t i = 0; i < classes->size(); ++i) numbers.push_back(static_cast<int64_t>(i));
    return translate_either(call, args, *classes, numbers);
  }
  TRY(const LabelTable encoder, read_encoder(call));
  return encoder.run(args.in(0), args.out(0));
}

Result<std::shared_ptr<const LabelTable>> read_label_table(const Call& call) {
  TRY(LabelTable table, read_encoder(call));
  return std::make_shared<const LabelTable>(std::move(table));
}

Status look_up_labels(const LabelTable& table, const Tensor& x, Tensor& out) { return table.run(x, out); }

namespace {

Result<std::pair<Tensor, Tensor>> map_of(const Datum& datum) {
  if (datum.kind() != Datum::Kind::map) return refuse("ml.map", "the input is no map");
  const Tensor &keys = datum.items()[0].tensor(), &values = datum.items()[1].tensor();
  if (keys.count() != values.count())
    return refuse("ml.map", "a map of {} keys and {} values", keys.count(), values.count());
  return std::pair(keys, values);
}

}  // namespace

Status run_dict_vectorizer(const Call& call, KernelArgs& args) {
  TRY(const auto map, map_of(args.inputs[0]));
  const auto& [keys, values] = map;
  const auto* strings = call.strings("string_vocabulary");
  const auto* ints = call.ints("int64_vocabulary");
  const Tensor vocabulary = strings && !strings->empty() ? strings_tensor(*strings)
                            : ints                       ? Tensor::of_ints({static_cast<int64_t>(ints->size())}, *ints)
                                                         : Tensor();
  if (!vocabulary || (vocabulary.dtype() == DType::string) != (keys.dtype() == DType::string))
    return refuse("dictvectorizer.vocabulary", "the vocabulary is not of the type of the keys");
  TRY(args.out(0), Tensor::allocate(values.dtype(), {1, vocabulary.count()}));
  KeyTable table;
  TRY_OK(table.add_all(keys));
  return table.look_up(vocabulary, [&, &from = values](size_t i, std::optional<size_t> entry) {
    if (entry) kernels::copy_elements(args.out(0), static_cast<int64_t>(i), from, static_cast<int64_t>(*entry), 1);
  });
}

namespace {

// One value of a map in another type; text that is no number is 0.
void cast_value(const Tensor& from, int64_t i, Tensor& to, int64_t at) {
  if (from.dtype() == to.dtype()) return kernels::copy_elements(to, at, from, i, 1);
  if (from.dtype() == DType::string) {
    const std::string& text = from.strings()[static_cast<size_t>(i)];
    if (to.dtype() == DType::f32) to.as_mutable<float>()[static_cast<size_t>(at)] = std::strtof(text.c_str(), nullptr);
    if (to.dtype() == DType::i64) to.set_int(at, std::strtoll(text.c_str(), nullptr, 10));
    return;
  }
  const float value = from.at<float>(i);
  if (to.dtype() == DType::string)
    to.put_string(at, fmt::format("{:f}", value));
  else
    to.set_int(at, std::fabs(value) < 0x1p63f ? static_cast<int64_t>(value) : 0);
}

}  // namespace

Status run_cast_map(const Call& call, KernelArgs& args) {
  TRY(const auto map, map_of(args.inputs[0]));
  const auto& [keys, values] = map;
  if (keys.dtype() != DType::i64 || (values.dtype() != DType::f32 && values.dtype() != DType::string))
    return refuse("castmap.input", "the map must be from integers to floats or strings");
  const std::string_view to = call.s("cast_to");
  const DType dtype = to == "TO_STRING" ? DType::string : to == "TO_INT64" ? DType::i64 : DType::f32;
  Temporary<std::pair<int64_t, int64_t>> order;
  for (int64_t i = 0; i < keys.count(); ++i) order.emplace_back(keys.int_at(i), i);
  std::sort(order.begin(), order.end());
  const bool sparse = call.s("map_form") == "SPARSE";
  const int64_t width = sparse ? call.i("max_map") : keys.count();
  TRY(args.out(0), Tensor::allocate(dtype, {1, width}));
  if (sparse && dtype == DType::string)
    for (std::string& text : args.out(0).strings_mutable()) text = "0.f";
  for (size_t k = 0; k < order.size(); ++k) {
    const auto [key, i] = order[k];
    if (sparse && (key < 0 || key >= width)) return refuse("castmap.key", "key {} does not fit {} columns", key, width);
    cast_value(values, i, args.out(0), sparse ? key : static_cast<int64_t>(k));
  }
  return {};
}

}  // namespace anyshape::ops
