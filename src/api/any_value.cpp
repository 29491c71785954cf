#include "anyshape/any_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/printable.h"
#include "base/utf8.h"
#include "base/work.h"
#include "format/onnx/datum.h"
#include "tensor/npy.h"
#include "tensor/own.h"
#include "tensor/real.h"
#include "verify/compare.h"

namespace anyshape {
namespace {

AnyValue wrap(Datum datum) { return AnyValue(std::make_shared<Datum>(std::move(datum))); }

Status check_bytes(DType type, const std::vector<int64_t>& shape, size_t bytes) {
  const auto count = element_count(shape);
  if (!count || type == DType::undefined || type == DType::string)
    return refuse("tensor.dims", "no tensor of {} has the shape [{}]", name(type), fmt::join(shape, ", "));
  const size_t needed = (static_cast<size_t>(*count) * static_cast<size_t>(anyshape::bits(type)) + 7) / 8;
  if (needed == bytes) return {};
  return refuse("tensor.bytes", "a tensor {}[{}] takes {} bytes, {} are given", name(type), fmt::join(shape, ", "),
                needed, bytes);
}

std::vector<Datum> data_of(const std::vector<AnyValue>& values) {
  std::vector<Datum> out;
  for (const AnyValue& value : values) out.push_back(value.datum());
  return out;
}

bool is_complex(DType type) { return type == DType::c64 || type == DType::c128; }

std::string entry_text(const Tensor& tensor, int64_t i) {
  const DType type = tensor.dtype();
  if (type == DType::string)
    return printable(fmt::format("{:?}", shortened(tensor.strings()[static_cast<size_t>(i)], 40)));
  if (type == DType::c64) return fmt::format("{:.6g}{:+.6g}i", tensor.at<float>(2 * i), tensor.at<float>(2 * i + 1));
  if (type == DType::c128) return fmt::format("{:.6g}{:+.6g}i", tensor.at<double>(2 * i), tensor.at<double>(2 * i + 1));
  if (type == DType::u64) return fmt::format("{}", static_cast<uint64_t>(tensor.int_at(i)));
  if (is_integer(type) || type == DType::boolean) return fmt::format("{}", tensor.int_at(i));
  return fmt::format("{:.6g}", real_at(tensor, i).value_or(0));
}

// "  min -1.2  mean 0.1  max 2.5"; nothing for what has no order, or no entries.
std::string range_text(const AnyValue& value) {
  if (value.type() == DType::string || is_complex(value.type()) || value.count() == 0) return {};
  int64_t least = 0, most = 0;  // the places of these entries; of a NaN, if there is one
  double sum = 0;
  for (int64_t i = 0; i < value.count(); ++i) {
    const double x = value.number(i);
    sum += x;
    if (!std::isnan(value.number(least)) && !(x >= value.number(least))) least = i;
    if (!std::isnan(value.number(most)) && !(x <= value.number(most))) most = i;
  }
  const Tensor& tensor = value.datum().tensor();
  return fmt::format("  min {}  mean {:.6g}  max {}", entry_text(tensor, least),
                     sum / static_cast<double>(value.count()), entry_text(tensor, most));
}

bool has_ending(const std::filesystem::path& path, std::string_view ending) { return path.extension() == ending; }

}  // namespace

AnyValue::AnyValue() : datum_(std::make_shared<Datum>()) {}

Result<AnyValue> AnyValue::borrow(DType type, std::vector<int64_t> shape, void* data, size_t bytes) {
  TRY_OK(check_bytes(type, shape, bytes));
  return wrap(Tensor::borrow(type, std::move(shape), {static_cast<const std::byte*>(data), bytes}, nullptr));
}

Result<AnyValue> AnyValue::copy_of(DType type, std::vector<int64_t> shape, const void* data, size_t bytes) {
  TRY_OK(check_bytes(type, shape, bytes));
  TRY(Tensor tensor, Tensor::allocate(type, std::move(shape)));
  if (bytes > 0) std::memcpy(tensor.data(), data, bytes);
  return wrap(std::move(tensor));
}

Result<AnyValue> AnyValue::zeros(DType type, std::vector<int64_t> shape) {
  TRY(Tensor tensor, Tensor::allocate(type, std::move(shape)));
  return wrap(std::move(tensor));
}

Result<AnyValue> AnyValue::strings(std::vector<int64_t> shape, std::vector<std::string> entries) {
  const auto count = element_count(shape);
  if (!count || *count != static_cast<int64_t>(entries.size()))
    return refuse("tensor.dims", "{} strings do not have the shape [{}]", entries.size(), fmt::join(shape, ", "));
  return wrap(Tensor::of_strings(std::move(shape), std::move(entries)));
}

AnyValue AnyValue::sequence(DType type, const std::vector<AnyValue>& items) {
  return wrap(Datum::sequence(type, data_of(items)));
}
AnyValue AnyValue::optional(const AnyValue& item) { return wrap(Datum::optional(item.datum())); }
AnyValue AnyValue::empty_optional(DType type) { return wrap(Datum::empty_optional(type)); }

Result<AnyValue> AnyValue::random(DType type, std::vector<int64_t> shape, uint64_t seed) {
  TRY(Tensor tensor, Tensor::allocate(type, std::move(shape)));
  std::mt19937_64 generator(seed);
  const auto uniform = [&] { return (static_cast<double>(generator() >> 11) + 0.5) * 0x1p-53; };
  constexpr int64_t kAsked = 1 << 16;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (i % kAsked == 0) TRY_OK(Work::check());
    if (is_integer(type)) {
      tensor.set_int(i, static_cast<int64_t>(generator() % 2));
    } else if (type == DType::boolean) {
      tensor.set_int(i, static_cast<int64_t>(generator() & 1));
    } else if (type == DType::string) {
      tensor.strings_mutable()[static_cast<size_t>(i)] = fmt::format("s{}", generator() % 100);
    } else {
      const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
      if (!set_real(tensor, i, normal)) return refuse("random.type", "no random numbers of type {}", name(type));
    }
  }
  return wrap(std::move(tensor));
}

Result<AnyValue> AnyValue::read(const std::filesystem::path& path, Kind kind, DType wanted) {
  if (has_ending(path, ".npy")) {
    TRY(Tensor tensor, read_npy(path, wanted));
    return wrap(std::move(tensor));
  }
  if (!has_ending(path, ".pb"))
    return usage("value.file", "{}: values are read from .npy and .pb files", path.string());
  const Fact::Kind wanted_kind = kind == Kind::sequence   ? Fact::Kind::sequence
                                 : kind == Kind::optional ? Fact::Kind::optional
                                 : kind == Kind::map      ? Fact::Kind::map
                                                          : Fact::Kind::tensor;
  TRY(Datum datum, onnx::read_datum(path, wanted_kind));
  return wrap(std::move(datum));
}

Status AnyValue::write(const std::filesystem::path& path, std::string_view value_name) const {
  if (has_ending(path, ".pb")) return onnx::write_datum(path, *datum_, value_name);
  if (!has_ending(path, ".npy")) return usage("value.file", "{}: values are written as .npy or .pb", path.string());
  if (kind() != Kind::tensor) return refuse("value.kind", "{}: a .npy file holds one tensor", path.string());
  return write_npy(path, datum_->tensor());
}

Result<std::vector<std::pair<std::string, AnyValue>>> read_npz(
    const std::filesystem::path& path, const std::vector<std::pair<std::string, DType>>& wanted) {
  TRY(const NpzFile file, NpzFile::open(path));
  std::vector<std::pair<std::string, AnyValue>> out;
  for (const std::string& entry : file.names()) {
    const auto it = std::find_if(wanted.begin(), wanted.end(), [&](const auto& w) { return w.first == entry; });
    TRY(Tensor tensor, file.read(entry, it == wanted.end() ? DType::undefined : it->second));
    out.emplace_back(entry, wrap(std::move(tensor)));
  }
  return out;
}

Status write_npz(const std::filesystem::path& path, const std::vector<std::pair<std::string, AnyValue>>& values) {
  std::vector<NamedTensor> tensors;
  for (const auto& [entry, value] : values) {
    if (value.kind() != AnyValue::Kind::tensor)
      return refuse("value.kind", "{}: an .npz file holds tensors, {:?} is none", path.string(), entry);
    tensors.push_back({entry, value.datum().tensor()});
  }
  return write_npz(path, tensors);
}

Result<AnyValue> AnyValue::nudged(uint64_t seed) const {
  TRY(Datum datum, anyshape::nudged(*datum_, seed));
  return wrap(std::move(datum));
}

bool equally_right(const AnyValue& one, const AnyValue& other, const AnyValue& plain) {
  return equally_right(one.datum(), other.datum(), plain.datum());
}

std::string difference(const AnyValue& got, const AnyValue& want, const Tolerance& tolerance,
                       const std::vector<Computations>& right) {
  std::vector<Computed> pairs;
  for (const Computations& pair : right) pairs.push_back({pair.one.datum(), pair.other.datum()});
  return difference(got.datum(), want.datum(), tolerance, pairs);
}

AnyValue::Kind AnyValue::kind() const { return static_cast<Kind>(datum_->kind()); }
DType AnyValue::type() const { return datum_->dtype(); }
const std::vector<int64_t>& AnyValue::shape() const { return datum_->tensor().dims(); }
int64_t AnyValue::count() const { return datum_->tensor().count(); }
const void* AnyValue::data() const { return datum_->tensor().bytes().data(); }
void* AnyValue::mutable_data() { return datum_->tensor().data(); }
size_t AnyValue::bytes() const { return datum_->tensor().bytes().size(); }

const std::vector<std::string>& AnyValue::string_entries() const {
  static const std::vector<std::string> kNone;
  return type() == DType::string && kind() == Kind::tensor ? datum_->tensor().strings() : kNone;
}

double AnyValue::number(int64_t i) const {
  const Tensor& tensor = datum_->tensor();
  if (is_integer(tensor.dtype()) || tensor.dtype() == DType::boolean) return static_cast<double>(tensor.int_at(i));
  return tensor.dtype() == DType::string ? 0 : real_at(tensor, i).value_or(0);
}

std::vector<AnyValue> AnyValue::items() const {
  std::vector<AnyValue> out;
  for (const Datum& item : datum_->items()) out.push_back(wrap(item));
  return out;
}

Result<AnyValue> AnyValue::kept() const {
  TRY(Datum datum, own(*datum_));
  return wrap(std::move(datum));
}

std::string AnyValue::summary() const {
  constexpr int64_t kShown = 6;
  if (kind() == Kind::none) return "nothing";
  if (kind() != Kind::tensor) {
    constexpr std::string_view kNames[] = {"", "", "sequence", "optional", "map"};
    std::string out = fmt::format("{} of {}", kNames[static_cast<size_t>(kind())], datum_->items().size());
    for (const AnyValue& item : items()) {
      out += "\n    " + item.summary();
      if (out.size() > 2000) return out + "\n    ...";
    }
    return out;
  }
  std::vector<std::string> first;
  for (int64_t i = 0; i < std::min(count(), kShown); ++i) first.push_back(entry_text(datum_->tensor(), i));
  return fmt::format("{}[{}]{}  [{}{}]", name(type()), fmt::join(shape(), ", "), range_text(*this),
                     fmt::join(first, ", "), count() > kShown ? ", ..." : "");
}

std::string difference(const AnyValue& got, const AnyValue& want, const Tolerance& tolerance) {
  return difference(got.datum(), want.datum(), tolerance);
}

double largest_relative_error(const AnyValue& got, const AnyValue& want) {
  return largest_relative_error(got.datum(), want.datum());
}

}  // namespace anyshape
