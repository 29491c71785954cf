#include "ir/fact.h"

#include <algorithm>

#include "base/bug.h"
#include "base/effort.h"
#include "tensor/real.h"

namespace anyshape {
namespace {

bool carries_integers(DType dtype) { return is_integer(dtype) || dtype == DType::boolean; }

std::shared_ptr<const Dims> elements_of(const Tensor& tensor) {
  if (!carries_integers(tensor.dtype()) || tensor.count() > static_cast<int64_t>(Fact::kMaxElements)) return nullptr;
  Dims values;
  values.reserve(static_cast<size_t>(tensor.count()));
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const int64_t value = tensor.int_at(i);
    const bool past_int64 = tensor.dtype() == DType::u64 && value < 0;
    if (past_int64) return nullptr;
    values.push_back(value);
  }
  return std::make_shared<const Dims>(std::move(values));
}

Tensor float_tensor(const Fact& fact) {
  const auto sizes = fact.numeric_dims();
  if (!sizes) return {};
  auto made = Tensor::allocate(fact.dtype, *sizes);
  if (!made || made->count() != static_cast<int64_t>(fact.elements->size())) return {};
  for (size_t i = 0; i < fact.elements->size(); ++i) {
    const auto number = (*fact.elements)[i].constant();
    if (!number) return {};
    if (!set_real(*made, static_cast<int64_t>(i), static_cast<double>(*number) / static_cast<double>(fact.denominator)))
      return {};
  }
  return *std::move(made);
}

}  // namespace

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Fact)

Fact Fact::tensor(DType dtype, Dims dims) {
  Fact fact;
  fact.kind = Kind::tensor;
  fact.dtype = dtype;
  fact.dims = std::move(dims);
  return fact;
}

Fact Fact::tensor_of_unknown_rank(DType dtype) {
  Fact fact;
  fact.kind = Kind::tensor;
  fact.dtype = dtype;
  return fact;
}

Fact Fact::of_elements(DType dtype, Dims dims, Dims values, int64_t denominator) {
  ANYSHAPE_CHECK(values.size() <= kMaxElements);
  Fact fact = tensor(dtype, std::move(dims));
  const bool any_unknown = std::any_of(values.begin(), values.end(), [](Dim d) { return d.is_unknown(); });
  if (!any_unknown) fact.elements = std::make_shared<const Dims>(std::move(values));
  fact.denominator = denominator;
  return fact;
}

Fact Fact::of_constant(Tensor value) {
  Fact fact = tensor(value.dtype(), Dims(value.dims().begin(), value.dims().end()));
  fact.elements = elements_of(value);
  fact.constant = std::make_shared<const Tensor>(std::move(value));
  fact.from_shapes = true;
  return fact;
}

Fact Fact::of(const Datum& datum) {
  Fact fact;
  switch (datum.kind()) {
    case Datum::Kind::none:
      return fact;
    case Datum::Kind::tensor:
      return of_constant(datum.tensor());
    case Datum::Kind::map:
      fact.kind = Kind::map;
      fact.dtype = datum.items()[0].dtype();
      fact.item = std::make_shared<const Fact>(scalar(datum.dtype()));
      return fact;
    case Datum::Kind::sequence:
    case Datum::Kind::optional:
      break;
  }
  const bool is_sequence = datum.kind() == Datum::Kind::sequence;
  Facts items;
  for (const Datum& item : datum.items()) items.push_back(of(item));
  Fact item = datum.dtype() == DType::undefined ? Fact() : tensor_of_unknown_rank(datum.dtype());
  fact = is_sequence ? sequence(std::move(item)) : optional(std::move(item));
  if (!items.empty() && (!is_sequence || !items[0].is_tensor()))
    fact.item = std::make_shared<const Fact>(items[0].type_only());
  fact.length = static_cast<int64_t>(items.size());
  if (is_sequence) fact.items = std::make_shared<const Facts>(std::move(items));
  return fact;
}

Fact Fact::sequence(Fact item) {
  Fact fact;
  fact.kind = Kind::sequence;
  fact.item = std::make_shared<const Fact>(std::move(item));
  return fact;
}

Fact Fact::optional(Fact item) {
  Fact fact;
  fact.kind = Kind::optional;
  fact.item = std::make_shared<const Fact>(std::move(item));
  return fact;
}

std::optional<Dim> Fact::single() const {
  if (!elements || elements->size() != 1 || denominator != 1) return std::nullopt;
  return elements->front();
}

std::optional<std::vector<int64_t>> Fact::numbers() const {
  if (!elements || denominator != 1) return std::nullopt;
  std::vector<int64_t> out;
  out.reserve(elements->size());
  for (Dim d : *elements) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(*d.constant());
  }
  return out;
}

std::optional<Bounds> Fact::value_bounds() const {
  if (!carries_integers(dtype)) return std::nullopt;
  if (elements && !elements->empty()) {
    Bounds all{elements->front(), elements->front()};
    for (Dim d : *elements) all = {min(all.lo, d), max(all.hi, d)};
    if (all.lo.is_unknown() || all.hi.is_unknown()) return std::nullopt;
    all.attained = true;
    return all;
  }
  if (constant && constant->count() > 0 && dtype != DType::u64) {
    Effort::step(constant->count() / 64);
    int64_t lo = constant->int_at(0), hi = lo;
    for (int64_t i = 1; i < constant->count(); ++i) {
      lo = std::min(lo, constant->int_at(i));
      hi = std::max(hi, constant->int_at(i));
    }
    return Bounds{lo, hi, true};
  }
  return bounds;
}

Tensor Fact::as_tensor() const {
  if (constant) return *constant;
  if (elements && is_float(dtype)) return float_tensor(*this);
  const auto values = carries_integers(dtype) ? numbers() : std::nullopt;
  const auto sizes = numeric_dims();
  if (!values || !sizes) return {};
  auto made = Tensor::allocate(dtype, *sizes);
  if (!made || made->count() != static_cast<int64_t>(values->size())) return {};
  for (size_t i = 0; i < values->size(); ++i) made->set_int(static_cast<int64_t>(i), (*values)[i]);
  return *std::move(made);
}

std::optional<std::vector<int64_t>> Fact::numeric_dims() const {
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  out.reserve(dims->size());
  for (Dim d : *dims) {
    if (!d.is_constant()) return std::nullopt;
    out.push_back(*d.constant());
  }
  return out;
}

Fact Fact::type_only() const {
  Fact fact = *this;
  fact.elements = nullptr;
  fact.denominator = 1;
  fact.bounds.reset();
  fact.constant = nullptr;
  fact.items = nullptr;
  return fact;
}

namespace {

bool same_entries(const Fact& a, const Fact& b) {
  const bool same_elements = a.elements && b.elements ? *a.elements == *b.elements : !a.elements && !b.elements;
  const bool same_bounds =
      a.bounds && b.bounds ? a.bounds->lo == b.bounds->lo && a.bounds->hi == b.bounds->hi : !a.bounds && !b.bounds;
  return same_elements && same_bounds && a.denominator == b.denominator && a.constant == b.constant;
}

}  // namespace

bool same_facts(const Fact& a, const Fact& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.dims != b.dims || a.length != b.length) return false;
  if (a.items != b.items || !a.item != !b.item) return false;
  return same_entries(a, b) && (!a.item || same_facts(*a.item, *b.item));
}

std::string print(const Fact& fact) {
  switch (fact.kind) {
    case Fact::Kind::unknown:
      return "?";
    case Fact::Kind::sequence:
      return fmt::format("seq({})", fact.item ? print(*fact.item) : "?");
    case Fact::Kind::optional:
      return fmt::format("optional({})", fact.item ? print(*fact.item) : "?");
    case Fact::Kind::map:
      return fmt::format("map({}, {})", name(fact.dtype), fact.item ? print(*fact.item) : "?");
    case Fact::Kind::tensor:
    case Fact::Kind::sparse_tensor:
      break;
  }
  const std::string prefix = fact.kind == Fact::Kind::sparse_tensor ? "sparse " : "";
  const std::string type = fact.dtype == DType::undefined ? "?" : std::string(name(fact.dtype));
  std::string out = prefix + type + (fact.dims ? print(*fact.dims) : "[...]");
  if (fact.elements) out += " = " + print(*fact.elements);
  if (fact.elements && fact.denominator != 1) out += fmt::format("/{}", fact.denominator);
  return out;
}

}  // namespace anyshape
