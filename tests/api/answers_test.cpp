#include <cmath>

#include "testing.h"

namespace anyshape::testing {
namespace {

TEST(Answers, MlpAtManyShapes) {
  const Session session = load("mlp");
  Context context(session, 2);
  for (int64_t batch : {1, 7, 64, 3, 200, 1, 5, 0, 64, 2, 33, 9, 1}) {
    SCOPED_TRACE(batch);
    const Floats x = entries(batch * 8, static_cast<int>(batch));
    const auto out = run(context, {tensor({batch, 8}, x)});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].shape(), (Sizes{batch, 4}));
    expect_near(values(out[0]), mlp(x));
  }
}

TEST(Answers, PassesAreDumpedInOrderAndLeftOut) {
  SessionOptions options;
  options.without = {"share", "dead"};
  std::vector<std::string> dumped;
  options.dump = [&](std::string_view pass, std::string_view graph) {
    dumped.emplace_back(pass);
    EXPECT_NE(graph.find("input x f32["), graph.npos) << graph;
  };
  ASSERT_TRUE(Session::load(model_path("mlp"), options));
  std::vector<std::string> want = {"source"};
  for (const PassInfo& pass : passes())
    if (pass.name != "share" && pass.name != "dead") want.push_back(pass.name);
  EXPECT_EQ(dumped, want);
  options.without = {"fuse"};
  const auto refused = Session::load(model_path("mlp"), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "pass.unknown");
  EXPECT_EQ(refused.error().kind, Error::Kind::usage);
}

TEST(Answers, MemoryIsThatOfTheLargestShape) {
  const Session session = load("mlp");
  Context largest(session, 1), context(session, 1);
  run(largest, {filled({500, 8})});
  for (int round = 0; round < 20; ++round)
    for (int64_t batch : {1, 499, 20, 500, 3, 250, 77, 8}) run(context, {filled({batch, 8}, round)});
  EXPECT_EQ(context.memory(), largest.memory());
  EXPECT_GT(context.memory(), 500 * 16 * 4 - 1);
}

TEST(Answers, DataDependentMemoryIsThatOfTheLargestShape) {
  const Session session = load("mask");
  const auto inputs = [](int64_t n) {
    return std::vector<AnyValue>{filled({n, 4}),
                                 tensor(DType::boolean, {n}, std::vector<uint8_t>(static_cast<size_t>(n), 1))};
  };
  Context largest(session, 1), context(session, 1);
  run(largest, inputs(300));
  for (int64_t n : {1, 300, 5, 299, 0, 17, 300, 100}) run(context, inputs(n));
  EXPECT_EQ(context.memory(), largest.memory());
}

TEST(Answers, Cnn) {
  const Session session = load("cnn");
  Context context(session, 2);
  const Floats k = weight(36), kb = weight(4), w = weight(12), wb = weight(3);
  for (const Sizes& shape : {Sizes{1, 1, 8, 8}, Sizes{3, 1, 5, 9}, Sizes{1, 1, 2, 2}, Sizes{2, 1, 16, 12}}) {
    const int64_t rows = shape[2], columns = shape[3];
    const Floats x = entries(count(shape), 5);
    const auto out = run(context, {tensor(shape, x)});
    ASSERT_EQ(out.size(), 1u);
    Floats want;
    for (int64_t n = 0; n < shape[0]; ++n) {
      Floats mean;
      for (int64_t c = 0; c < 4; ++c) {
        const auto convolved = [&](int64_t i, int64_t j) {
          double sum = kb[static_cast<size_t>(c)];
          for (int64_t a = 0; a < 3; ++a)
            for (int64_t b = 0; b < 3; ++b) {
              const int64_t y = i + a - 1, z = j + b - 1;
              if (y < 0 || z < 0 || y >= rows || z >= columns) continue;
              sum += double{x[(n * rows + y) * columns + z]} * k[c * 9 + a * 3 + b];
            }
          return std::max(sum, 0.0);
        };
        double total = 0;
        for (int64_t i = 0; i + 1 < rows; i += 2)
          for (int64_t j = 0; j + 1 < columns; j += 2)
            total += std::max({convolved(i, j), convolved(i, j + 1), convolved(i + 1, j), convolved(i + 1, j + 1)});
        mean.push_back(static_cast<float>(total / static_cast<double>((rows / 2) * (columns / 2))));
      }
      for (size_t i = 0; i < 3; ++i) want.push_back(product(mean, w, 1, 4, 3)[i] + wb[i]);
    }
    expect_near(values(out[0]), want);
  }
}

TEST(Answers, Mask) {
  const Session session = load("mask");
  Context context(session, 2);
  for (int64_t n : {1, 5, 40, 3, 100, 0, 8})
    for (int64_t every : {1, 2, 3, 1000}) {
      const Floats x = entries(n * 4, static_cast<int>(n));
      Floats rows;
      std::vector<uint8_t> keep;
      std::vector<int64_t> where;
      for (int64_t i = 0; i < n; ++i) {
        keep.push_back(i % every == every - 1);
        if (!keep.back()) continue;
        where.push_back(i);
        rows.insert(rows.end(), x.begin() + i * 4, x.begin() + i * 4 + 4);
      }
      const auto out = run(context, {tensor({n, 4}, x), tensor(DType::boolean, {n}, keep)});
      ASSERT_EQ(out.size(), 2u);
      const auto m = static_cast<int64_t>(where.size());
      EXPECT_EQ(out[0].shape(), (Sizes{m, 3}));
      EXPECT_EQ(out[1].shape(), (Sizes{1, m}));
      expect_near(values(out[0]),
                  map(product(rows, weight(12), m, 4, 3), [](float v, size_t) { return std::max(v, 0.f); }));
      EXPECT_EQ(values<int64_t>(out[1]), where);
    }
}

TEST(Answers, Branch) {
  const Session session = load("branch");
  Context context(session);
  for (int64_t n : {2, 5, 4, 50, 0, 7}) {
    SCOPED_TRACE(n);
    const Floats x = entries(n * 2);
    const auto out = run(context, {tensor({n, 2}, x)});
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].shape(), n > 4 ? (Sizes{n, 2}) : (Sizes{n / 2, 4}));
    EXPECT_EQ(values(out[0]), map(x, [&](float v, size_t) { return n > 4 ? 2 * v : v; }));
  }
}

TEST(Answers, Loop) {
  const Session session = load("loop");
  Context context(session);
  for (const auto& [trips, n] : {std::pair<int64_t, int64_t>{3, 2}, {1, 5}, {0, 4}, {20, 1}, {2, 0}, {3, 2}}) {
    const Floats x = entries(n, 1);
    const auto out = run(context, {tensor(DType::i64, {}, std::vector<int64_t>{trips}), tensor({n}, x)});
    ASSERT_EQ(out.size(), 2u);
    Floats sum(static_cast<size_t>(n)), all;
    for (int64_t i = 0; i < trips; ++i)
      for (size_t k = 0; k < sum.size(); ++k) {
        sum[k] += x[k];
        all.push_back(sum[k] * sum[k]);
      }
    EXPECT_EQ(values(out[0]), sum);
    // Without a round, too.
    EXPECT_EQ(out[1].shape(), (Sizes{trips, n}));
    EXPECT_EQ(values(out[1]), all);
  }
}

TEST(Answers, Sequence) {
  const Session session = load("sequence");
  EXPECT_EQ(session.inputs()[0].kind, AnyValue::Kind::sequence);
  Context context(session);
  for (size_t length : {0u, 1u, 4u}) {
    std::vector<AnyValue> items(length, tensor({2}, {1, 2}));
    const auto out = run(context, {AnyValue::sequence(DType::f32, items), tensor({3}, {7, 8, 9})});
    ASSERT_EQ(out.size(), 2u);
    ASSERT_EQ(out[0].items().size(), length + 1);
    EXPECT_EQ(values(out[0].items().back()), (Floats{7, 8, 9}));
    EXPECT_EQ(out[1].shape(), (Sizes{static_cast<int64_t>(2 * length + 3)}));
  }
}

TEST(Answers, SequenceOutputOutlivesItsInputs) {
  const Session session = load("sequence");
  Context context(session);
  std::vector<AnyValue> kept;
  {
    Floats one{1, 2}, two{3, 4, 5};
    const auto a = AnyValue::borrow(DType::f32, {2}, one.data(), 8),
               b = AnyValue::borrow(DType::f32, {3}, two.data(), 12);
    kept = run(context, {AnyValue::sequence(DType::f32, {*a}), *b});
    one.assign(2, -1);
    two.assign(3, -1);
  }
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(values(kept[0].items()[0]), (Floats{1, 2}));
  EXPECT_EQ(values(kept[0].items()[1]), (Floats{3, 4, 5}));
}

TEST(Answers, Text) {
  const Session session = load("text");
  Context context(session);
  for (int64_t n : {2, 0, 5}) {
    std::vector<std::string> a, b, want;
    for (int64_t i = 0; i < n; ++i) {
      a.push_back(std::to_string(i));
      b.push_back(std::string(static_cast<size_t>(i * 20), 'b'));
      want.push_back(a.back() + b.back());
    }
    const auto out = run(context, {*AnyValue::strings({n}, a), *AnyValue::strings({n}, b)});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].string_entries(), want);
    EXPECT_EQ(values<int64_t>(out[1]), (std::vector<int64_t>{n}));
  }
}

TEST(Answers, Random) {
  const Session session = load("random");
  Context context(session), other(session);
  RunOptions one, two;
  one.seed = 1;
  two.seed = 2;
  const AnyValue x = tensor({200}, Floats(200));
  const Floats first = values(run(context, {x}, one)[0]);
  EXPECT_EQ(values(run(other, {x}, one)[0]), first);
  EXPECT_EQ(values(run(context, {x}, one)[0]), first);
  EXPECT_NE(values(run(context, {x}, two)[0]), first);
  double sum = 0, squares = 0;
  for (float v : first) sum += v, squares += double{v} * v;
  EXPECT_LT(std::abs(sum / 200), 0.4);
  EXPECT_NEAR(squares / 200, 1, 0.5);
}

TEST(Answers, NarrowTypes) {
  const Session session = load("narrow");
  Context context(session);
  for (int64_t n : {1, 2, 5, 8, 3, 0}) {
    std::vector<uint16_t> b;
    std::vector<uint8_t> i((static_cast<size_t>(n) + 1) / 2);
    Floats want;
    for (int64_t k = 0; k < n; ++k) {
      const float f = static_cast<float>(k) * 0.5f - 1;
      uint32_t raw;
      std::memcpy(&raw, &f, 4);
      b.push_back(static_cast<uint16_t>(raw >> 16));
      const int64_t small = k % 16 - 8;
      i[static_cast<size_t>(k / 2)] |= static_cast<uint8_t>((small & 15) << (k % 2 * 4));
      want.push_back(f + static_cast<float>(small));
    }
    const auto out = run(context, {tensor(DType::bf16, {n}, b), tensor(DType::i4, {n}, i)});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(values(out[0]), want);
    EXPECT_EQ(values<uint16_t>(out[1]), b);
  }
}

TEST(Answers, InitializerThatIsAnInputKeepsItsValue) {
  const Session session = load("default");
  ASSERT_EQ(session.inputs().size(), 1u);
  Context context(session);
  EXPECT_EQ(values(run(context, {tensor({2}, {1, 2})})[0]), (Floats{3, 6}));
}

TEST(Answers, OneValueUnderSeveralNames) {
  const Session session = load("same");
  Context context(session);
  for (int64_t n : {1, 6, 0, 3}) {
    const Floats x = entries(n * 2);
    const auto out = run(context, {tensor({n, 2}, x)});
    ASSERT_EQ(out.size(), 3u);
    for (const AnyValue& y : out) expect_near(values(y), product(x, weight(4), n, 2, 2));
  }
}

TEST(Answers, InputThatIsAnOutput) {
  const Session session = load("through");
  Context context(session);
  for (int64_t n : {1, 6, 0, 3}) {
    Floats x = entries(n * 2);
    const auto borrowed = AnyValue::borrow(DType::f32, {n, 2}, x.data(), x.size() * 4);
    const auto out = run(context, {*borrowed});
    ASSERT_EQ(out.size(), 3u);
    EXPECT_EQ(out[2].shape(), (Sizes{n * 2}));
    // The outputs must not change with the caller's memory.
    const Floats want = x;
    std::fill(x.begin(), x.end(), -1.f);
    for (const AnyValue& y : out) EXPECT_EQ(values(y), want);
  }
}

TEST(Answers, ConstantOutputs) {
  const Session session = load("constant");
  Context context(session);
  for (int64_t n : {1, 6, 0}) {
    auto out = run(context, {filled({n, 2})});
    ASSERT_EQ(out.size(), 4u);
    EXPECT_EQ(values(out[0]), weight(3));
    EXPECT_EQ(values(out[1]), (Floats{1, 2, 3}));
    EXPECT_EQ(values<int64_t>(out[2]), (std::vector<int64_t>{n, 2}));
    EXPECT_EQ(out[3].string_entries(), (std::vector<std::string>{"one", "two"}));
    // What a caller does to its outputs does not reach the model.
    for (size_t i = 0; i < 3; ++i) std::memset(out[i].mutable_data(), 7, out[i].bytes());
  }
}

TEST(Answers, EmptyAxes) {
  const Session session = load("empty");
  Context context(session);
  for (const auto& [a, b] : {std::pair<int64_t, int64_t>{2, 3}, {2, 0}, {0, 3}, {0, 0}, {3, 1}, {1, 0}}) {
    const Floats x = entries(a * b);
    const auto out = run(context, {tensor({a, b}, x)});
    ASSERT_EQ(out.size(), 3u);
    Floats transposed, sums;
    for (int64_t j = 0; j < b; ++j)
      for (int64_t i = 0; i < a; ++i) transposed.push_back(x[static_cast<size_t>(i * b + j)]);
    for (int64_t i = 0; i < a; ++i) {
      sums.push_back(0);
      for (int64_t j = 0; j < b; ++j) sums.back() += x[static_cast<size_t>(i * b + j)];
    }
    EXPECT_EQ(out[0].shape(), (Sizes{a, a}));
    expect_near(values(out[0]), product(x, transposed, a, b, a));
    EXPECT_EQ(out[1].shape(), (Sizes{a, 2 * b}));
    expect_near(values(out[2]), sums);
  }
}

// Every model at the same inputs, optimised and by reference kernels alone.
TEST(Answers, WithoutOptimisationTheSame) {
  SessionOptions plain;
  plain.optimize = false;
  for (const char* name : {"mlp", "product", "cnn", "state", "branch", "same", "through", "empty", "blocks", "fixed"}) {
    SCOPED_TRACE(name);
    const Session fast = load(name), slow = load(name, plain);
    Context fast_context(fast), slow_context(slow);
    for (int64_t n : {8, 4, 12}) {
      std::vector<AnyValue> inputs;
      const auto shape = [&](size_t i) -> Sizes {
        const std::string model = name;
        if (model == "cnn") return {n, 1, n, n};
        if (model == "state") return {n, i == 0 ? 4 : 8};
        if (model == "fixed") return {n, 3};
        return {n, model == "mlp" || model == "product" ? 8 : 2};
      };
      for (size_t i = 0; i < fast.inputs().size(); ++i) inputs.push_back(filled(shape(i), static_cast<int>(i)));
      const auto got = run(fast_context, inputs), want = run(slow_context, inputs);
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(difference(got[i], want[i], 1e-5, 1e-5), "");
    }
  }
}

TEST(Answers, OutputShapesWithoutRunning) {
  const Session session = load("cnn"), mask = load("mask");
  Context context(session), mask_context(mask);
  for (int64_t n : {1, 9, 2}) {
    const auto shapes = context.output_shapes({{"x", {n, 1, 6, 6}}});
    ASSERT_TRUE(shapes) << shapes.error().text();
    EXPECT_EQ((*shapes)[0], (Sizes{n, 3}));
  }
  const auto unknown = mask_context.output_shapes({{"x", {5, 4}}, {"keep", {5}}});
  ASSERT_TRUE(unknown) << unknown.error().text();
  EXPECT_FALSE((*unknown)[0]);
}

TEST(Answers, InputWithADefaultIsFedOrNot) {
  const Session session = load("default");
  ASSERT_EQ(session.optional_inputs().size(), 1u);
  EXPECT_EQ(session.optional_inputs()[0].name, "scale");
  const auto fed = session.overriding({"scale"});
  ASSERT_TRUE(fed) << fed.error().text();
  EXPECT_TRUE(fed->optional_inputs().empty());
  ASSERT_EQ(fed->inputs().size(), 2u);
  EXPECT_EQ(fed->inputs()[1].name, "scale");
  Context plain(session, 1), overriding(*fed, 1);
  EXPECT_EQ(values(run(plain, {tensor({2}, {1, 2})})[0]), (Floats{3, 6}));
  EXPECT_EQ(values(run(overriding, {tensor({2}, {1, 2}), tensor({1}, {5})})[0]), (Floats{5, 10}));
  EXPECT_EQ(values(run(overriding, {tensor({1}, {4}), tensor({1}, {-1})})[0]), (Floats{-4}));
  EXPECT_EQ(values(run(plain, {tensor({1}, {4})})[0]), (Floats{12}));
  EXPECT_EQ(refused(overriding, {tensor({2}, {1, 2}), tensor({2}, {5, 6})}).code, "input.dim");
  for (const std::string name : {"x", "y", "none"}) {
    const auto wrong = session.overriding({name});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, "input.unknown");
  }
  const auto none = load("mlp").overriding({"w1"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "input.unknown");
}

TEST(Answers, AnyBoolByteButZeroIsTrue) {
  const Session session = load("mask");
  Context context(session, 1);
  const auto clean = run(context, {filled({4, 4}), tensor<uint8_t>(DType::boolean, {4}, {1, 0, 1, 1})});
  const auto dirty = run(context, {filled({4, 4}), tensor<uint8_t>(DType::boolean, {4}, {2, 0, 255, 1})});
  ASSERT_EQ(clean.size(), dirty.size());
  for (size_t i = 0; i < clean.size(); ++i) EXPECT_EQ(difference(dirty[i], clean[i], 0, 0), "");
}

TEST(Answers, PlanSaysWhichKernelsRun) {
  const Session session = load("mlp");
  const auto text = session.plan_text({{"x", {5, 8}}});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_NE(text->find("batch"), std::string::npos) << *text;
}

TEST(Answers, ObserverSeesEveryStep) {
  const Session session = load("state");
  Context context(session);
  std::vector<std::string> types;
  context.observe([&](const ProfiledStep& step) { types.push_back(step.type); });
  run(context, {filled({2, 4}), filled({2, 8})});
  EXPECT_FALSE(types.empty());
  types.clear();
  context.observe(nullptr);
  run(context, {filled({2, 4}), filled({2, 8})});
  EXPECT_TRUE(types.empty());
}

}  // namespace
}  // namespace anyshape::testing
