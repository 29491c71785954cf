// After reserve() a run allocates nothing: every way to get memory is counted here.
#include <anyshape/c.h>

#include "../counting_malloc.h"
#include "testing.h"

namespace anyshape::testing {
namespace {

TEST(Allocation, TheCounterCounts) {
  Counted counted;
  delete new int(3);
  std::vector<AnyValue> one(1);
  EXPECT_GE(Counted::stop(), 2);
}

// Inputs and outputs of the caller, made before counting begins.
struct Feed {
  std::vector<AnyValue> inputs, outputs;
};

Feed product_feed(int64_t batch) { return {{filled({batch, 8}, 3)}, {*AnyValue::zeros(DType::f32, {batch, 4})}}; }

TEST(Allocation, NoneAfterReserve) {
  for (int threads : {1, 3}) {
    const Session session = load("product");
    Context context(session, threads);
    ASSERT_TRUE(context.reserve({{"x", {3000, 8}}}));
    std::vector<Feed> feeds;
    // More shapes than a context keeps bindings for, none of them seen before, up to the reserved one.
    for (int64_t batch : {3000, 1, 17, 2999, 5, 64, 100, 0, 3000, 33, 1, 2, 9}) feeds.push_back(product_feed(batch));
    for (Feed& feed : feeds) {
      Counted counted;
      const Status ran = context.run_into(feed.inputs, feed.outputs);
      const int64_t made = Counted::stop();
      ASSERT_TRUE(ran) << ran.error().text();
      EXPECT_EQ(made, 0) << feed.inputs[0].shape()[0] << " rows, " << threads << " threads";
    }
  }
}

TEST(Allocation, NoneForOutputsOfTheEngine) {
  const Session session = load("product");
  Context context(session, 1);
  ASSERT_TRUE(context.reserve({{"x", {100, 8}}}));
  std::vector<AnyValue> inputs{filled({100, 8})}, held{*AnyValue::zeros(DType::f32, {1, 4})}, outputs(1);
  for (int i = 0; i < 5; ++i) {
    // The caller's handle keeps its room for sizes.
    outputs[0] = AnyValue();
    Counted counted;
    const Status ran = context.run_into(inputs, outputs);
    const int64_t made = Counted::stop();
    ASSERT_TRUE(ran);
    // The sizes in the handle that was empty.
    EXPECT_LE(made, 1);
    std::swap(held, outputs);
  }
}

// Whatever kernels the steps have; tests/conformance/allocations.cpp goes over the operators.
TEST(Allocation, NoneInAnyStep) {
  struct Row {
    const char* model;
    std::vector<Sizes> shapes;
    std::vector<int64_t> output;
  };
  const Row rows[] = {{"blocks", {{40, 2}}, {10, 4, 2}},       {"cnn", {{4, 1, 16, 16}}, {4, 3}},
                      {"fixed", {{40, 3}, {40, 3}}, {40, 3}},  {"long_rows", {{2, 40000}}, {2, 40000}},
                      {"many_rows", {{40000, 2}}, {40000, 2}}, {"mlp", {{40, 8}}, {40, 4}},
                      {"state", {{40, 4}, {40, 8}}, {40, 8}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.model);
    const Session session = load(row.model);
    Context context(session, 1);
    Shapes largest;
    Feed feed;
    for (size_t i = 0; i < row.shapes.size(); ++i) {
      largest[session.inputs()[i].name] = row.shapes[i];
      feed.inputs.push_back(filled(row.shapes[i]));
    }
    feed.outputs.push_back(*AnyValue::zeros(DType::f32, row.output));
    ASSERT_TRUE(context.reserve(largest));
    Counted counted;
    const Status ran = context.run_into(feed.inputs, feed.outputs);
    const int64_t made = Counted::stop();
    ASSERT_TRUE(ran) << ran.error().text();
    EXPECT_EQ(made, 0) << session.plan_text().value_or("");
  }
}

// The number of bytes that a line of a plan ends with, 0 where there is no such line.
int64_t bytes_in(const std::string& plan, const std::string& line) {
  const size_t at = plan.find("\n" + line);
  if (at == std::string::npos) return 0;
  const std::string text = plan.substr(at + 1, plan.find('\n', at + 1) - at - 1);
  const size_t end = text.find(" bytes"), begin = text.find_last_not_of("0123456789", end - 1);
  return std::stoll(text.substr(begin + 1, end - begin - 1));
}

// What a plan says of its memory is what a run asks for. The smallest shape has the same bookkeeping.
TEST(Allocation, PlannedMemoryIsMeasured) {
  const auto measured = [](const Session& session, const std::vector<Sizes>& shapes, int64_t& planned) {
    Shapes named;
    std::vector<AnyValue> inputs;
    for (size_t i = 0; i < shapes.size(); ++i) {
      named[session.inputs()[i].name] = shapes[i];
      inputs.push_back(filled(shapes[i]));
    }
    Context other(session, 1), context(session, 1);
    std::vector<AnyValue> outputs = other.run(inputs).value();
    Counted counted;
    const Status ran = context.run_into(inputs, outputs);
    Counted::stop();
    EXPECT_TRUE(ran) << ran.error().text();
    const std::string plan = session.plan_text(named).value();
    planned = bytes_in(plan, "peak  ") + bytes_in(plan, "scratch  ");
    return aligned_bytes.load();
  };
  struct Row {
    const char* model;
    std::vector<std::vector<Sizes>> shapes;
  };
  const Row rows[] = {{"product", {{{1, 8}}, {{3000, 8}}, {{17, 8}}}},
                      {"cnn", {{{1, 1, 16, 16}}, {{4, 1, 16, 16}}, {{33, 1, 16, 16}}}},
                      {"mlp", {{{1, 8}}, {{64, 8}}, {{1000, 8}}}},
                      {"blocks", {{{4, 2}}, {{40, 2}}, {{400, 2}}}},
                      {"state", {{{1, 4}, {1, 8}}, {{40, 4}, {40, 8}}}},
                      {"many_rows", {{{1, 2}}, {{40000, 2}}}}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.model);
    const Session session = load(row.model);
    int64_t least_planned = 0, planned = 0;
    const int64_t least = measured(session, row.shapes[0], least_planned);
    for (const auto& shapes : row.shapes) {
      const int64_t bytes = measured(session, shapes, planned);
      EXPECT_EQ(bytes - least, planned - least_planned) << session.plan_text().value_or("");
      EXPECT_GE(bytes, planned);
    }
  }
}

TEST(Allocation, NoneAtSmallerShapes) {
  const Session session = load("cnn");
  Context context(session, 1);
  ASSERT_TRUE(context.reserve({{session.inputs()[0].name, {9, 1, 16, 16}}}));
  for (int64_t batch : {9, 1, 8, 3, 2, 7, 9, 4}) {
    Feed feed{{filled({batch, 1, 16, 16})}, {*AnyValue::zeros(DType::f32, {batch, 3})}};
    Counted counted;
    const Status ran = context.run_into(feed.inputs, feed.outputs);
    const int64_t made = Counted::stop();
    ASSERT_TRUE(ran) << ran.error().text();
    EXPECT_EQ(made, 0) << batch;
  }
}

TEST(Allocation, NoneInTheCApi) {
  anyshape_session* session = nullptr;
  ASSERT_EQ(anyshape_session_load(model_path("product").c_str(), &session), nullptr);
  anyshape_context* context = nullptr;
  ASSERT_EQ(anyshape_context_create(session, 1, &context), nullptr);
  const int64_t largest[] = {50, 8};
  Floats x(400, 0.5f), y(200);
  const anyshape_tensor most{1, 2, largest, nullptr};
  ASSERT_EQ(anyshape_context_reserve(context, &most, 1), nullptr);
  anyshape_tensor input{1, 2, largest, x.data()};
  for (int64_t batch : {50, 20, 1, 0, 49}) {
    const int64_t dims[] = {batch, 8}, wanted[] = {batch, 4};
    input.dims = dims;
    anyshape_tensor into{1, 2, wanted, y.data()}, owned{};
    Counted counted;
    anyshape_error* error = anyshape_context_run(context, &input, 1, &into, 1);
    anyshape_error* second = error ? nullptr : anyshape_context_run(context, &input, 1, &owned, 1);
    const int64_t made = Counted::stop();
    ASSERT_EQ(error, nullptr) << anyshape_error_text(error);
    ASSERT_EQ(second, nullptr) << anyshape_error_text(second);
    EXPECT_EQ(made, 0);
    EXPECT_EQ(std::memcmp(owned.data, y.data(), static_cast<size_t>(batch) * 16), 0);
  }
  anyshape_context_free(context);
  anyshape_session_free(session);
}

}  // namespace
}  // namespace anyshape::testing
