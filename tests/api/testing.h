#pragma once

#include <anyshape/any_value.h>
#include <anyshape/session.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace anyshape::testing {

using Sizes = std::vector<int64_t>;
using Floats = std::vector<float>;

inline std::string model_path(const std::string& name) { return "tests/fixtures/run/" + name + ".onnx"; }

// A model of tools/fixtures/make_run.py; the program ends where there is none.
inline Session load(const std::string& name, const SessionOptions& options = {}) {
  auto session = Session::load(model_path(name), options);
  if (!session) {
    ADD_FAILURE() << session.error().text();
    std::abort();
  }
  return *std::move(session);
}

template <class T>
AnyValue tensor(DType type, Sizes shape, const std::vector<T>& entries) {
  auto made = AnyValue::copy_of(type, std::move(shape), entries.data(), entries.size() * sizeof(T));
  if (!made) ADD_FAILURE() << made.error().text();
  return made ? *std::move(made) : AnyValue();
}
inline AnyValue tensor(Sizes shape, const Floats& entries) { return tensor(DType::f32, std::move(shape), entries); }

inline int64_t count(const Sizes& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

// Entries that differ for each seed, all fractions with a short binary form.
inline Floats entries(int64_t n, int seed = 0) {
  Floats out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<float>((i * 5 + seed * 3) % 17 - 8) / 4);
  return out;
}
inline AnyValue filled(const Sizes& shape, int seed = 0) { return tensor(shape, entries(count(shape), seed)); }

// As weight() of make_run.py.
inline Floats weight(int64_t n) {
  Floats out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<float>(7 * i % 11 - 5) / 8);
  return out;
}

template <class T = float>
std::vector<T> values(const AnyValue& value) {
  std::vector<T> out(value.bytes() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), value.data(), value.bytes());
  return out;
}

// [m, k] by [k, n]
inline Floats product(const Floats& a, const Floats& b, int64_t m, int64_t k, int64_t n) {
  Floats out;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t x = 0; x < k; ++x) sum += double{a[i * k + x]} * b[x * n + j];
      out.push_back(static_cast<float>(sum));
    }
  return out;
}

template <class F>
Floats map(Floats a, F f) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = f(a[i], i);
  return a;
}

// What the model mlp makes of x[batch, 8].
inline Floats mlp(const Floats& x) {
  const auto batch = static_cast<int64_t>(x.size() / 8);
  const Floats b1 = weight(16), b2 = weight(4);
  const Floats hidden =
      map(product(x, weight(128), batch, 8, 16), [&](float v, size_t i) { return std::max(v + b1[i % 16], 0.f); });
  return map(product(hidden, weight(64), batch, 16, 4), [&](float v, size_t i) { return v + b2[i % 4]; });
}

// What the model state makes of x[batch, 4] and h[batch, 8].
inline Floats next_state(const Floats& x, const Floats& h) {
  const auto batch = static_cast<int64_t>(x.size() / 4);
  const Floats b = product(h, weight(64), batch, 8, 8);
  return map(product(x, weight(32), batch, 4, 8), [&](float v, size_t i) { return std::tanh(v + b[i]); });
}

inline void expect_near(const Floats& got, const Floats& want, float tolerance = 1e-5f) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.f, std::abs(want[i]))) << "entry " << i;
}

// The outputs; empty ones and a failed test where the run fails.
inline std::vector<AnyValue> run(Context& context, const std::vector<AnyValue>& inputs,
                                 const RunOptions& options = {}) {
  auto outputs = context.run(inputs, options);
  if (!outputs) ADD_FAILURE() << outputs.error().text();
  return outputs ? *std::move(outputs) : std::vector<AnyValue>(8);
}

// The error; an empty one and a failed test where the run succeeds.
inline Error refused(Context& context, const std::vector<AnyValue>& inputs, const RunOptions& options = {}) {
  auto outputs = context.run(inputs, options);
  if (outputs) ADD_FAILURE() << "the run succeeds";
  return outputs ? Error() : std::move(outputs).error();
}

}  // namespace anyshape::testing
