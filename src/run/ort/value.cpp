#include "run/ort/value.h"

namespace anyshape::ort {
namespace {

using LibraryPtr = std::shared_ptr<const Library>;

// Tensors without elements may have no memory at all, which the library does not like.
std::byte* memory_of(const Tensor& tensor) {
  alignas(64) static std::byte nothing[64];
  const std::byte* data = tensor.bytes().data();
  return data != nullptr ? const_cast<std::byte*>(data) : nothing;
}

Result<ValuePtr> strings_to_ort(const LibraryPtr& library, const Tensor& tensor) {
  const Functions& f = library->functions();
  std::vector<const char*> texts;
  texts.reserve(tensor.strings().size());
  for (const std::string& text : tensor.strings()) {
    if (text.find('\0') != std::string::npos)
      return refuse("ort.value", "a text with a zero inside cannot be given to ONNX Runtime");
    texts.push_back(text.c_str());
  }
  Value* made = nullptr;
  TRY_OK(library->check(f.create_tensor(library->allocator(), tensor.dims().data(), tensor.rank(),
                                        static_cast<int>(DType::string), &made)));
  ValuePtr value = own(library, made, nullptr);
  TRY_OK(library->check(f.fill_strings(made, texts.data(), texts.size())));
  return value;
}

Result<ValuePtr> tensor_to_ort(const LibraryPtr& library, const Tensor& tensor) {
  if (tensor.dtype() == DType::string) return strings_to_ort(library, tensor);
  TRY(const int code, element_code(tensor.dtype()));
  TRY(const Tensor aligned, tensor.aligned());
  Value* made = nullptr;
  TRY_OK(library->check(library->functions().create_tensor_over(library->cpu_memory(), memory_of(aligned),
                                                                aligned.bytes().size(), aligned.dims().data(),
                                                                aligned.rank(), code, &made)));
  return own(library, made, std::make_shared<Tensor>(aligned));
}

// A sequence of its items, or a map of its keys and values.
Result<ValuePtr> container_to_ort(const LibraryPtr& library, const Datum& datum, int kind) {
  std::vector<ValuePtr> items;
  std::vector<const Value*> pointers;
  for (const Datum& item : datum.items()) {
    if (!item.is_tensor() && item.kind() != Datum::Kind::map)
      return refuse("ort.value", "ONNX Runtime takes sequences of tensors and of maps only");
    TRY(ValuePtr value, to_ort(library, item, item.dtype()));
    pointers.push_back(value.get());
    items.push_back(std::move(value));
  }
  Value* made = nullptr;
  TRY_OK(library->check(library->functions().create_container(pointers.data(), pointers.size(), kind, &made)));
  return own(library, made, std::make_shared<std::vector<ValuePtr>>(std::move(items)));
}

struct TensorType {
  DType dtype = DType::undefined;
  std::vector<int64_t> dims;
};

Result<TensorType> type_of(const LibraryPtr& library, const Value* value) {
  const Functions& f = library->functions();
  TensorInfo* info = nullptr;
  TRY_OK(library->check(f.tensor_info(value, &info)));
  const std::unique_ptr<TensorInfo, void (*)(TensorInfo*)> owner(info, f.release_tensor_info);
  int code = 0;
  size_t rank = 0;
  TRY_OK(library->check(f.element_type(info, &code)));
  TRY_OK(library->check(f.rank(info, &rank)));
  TensorType type{element_dtype(code), std::vector<int64_t>(rank)};
  TRY_OK(library->check(f.dims(info, type.dims.data(), rank)));
  if (type.dtype == DType::undefined) return refuse("ort.value", "ONNX Runtime gave an element type {}", code);
  return type;
}

Result<Tensor> strings_from_ort(const LibraryPtr& library, const Value* value, const TensorType& type) {
  const Functions& f = library->functions();
  const auto count = static_cast<size_t>(element_count(type.dims).value_or(0));
  size_t total = 0;
  TRY_OK(library->check(f.string_bytes(value, &total)));
  std::string all(total, '\0');
  std::vector<size_t> starts(count);
  if (count > 0) TRY_OK(library->check(f.copy_strings(value, all.data(), total, starts.data(), count)));
  std::vector<std::string> texts;
  texts.reserve(count);
  for (size_t i = 0; i < count; ++i)
    texts.push_back(all.substr(starts[i], (i + 1 < count ? starts[i + 1] : total) - starts[i]));
  return Tensor::of_strings(type.dims, std::move(texts));
}

Result<Tensor> tensor_from_ort(const LibraryPtr& library, const ValuePtr& value) {
  TRY(const TensorType type, type_of(library, value.get()));
  if (type.dtype == DType::string) return strings_from_ort(library, value.get(), type);
  void* data = nullptr;
  TRY_OK(library->check(library->functions().tensor_data(value.get(), &data)));
  const auto elements = static_cast<size_t>(element_count(type.dims).value_or(0));
  const size_t size = (elements * static_cast<size_t>(bits(type.dtype)) + 7) / 8;
  return Tensor::borrow(type.dtype, type.dims, {static_cast<const std::byte*>(data), size}, value);
}

Result<ValuePtr> item_of(const LibraryPtr& library, const ValuePtr& value, int index) {
  Value* item = nullptr;
  TRY_OK(library->check(library->functions().item(value.get(), index, library->allocator(), &item)));
  return own(library, item, value);
}

Result<Datum> sequence_from_ort(const LibraryPtr& library, const ValuePtr& value, DType dtype) {
  size_t count = 0;
  TRY_OK(library->check(library->functions().item_count(value.get(), &count)));
  std::vector<Datum> items;
  for (size_t i = 0; i < count; ++i) {
    TRY(const ValuePtr item, item_of(library, value, static_cast<int>(i)));
    TRY(Datum datum, from_ort(library, item, dtype));
    items.push_back(std::move(datum));
  }
  if (!items.empty()) dtype = items[0].dtype();
  return Datum::sequence(dtype, std::move(items));
}

Result<Datum> map_from_ort(const LibraryPtr& library, const ValuePtr& value) {
  TRY(const ValuePtr keys, item_of(library, value, 0));
  TRY(const ValuePtr values, item_of(library, value, 1));
  TRY(Tensor key_tensor, tensor_from_ort(library, keys));
  TRY(Tensor value_tensor, tensor_from_ort(library, values));
  return Datum::map(std::move(key_tensor), std::move(value_tensor));
}

}  // namespace

ValuePtr own(const LibraryPtr& library, Value* value, std::shared_ptr<const void> keep) {
  return ValuePtr(value, [library, keep = std::move(keep)](Value* p) { library->functions().release_value(p); });
}

Result<int> element_code(DType dtype) {
  switch (dtype) {
    case DType::undefined:
      return refuse("ort.value", "an input has no element type");
    case DType::u2:
      return 24;
    case DType::i2:
      return 25;
    case DType::f8e8m0:
      return 26;
    case DType::f6e2m3:
    case DType::f6e3m2:
      return refuse("ort.value", "ONNX Runtime has no elements of type {}", name(dtype));
    default:
      return static_cast<int>(dtype);
  }
}

DType element_dtype(int code) {
  for (int i = 1; i < kDTypeCount; ++i)
    if (element_code(static_cast<DType>(i)) == code) return static_cast<DType>(i);
  return DType::undefined;
}

Result<ValuePtr> to_ort(const LibraryPtr& library, const Datum& datum, DType dtype) {
  if (datum.dtype() != DType::undefined) dtype = datum.dtype();
  const bool empty = datum.items().empty();
  switch (datum.kind()) {
    case Datum::Kind::tensor:
      return tensor_to_ort(library, datum.tensor());
    case Datum::Kind::sequence:
      return empty ? make_empty_sequence(library, dtype) : container_to_ort(library, datum, kSequence);
    case Datum::Kind::optional:
      if (!empty) return to_ort(library, datum.items()[0], dtype);
      return refuse("ort.value", "ONNX Runtime cannot be given an optional without content");
    case Datum::Kind::map:
      return container_to_ort(library, datum, kMap);
    default:
      return refuse("ort.value", "an absent value cannot be given to ONNX Runtime");
  }
}

Result<Datum> from_ort(const LibraryPtr& library, const ValuePtr& value, DType dtype) {
  int kind = kUnknown;
  TRY_OK(library->check(library->functions().kind_of_value(value.get(), &kind)));
  if (kind == kTensor) return tensor_from_ort(library, value);
  if (kind == kSequence) return sequence_from_ort(library, value, dtype);
  if (kind == kMap) return map_from_ort(library, value);
  return refuse("ort.value", "ONNX Runtime gave a value that is neither tensor nor sequence nor map");
}

}  // namespace anyshape::ort
