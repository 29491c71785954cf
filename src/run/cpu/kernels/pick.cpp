#include <algorithm>
#include <cstring>

#include "ops/common.h"
#include "run/cpu/kernels/all.h"
#include "run/cpu/kernels/common.h"

// GatherElements, GatherND, ArrayFeatureExtractor and OneHot: entries by index, of every element type of 1, 2, 4 or 8
// bytes.
namespace anyshape::cpu {
namespace {

std::string_view accepts_entries(const Call& call, size_t input) {
  const Fact& fact = call.in(input);
  const int size = fact.is_tensor() && fact.dtype != DType::string ? bits(fact.dtype) : 0;
  return size == 8 || size == 16 || size == 32 || size == 64 ? "" : "its elements have not 1, 2, 4 or 8 bytes";
}

std::string_view accepts_indices(const Call& call, size_t input) {
  const Fact& fact = call.in(input);
  const bool fits = fact.is_tensor() && (fact.dtype == DType::i64 || fact.dtype == DType::i32);
  return fits ? "" : "its indices are neither i64 nor i32";
}

std::string_view accepts_pick(const Call& call) {
  const auto why = accepts_indices(call, 1);
  if (!why.empty()) return why;
  return call.in(0).dims ? accepts_entries(call, 0) : "its rank is not known";
}

template <class Visit>
Status visit_size(DType dtype, Visit visit) {
  if (bits(dtype) == 8) return visit(uint8_t());
  if (bits(dtype) == 16) return visit(uint16_t());
  if (bits(dtype) == 32) return visit(uint32_t());
  return visit(uint64_t());
}

class Indices {
 public:
  explicit Indices(const View& view) : wide_(view.dtype == DType::i64), data_(view.data) {}
  int64_t operator[](int64_t i) const {
    return wide_ ? reinterpret_cast<const int64_t*>(data_)[i] : reinterpret_cast<const int32_t*>(data_)[i];
  }

 private:
  bool wide_;
  const std::byte* data_;
};

struct PickPrepared {
  size_t axis = 0;  // of GatherND how many axes are batches
};

size_t axis_of_pick(const ViewArgs& args) { return prepared_as<PickPrepared>(args).axis; }

// The product of sizes first..last - 1.
int64_t product(std::span<const int64_t> dims, size_t first, size_t last) {
  int64_t n = 1;
  for (size_t i = first; i < last; ++i) n *= dims[i];
  return n;
}

// From an index as it is given, which may count from the end. False: outside.
bool settle(int64_t& index, int64_t size) {
  if (index < 0) index += size;
  return index >= 0 && index < size;
}

Status outside(std::string_view code, int64_t index, int64_t size) {
  return refuse(code, "index {} must lie within {} entries", index, size);
}

Result<std::shared_ptr<const void>> prepare_elements(const Call& call) {
  TRY(const size_t axis, ops::normalize_axis(call.i("axis"), call.in(0).rank()));
  return std::make_shared<PickPrepared>(PickPrepared{axis});
}

std::string_view accepts_elements_pick(const Call& call) {
  return call.in(0).dims && call.in(0).rank() == 0 ? "it is a scalar" : accepts_pick(call);
}

int64_t elements_rows(const ViewArgs& args) { return product(args.out[0].dims, 0, args.out[0].rank() - 1); }

int64_t elements_tasks(const ViewArgs& args) {
  return tasks_for(elements_rows(args), 2.0 * static_cast<double>(args.out[0].dims.back()) + 10);
}

// One row of the last axis, which may be the axis that is picked along.
template <class T>
Status pick_row(const ViewArgs& args, int64_t row) {
  const View &data = args.in[0], &out = args.out[0];
  const size_t axis = axis_of_pick(args), last = out.rank() - 1;
  int64_t base = 0, rest = row;
  for (size_t i = last; i-- > 0; rest /= out.dims[i])
    if (i != axis) base += rest % out.dims[i] * product(data.dims, i + 1, data.rank());
  const int64_t width = out.dims[last], size = data.dims[axis], step = product(data.dims, axis + 1, data.rank());
  const int64_t along = axis == last ? 0 : 1;
  const Indices indices(args.in[1]);
  for (int64_t j = 0; j < width; ++j) {
    int64_t index = indices[row * width + j];
    if (!settle(index, size)) return outside("gatherelements.index", indices[row * width + j], size);
    out.as<T>()[row * width + j] = data.as<const T>()[base + index * step + j * along];
  }
  return {};
}

Status run_elements(const ViewArgs& args, int64_t first, int64_t last) {
  const int64_t rows = elements_rows(args), tasks = elements_tasks(args);
  const int64_t end = share_of(rows, tasks, last - 1).last;
  return visit_size(args.in[0].dtype, [&]<class T>(T) -> Status {
    for (int64_t row = share_of(rows, tasks, first).first; row < end; ++row) TRY_OK(pick_row<T>(args, row));
    return {};
  });
}

Result<std::shared_ptr<const void>> prepare_nd(const Call& call) {
  const int64_t batch = call.version() >= 12 ? call.i("batch_dims") : 0;
  return std::make_shared<PickPrepared>(PickPrepared{static_cast<size_t>(batch)});
}

// data[batches][tuple...][inner bytes] -> out[batches][tuples of each][inner bytes]
struct Tuples {
  int64_t count = 0, each = 1, length = 0, batch = 1, inner = 1;
};

Tuples tuples_of(const ViewArgs& args) {
  const View &data = args.in[0], &indices = args.in[1];
  const size_t batch = axis_of_pick(args), outer = indices.rank() - 1;
  Tuples t;
  t.length = indices.dims[outer];
  t.count = product(indices.dims, 0, outer);
  t.each = product(indices.dims, batch, outer);
  t.batch = product(data.dims, batch, data.rank());
  t.inner = product(data.dims, batch + static_cast<size_t>(t.length), data.rank());
  return t;
}

int64_t nd_tasks(const ViewArgs& args) {
  const Tuples t = tuples_of(args);
  const auto bytes = static_cast<double>(t.inner * (bits(args.in[0].dtype) / 8));
  return tasks_for(t.count, 10 + bytes / 4);
}

Status run_nd(const ViewArgs& args, int64_t first, int64_t last) {
  const Tuples t = tuples_of(args);
  const View& data = args.in[0];
  const Indices indices(args.in[1]);
  const int64_t tasks = nd_tasks(args), size = bits(data.dtype) / 8;
  const int64_t end = share_of(t.count, tasks, last - 1).last;
  for (int64_t n = share_of(t.count, tasks, first).first; n < end; ++n) {
    int64_t at = 0;
    for (int64_t i = 0; i < t.length; ++i) {
      const int64_t entries = data.dims[axis_of_pick(args) + static_cast<size_t>(i)];
      int64_t index = indices[n * t.length + i];
      if (!settle(index, entries)) return outside("gathernd.index", indices[n * t.length + i], entries);
      at = at * entries + index;
    }
    if (t.inner == 0) continue;
    std::memcpy(args.out[0].data + n * t.inner * size, data.data + (n / t.each * t.batch + at * t.inner) * size,
                static_cast<size_t>(t.inner * size));
  }
  return {};
}

std::string_view accepts_columns(const Call& call) {
  if (call.in(1).is_tensor() && call.in(1).dtype != DType::i64) return "its indices are not i64";
  return call.in(0).dims && call.in(0).rank() == 0 ? "it is a scalar" : accepts_pick(call);
}

int64_t columns_rows(const ViewArgs& args) { return product(args.in[0].dims, 0, args.in[0].rank() - 1); }

int64_t columns_tasks(const ViewArgs& args) {
  return tasks_for(columns_rows(args), 2.0 * static_cast<double>(args.in[1].count()) + 1);
}

Status run_columns(const ViewArgs& args, int64_t first, int64_t last) {
  const View &data = args.in[0], &out = args.out[0];
  const Indices indices(args.in[1]);
  const int64_t rows = columns_rows(args), tasks = columns_tasks(args);
  const int64_t width = data.dims.back(), count = args.in[1].count(), end = share_of(rows, tasks, last - 1).last;
  return visit_size(data.dtype, [&]<class T>(T) -> Status {
    for (int64_t row = share_of(rows, tasks, first).first; row < end; ++row)
      for (int64_t k = 0; k < count; ++k) {
        const int64_t column = indices[k];
        if (column < 0 || column >= width)
          return refuse("arrayfeatureextractor.index", "index {} must lie in 0..{}", column, width - 1);
        out.as<T>()[row * count + k] = data.as<const T>()[row * width + column];
      }
    return {};
  });
}

std::string_view accepts_hot(const Call& call) {
  const auto why = accepts_indices(call, 0);
  if (!why.empty()) return why;
  return call.in(0).dims ? accepts_entries(call, 2) : "its rank is not known";
}

Result<std::shared_ptr<const void>> prepare_hot(const Call& call) {
  TRY(const size_t axis, ops::normalize_axis(call.i("axis"), call.in(0).rank() + 1));
  return std::make_shared<PickPrepared>(PickPrepared{axis});
}

int64_t hot_tasks(const ViewArgs& args) {
  const auto dims = args.out[0].dims;
  return tasks_for(product(dims, 0, axis_of_pick(args)),
                   static_cast<double>(product(dims, axis_of_pick(args), dims.size())) + 1);
}

// All is off, then one entry for each index is on; an index outside marks nothing.
Status run_hot(const ViewArgs& args, int64_t first, int64_t last) {
  const auto dims = args.out[0].dims;
  const size_t axis = axis_of_pick(args);
  const int64_t outer = product(dims, 0, axis), depth = dims[axis], inner = product(dims, axis + 1, dims.size());
  const int64_t tasks = hot_tasks(args), end = share_of(outer, tasks, last - 1).last;
  const Indices indices(args.in[0]);
  return visit_size(args.out[0].dtype, [&]<class T>(T) -> Status {
    const T* values = args.in[2].as<const T>();
    for (int64_t o = share_of(outer, tasks, first).first; o < end; ++o) {
      T* to = args.out[0].as<T>() + o * depth * inner;
      std::fill_n(to, depth * inner, values[0]);
      for (int64_t i = 0; i < inner; ++i)
        if (int64_t index = indices[o * inner + i]; settle(index, depth)) to[index * inner + i] = values[1];
    }
    return {};
  });
}

}  // namespace

constexpr EngineKernel kGatherElements = {.name = "entries",
                                          .accepts = accepts_elements_pick,
                                          .prepare = prepare_elements,
                                          .tasks = elements_tasks,
                                          .run = run_elements};
constexpr EngineKernel kGatherND = {
    .name = "blocks", .accepts = accepts_pick, .prepare = prepare_nd, .tasks = nd_tasks, .run = run_nd};
constexpr EngineKernel kArrayFeatureExtractor = {
    .name = "entries", .accepts = accepts_columns, .tasks = columns_tasks, .run = run_columns};
constexpr EngineKernel kOneHot = {
    .name = "entries", .accepts = accepts_hot, .prepare = prepare_hot, .tasks = hot_tasks, .run = run_hot};

}  // namespace anyshape::cpu
