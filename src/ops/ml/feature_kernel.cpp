#include <algorithm>
#include <cmath>

#include "kernels/copy.h"
#include "kernels/dispatch.h"
#include "kernels/reals.h"
#include "ops/ml/common.h"

namespace anyshape::ops {

Status run_array_feature_extractor(const Call&, KernelArgs& args) {
  const Tensor &x = args.in(0), &columns = args.in(1);
  if (columns.dtype() != DType::i64) return refuse("dtype", "the indices are {}", name(columns.dtype()));
  const int64_t width = x.dims().back(), rows = width == 0 ? 0 : x.count() / width;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns.count(); ++k) {
      const int64_t column = columns.int_at(k);
      if (column < 0 || column >= width)
        return refuse("arrayfeatureextractor.index", "index {} must lie in 0..{}", column, width - 1);
      kernels::copy_elements(args.out(0), r * columns.count() + k, x, r * width + column, 1);
    }
  return {};
}

Status run_binarizer(const Call& call, KernelArgs& args) {
  TRY(Temporary<double> values, kernels::to_reals(args.in(0)));
  const double threshold = call.f("threshold");
  for (double& value : values) value = value > threshold ? 1 : 0;
  return kernels::from_reals(values, args.out(0));
}

Status run_scaler(const Call& call, KernelArgs& args) {
  TRY(Temporary<double> values, kernels::to_reals(args.in(0)));
  const auto *offset = call.floats("offset"), *scale = call.floats("scale");
  if (!offset || !scale || offset->empty() || offset->size() != scale->size())
    return refuse("scaler.size", "scale and offset must be equally long");
  const auto& dims = args.in(0).dims();
  size_t inner = 1;
  for (size_t i = 2; i < dims.size(); ++i) inner *= static_cast<size_t>(dims[i]);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t k = i / inner % offset->size();
    values[i] = (values[i] - static_cast<double>((*offset)[k])) * static_cast<double>((*scale)[k]);
  }
  return kernels::from_reals(values, args.out(0));
}

Status run_normalizer(const Call& call, KernelArgs& args) {
  TRY(Temporary<double> values, kernels::to_reals(args.in(0)));
  const std::string_view norm = call.s("norm");
  const auto width = static_cast<size_t>(args.in(0).dims().back());
  for (size_t start = 0; start < values.size(); start += width) {
    const auto row = std::span(values).subspan(start, width);
    double size = norm == "MAX" ? *std::max_element(row.begin(), row.end()) : 0;
    if (norm == "L1")
      for (double x : row) size += std::fabs(x);
    if (norm == "L2")
      for (double x : row) size += x * x;
    if (norm == "L2") size = std::sqrt(size);
    if (size == 0) continue;
    for (double& x : row) x /= size;
  }
  return kernels::from_reals(values, args.out(0));
}

Status run_imputer(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  const bool integers = is_integer(x.dtype());
  const auto* floats = call.floats("imputed_value_floats");
  const auto* ints = call.ints("imputed_value_int64s");
  const size_t count = integers ? (ints ? ints->size() : 0) : (floats ? floats->size() : 0);
  if (count == 0) return refuse("imputer.values", "there are no values to impute for {}", name(x.dtype()));
  const int64_t replaced_int = call.i("replaced_value_int64");
  const auto replaced = static_cast<double>(call.f("replaced_value_float"));
  return kernels::visit_type<kernels::kNumbers>(x.dtype(), [&]<class T>(T) -> Status {
    auto to = args.out(0).as_mutable<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = x.at<T>(static_cast<int64_t>(i));
      if constexpr (kernels::kIsFloat<T>) {
        const auto value = static_cast<double>(kernels::widen(to[i]));
        if (value == replaced || (std::isnan(value) && std::isnan(replaced)))
          to[i] = static_cast<T>((*floats)[i % count]);
      } else {
        if (static_cast<int64_t>(to[i]) == replaced_int) to[i] = static_cast<T>((*ints)[i % count]);
      }
    }
    return {};
  });
}

Status run_one_hot_encoder(const Call& call, KernelArgs& args) {
  const Tensor& x = args.in(0);
  const auto* ints = call.ints("cats_int64s");
  const auto* strings = call.strings("cats_strings");
  const bool by_name = strings && !strings->empty();
  if (by_name != (x.dtype() == DType::string))
    return refuse("onehotencoder.categories", "the categories are not of the type of the input");
  TRY(const auto values, by_name ? Result<Temporary<double>>(Temporary<double>()) : kernels::to_reals(x));
  const size_t width = by_name ? strings->size() : ints ? ints->size() : 0;
  Temporary<double> out(static_cast<size_t>(x.count()) * width);
  for (size_t i = 0; i < static_cast<size_t>(x.count()); ++i) {
    bool found = false;
    for (size_t k = 0; k < width; ++k) {
      if (by_name ? (*strings)[k] != x.strings()[i] : static_cast<double>((*ints)[k]) != std::trunc(values[i]))
        continue;
      out[i * width + k] = 1;
      found = true;
    }
    if (!found && call.i("zeros") == 0) return refuse("onehotencoder.unknown", "entry {} is of no category", i);
  }
  return kernels::from_reals(out, args.out(0));
}

Status run_feature_vectorizer(const Call& call, KernelArgs& args) {
  const auto* sizes = call.ints("inputdimensions");
  const int64_t rows = args.out(0).dims()[0], width = args.out(0).dims()[1];
  Temporary<double> out(static_cast<size_t>(rows * width));
  int64_t column = 0;
  for (size_t i = 0; sizes && i < sizes->size(); ++i) {
    TRY(const auto values, kernels::to_reals(args.in(i)));
    const int64_t features = rows == 0 ? 0 : static_cast<int64_t>(values.size()) / rows;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t k = 0; k < std::min(features, (*sizes)[i]); ++k)
        out[static_cast<size_t>(r * width + column + k)] = values[static_cast<size_t>(r * features + k)];
    column += (*sizes)[i];
  }
  return kernels::from_reals(out, args.out(0));
}

}  // namespace anyshape::ops
