#include "tensor/datum.h"

#include "base/memory_meter.h"

namespace anyshape {

ANYSHAPE_DEFINE_SPECIAL_MEMBERS(Datum)

namespace {

// What is kept for an item: a handle, and while a node runs, what its rule knows of it.
constexpr size_t kItem = 4 * sizeof(Datum);

// A list of items, counted for as long as it lives.
struct CountedItems {
  MemoryMeter::Share share;
  void operator()(const std::vector<Datum>* items) const { delete items; }
};

std::shared_ptr<const std::vector<Datum>> counted_datum(std::vector<Datum> items) {
  if (!MemoryMeter::counts()) return std::make_shared<const std::vector<Datum>>(std::move(items));
  auto share = MemoryMeter::share();
  share.add(static_cast<int64_t>(items.size() * kItem));
  return {new std::vector<Datum>(std::move(items)), CountedItems{std::move(share)}};
}

}  // namespace

Datum Datum::sequence(DType dtype, std::vector<Datum> items) {
  Datum out;
  out.kind_ = Kind::sequence;
  out.item_dtype_ = dtype;
  out.items_ = counted_datum(std::move(items));
  return out;
}

Datum Datum::empty_optional(DType dtype) {
  Datum out = sequence(dtype, {});
  out.kind_ = Kind::optional;
  return out;
}

Datum Datum::optional(Datum item) {
  const DType dtype = item.dtype();
  std::vector<Datum> items;
  items.push_back(std::move(item));
  Datum out = sequence(dtype, std::move(items));
  out.kind_ = Kind::optional;
  return out;
}

Datum Datum::map(Tensor keys, Tensor values) {
  const DType dtype = values.dtype();
  std::vector<Datum> items;
  items.emplace_back(std::move(keys));
  items.emplace_back(std::move(values));
  Datum out = sequence(dtype, std::move(items));
  out.kind_ = Kind::map;
  return out;
}

const std::vector<Datum>& Datum::items() const {
  static const std::vector<Datum> kNone;
  return items_ ? *items_ : kNone;
}

DType Datum::dtype() const { return tensor_ ? tensor_.dtype() : item_dtype_; }

}  // namespace anyshape
