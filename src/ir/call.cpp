#include "ir/call.h"

#include <algorithm>
#include <new>

#include "base/bug.h"
#include "base/memory_meter.h"

namespace anyshape {

Result<Dims> Call::dims(size_t i) const {
  if (!in(i).dims) return unknown("infer.rank", "the rank of input {} is not known", i);
  return *in(i).dims;
}

const AttributeDef& Call::listed(std::string_view name) const {
  const AttributeDef* found = find_attribute(op_->sig.attributes, name, version_);
  ANYSHAPE_CHECK(found != nullptr);
  return *found;
}

bool Call::has_attr(std::string_view name) const { return node_.attribute(listed(name).name) != nullptr; }

template <class T>
const T* Call::given(std::string_view name) const {
  const Attribute* attribute = node_.attribute(name);
  if (!attribute) return nullptr;
  const T* value = std::get_if<T>(&attribute->value);
  if (!value)
    for (const Call* call = this; call; call = call->outer_) call->mistyped_ = attribute->name;
  return value;
}
template const int64_t* Call::given(std::string_view) const;
template const float* Call::given(std::string_view) const;
template const std::string* Call::given(std::string_view) const;
template const std::vector<int64_t>* Call::given(std::string_view) const;
template const std::vector<float>* Call::given(std::string_view) const;

template <class T>
const T* Call::get(std::string_view name) const {
  return given<T>(listed(name).name);
}

template <class T>
const T* Call::get_boxed(std::string_view name) const {
  const auto* value = get<Box<T>>(name);
  return value ? &**value : nullptr;
}

template <class T>
T Call::value_or_default(std::string_view name) const {
  const AttributeDef& attribute = listed(name);
  const T* value = given<T>(name);
  return value ? *value : default_of<T>(attribute);
}
template int64_t Call::value_or_default(std::string_view) const;
template float Call::value_or_default(std::string_view) const;

std::string_view Call::s(std::string_view name) const {
  const AttributeDef& attribute = listed(name);
  const auto* value = given<std::string>(name);
  return value ? std::string_view(*value) : default_of<std::string_view>(attribute);
}

std::span<const int64_t> Call::ints_or_default(std::string_view name) const {
  const AttributeDef& attribute = listed(name);
  const auto* value = given<std::vector<int64_t>>(name);
  return value ? std::span<const int64_t>(*value) : default_of<std::span<const int64_t>>(attribute);
}

const std::vector<int64_t>* Call::ints(std::string_view name) const { return get<std::vector<int64_t>>(name); }
const std::vector<float>* Call::floats(std::string_view name) const { return get<std::vector<float>>(name); }
const std::vector<std::string>* Call::strings(std::string_view name) const {
  return get<std::vector<std::string>>(name);
}
const Tensor* Call::tensor(std::string_view name) const { return get_boxed<Tensor>(name); }
const SparseTensor* Call::sparse(std::string_view name) const { return get_boxed<SparseTensor>(name); }
const Fact* Call::type_attr(std::string_view name) const { return get_boxed<Fact>(name); }
const Graph* Call::graph(std::string_view name) const {
  const auto* v = get<std::shared_ptr<Graph>>(name);
  return v ? v->get() : nullptr;
}

Result<std::vector<Datum>> run_reference(const Call& call, const std::vector<Datum>& in, const Facts& out,
                                         BodyRunner* bodies, uint64_t seed) {
  std::vector<Datum> outputs;
  for (const Fact& fact : out) {
    const auto sizes = fact.is_tensor() ? fact.numeric_dims() : std::nullopt;
    if (sizes) {
      TRY(Tensor tensor, Tensor::allocate(fact.dtype, *sizes));
      outputs.emplace_back(std::move(tensor));
    } else {
      outputs.emplace_back();
    }
  }
  outputs.resize(std::max(outputs.size(), call.outputs()));
  KernelArgs args{in, outputs, bodies, seed};
  try {
    TRY_OK(call.op()->kernels.back().run(call, args));
  } catch (const std::bad_alloc&) {
    return MemoryMeter::out_of_memory();
  }
  TRY_OK(MemoryMeter::check());
  for (Datum& datum : outputs) datum.settle();
  return outputs;
}

}  // namespace anyshape
