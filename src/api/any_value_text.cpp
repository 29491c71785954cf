#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anyshape/any_value.h"
#include "base/json.h"
#include "base/printable.h"
#include "tensor/datum.h"
#include "tensor/real.h"

// Values as JSON, and as the tensors they are made of.
namespace anyshape {
namespace {

std::string real_text(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return fmt::format("{}", value);
}
// The shortest text that gives the same number of that type.
std::string real_text(float value) {
  return std::isfinite(value) ? fmt::format("{}", value) : real_text(double{value});
}

template <class T>
std::string pair_text(const Tensor& tensor, int64_t i) {
  return fmt::format("[{}, {}]", real_text(tensor.at<T>(2 * i)), real_text(tensor.at<T>(2 * i + 1)));
}

std::string entry_json(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::string:
      return json_quote(tensor.strings()[static_cast<size_t>(i)]);
    case DType::boolean:
      return tensor.int_at(i) != 0 ? "true" : "false";
    case DType::u64:
      return fmt::format("{}", static_cast<uint64_t>(tensor.int_at(i)));
    case DType::c64:
      return pair_text<float>(tensor, i);
    case DType::c128:
      return pair_text<double>(tensor, i);
    case DType::f64:
      return real_text(tensor.at<double>(i));
    default:
      return is_integer(tensor.dtype()) ? fmt::format("{}", tensor.int_at(i))
                                        : real_text(static_cast<float>(real_at(tensor, i).value_or(0)));
  }
}

// The entries from `first` on that lie below the axes up to `axis`.
void add_entries(const Tensor& tensor, size_t axis, int64_t first, int64_t count, std::string& out) {
  if (axis == tensor.rank()) {
    out += entry_json(tensor, first);
    return;
  }
  const int64_t size = tensor.dims()[axis], below = size == 0 ? 0 : count / size;
  out += '[';
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out += ", ";
    add_entries(tensor, axis + 1, first + i * below, below, out);
  }
  out += ']';
}

void add_json(const Datum& value, std::string& out);

void add_map(const Tensor& keys, const Tensor& values, std::string& out) {
  out += '{';
  for (int64_t i = 0; i < keys.count(); ++i) {
    if (i > 0) out += ", ";
    const std::string key = entry_json(keys, i);
    out += (key.starts_with('"') ? key : '"' + key + '"') + ": " + entry_json(values, i);
  }
  out += '}';
}

void add_json(const Datum& value, std::string& out) {
  const auto& items = value.items();
  switch (value.kind()) {
    case Datum::Kind::none:
      out += "null";
      return;
    case Datum::Kind::tensor:
      add_entries(value.tensor(), 0, 0, value.tensor().count(), out);
      return;
    case Datum::Kind::map:
      add_map(items[0].tensor(), items[1].tensor(), out);
      return;
    case Datum::Kind::optional:
      items.empty() ? void(out += "null") : add_json(items[0], out);
      return;
    case Datum::Kind::sequence:
      break;
  }
  out += '[';
  for (size_t i = 0; i < items.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    add_json(items[i], out);
  }
  out += items.empty() ? "]" : "\n]";
}

using Columns = std::vector<std::pair<std::string, AnyValue>>;

bool same_keys(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::string) return a.strings() == b.strings();
  return std::ranges::equal(a.bytes(), b.bytes());
}

// A sequence of maps that have the same keys in one order.
bool is_table(const Datum& value) {
  const auto& rows = value.items();
  const auto is_row = [&](const Datum& row) {
    return row.kind() == Datum::Kind::map && same_keys(row.items()[0].tensor(), rows[0].items()[0].tensor()) &&
           row.items()[1].dtype() == rows[0].items()[1].dtype();
  };
  return value.kind() == Datum::Kind::sequence && !rows.empty() && rows[0].kind() == Datum::Kind::map &&
         std::all_of(rows.begin(), rows.end(), is_row);
}

void set_entry(Tensor& to, int64_t at, const Tensor& from, int64_t i) {
  if (from.dtype() == DType::string) {
    to.strings_mutable()[static_cast<size_t>(at)] = from.strings()[static_cast<size_t>(i)];
    return;
  }
  const size_t size = static_cast<size_t>(bits(from.dtype())) / 8;
  std::copy_n(from.bytes().data() + static_cast<size_t>(i) * size, size, to.data() + static_cast<size_t>(at) * size);
}

Result<Tensor> rows_of(const Datum& table) {
  const auto& rows = table.items();
  const Tensor& first = rows[0].items()[1].tensor();
  const int64_t width = first.count();
  TRY(Tensor out, Tensor::allocate(first.dtype(), {static_cast<int64_t>(rows.size()), width}));
  for (size_t r = 0; r < rows.size(); ++r)
    for (int64_t i = 0; i < width; ++i)
      set_entry(out, static_cast<int64_t>(r) * width + i, rows[r].items()[1].tensor(), i);
  return out;
}

AnyValue wrapped(Datum datum) { return AnyValue(std::make_shared<Datum>(std::move(datum))); }

Status add_columns(const Datum& value, const std::string& name, Columns& out) {
  if (value.is_tensor()) {
    out.emplace_back(name, wrapped(value));
    return {};
  }
  if (value.kind() == Datum::Kind::map) {
    out.emplace_back(name + ".keys", wrapped(value.items()[0]));
    out.emplace_back(name + ".values", wrapped(value.items()[1]));
    return {};
  }
  if (is_table(value)) {
    TRY(Tensor rows, rows_of(value));
    out.emplace_back(name + ".keys", wrapped(value.items()[0].items()[0]));
    out.emplace_back(name + ".values", wrapped(std::move(rows)));
    return {};
  }
  out.emplace_back(name + ".length", wrapped(Tensor::scalar(static_cast<int64_t>(value.items().size()))));
  for (size_t i = 0; i < value.items().size(); ++i)
    TRY_OK(add_columns(value.items()[i], fmt::format("{}.{}", name, i), out));
  return {};
}

}  // namespace

std::string AnyValue::json() const {
  std::string out;
  add_json(*datum_, out);
  return out + '\n';
}

Result<std::vector<std::pair<std::string, AnyValue>>> AnyValue::columns(const std::string& name) const {
  Columns out;
  TRY_OK(add_columns(*datum_, name, out));
  return out;
}

}  // namespace anyshape
