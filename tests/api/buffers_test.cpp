#include "testing.h"

namespace anyshape::testing {
namespace {

AnyValue over(Floats& memory, Sizes shape, size_t from = 0) {
  auto made = AnyValue::borrow(DType::f32, shape, memory.data() + from, static_cast<size_t>(count(shape)) * 4);
  if (!made) ADD_FAILURE() << made.error().text();
  return made ? *std::move(made) : AnyValue();
}

void run_into(Context& context, const std::vector<AnyValue>& inputs, std::vector<AnyValue>& outputs) {
  const auto ran = context.run_into(inputs, outputs);
  ASSERT_TRUE(ran) << ran.error().text();
}

TEST(Buffers, OutputsOfTheCaller) {
  const Session session = load("mlp");
  Context context(session);
  for (int64_t batch : {3, 50, 1, 0, 9}) {
    const Floats x = entries(batch * 8);
    Floats memory(static_cast<size_t>(batch * 4) + 2, 77.f);
    std::vector<AnyValue> out{over(memory, {batch, 4}, 1)};
    run_into(context, {tensor({batch, 8}, x)}, out);
    EXPECT_EQ(memory.front(), 77.f);
    EXPECT_EQ(memory.back(), 77.f);
    expect_near(Floats(memory.begin() + 1, memory.end() - 1), mlp(x));
  }
}

TEST(Buffers, OutputsOfTheCallerOfEveryKindOfValue) {
  const Session same = load("same"), through = load("through"), constant = load("constant"), mask = load("mask");
  Context a(same), b(through), c(constant), d(mask);
  const Floats x = entries(6);
  std::vector<Floats> memory(3, Floats(6));
  std::vector<AnyValue> out;
  for (Floats& m : memory) out.push_back(over(m, {3, 2}));
  run_into(a, {tensor({3, 2}, x)}, out);
  for (const Floats& m : memory) expect_near(m, product(x, weight(4), 3, 2, 2));

  out[2] = over(memory[2], {6});
  run_into(b, {tensor({3, 2}, x)}, out);
  for (const Floats& m : memory) EXPECT_EQ(m, x);

  out = {over(memory[0], {3}), over(memory[1], {3}), AnyValue(), AnyValue()};
  run_into(c, {tensor({3, 2}, x)}, out);
  EXPECT_EQ(Floats(memory[0].begin(), memory[0].begin() + 3), weight(3));
  EXPECT_EQ(Floats(memory[1].begin(), memory[1].begin() + 3), (Floats{1, 2, 3}));
  EXPECT_EQ(values<int64_t>(out[2]), (std::vector<int64_t>{3, 2}));

  out = {over(memory[0], {2, 3}), AnyValue()};
  run_into(d, {filled({3, 4}), tensor(DType::boolean, {3}, std::vector<uint8_t>{1, 0, 1})}, out);
  Floats rows = entries(12);
  rows.erase(rows.begin() + 4, rows.begin() + 8);
  expect_near(memory[0], map(product(rows, weight(12), 2, 4, 3), [](float v, size_t) { return std::max(v, 0.f); }));
  EXPECT_EQ(values<int64_t>(out[1]), (std::vector<int64_t>{0, 2}));
}

TEST(Buffers, OutputsOfTheWrongShape) {
  for (const char* name : {"mlp", "mask", "constant", "through"}) {
    SCOPED_TRACE(name);
    const Session session = load(name);
    Context context(session);
    std::vector<AnyValue> inputs{filled({3, std::string(name) == "mlp" ? 8 : std::string(name) == "mask" ? 4 : 2})};
    if (session.inputs().size() > 1) inputs.push_back(tensor(DType::boolean, {3}, std::vector<uint8_t>(3, 1)));
    for (const Sizes& shape : {Sizes{3, 5}, Sizes{5}, Sizes{4, 4}}) {
      Floats memory(20);
      std::vector<AnyValue> out(session.outputs().size());
      out[0] = over(memory, shape);
      const auto ran = context.run_into(inputs, out);
      ASSERT_FALSE(ran);
      EXPECT_EQ(ran.error().code, "output.shape");
      EXPECT_NE(ran.error().message.find(session.outputs()[0].name), std::string::npos) << ran.error().text();
      EXPECT_EQ(memory, Floats(20));
    }
    std::vector<AnyValue> doubles(session.outputs().size());
    doubles[0] = *AnyValue::zeros(DType::f64, {3, 4});
    const auto ran = context.run_into(inputs, doubles);
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().code, "output.shape");
    EXPECT_EQ(run(context, inputs).size(), session.outputs().size());
  }
}

TEST(Buffers, StateThatGoesAroundInEngineMemory) {
  const Session session = load("state");
  Context context(session);
  Floats want(16);
  AnyValue h = tensor({2, 8}, want);
  for (int i = 0; i < 20; ++i) {
    const Floats x = entries(8, i);
    want = next_state(x, want);
    auto out = run(context, {tensor({2, 4}, x), h});
    ASSERT_EQ(out.size(), 1u);
    h = out[0];
    expect_near(values(h), want);
  }
}

TEST(Buffers, StateThatGoesAroundInTwoBuffers) {
  const Session session = load("state");
  Context context(session);
  Floats want(16), memory[2] = {Floats(16), Floats(16)};
  for (int i = 0; i < 20; ++i) {
    const Floats x = entries(8, i);
    want = next_state(x, want);
    std::vector<AnyValue> out{over(memory[(i + 1) % 2], {2, 8})};
    run_into(context, {tensor({2, 4}, x), over(memory[i % 2], {2, 8})}, out);
    expect_near(memory[(i + 1) % 2], want);
  }
}

TEST(Buffers, StateThatIsReplaced) {
  const Session session = load("state");
  Context context(session);
  Floats want(16), memory(16);
  for (int i = 0; i < 20; ++i) {
    const Floats x = entries(8, i);
    want = next_state(x, want);
    const AnyValue h = over(memory, {2, 8});
    std::vector<AnyValue> out{h};
    run_into(context, {tensor({2, 4}, x), h}, out);
    expect_near(memory, want);
  }
}

// Input and output share a part of their memory only.
TEST(Buffers, OutputThatOverlapsAnInput) {
  const Session session = load("state");
  Context context(session);
  Floats memory = entries(24, 2);
  const Floats h(memory.begin(), memory.begin() + 16), x = entries(8, 1);
  std::vector<AnyValue> out{over(memory, {2, 8}, 8)};
  run_into(context, {tensor({2, 4}, x), over(memory, {2, 8})}, out);
  expect_near(Floats(memory.begin() + 8, memory.end()), next_state(x, h));
}

// Each output in turn gets the memory of the input, which others are read off.
TEST(Buffers, OutputOverAnInputThatIsAnOutput) {
  const Floats x = entries(6), negated = map(x, [](float v, size_t) { return -v; });
  const Floats turned{x[0], x[2], x[4], x[1], x[3], x[5]};
  for (const bool optimize : {true, false})
    for (size_t shared = 0; shared < 4; ++shared) {
      SCOPED_TRACE(shared);
      SessionOptions options;
      options.optimize = optimize;
      Context views(load("kept", options)), lists(load("kept_list", options));
      Floats memory = x, second(6), third(6);
      std::vector<AnyValue> out{over(second, {3, 2}), over(third, {3, 2}), AnyValue()};
      if (shared < 2) out[shared] = over(memory, {3, 2});
      if (shared == 2) out[2] = over(memory, {2, 3});
      run_into(views, {over(memory, {3, 2})}, out);
      EXPECT_EQ(values(out[0]), negated);
      EXPECT_EQ(values(out[1]), x);
      EXPECT_EQ(values(out[2]), turned);

      AnyValue held = tensor({3, 2}, x);
      out = {over(second, {3, 2}), over(third, {3, 2}), AnyValue()};
      if (shared < 2) out[shared] = held;
      run_into(lists, {held}, out);
      EXPECT_EQ(values(out[0]), negated);
      EXPECT_EQ(values(out[1]), x);
      ASSERT_EQ(out[2].items().size(), 1u);
      EXPECT_EQ(values(out[2].items()[0]), x);
    }
}

TEST(Buffers, OneBufferForTwoOutputsOfOneValue) {
  const Session session = load("same");
  Context context(session);
  Floats memory(6);
  const Floats x = entries(6);
  std::vector<AnyValue> out(3, over(memory, {3, 2}));
  run_into(context, {tensor({3, 2}, x)}, out);
  expect_near(memory, product(x, weight(4), 3, 2, 2));
}

TEST(Buffers, HeldOutputsStayAsTheyAre) {
  const Session session = load("mlp");
  std::vector<AnyValue> held;
  std::vector<Floats> want;
  {
    Context context(session);
    for (int i = 0; i < 12; ++i) {
      const int64_t batch = i % 3 == 0 ? 2 : i;
      const Floats x = entries(batch * 8, i);
      auto out = run(context, {tensor({batch, 8}, x)});
      ASSERT_EQ(out.size(), 1u);
      held.push_back(out[0]);
      want.push_back(mlp(x));
    }
    for (size_t i = 0; i < held.size(); ++i) expect_near(values(held[i]), want[i]);
  }
  // Longer than the context.
  for (size_t i = 0; i < held.size(); ++i) expect_near(values(held[i]), want[i]);
}

TEST(Buffers, HeldOutputsOfRunIntoStayAsTheyAre) {
  const Session session = load("mlp");
  Context context(session);
  std::vector<std::vector<AnyValue>> held;
  for (int i = 0; i < 6; ++i) {
    held.emplace_back(1);
    run_into(context, {tensor({2, 8}, entries(16, i))}, held.back());
  }
  for (int i = 0; i < 6; ++i) expect_near(values(held[static_cast<size_t>(i)][0]), mlp(entries(16, i)));
}

// The second call writes to where the first one put its outputs: they are tensors by then.
TEST(Buffers, OutputsSetByOneCallAreReusedByTheNext) {
  const Session session = load("mlp");
  Context context(session);
  std::vector<AnyValue> out(1);
  run_into(context, {tensor({2, 8}, entries(16, 1))}, out);
  const void* place = out[0].data();
  run_into(context, {tensor({2, 8}, entries(16, 2))}, out);
  EXPECT_EQ(out[0].data(), place);
  expect_near(values(out[0]), mlp(entries(16, 2)));
}

TEST(Buffers, UnalignedMemory) {
  const Session session = load("mlp");
  Context context(session);
  const Floats x = entries(24);
  for (size_t shift : {1u, 2u, 3u, 4u, 7u}) {
    std::vector<char> in(24 * 4 + 8), memory(12 * 4 + 8);
    std::memcpy(in.data() + shift, x.data(), 24 * 4);
    const auto input = AnyValue::borrow(DType::f32, {3, 8}, in.data() + shift, 24 * 4);
    ASSERT_TRUE(input);
    expect_near(values(run(context, {*input})[0]), mlp(x));
    std::vector<AnyValue> out{*AnyValue::borrow(DType::f32, {3, 4}, memory.data() + shift, 12 * 4)};
    run_into(context, {*input}, out);
    Floats got(12);
    std::memcpy(got.data(), memory.data() + shift, 12 * 4);
    expect_near(got, mlp(x));
  }
}

TEST(Buffers, InputsAreNotWrittenTo) {
  const Session mlp_session = load("mlp"), state = load("state"), loop = load("loop"), branch = load("branch");
  const auto check = [](const Session& session, const std::vector<AnyValue>& inputs) {
    Context context(session);
    std::vector<Floats> before;
    for (const AnyValue& input : inputs) before.push_back(values(input));
    run(context, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(values(inputs[i]), before[i]);
  };
  check(mlp_session, {filled({3, 8})});
  check(state, {filled({3, 4}), filled({3, 8})});
  check(loop, {tensor(DType::i64, {}, std::vector<int64_t>{4}), filled({3})});
  check(branch, {filled({6, 2})});
  check(branch, {filled({2, 2})});
}

// All that comes out of a run, items of sequences one by one.
std::vector<AnyValue> tensors(Context& context, const std::vector<AnyValue>& inputs) {
  std::vector<AnyValue> out;
  for (const AnyValue& value : run(context, inputs)) {
    if (value.kind() == AnyValue::Kind::tensor) out.push_back(value);
    for (const AnyValue& item : value.items()) out.push_back(item);
  }
  return out;
}

TEST(Buffers, OutputsBelongToTheCallerAlone) {
  const Session session = load("shared");
  Context context(session);
  for (uint8_t first : {1, 0}) {
    const std::vector<AnyValue> inputs{tensor(DType::boolean, {}, std::vector<uint8_t>{first}), filled({3})};
    const Floats w = weight(3), x = entries(3), branch = first ? w : x;
    const std::vector<Floats> wanted{w, x, w, branch, branch};
    auto written = tensors(context, inputs);
    const auto held = tensors(context, inputs);
    ASSERT_EQ(written.size(), wanted.size());
    for (size_t i = 0; i < written.size(); ++i) std::memset(written[i].mutable_data(), static_cast<int>(i) + 1, 12);
    for (size_t i = 0; i < written.size(); ++i)
      EXPECT_EQ(values<uint8_t>(written[i]), std::vector<uint8_t>(12, static_cast<uint8_t>(i + 1)));
    const auto again = tensors(context, inputs);
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(values(held[i]), wanted[i]) << i;
      EXPECT_EQ(values(again[i]), wanted[i]) << i;
    }
    EXPECT_EQ(values(inputs[1]), x);
  }
}

TEST(Buffers, WrongSizesOfMemory) {
  Floats memory(8);
  EXPECT_EQ(AnyValue::borrow(DType::f32, {3, 3}, memory.data(), 32).error().code, "tensor.bytes");
  EXPECT_EQ(AnyValue::borrow(DType::f32, {-1}, memory.data(), 32).error().code, "tensor.dims");
  EXPECT_EQ(AnyValue::borrow(DType::string, {1}, memory.data(), 32).error().code, "tensor.dims");
}

}  // namespace
}  // namespace anyshape::testing
