#include "tensor/own.h"

#include <algorithm>
#include <cstring>

namespace anyshape {
namespace {

bool all_owned(const Datum& datum) {
  if (datum.is_tensor()) return datum.tensor().owned();
  return std::all_of(datum.items().begin(), datum.items().end(), all_owned);
}

}  // namespace

Result<Datum> own(const Datum& datum, bool always) {
  if (!always && all_owned(datum)) return datum;
  if (datum.dtype() == DType::string && datum.is_tensor()) return datum;
  if (datum.is_tensor()) {
    TRY(Tensor copy, Tensor::allocate(datum.dtype(), datum.tensor().dims()));
    const auto bytes = datum.tensor().bytes();
    if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
    return Datum(std::move(copy));
  }
  std::vector<Datum> items;
  for (const Datum& item : datum.items()) {
    TRY(Datum owned, own(item, always));
    items.push_back(std::move(owned));
  }
  switch (datum.kind()) {
    case Datum::Kind::optional:
      return items.empty() ? Datum::empty_optional(datum.dtype()) : Datum::optional(std::move(items[0]));
    case Datum::Kind::map:
      return Datum::map(items[0].tensor(), items[1].tensor());
    default:
      return Datum::sequence(datum.dtype(), std::move(items));
  }
}

void lend(Datum& to, const Datum& from) {
  if (!from.is_tensor() || from.dtype() == DType::string) {
    to = from;
    return;
  }
  if (!to.is_tensor()) forget(to);
  to.tensor().point_at(from.dtype(), from.tensor().dims(), from.tensor().bytes().data());
  to.settle();
}

void forget_shares(Datum& datum) {
  if (!datum.is_tensor() || datum.tensor().owned()) forget(datum);
}

void forget(Datum& datum) {
  Tensor tensor = std::move(datum.tensor());
  tensor.point_at(DType::undefined, {}, nullptr);
  datum = Datum(std::move(tensor));
}

Status copy_into(Datum& to, const Datum& from, std::string_view output) {
  if (!from.is_tensor() || from.dtype() != to.dtype() || from.tensor().dims() != to.tensor().dims())
    return refuse("output.shape", "output {:?} is {}[{}], the memory given for it is another shape or type", output,
                  name(from.dtype()), fmt::join(from.tensor().dims(), ", "));
  if (from.dtype() == DType::string) {
    to = from;
  } else if (!from.tensor().bytes().empty()) {
    std::memcpy(to.tensor().data(), from.tensor().bytes().data(), from.tensor().bytes().size());
  }
  return {};
}

}  // namespace anyshape
