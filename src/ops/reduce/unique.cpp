#include <algorithm>
#include <numeric>

#include "base/temporary.h"
#include "kernels/dispatch.h"
#include "ops/movement/movement.h"
#include "ops/records.h"

namespace anyshape::ops {
namespace {

constexpr Port kUniqueIn[] = {{"X", Port::value | Port::settled}};
constexpr Port kUniqueOut[] = {
    {"Y"}, {"indices", Port::optional}, {"inverse_indices", Port::optional}, {"counts", Port::optional}};
constexpr AttributeDef kUniqueAttributes[] = {
    {"axis", AttributeDef::integer},
    {"sorted", 1},
};

Result<Facts> infer_unique(const Call& call, InferContext& context) {
  const Fact& in = call.in(0);
  const auto bounded = [](Dims dims, Dim lo, Dim hi) {
    Fact fact = Fact::tensor(DType::i64, std::move(dims));
    fact.bounds = Bounds{lo, hi};
    return fact;
  };
  TRY(Dims dims, call.dims(0));
  size_t axis = 0;
  if (!call.has_attr("axis")) {
    dims = {product(dims)};
  } else {
    TRY(axis, normalize_axis(call.i("axis"), dims.size()));
  }
  const Dim size = dims[axis];
  const Dim found = size == Dim(0) ? Dim(0) : context.fresh(in, "unique", least_of(context, {size, 1}), size);
  dims[axis] = found;
  Fact values = Fact::tensor(in.dtype, std::move(dims));
  if (const auto bounds = in.value_bounds()) values.bounds = Bounds{bounds->lo, bounds->hi};
  return Facts{values, bounded({found}, 0, size - 1), bounded({size}, 0, found - 1), bounded({found}, 1, size)};
}

// Three-way order of elements i and j; NaNs are equal to each other and come last.
template <class T>
int compare(const Tensor& tensor, int64_t i, int64_t j) {
  const auto a = kernels::widen(tensor.at<T>(i)), b = kernels::widen(tensor.at<T>(j));
  if constexpr (kernels::kIsFloat<T>) {
    if (a != a || b != b) return (a != a ? 1 : 0) - (b != b ? 1 : 0);
  }
  return a < b ? -1 : (b < a ? 1 : 0);
}

// By real part, then by imaginary part.
template <class T>
int compare_complex(const Tensor& tensor, int64_t i, int64_t j) {
  const int real = compare<T>(tensor, 2 * i, 2 * j);
  return real != 0 ? real : compare<T>(tensor, 2 * i + 1, 2 * j + 1);
}

using Compare = int (*)(const Tensor&, int64_t, int64_t);

Result<Compare> comparison(DType dtype) {
  if (dtype == DType::string)
    return Compare([](const Tensor& t, int64_t i, int64_t j) {
      return t.strings()[static_cast<size_t>(i)].compare(t.strings()[static_cast<size_t>(j)]);
    });
  if (dtype == DType::c64) return Compare(compare_complex<float>);
  if (dtype == DType::c128) return Compare(compare_complex<double>);
  Compare out = nullptr;
  TRY_OK(kernels::visit_type<kernels::kAll>(dtype, [&]<class T>(T) -> Status {
    out = compare<T>;
    return {};
  }));
  return out;
}

// The rows along one axis as lists of offsets that are compared entry by entry.
struct Rows {
  Tensor data;
  int64_t count = 0, outer = 1, inner = 1;
  int64_t at(int64_t row, int64_t o, int64_t i) const { return (o * count + row) * inner + i; }
};

int compare_rows(const Rows& rows, Compare order, int64_t a, int64_t b) {
  for (int64_t o = 0; o < rows.outer; ++o)
    for (int64_t i = 0; i < rows.inner; ++i)
      if (const int c = order(rows.data, rows.at(a, o, i), rows.at(b, o, i)); c != 0) return c;
  return 0;
}

struct Groups {
  Temporary<int64_t> first, inverse, counts;
};

Groups group(const Rows& rows, Compare order, bool sorted) {
  Temporary<int64_t> by_value(static_cast<size_t>(rows.count));
  std::iota(by_value.begin(), by_value.end(), 0);
  std::stable_sort(by_value.begin(), by_value.end(),
                   [&](int64_t a, int64_t b) { return compare_rows(rows, order, a, b) < 0; });
  Groups out;
  out.inverse.resize(by_value.size());
  for (size_t k = 0; k < by_value.size(); ++k) {
    if (k == 0 || compare_rows(rows, order, by_value[k - 1], by_value[k]) != 0) {
      out.first.push_back(by_value[k]);
      out.counts.push_back(0);
    }
    ++out.counts.back();
    out.inverse[static_cast<size_t>(by_value[k])] = static_cast<int64_t>(out.first.size()) - 1;
  }
  if (sorted) return out;
  Temporary<size_t> by_place(out.first.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::sort(by_place.begin(), by_place.end(), [&](size_t a, size_t b) { return out.first[a] < out.first[b]; });
  Groups moved = out;
  Temporary<int64_t> new_place(by_place.size());
  for (size_t k = 0; k < by_place.size(); ++k) {
    new_place[by_place[k]] = static_cast<int64_t>(k);
    moved.first[k] = out.first[by_place[k]];
    moved.counts[k] = out.counts[by_place[k]];
  }
  for (int64_t& g : moved.inverse) g = new_place[static_cast<size_t>(g)];
  return moved;
}

Status reference_unique(const Call& call, KernelArgs& args) {
  Rows rows{args.in(0)};
  size_t axis = 0;
  if (!call.has_attr("axis")) {
    rows.data = rows.data.reshaped({rows.data.count()});
  } else {
    TRY(axis, normalize_axis(call.i("axis"), rows.data.rank()));
  }
  std::vector<int64_t> dims = rows.data.dims();
  rows.count = dims[axis];
  for (size_t i = 0; i < axis; ++i) rows.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) rows.inner *= dims[i];
  TRY(const Compare order, comparison(rows.data.dtype()));
  const Groups groups = group(rows, order, call.i("sorted") != 0);
  const auto found = static_cast<int64_t>(groups.first.size());
  dims[axis] = found;
  TRY(Tensor values, Tensor::allocate(rows.data.dtype(), dims));
  for (int64_t o = 0; o < rows.outer; ++o)
    for (int64_t k = 0; k < found; ++k)
      kernels::copy_elements(values, (o * found + k) * rows.inner, rows.data,
                             rows.at(groups.first[static_cast<size_t>(k)], o, 0), rows.inner);
  const Temporary<int64_t>* lists[] = {&groups.first, &groups.inverse, &groups.counts};
  args.out(0) = std::move(values);
  for (size_t i = 0; i < 3 && i + 1 < args.outputs.size(); ++i)
    args.out(i + 1) = Tensor::of_ints({static_cast<int64_t>(lists[i]->size())}, *lists[i]);
  return {};
}

constexpr Kernel kUniqueKernels[] = {{"reference", reference_unique}};

}  // namespace

constexpr OpDef kUnique11{
    .name = "Unique",
    .since = 11,
    .sig = {kUniqueIn, kUniqueOut, "the different values, where they are and how often", kUniqueAttributes},
    .infer = infer_unique,
    .kernels = kUniqueKernels};

}  // namespace anyshape::ops
