#include "format/torchscript/storage.h"

#include <cstring>

namespace anyshape::torchscript {
namespace {

bool row_major(const StorageView& view) {
  int64_t step = 1;
  for (size_t i = view.sizes.size(); i-- > 0;) {
    if (view.sizes[i] != 1 && view.strides[i] != step) return false;
    step *= view.sizes[i];
  }
  return true;
}

// One past the furthest element the window touches; nullopt past int64.
std::optional<int64_t> reach(const StorageView& view) {
  int64_t last = view.offset;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    int64_t span = 0;
    if (__builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &span)) return std::nullopt;
    if (__builtin_add_overflow(last, span, &last)) return std::nullopt;
  }
  if (__builtin_add_overflow(last, int64_t{1}, &last)) return std::nullopt;
  return last;
}

tl::unexpected<Error> wrong(const StorageView& view, std::string_view what) {
  return refuse("script.storage", "the storage {:?} {}", view.key, what);
}

// Steps through the window in row-major order.
class Odometer {
 public:
  explicit Odometer(const StorageView& view) : view_(view), index_(view.sizes.size()), place_(view.offset) {}
  int64_t place() const { return place_; }
  void step() {
    for (size_t i = index_.size(); i-- > 0;) {
      place_ += view_.strides[i];
      if (++index_[i] < view_.sizes[i]) return;
      place_ -= view_.strides[i] * view_.sizes[i];
      index_[i] = 0;
    }
  }

 private:
  const StorageView& view_;
  std::vector<int64_t> index_;
  int64_t place_;
};

}  // namespace

Result<ZipContent> Storages::content(const StorageView& view) {
  if (const auto found = contents_.find(view.key); found != contents_.end()) return found->second;
  const ZipMember* member = zip_->find(folder_ + view.key);
  if (member == nullptr) return wrong(view, "is not in the archive");
  ZipContent bytes;
  if (member->stored) {
    bytes = zip_->mapped(*member);
  } else {
    TRY(bytes, zip_->read(*member));
  }
  contents_.emplace(view.key, bytes);
  return bytes;
}

Result<Tensor> Storages::gather(const StorageView& view, const ZipContent& content) {
  std::string key = fmt::format("{}:{}:{}:{}:{}", view.key, static_cast<int>(view.dtype), view.offset,
                                fmt::join(view.sizes, ","), fmt::join(view.strides, ","));
  if (const auto found = copied_.find(key); found != copied_.end()) return found->second;
  const size_t width = static_cast<size_t>(bits(view.dtype)) / 8;
  const auto count = static_cast<uint64_t>(*element_count(view.sizes));
  if (count > copies_left_ / width) return wrong(view, "would be far larger in memory than in the file");
  copies_left_ -= count * width;
  TRY(Tensor copy, Tensor::allocate(view.dtype, view.sizes));
  Odometer from(view);
  for (uint64_t i = 0; i < count; ++i, from.step()) {
    std::memcpy(copy.data() + i * width, content.bytes.data() + static_cast<size_t>(from.place()) * width, width);
  }
  copied_.emplace(std::move(key), copy);
  return copy;
}

Result<Tensor> Storages::window(const StorageView& view) {
  const auto count = element_count(view.sizes);
  if (!count) return wrong(view, "has a window larger than any memory");
  if (*count == 0) return Tensor::allocate(view.dtype, view.sizes);
  TRY(const ZipContent bytes, content(view));
  const size_t width = static_cast<size_t>(bits(view.dtype)) / 8;
  const auto end = reach(view);
  if (!end || static_cast<uint64_t>(*end) > bytes.bytes.size() / width) {
    return wrong(view, fmt::format("of {} bytes is smaller than a tensor in it", bytes.bytes.size()));
  }
  if (!row_major(view)) return gather(view, bytes);
  const auto window =
      bytes.bytes.subspan(static_cast<size_t>(view.offset) * width, static_cast<size_t>(*count) * width);
  return Tensor::borrow(view.dtype, view.sizes, window, bytes.owner);
}

}  // namespace anyshape::torchscript
