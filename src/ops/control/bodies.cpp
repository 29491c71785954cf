#include "ops/control/bodies.h"

#include <algorithm>
#include <cstring>

#include "kernels/copy.h"
#include "kernels/join.h"

namespace anyshape::ops {
namespace {

constexpr int64_t kMaxStackedBytes = int64_t{1} << 20;

bool equal_tensors(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::string) return a.strings() == b.strings();
  return a.bytes().data() == b.bytes().data() || std::ranges::equal(a.bytes(), b.bytes());
}

bool equal_dims(const InferContext& context, Dim a, Dim b) {
  if (a == b) return !a.is_unknown();
  if (a.is_unknown() || b.is_unknown()) return false;
  return context.simplify(a - b) == Dim(0);
}

bool equal_lists(const InferContext& context, const Dims& a, const Dims& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](Dim x, Dim y) { return equal_dims(context, x, y); });
}

Dim join_dim(const InferContext& context, Dim a, Dim b, const JoinDim& fn) {
  if (a.is_unknown() || b.is_unknown()) return Dim::unknown();
  return equal_dims(context, a, b) ? a : fn(a, b);
}

void join_entries(const InferContext& context, const Fact& a, const Fact& b, const Joiner& joiner, Fact& out) {
  const bool both =
      a.elements && b.elements && a.elements->size() == b.elements->size() && a.denominator == b.denominator;
  if (both && a.dims && b.dims && equal_lists(context, *a.dims, *b.dims)) {
    Dims values;
    for (size_t i = 0; i < a.elements->size(); ++i) {
      const Dim x = (*a.elements)[i], y = (*b.elements)[i];
      const bool equal = equal_dims(context, x, y);
      if (!equal && !joiner.entry) break;
      values.push_back(equal ? x : (*joiner.entry)(x, y));
      if (values.back().is_unknown()) break;
    }
    const bool complete = values.size() == a.elements->size() && (values.empty() || !values.back().is_unknown());
    if (complete) {
      out.elements = std::make_shared<const Dims>(std::move(values));
      out.denominator = a.denominator;
    }
  }
  if (a.constant && b.constant && equal_tensors(*a.constant, *b.constant)) out.constant = a.constant;
  const auto x = a.value_bounds(), y = b.value_bounds();
  if (!out.elements && x && y) out.bounds = Bounds{min(x->lo, y->lo), max(x->hi, y->hi)};
}

bool is_empty_sequence(const Fact& fact) { return fact.items && fact.items->empty(); }

Result<Fact> join_sequences(InferContext& context, const Fact& a, const Fact& b, const Joiner& joiner) {
  Fact out;
  out.kind = a.kind;
  out.from_shapes = a.from_shapes && b.from_shapes;
  out.from_sizes = a.from_sizes || b.from_sizes;
  const Joiner blur{[](Dim, Dim) { return Dim::unknown(); }, std::nullopt};
  if (a.item && b.item) {
    Fact item = *a.item;
    if (is_empty_sequence(a)) item = *b.item;
    if (!is_empty_sequence(a) && !is_empty_sequence(b)) {
      TRY(item, join(context, *a.item, *b.item, blur));
    }
    out.item = std::make_shared<const Fact>(std::move(item));
  }
  if (a.length && b.length) out.length = join_dim(context, *a.length, *b.length, joiner.dim);
  if (out.length && out.length->is_unknown()) out.length.reset();
  if (a.items && b.items && a.items->size() == b.items->size()) {
    Facts items;
    for (size_t i = 0; i < a.items->size(); ++i) {
      TRY(Fact item, join(context, (*a.items)[i], (*b.items)[i], joiner));
      items.push_back(std::move(item));
    }
    out.items = std::make_shared<const Facts>(std::move(items));
  }
  return out;
}

bool same_pointee(const InferContext& context, const std::shared_ptr<const Fact>& a,
                  const std::shared_ptr<const Fact>& b) {
  if (!a || !b) return !a && !b;
  return a == b || same(context, *a, *b);
}

bool same_items(const InferContext& context, const Fact& a, const Fact& b) {
  if (!a.items || !b.items) return !a.items && !b.items;
  return a.items->size() == b.items->size() &&
         std::equal(a.items->begin(), a.items->end(), b.items->begin(),
                    [&](const Fact& x, const Fact& y) { return same(context, x, y); });
}

template <class T, class Equal>
bool same_optional(const T& a, const T& b, Equal equal) {
  if (!a || !b) return !a && !b;
  return equal(*a, *b);
}

}  // namespace

Result<Fact> join(InferContext& context, const Fact& a, const Fact& b, const Joiner& joiner) {
  if (a.kind == Fact::Kind::unknown || b.kind == Fact::Kind::unknown) return Fact();
  const bool perhaps = a.kind == Fact::Kind::optional || b.kind == Fact::Kind::optional;
  if (a.kind != b.kind && perhaps) return Fact();
  if (a.kind != b.kind) return refuse("body.type", "one way gives {}, another {}", print(a), print(b));
  if (a.kind == Fact::Kind::sequence || a.kind == Fact::Kind::optional) return join_sequences(context, a, b, joiner);
  const bool clash = a.dtype != b.dtype && a.dtype != DType::undefined && b.dtype != DType::undefined;
  if (clash) return refuse("body.type", "one way gives {}, another {}", print(a), print(b));
  Fact out;
  out.kind = a.kind;
  out.dtype = a.dtype == DType::undefined ? b.dtype : a.dtype;
  out.item = a.item;
  out.from_shapes = a.from_shapes && b.from_shapes;
  out.from_sizes = a.from_sizes || b.from_sizes;
  if (!a.dims || !b.dims || a.dims->size() != b.dims->size()) return out;
  out.dims.emplace();
  for (size_t i = 0; i < a.dims->size(); ++i)
    out.dims->push_back(join_dim(context, (*a.dims)[i], (*b.dims)[i], joiner.dim));
  join_entries(context, a, b, joiner, out);
  return out;
}

bool same(const InferContext& context, const Fact& a, const Fact& b) {
  const auto lists = [&](const Dims& x, const Dims& y) { return equal_lists(context, x, y); };
  const auto dims = [&](Dim x, Dim y) { return equal_dims(context, x, y); };
  const auto bounds = [&](const Bounds& x, const Bounds& y) { return dims(x.lo, y.lo) && dims(x.hi, y.hi); };
  return a.kind == b.kind && a.dtype == b.dtype && a.from_shapes == b.from_shapes && a.denominator == b.denominator &&
         same_optional(a.dims, b.dims, lists) && same_optional(a.elements, b.elements, lists) &&
         same_optional(a.bounds, b.bounds, bounds) && same_optional(a.length, b.length, dims) &&
         same_optional(a.constant, b.constant, equal_tensors) && same_pointee(context, a.item, b.item) &&
         same_items(context, a, b);
}

Fact map_dims(const Fact& fact, const std::function<Dim(Dim)>& fn) {
  const auto mapped = [&](const Dims& dims) {
    Dims out;
    std::transform(dims.begin(), dims.end(), std::back_inserter(out), fn);
    return out;
  };
  Fact out = fact;
  if (fact.dims) out.dims = mapped(*fact.dims);
  if (fact.elements) out.elements = std::make_shared<const Dims>(mapped(*fact.elements));
  if (fact.bounds) out.bounds = Bounds{fn(fact.bounds->lo), fn(fact.bounds->hi)};
  if (fact.length) out.length = fn(*fact.length);
  if (fact.item) out.item = std::make_shared<const Fact>(map_dims(*fact.item, fn));
  if (fact.items) {
    Facts items;
    for (const Fact& item : *fact.items) items.push_back(map_dims(item, fn));
    out.items = std::make_shared<const Facts>(std::move(items));
  }
  return out;
}

Result<Fact> common_item(InferContext& context, const Facts& items) {
  if (items.empty()) return Fact();
  const Joiner blur{[](Dim, Dim) { return Dim::unknown(); }, std::nullopt};
  Fact all = items.front().type_only();
  for (size_t i = 1; i < items.size(); ++i) {
    TRY(all, join(context, all, items[i].type_only(), blur));
  }
  return all;
}

bool counted_by_shapes(const InferContext& context, const Fact& sequence) {
  return sequence.from_shapes || !sequence.length || !context.on_data(*sequence.length);
}

Fact any_item(InferContext& context, const Fact& item, bool from_shapes) {
  Fact source;
  source.from_shapes = from_shapes;
  Fact out = map_dims(item, [&](Dim d) { return d.is_unknown() ? context.fresh(source, "item") : d; });
  out.from_shapes = from_shapes;
  return out;
}

Status forbid(InferContext& context, const Condition& path, Error error) {
  if (error.kind != Error::Kind::refused) return tl::unexpected(std::move(error));
  if (context.certain() && error.lenient) {
    error.kind = Error::Kind::unknown;
    return tl::unexpected(std::move(error));
  }
  return context.require(!path, error.code, "{}{}{}", error.place, error.place.empty() ? "" : ": ", error.message);
}

void assume_sizes(InferContext& context, const Facts& facts) {
  for (const Fact& fact : facts) {
    if (fact.dims)
      for (Dim d : *fact.dims)
        if (d.is_symbol()) context.assumptions().assume(Condition::ge(d, 0));
    if (fact.length && fact.length->is_symbol()) context.assumptions().assume(Condition::ge(*fact.length, 0));
  }
}

Fact declared_fact(const Value& value, Dim fill) {
  if (!value.declared || value.declared->kind != Fact::Kind::tensor) return {};
  Fact fact = Fact::tensor_of_unknown_rank(value.declared->dtype);
  if (!value.declared->dims) return fact;
  fact.dims.emplace();
  for (const DeclaredDim& d : *value.declared->dims)
    fact.dims->push_back(d.value && *d.value >= 0 ? Dim(*d.value) : fill);
  return fact;
}

namespace {

// The entries of parts stacked on axis 0.
void stack_entries(const Facts& parts, Fact& out) {
  Dims values;
  for (const Fact& part : parts) {
    if (!part.elements || part.denominator != parts.front().denominator) return;
    values.insert(values.end(), part.elements->begin(), part.elements->end());
    if (values.size() > Fact::kMaxElements) return;
  }
  out.elements = std::make_shared<const Dims>(std::move(values));
  out.denominator = parts.front().denominator;
}

void stack_constants(const Facts& parts, Fact& out) {
  const auto dims = out.numeric_dims();
  const auto count = dims ? element_count(*dims) : std::nullopt;
  if (!count || *count > kMaxStackedBytes / 8) return;
  for (const Fact& part : parts)
    if (!part.constant || part.constant->dtype() != out.dtype) return;
  if (out.dtype == DType::string || bits(out.dtype) < 8) return;
  auto made = Tensor::allocate(out.dtype, *dims);
  if (!made) return;
  int64_t at = 0;
  for (const Fact& part : parts) {
    if (at + part.constant->count() > made->count()) return;
    kernels::copy_elements(*made, at, *part.constant, 0, part.constant->count());
    at += part.constant->count();
  }
  const bool from_shapes = out.from_shapes;
  out = Fact::of_constant(*std::move(made));
  out.from_shapes = from_shapes;
}

}  // namespace

Result<Fact> stack(InferContext& context, const Facts& parts, size_t axis, std::string_view code) {
  Fact out = parts.front().type_only();
  const auto untold = [](const Fact& part) {
    return part.kind == Fact::Kind::unknown || (part.is_tensor() && part.dtype == DType::undefined);
  };
  if (std::any_of(parts.begin(), parts.end(), untold)) return Fact();
  for (const Fact& part : parts) {
    if (part.kind != out.kind || part.dtype != out.dtype)
      return refuse(code, "iterations give {} and {}", print(out), print(part));
    out.from_shapes = out.from_shapes && part.from_shapes;
    if (!out.dims || !part.dims) {
      out.dims.reset();
      continue;
    }
    if (part.dims->size() != out.dims->size())
      return refuse(code, "iterations give {} and {}", print(out), print(part));
    for (size_t i = 0; i < part.dims->size(); ++i)
      TRY_OK(context.require(Condition::eq((*part.dims)[i], (*out.dims)[i]), code,
                             "iterations give {} and {}: axis {} must be the same in all of them", text(*out.dims),
                             text(*part.dims), i));
  }
  if (!out.dims || out.kind != Fact::Kind::tensor) return out;
  if (axis > out.dims->size()) return refuse(code, "axis {} is out of range for {}", axis, text(*out.dims));
  out.dims->insert(out.dims->begin() + static_cast<ptrdiff_t>(axis), static_cast<int64_t>(parts.size()));
  if (axis != 0) return out;
  stack_constants(parts, out);
  if (!out.elements) stack_entries(parts, out);
  return out;
}

Status ScanParts::add(const std::vector<Datum>& outputs) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!outputs[first_ + i].is_tensor())
      return refuse("body.type", "output {} of the body is no tensor, it cannot be stacked", first_ + i);
    TRY_OK(add(columns_[i], outputs[first_ + i].tensor()));
  }
  return {};
}

Status ScanParts::add(Column& column, const Tensor& tensor) const {
  if (!column.one && (tensor.dtype() == DType::string || bits(tensor.dtype()) < 8)) {
    column.apart.push_back(tensor);
    return {};
  }
  if (!column.one) column.one.point_at(tensor.dtype(), tensor.dims(), nullptr);
  const Tensor& before = column.apart.empty() ? column.one : column.apart[0];
  if (before.dtype() != tensor.dtype() || before.dims() != tensor.dims()) {
    const Tensor different[] = {before, tensor};
    return kernels::stack(different, 0).map([](const Tensor&) {});
  }
  const auto bytes = static_cast<int64_t>(tensor.bytes().size());
  if ((column.filled + 1) * bytes > column.rows.count()) TRY_OK(grow(column));
  if (bytes > 0) std::memcpy(column.rows.data() + column.filled * bytes, tensor.bytes().data(), tensor.bytes().size());
  ++column.filled;
  return {};
}

// To all that will come, but not at once where a condition may end it before.
Status ScanParts::grow(Column& column) const {
  constexpr int64_t kAtOnce = 1 << 16;
  const int64_t bytes = column.one.count() * (bits(column.one.dtype()) / 8);
  const int64_t wanted = std::min(std::max<int64_t>(rounds_, 1), std::max<int64_t>(kAtOnce / bytes, 1));
  int64_t size = 0;
  if (__builtin_mul_overflow(std::max(wanted, 2 * column.filled), bytes, &size))
    return refuse("tensor.dims", "the parts are too long together");
  TRY(Tensor rows, Tensor::allocate(DType::u8, {size}));
  if (column.filled > 0)
    std::memcpy(rows.data(), column.rows.bytes().data(), static_cast<size_t>(column.filled * bytes));
  column.rows = std::move(rows);
  return {};
}

Result<Tensor> ScanParts::stacked(size_t i) {
  const Column& column = columns_[i];
  if (!column.apart.empty()) return kernels::stack(column.apart, 0);
  std::vector<int64_t> dims = column.one.dims();
  dims.insert(dims.begin(), column.filled);
  TRY(Tensor out, Tensor::allocate(column.one.dtype(), dims));
  if (!out.bytes().empty()) std::memcpy(out.data(), column.rows.bytes().data(), out.bytes().size());
  return out;
}

Temporary<Tensor> ScanParts::parts(size_t i) const {
  const Column& column = columns_[i];
  if (!column.apart.empty()) return column.apart;
  Temporary<Tensor> out(static_cast<size_t>(column.filled));
  const int64_t bytes = column.one.count() * (bits(column.one.dtype()) / 8);
  for (int64_t k = 0; k < column.filled; ++k)
    out[static_cast<size_t>(k)].point_at(column.one.dtype(), column.one.dims(), column.rows.bytes().data() + k * bytes);
  return out;
}

Result<std::vector<TensorType>> ScanParts::none(BodyRunner& bodies, std::vector<Datum> inputs) const {
  std::vector<TensorType> out;
  std::optional<std::vector<Datum>> ran;
  for (size_t i = first_; i < body_.outputs.size(); ++i) {
    const Value& value = body_.values[body_.outputs[i]];
    auto dims = declared_fact(value, Dim::unknown()).numeric_dims();
    if (!dims && !ran) {
      auto tried = bodies.run_whole(body_, inputs);
      ran = tried ? *std::move(tried) : std::vector<Datum>(body_.outputs.size());
    }
    const Fact fact = declared_fact(value, 0);
    DType dtype = fact.dtype;
    if (!dims && (*ran)[i].is_tensor()) {
      dims = (*ran)[i].tensor().dims();
      dtype = (*ran)[i].tensor().dtype();
    }
    if (!dims) dims = fact.numeric_dims();
    if (dtype == DType::undefined)
      return unknown("body.type", "the type of output {} of a body that never ran is not known", i);
    out.push_back({dtype, dims.value_or(std::vector<int64_t>())});
  }
  return out;
}

Result<bool> single_bool(const Tensor& tensor, std::string_view code) {
  if (tensor && tensor.dtype() == DType::boolean && tensor.count() == 1) return tensor.at<uint8_t>(0) != 0;
  return refuse(code, "the condition must be one bool, it is {}",
                tensor ? print(Fact::of(tensor).type_only()) : "no tensor");
}

Result<Tensor> no_parts(const TensorType& one, size_t axis) {
  std::vector<int64_t> dims = one.dims;
  if (axis > dims.size()) return refuse("axis.range", "axis {} is out of range for rank {}", axis, dims.size() + 1);
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), 0);
  return Tensor::allocate(one.dtype, std::move(dims));
}

}  // namespace anyshape::ops
