#include <anyshape/check.h>
#include <anyshape/work.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "testing.h"

namespace anyshape::testing {
namespace {

constexpr int64_t kHuge = int64_t{1} << 40;

// A tensor that says it is that large, over one page of memory: it must be refused before an entry is read.
AnyValue hollow(Sizes shape) {
  static Floats page(1024);
  auto made = AnyValue::borrow(DType::f32, shape, page.data(), static_cast<size_t>(count(shape)) * 4);
  if (!made) ADD_FAILURE() << made.error().text();
  return made ? *std::move(made) : AnyValue();
}

AnyValue number(int64_t value) { return tensor(DType::i64, {}, std::vector<int64_t>{value}); }

void expect_mlp_works(Context& context) {
  const Floats x = entries(24);
  const auto out = run(context, {tensor({3, 8}, x)});
  ASSERT_EQ(out.size(), 1u);
  expect_near(values(out[0]), mlp(x));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// No step runs while this lives.
class NothingRuns {
 public:
  explicit NothingRuns(Context& context) : context_(context) {
    context_.observe([](const ProfiledStep& step) { ADD_FAILURE() << "step " << step.name << " ran"; });
  }
  ~NothingRuns() { context_.observe(nullptr); }

 private:
  Context& context_;
};

TEST(Refusal, WrongElementType) {
  const Session session = load("mlp");
  Context context(session);
  {
    NothingRuns watch(context);
    const Error error = refused(context, {tensor(DType::f64, {1, 8}, std::vector<double>(8))});
    EXPECT_EQ(error.code, "input.dtype");
    EXPECT_TRUE(contains(error.place, "input \"x\"")) << error.text();
    EXPECT_TRUE(contains(error.message, "f32")) << error.text();
    EXPECT_EQ(refused(context, {tensor(DType::i32, {1, 8}, std::vector<int32_t>(8))}).code, "input.dtype");
  }
  expect_mlp_works(context);
}

TEST(Refusal, UnknownEngine) {
  SessionOptions options;
  options.engine = "abacus";
  const auto session = Session::load(model_path("mlp"), options);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, "engine.unknown");
  EXPECT_TRUE(contains(session.error().message, "anyshape, onnxruntime")) << session.error().text();
  EXPECT_EQ(engines().front(), Engine::anyshape);
}

TEST(Refusal, WrongRank) {
  const Session session = load("mlp");
  Context context(session);
  {
    NothingRuns watch(context);
    for (const Sizes& shape : {Sizes{8}, Sizes{}, Sizes{1, 8, 1}}) {
      const Error error = refused(context, {filled(shape)});
      EXPECT_EQ(error.kind, Error::Kind::refused);
      EXPECT_TRUE(error.code.starts_with("input.")) << error.text();
      EXPECT_TRUE(contains(error.place, "input \"x\"")) << error.text();
    }
  }
  expect_mlp_works(context);
}

TEST(Refusal, DeclaredSizes) {
  const Session session = load("fixed");
  Context context(session);
  NothingRuns watch(context);
  const Error columns = refused(context, {filled({2, 4}), filled({2, 4})});
  EXPECT_TRUE(columns.code.starts_with("input.")) << columns.text();
  EXPECT_TRUE(contains(columns.text(), "axis 1")) << columns.text();
  EXPECT_TRUE(contains(columns.place, "\"x\"")) << columns.text();
  const Error rows = refused(context, {filled({2, 3}), filled({3, 3})});
  EXPECT_EQ(rows.code, "lenient.tied") << rows.text();
  EXPECT_TRUE(contains(rows.text(), "rows")) << rows.text();
  EXPECT_TRUE(contains(rows.place, "\"z\"")) << rows.text();
}

TEST(Refusal, TheNodeThatRefuses) {
  const Session session = load("blocks");
  Context context(session);
  {
    NothingRuns watch(context);
    const Error error = refused(context, {filled({6, 2})});
    EXPECT_EQ(error.code, "reshape.count");
    EXPECT_EQ(error.kind, Error::Kind::refused);
    EXPECT_TRUE(contains(error.place, "reshape_0")) << error.text();
  }
  EXPECT_EQ(run(context, {filled({8, 2})})[0].shape(), (Sizes{2, 4, 2}));
}

TEST(Refusal, OnlyTheBranchTakenMustBeLegal) {
  const Session session = load("branch");
  Context context(session);
  run(context, {filled({7, 2})});
  const Error error = refused(context, {filled({3, 2})});
  EXPECT_EQ(error.code, "reshape.count") << error.text();
  run(context, {filled({2, 2})});
}

// What a run refuses, check refuses with the same code; a run at what check accepts succeeds.
TEST(Refusal, TheSameAsCheck) {
  for (const char* name : {"blocks", "branch", "mlp"}) {
    const Session session = load(name);
    const auto model = Model::load(model_path(name));
    ASSERT_TRUE(model);
    Context context(session);
    for (int64_t n = 0; n < 10; ++n) {
      const Sizes shape{n, std::string(name) == "mlp" ? 8 : 2};
      const Answer answer = accepts(*model, {{"x", shape}});
      const auto ran = context.run(std::vector<AnyValue>{filled(shape)});
      EXPECT_EQ(ran.has_value(), answer.kind == Answer::Kind::accept) << name << " at " << n;
      if (!ran) {
        EXPECT_EQ(ran.error().code, answer.code);
        EXPECT_EQ(ran.error().message, answer.sentence);
      }
    }
  }
}

TEST(Refusal, WrongNumberOfValues) {
  const Session session = load("state");
  Context context(session);
  NothingRuns watch(context);
  EXPECT_EQ(refused(context, {filled({1, 4})}).code, "run.inputs");
  EXPECT_EQ(refused(context, {}).code, "run.inputs");
  std::vector<AnyValue> none;
  const auto status = context.run_into(std::vector<AnyValue>{filled({1, 4}), filled({1, 8})}, none);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, "run.outputs");
}

TEST(Refusal, MissingInput) {
  const Session session = load("state");
  Context context(session);
  NothingRuns watch(context);
  const Error error = refused(context, {filled({1, 4}), AnyValue()});
  EXPECT_EQ(error.code, "input.kind") << error.text();
  EXPECT_TRUE(contains(error.place, "\"h\"")) << error.text();
}

TEST(Refusal, AnotherKindOfValue) {
  const Session sequences = load("sequence"), tensors = load("mlp"), texts = load("text");
  Context a(sequences), b(tensors), c(texts);
  EXPECT_EQ(refused(a, {filled({2}), filled({2})}).code, "input.kind");
  EXPECT_EQ(refused(b, {AnyValue::sequence(DType::f32, {filled({1, 8})})}).code, "input.kind");
  EXPECT_EQ(refused(b, {*AnyValue::strings({1, 8}, std::vector<std::string>(8))}).code, "input.dtype");
  EXPECT_EQ(refused(c, {filled({2}), filled({2})}).code, "input.dtype");
  EXPECT_EQ(refused(b, {AnyValue::optional(filled({1, 8}))}).code, "input.kind");
}

TEST(Refusal, SequenceOfAnotherElementType) {
  const Session session = load("sequence");
  Context context(session);
  const AnyValue item = tensor(DType::f64, {2}, std::vector<double>(2));
  const Error error = refused(context, {AnyValue::sequence(DType::f64, {item}), filled({2})});
  EXPECT_EQ(error.code, "input.dtype") << error.text();
  EXPECT_EQ(run(context, {AnyValue::sequence(DType::f32, {filled({2})}), filled({2})}).size(), 2u);
}

TEST(Refusal, SizesThatFitNoMemory) {
  const Session session = load("mlp");
  Context context(session);
  {
    NothingRuns watch(context);
    const Error error = refused(context, {hollow({kHuge, 8})});
    EXPECT_EQ(error.kind, Error::Kind::system) << error.text();
    EXPECT_EQ(error.code, "tensor.memory") << error.text();
  }
  EXPECT_FALSE(context.reserve({{"x", {kHuge, 8}}}));
  EXPECT_FALSE(context.reserve({{"x", {int64_t{1} << 62, 8}}}));
  const auto shapes = context.output_shapes({{"x", {int64_t{1} << 61, 8}}});
  EXPECT_TRUE(shapes || shapes.error().kind == Error::Kind::system) << shapes.error().text();
  expect_mlp_works(context);
}

TEST(Refusal, NegativeSizes) {
  const Session session = load("mlp");
  Context context(session);
  EXPECT_FALSE(context.reserve({{"x", {-1, 8}}}));
  EXPECT_FALSE(context.output_shapes({{"x", {-3, 8}}}));
  EXPECT_FALSE(AnyValue::zeros(DType::f32, {-1, 8}));
  expect_mlp_works(context);
}

TEST(Refusal, ValuesOfAnyKindOfHugeSize) {
  EXPECT_FALSE(AnyValue::zeros(DType::f32, {kHuge, kHuge}));
  EXPECT_FALSE(AnyValue::zeros(DType::f64, {int64_t{1} << 46}));
  EXPECT_FALSE(AnyValue::zeros(DType::string, {kHuge}));
  EXPECT_FALSE(AnyValue::zeros(DType::string, {kHuge, kHuge}));
  EXPECT_FALSE(AnyValue::random(DType::f32, {kHuge, 64}, 1));
}

// The number of rounds is a value, not a size: all that a loop makes of it is found out while it runs.
TEST(Refusal, LoopThatNeverFits) {
  const Session session = load("loop");
  Context context(session);
  RunOptions options;
  std::atomic<bool> cancel = false;
  options.cancel = &cancel;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancel = true;
  });
  const Error error = refused(context, {number(kHuge), filled({2})}, options);
  later.join();
  EXPECT_EQ(error.code, "run.cancelled") << error.text();
  EXPECT_EQ(run(context, {number(2), filled({2})}).size(), 2u);
}

TEST(Refusal, LoopThatTakesTooLong) {
  const Session session = load("loop");
  Context context(session);
  RunOptions options;
  options.timeout = 0.05;
  const Error error = refused(context, {number(kHuge), filled({2})}, options);
  EXPECT_EQ(error.code, "work.timeout") << error.text();
  EXPECT_EQ(error.kind, Error::Kind::system);
  EXPECT_EQ(run(context, {number(2), filled({2})}, options).size(), 2u);
}

// Limits of the thread hold for whatever is called on it, and for nothing after them.
TEST(Refusal, WorkOfAThread) {
  const Session session = load("loop");
  Context context(session);
  std::atomic<bool> cancel = true;
  {
    const WorkScope stopped({&cancel});
    EXPECT_EQ(refused(context, {number(2), filled({2})}).code, "work.cancelled");
    EXPECT_EQ(Session::load(model_path("mlp")).error().code, "work.cancelled");
    EXPECT_EQ(context.reserve({{"x", {2}}, {"trips", {}}}).error().code, "work.cancelled");
    EXPECT_EQ(check_work().error().code, "work.cancelled");
    cancel = false;
    EXPECT_TRUE(check_work());
    const WorkScope inner({nullptr, 0, 0, 30000});
    EXPECT_EQ(refused(context, {number(100000), filled({8})}).code, "run.memory");
  }
  cancel = true;
  EXPECT_TRUE(check_work());
  EXPECT_EQ(run(context, {number(2), filled({2})}).size(), 2u);
}

// What was cut short is asked for again, not remembered.
TEST(Refusal, ModelThatIsAskedAgain) {
  const auto model = Model::load(model_path("mlp"));
  ASSERT_TRUE(model);
  const Shapes shapes{{"x", {2, 8}}};
  const std::atomic<bool> cancel = true;
  {
    const WorkScope stopped({&cancel});
    EXPECT_EQ(check(*model).error().code, "work.cancelled");
    EXPECT_EQ(require(*model, {"x=[1..4, 8]"}).error().code, "work.cancelled");
    EXPECT_EQ(explain(*model, "x:0").error().code, "work.cancelled");
    EXPECT_EQ(model->with_value_info().error().code, "work.cancelled");
    EXPECT_EQ(Session::from_model(*model).error().code, "work.cancelled");
    const Answer answer = accepts(*model, shapes);
    EXPECT_EQ(answer.kind, Answer::Kind::unknown);
    EXPECT_EQ(answer.code, "work.cancelled");
  }
  EXPECT_TRUE(check(*model));
  EXPECT_EQ(require(*model, {"x=[1..4, 8]"})->kind, Proof::Kind::proved);
  EXPECT_EQ(accepts(*model, shapes).kind, Answer::Kind::accept);
  EXPECT_TRUE(Session::from_model(*model));
}

TEST(Refusal, CancelledBeforeItBegins) {
  const Session session = load("mlp");
  Context context(session);
  const std::atomic<bool> cancel = true;
  RunOptions options;
  options.cancel = &cancel;
  {
    NothingRuns watch(context);
    EXPECT_EQ(refused(context, {filled({3, 8})}, options).code, "run.cancelled");
  }
  expect_mlp_works(context);
}

TEST(Refusal, LimitOfMemory) {
  const Session session = load("mlp");
  Context context(session, 1);
  RunOptions options;
  options.max_bytes = 30000;
  run(context, {filled({20, 8})}, options);
  const int64_t before = context.memory();
  {
    NothingRuns watch(context);
    const Error error = refused(context, {filled({2000, 8})}, options);
    EXPECT_EQ(error.code, "run.memory") << error.text();
    EXPECT_EQ(error.kind, Error::Kind::system);
  }
  EXPECT_EQ(context.memory(), before);
  run(context, {filled({20, 8})}, options);
  run(context, {filled({2000, 8})});
}

// The limit is that of the whole run: what the stages and bodies of it need counts together.
TEST(Refusal, LimitOfMemoryOfBodies) {
  const Session session = load("loop");
  Context context(session, 1);
  RunOptions options;
  options.max_bytes = 30000;
  run(context, {number(3), filled({8})}, options);
  EXPECT_EQ(refused(context, {number(3), filled({100000})}, options).code, "run.memory");
  EXPECT_EQ(refused(context, {number(100000), filled({8})}, options).code, "run.memory");
  run(context, {number(3), filled({8})}, options);
  // Memory that a run without a limit has left behind counts, too.
  run(context, {number(3), filled({100000})});
  EXPECT_EQ(refused(context, {number(3), filled({100000})}, options).code, "run.memory");
}

// All that the run makes counts, outputs that are not given too.
TEST(Refusal, LimitOfMemoryOfOutputs) {
  const Session session = load("mlp");
  Context context(session, 1);
  RunOptions options;
  options.max_bytes = 1000000;
  std::vector<AnyValue> held;
  for (int i = 0; i < 100; ++i) held.push_back(run(context, {filled({1000, 8})}, options)[0]);
  Floats memory(4000 * 4);
  std::vector<AnyValue> given{tensor({4000, 4}, memory)};
  options.max_bytes = 0;
  ASSERT_TRUE(context.run_into(std::vector{filled({4000, 8})}, given, options));
  for (int64_t bytes = 1000;; bytes += 1000) {
    options.max_bytes = bytes;
    if (!context.run_into(std::vector{filled({4000, 8})}, given, options)) continue;
    EXPECT_EQ(refused(context, {filled({4000, 8})}, options).code, "run.memory");
    options.max_bytes += 4000 * 4 * int64_t{sizeof(float)};
    EXPECT_EQ(run(context, {filled({4000, 8})}, options).size(), 1u);
    return;
  }
}

TEST(Refusal, LimitOfMemoryOfValuesWhoseSizeDependsOnData) {
  const Session session = load("mask");
  Context context(session, 1);
  const auto inputs = [](size_t kept) {
    std::vector<uint8_t> keep(5000);
    std::fill(keep.begin(), keep.begin() + static_cast<ptrdiff_t>(kept), uint8_t{1});
    return std::vector<AnyValue>{filled({5000, 4}), tensor(DType::boolean, {5000}, keep)};
  };
  RunOptions options;
  options.max_bytes = 20000;
  run(context, inputs(10), options);
  EXPECT_EQ(refused(context, inputs(5000), options).code, "run.memory");
  run(context, inputs(10), options);
}

TEST(Refusal, EntriesAKernelRefuses) {
  const Session session = load("table");
  Context context(session);
  for (int64_t bad : {int64_t{5}, int64_t{-6}, kHuge}) {
    const Error error = refused(context, {tensor(DType::i64, {2}, std::vector<int64_t>{0, bad})});
    EXPECT_EQ(error.kind, Error::Kind::refused) << error.text();
    EXPECT_TRUE(contains(error.place, "gather_0")) << error.text();
    const auto out = run(context, {tensor(DType::i64, {2}, std::vector<int64_t>{-1, 4})});
    ASSERT_EQ(out.size(), 1u);
    const Floats w = weight(10);
    EXPECT_EQ(values(out[0]), (Floats{w[8], w[9], w[8], w[9]}));
  }
}

TEST(Refusal, ReserveOfWrongNamesAndShapes) {
  const Session session = load("fixed");
  Context context(session);
  const auto unknown = context.reserve({{"x", {2, 3}}, {"q", {1}}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "input.unknown");
  const auto missing = context.reserve({{"x", {2, 3}}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "input.missing");
  EXPECT_FALSE(context.reserve({{"x", {2, 3}}, {"z", {3, 3}}}));
  EXPECT_FALSE(context.output_shapes({{"x", {2, 4}}, {"z", {2, 4}}}));
  EXPECT_EQ(run(context, {filled({2, 3}), filled({2, 3})}).size(), 1u);
}

TEST(Refusal, FilesThatAreNoModels) {
  const auto absent = Session::load("tests/fixtures/run/absent.onnx");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, Error::Kind::usage);
  const auto garbage = Session::from_bytes(std::vector<std::byte>(100, std::byte{0x5a}));
  ASSERT_FALSE(garbage);
  EXPECT_FALSE(garbage.error().code.empty());
  EXPECT_FALSE(Session::from_bytes({}));
}

// More refused shapes than bindings are kept, between runs of one that is taken.
TEST(Refusal, ManyRefusalsBetweenRuns) {
  const Session session = load("blocks");
  Context context(session);
  for (int64_t n = 0; n < 60; ++n) {
    const auto ran = context.run(std::vector<AnyValue>{filled({n, 2})});
    EXPECT_EQ(ran.has_value(), n % 4 == 0) << n;
    const auto out = run(context, {filled({8, 2}, static_cast<int>(n))});
    EXPECT_EQ(values(out[0]), map(entries(16, static_cast<int>(n)), [](float v, size_t) { return std::max(v, 0.f); }));
  }
}

}  // namespace
}  // namespace anyshape::testing
