#include "ir/op.h"

#include <algorithm>
#include <tuple>

namespace anyshape {

const OpDef* OpTable::find(std::string_view domain, std::string_view name, int64_t version) const {
  if (domain == "ai.onnx") domain = "";
  const auto key = std::tie(domain, name);
  auto it = std::partition_point(records_.begin(), records_.end(),
                                 [&](const OpDef* op) { return std::tie(op->domain, op->name) < key; });
  const bool here = it != records_.end() && std::tie((*it)->domain, (*it)->name) == key;
  if (!here) return below_ ? below_->find(domain, name, version) : nullptr;
  const OpDef* found = nullptr;
  for (; it != records_.end() && std::tie((*it)->domain, (*it)->name) == key && (*it)->since <= version; ++it)
    found = *it;
  return found;
}

const Tensor& KernelArgs::in(size_t i) const {
  static const Tensor kAbsent;
  return i < inputs.size() ? inputs[i].tensor() : kAbsent;
}

}  // namespace anyshape
