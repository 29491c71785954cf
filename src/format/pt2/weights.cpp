#include "format/pt2/weights.h"

#include <algorithm>
#include <cstring>

#include "base/work.h"
#include "format/pt2/decode.h"

namespace anyshape::pt2 {
namespace {

// Where the elements of a tensor lie in its storage; counted in elements.
struct Strided {
  DType dtype = DType::undefined;
  std::vector<int64_t> dims, strides;
  int64_t offset = 0, count = 0;

  int64_t width() const { return bits(dtype) / 8; }
  std::string text() const {
    return fmt::format("{}[{}]:[{}]@{}", name(dtype), fmt::join(dims, ","), fmt::join(strides, ","), offset);
  }
};

Result<std::vector<int64_t>> numbers(const std::vector<Size>& sizes, std::string_view what) {
  std::vector<int64_t> out;
  for (const Size& size : sizes) {
    if (!size.number || *size.number < 0) return refuse("pt2.weight", "its {} are no numbers from 0 on", what);
    out.push_back(*size.number);
  }
  return out;
}

Result<Strided> strided(const TensorMeta& meta) {
  Strided out;
  out.dtype = meta.dtype;
  if (bits(meta.dtype) < 8) return refuse("pt2.weight", "its element type has no form in ONNX");
  TRY(out.dims, numbers(meta.sizes, "sizes"));
  TRY(out.strides, numbers(meta.strides, "strides"));
  TRY(const auto offset, numbers({meta.offset}, "storage offset"));
  out.offset = offset[0];
  if (out.strides.size() != out.dims.size()) {
    return refuse("pt2.weight", "it has {} sizes and {} strides", out.dims.size(), out.strides.size());
  }
  // The stride of an axis of size 1 is never used and may be any number.
  for (size_t i = 0; i < out.dims.size(); ++i) {
    if (out.dims[i] == 1) out.strides[i] = 0;
  }
  const auto count = element_count(out.dims);
  if (!count) return refuse("pt2.weight", "its sizes [{}] are too large", fmt::join(out.dims, ", "));
  out.count = *count;
  return out;
}

// The bytes from the storage's beginning to behind the last element; nullopt past int64.
std::optional<int64_t> reach(const Strided& t) {
  int64_t last = t.offset, step = 0, bytes = 0;
  for (size_t i = 0; i < t.dims.size(); ++i) {
    if (__builtin_mul_overflow(t.dims[i] - 1, t.strides[i], &step)) return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, t.width(), &bytes)) return std::nullopt;
  return bytes;
}

bool is_row_major(const Strided& t) {
  int64_t expected = 1;
  for (size_t i = t.dims.size(); i-- > 0;) {
    if (t.dims[i] != 1 && t.strides[i] != expected) return false;
    expected *= t.dims[i];
  }
  return true;
}

// Copies the elements, W bytes each, into `out` in row-major order. REQUIRES: at least one axis, none of size 0.
template <size_t W>
void gather(const Strided& t, const std::byte* storage, std::byte* out) {
  const size_t last = t.dims.size() - 1;
  const int64_t step = t.strides[last] * static_cast<int64_t>(W);
  std::vector<int64_t> index(last, 0);
  int64_t row = t.offset;
  for (int64_t rows = t.count / t.dims[last]; rows > 0; --rows) {
    const std::byte* from = storage + static_cast<size_t>(row) * W;
    for (int64_t i = 0; i < t.dims[last]; ++i, out += W) std::memcpy(out, from + i * step, W);
    for (size_t axis = last; axis-- > 0;) {
      row += t.strides[axis];
      if (++index[axis] < t.dims[axis]) break;
      row -= t.strides[axis] * t.dims[axis];
      index[axis] = 0;
    }
  }
}

void gather_any(const Strided& t, const std::byte* storage, std::byte* out) {
  switch (t.width()) {
    case 1:
      return gather<1>(t, storage, out);
    case 2:
      return gather<2>(t, storage, out);
    case 4:
      return gather<4>(t, storage, out);
    case 8:
      return gather<8>(t, storage, out);
    default:
      return gather<16>(t, storage, out);
  }
}

Result<Tensor> tensor_in(const Strided& t, const ZipContent& storage, uint64_t& budget) {
  const auto width = static_cast<size_t>(t.width());
  if (t.count == 0) return Tensor::allocate(t.dtype, t.dims);
  const auto needed = reach(t);
  if (!needed || static_cast<uint64_t>(*needed) > storage.bytes.size()) {
    if (storage.bytes.empty()) {
      return refuse("pt2.weight", "the archive holds no bytes for it: the program was exported with fake tensors");
    }
    return refuse("pt2.weight", "{} reaches outside of its {} bytes in the archive", t.text(), storage.bytes.size());
  }
  const size_t bytes = static_cast<size_t>(t.count) * width;
  if (is_row_major(t)) {
    return Tensor::borrow(t.dtype, t.dims, storage.bytes.subspan(static_cast<size_t>(t.offset) * width, bytes),
                          storage.owner);
  }
  // Expanded axes make a tensor larger than its storage, so nothing but the budget bounds it.
  uint64_t cost = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(t.count), uint64_t{width}, &cost) || cost > budget) {
    return refuse("pt2.weight", "{} is too large to be written out", t.text());
  }
  budget -= cost;
  TRY(Tensor out, Tensor::allocate(t.dtype, t.dims));
  gather_any(t, storage.bytes.data(), out.data());
  return out;
}

struct Payload {
  std::string path;
  bool is_parameter = false, pickled = false;
  std::optional<TensorMeta> meta;
};

Result<Payload> read_payload(const Json& json) {
  Payload out;
  TRY_OK(json_member(json, "path_name", json_into(out.path, json_text)));
  TRY_OK(json_optional(json, "is_param", json_into(out.is_parameter, json_boolean)));
  TRY_OK(json_optional(json, "use_pickle", json_into(out.pickled, json_boolean)));
  TRY_OK(json_optional(json, "tensor_meta", json_into(out.meta, read_tensor_meta)));
  return out;
}

class Loader {
 public:
  Loader(const ZipReader& archive, const std::string& folder, uint64_t& budget)
      : archive_(archive), folder_(folder), budget_(budget) {}

  Result<Weight> load(const Payload& payload) {
    TRY_OK(Work::check());
    if (payload.pickled || !payload.meta) {
      return refuse("pt2.weight", "it is stored as a pickle (a tensor subclass or a custom object), which is not read");
    }
    TRY(const Strided t, strided(*payload.meta));
    Weight out;
    out.is_parameter = payload.is_parameter;
    out.storage = fmt::format("{}{} {}", folder_, payload.path, t.text());
    auto [it, fresh] = tensors_.try_emplace(out.storage);
    if (fresh) {
      TRY(const ZipContent* storage, content(folder_ + payload.path));
      TRY(it->second, tensor_in(t, *storage, budget_));
    }
    out.tensor = it->second;
    return out;
  }

 private:
  // Deflated members are inflated once.
  Result<const ZipContent*> content(const std::string& path) {
    const ZipMember* member = archive_.find(path);
    if (member == nullptr) return refuse("pt2.weight", "the archive has no member {:?}", path);
    auto [it, fresh] = contents_.try_emplace(path);
    if (fresh && member->stored) it->second = archive_.mapped(*member);
    if (fresh && !member->stored) {
      TRY(it->second, archive_.read(*member));
    }
    return &it->second;
  }

  const ZipReader& archive_;
  const std::string& folder_;
  uint64_t& budget_;
  std::map<std::string, ZipContent> contents_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace

Status read_weights(const ZipReader& archive, const ZipMember& config, const std::string& folder, uint64_t& budget,
                    std::map<std::string, Weight>& out) {
  Loader loader(archive, folder, budget);
  const auto read_one = [&](const Json& json) -> Result<Weight> {
    TRY(const Payload payload, read_payload(json));
    return loader.load(payload);
  };
  auto status = with_json(archive, config,
                          [&](const Json& root) { return json_member(root, "config", json_map_into(out, read_one)); });
  if (!status) return at(config.name, std::move(status).error());
  return {};
}

}  // namespace anyshape::pt2
