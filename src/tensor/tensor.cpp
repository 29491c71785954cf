#include "tensor/tensor.h"

#include <cstdlib>
#include <new>

#include "base/bug.h"
#include "base/memory_meter.h"
#include "base/os/block.h"
#include "base/temporary.h"

namespace anyshape {
namespace {

constexpr size_t kTensorAlignment = 64;
constexpr int64_t kMaxBytes = int64_t{1} << 46;
// What a tensor takes beside its elements, about.
constexpr size_t kBeside = 96;

template <class Visit>
void visit_int(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::i8:
      return visit(int8_t{});
    case DType::u8:
      return visit(uint8_t{});
    case DType::boolean:
      return visit(uint8_t{});
    case DType::i16:
      return visit(int16_t{});
    case DType::u16:
      return visit(uint16_t{});
    case DType::i32:
      return visit(int32_t{});
    case DType::u32:
      return visit(uint32_t{});
    case DType::i64:
      return visit(int64_t{});
    case DType::u64:
      return visit(uint64_t{});
    default:
      ANYSHAPE_CHECK(!"an integer type");
  }
}

// Owners that count for as long as they live.
struct CountedMemory {
  MemoryMeter::Share share;
  void operator()(void* memory) const { std::free(memory); }
};

// Of a load, see BlockScope.
constexpr size_t kLeastBlock = size_t{64} << 10;

struct BlockMemory {
  MemoryMeter::Share share;
  size_t bytes;
  void operator()(void* memory) const { os::free_block(memory, bytes); }
};

// Of zeros. Null: there is none.
void* take_block(size_t bytes) {
  try {
    return os::allocate_zero_block(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

struct CountedStrings {
  MemoryMeter::Share share;
  void operator()(std::vector<std::string>* list) const { delete list; }
};

// What a string of that length has outside of itself.
int64_t heap_bytes(size_t length) {
  static const size_t inside = std::string().capacity();
  return length > inside ? static_cast<int64_t>(length) + 1 : 0;
}

int64_t bytes_of(const std::vector<std::string>& list) {
  int64_t total = static_cast<int64_t>(list.size() * sizeof(std::string));
  for (const std::string& text : list) total += heap_bytes(text.capacity());
  return total;
}

std::shared_ptr<std::vector<std::string>> counted_tensor(std::vector<std::string> list, MemoryMeter::Share share) {
  if (!MemoryMeter::counts()) return std::make_shared<std::vector<std::string>>(std::move(list));
  return {new std::vector<std::string>(std::move(list)), CountedStrings{std::move(share)}};
}

}  // namespace

std::optional<int64_t> element_count(std::span<const int64_t> dims) {
  int64_t count = 1;
  bool empty = false, overflow = false;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    empty |= d == 0;
    overflow |= __builtin_mul_overflow(count, d, &count);
  }
  if (empty) return 0;
  if (overflow) return std::nullopt;
  return count;
}

Tensor::Tensor() = default;
Tensor::Tensor(Tensor&& other) noexcept = default;

Tensor::Tensor(const Tensor& other)
    : dtype_(other.dtype_),
      dims_(TemporaryMemory::take_sizes(other.dims_)),
      count_(other.count_),
      bytes_(other.bytes_),
      owner_(other.owner_),
      strings_(other.strings_) {}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this == &other) return *this;
  if (dims_.capacity() < other.dims_.size()) {
    TemporaryMemory::give_sizes(std::move(dims_));
    dims_ = TemporaryMemory::take_sizes(other.dims_);
  } else {
    dims_ = other.dims_;
  }
  dtype_ = other.dtype_;
  count_ = other.count_;
  bytes_ = other.bytes_;
  owner_ = other.owner_;
  strings_ = other.strings_;
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  if (this == &other) return *this;
  TemporaryMemory::give_sizes(std::move(dims_));
  dtype_ = other.dtype_;
  dims_ = std::move(other.dims_);
  count_ = other.count_;
  bytes_ = other.bytes_;
  owner_ = std::move(other.owner_);
  strings_ = std::move(other.strings_);
  return *this;
}

Tensor::~Tensor() { TemporaryMemory::give_sizes(std::move(dims_)); }

Status Tensor::take_memory(size_t bytes) {
  const size_t padded = (bytes + kTensorAlignment) / kTensorAlignment * kTensorAlignment;
  void* memory = nullptr;
  bool zero = false;
  if (TemporaryMemory::in_scope()) {
    try {
      memory = TemporaryMemory::take(padded);
      owner_ = std::shared_ptr<void>(memory, TemporaryMemory::give, TemporaryAllocator<std::byte>());
    } catch (const std::bad_alloc&) {
      return MemoryMeter::out_of_memory(static_cast<int64_t>(bytes));
    }
  } else {
    auto share = MemoryMeter::share();
    if (!share.take(static_cast<int64_t>(padded + kBeside))) return MemoryMeter::out_of_memory();
    const bool in_block = padded >= kLeastBlock && os::BlockScope::open();
    zero = in_block;
    memory = in_block ? take_block(padded) : std::aligned_alloc(kTensorAlignment, padded);
    if (!memory) return MemoryMeter::out_of_memory(static_cast<int64_t>(bytes));
    if (!MemoryMeter::counts()) share = {};
    if (in_block)
      owner_ = std::shared_ptr<void>(memory, BlockMemory{std::move(share), padded});
    else if (MemoryMeter::counts())
      owner_ = std::shared_ptr<void>(memory, CountedMemory{std::move(share)});
    else
      owner_ = std::shared_ptr<void>(memory, std::free);
  }
  if (!zero) std::memset(memory, 0, padded);
  bytes_ = {static_cast<const std::byte*>(memory), bytes};
  return {};
}

Status Tensor::take_strings(int64_t count) {
  if (count > kMaxBytes / int64_t{sizeof(std::string)})
    return system_error("tensor.memory", "{} strings do not fit into memory", count);
  const size_t bytes = static_cast<size_t>(count) * sizeof(std::string);
  auto share = MemoryMeter::share();
  if (!share.take(static_cast<int64_t>(bytes))) return MemoryMeter::out_of_memory();
  // Not every allocator answers the vector with an exception: one that aborts is asked in a way it may refuse.
  void* room = ::operator new(bytes, std::nothrow);
  if (!room) return system_error("tensor.memory", "out of memory: {} strings for one tensor", count);
  ::operator delete(room);
  try {
    strings_ = counted_tensor(std::vector<std::string>(static_cast<size_t>(count)), std::move(share));
  } catch (const std::bad_alloc&) {
    return system_error("tensor.memory", "out of memory: {} strings for one tensor", count);
  }
  return {};
}

Result<Tensor> Tensor::allocate(DType dtype, std::span<const int64_t> dims) {
  const auto count = element_count(dims);
  if (!count) return refuse("tensor.dims", "the sizes [{}] do not describe a tensor", fmt::join(dims, ", "));
  Tensor t;
  t.dtype_ = dtype;
  t.dims_ = TemporaryMemory::take_sizes(dims);
  t.count_ = *count;
  if (dtype == DType::string) {
    TRY_OK(t.take_strings(*count));
    return t;
  }
  if (*count > kMaxBytes) return system_error("tensor.memory", "{} elements do not fit into memory", *count);
  const size_t size = (static_cast<size_t>(*count) * static_cast<size_t>(bits(dtype)) + 7) / 8;
  TRY_OK(t.take_memory(size));
  return t;
}

Tensor Tensor::borrow(DType dtype, std::vector<int64_t> dims, std::span<const std::byte> bytes,
                      std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = dtype;
  t.count_ = element_count(dims).value_or(0);
  t.dims_ = std::move(dims);
  t.bytes_ = bytes;
  t.owner_ = std::move(owner);
  return t;
}

void Tensor::point_at(DType dtype, std::span<const int64_t> dims, const std::byte* data,
                      std::shared_ptr<const void> owner) {
  dtype_ = dtype;
  dims_.assign(dims.begin(), dims.end());
  count_ = element_count(dims).value_or(0);
  bytes_ = {data, (static_cast<size_t>(count_) * static_cast<size_t>(bits(dtype)) + 7) / 8};
  owner_ = std::move(owner);
  strings_.reset();
}

bool Tensor::shared() const {
  if (owner_.use_count() > 1) return true;
  // The count is read without order; dropping a reference is ordered after the drops of others.
  std::shared_ptr<const void>(owner_).reset();
  return false;
}

Tensor Tensor::of_strings(std::vector<int64_t> dims, std::vector<std::string> values) {
  Tensor t;
  t.dtype_ = DType::string;
  t.count_ = static_cast<int64_t>(values.size());
  t.dims_ = std::move(dims);
  auto share = MemoryMeter::share();
  if (MemoryMeter::counts()) share.add(bytes_of(values));
  t.strings_ = counted_tensor(std::move(values), std::move(share));
  return t;
}

void Tensor::put_string(int64_t i, std::string_view text, std::string_view more) {
  std::string& to = (*strings_)[static_cast<size_t>(i)];
  if (auto* list = std::get_deleter<CountedStrings>(strings_))
    if (!list->share.take(heap_bytes(text.size() + more.size()) - heap_bytes(to.capacity()))) throw std::bad_alloc();
  to.assign(text).append(more);
}

Tensor Tensor::of_ints(std::vector<int64_t> dims, std::span<const int64_t> values) {
  ANYSHAPE_CHECK(element_count(dims) == static_cast<int64_t>(values.size()));
  auto t = allocate(DType::i64, dims);
  if (!t) throw std::bad_alloc();
  if (!values.empty()) std::memcpy(t->data(), values.data(), values.size_bytes());
  return *std::move(t);
}

Tensor Tensor::scalar(int64_t value) { return of_ints({}, {&value, 1}); }

int64_t Tensor::int_at(int64_t i) const {
  const int width = bits(dtype_);
  if (width < 8) {
    const int64_t bit = i * width;
    const std::byte* byte = bytes_.data() + bit / 8;
    const bool split = bit % 8 + width > 8;
    const unsigned both = static_cast<unsigned>(byte[0]) | (split ? static_cast<unsigned>(byte[1]) << 8 : 0);
    const unsigned raw = both >> (bit % 8) & ((1u << width) - 1);
    const bool negative = is_signed_integer(dtype_) && (raw >> (width - 1)) != 0;
    return negative ? static_cast<int64_t>(raw) - (int64_t{1} << width) : static_cast<int64_t>(raw);
  }
  int64_t value = 0;
  visit_int(dtype_, [&]<class T>(T) { value = static_cast<int64_t>(at<T>(i)); });
  return value;
}

void Tensor::set_int(int64_t i, int64_t value) {
  const int width = bits(dtype_);
  if (width < 8) {
    const int64_t bit = i * width;
    std::byte* byte = data() + bit / 8;
    const unsigned mask = ((1u << width) - 1) << (bit % 8), code = static_cast<unsigned>(value) << (bit % 8) & mask;
    byte[0] = (byte[0] & ~static_cast<std::byte>(mask)) | static_cast<std::byte>(code);
    if (mask > 0xff) byte[1] = (byte[1] & ~static_cast<std::byte>(mask >> 8)) | static_cast<std::byte>(code >> 8);
    return;
  }
  visit_int(dtype_, [&]<class T>(T) {
    const T narrow = static_cast<T>(value);
    std::memcpy(data() + static_cast<size_t>(i) * sizeof(T), &narrow, sizeof(T));
  });
}

Result<Tensor> Tensor::aligned() const {
  if (dtype_ == DType::string || reinterpret_cast<uintptr_t>(bytes_.data()) % kTensorAlignment == 0) return *this;
  TRY(Tensor copy, allocate(dtype_, dims_));
  std::memcpy(copy.data(), bytes_.data(), bytes_.size());
  return copy;
}

Tensor Tensor::reshaped(std::span<const int64_t> dims) const {
  Tensor t = *this;
  t.dims_.assign(dims.begin(), dims.end());
  return t;
}

}  // namespace anyshape
