#include <gtest/gtest.h>

#include <algorithm>

#include "lower/lowering.h"
#include "lower/schema.h"
#include "ops/all.h"

namespace anyshape::lower {
namespace {

TEST(AtenTable, NamesAreUniqueAndKnownToPyTorch) {
  const auto& all = all_aten();
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(all[i - 1].name, all[i].name);
    }
    const std::string_view name = all[i].name.substr(0, all[i].name.find('.'));
    const std::string_view overload = all[i].name.size() > name.size() ? all[i].name.substr(name.size() + 1) : "";
    auto schemas = schemas_of(name);
    const auto in_place = schemas_of(std::string(name) + "_");
    schemas.insert(schemas.end(), in_place.begin(), in_place.end());
    EXPECT_FALSE(schemas.empty()) << all[i].name;
    const auto same = [&](const Schema& s) { return overload.empty() || s.overload == overload; };
    EXPECT_TRUE(std::any_of(schemas.begin(), schemas.end(), same)) << all[i].name;
  }
}

constexpr int64_t kFirstWithBf16 = 13;

// One call per row: operator, the types of its two operands, the type of the result.
struct Promotion {
  const char* name;
  DType left, right, result;
};

// bf16 is refused before opset 13.
std::vector<int64_t> opsets_of(std::initializer_list<DType> dtypes) {
  const bool brain = std::find(dtypes.begin(), dtypes.end(), DType::bf16) != dtypes.end();
  return brain ? std::vector<int64_t>{13, 17, 18, 20} : std::vector<int64_t>{11, 13, 17, 18, 20};
}

class Types : public testing::TestWithParam<Promotion> {};

TEST_P(Types, FollowPyTorch) {
  const Promotion& row = GetParam();
  for (const int64_t opset : opsets_of({row.left, row.right})) {
    Symbols symbols;
    Assumptions assumptions(symbols);
    const Dim n = symbols.symbol("n");
    assumptions.assume(Condition::ge(n, 0));
    Lowering l(all_ops(), assumptions, opset);
    const Var x = l.memory().variable(l.input("x", Fact::tensor(row.left, {n, 3})));
    const Var y = l.memory().variable(l.input("y", Fact::tensor(row.right, {3})));
    const Arg out = l.call(row.name, "", {Arg(x), Arg(y)});
    if (opset < kFirstWithBf16 && (row.left == DType::bf16 || row.right == DType::bf16)) {
      ASSERT_FALSE(l->status().has_value());
      EXPECT_EQ(l->status().error().code, "export.opset");
      continue;
    }
    ASSERT_TRUE(l->status().has_value()) << l->status().error().message;
    EXPECT_EQ(l->dtype(l.ref(out)), row.result) << row.name << " at opset " << opset;
    EXPECT_EQ(print(l->dims(l.ref(out))), "[n, 3]");
  }
}

constexpr Promotion kPromotions[] = {
    {"add", DType::f32, DType::i64, DType::f32},
    {"add", DType::i32, DType::i64, DType::i64},
    {"add", DType::u8, DType::i8, DType::i16},
    {"add", DType::f16, DType::bf16, DType::f32},
    {"add", DType::boolean, DType::boolean, DType::boolean},
    {"mul", DType::boolean, DType::u8, DType::u8},
    {"div", DType::i64, DType::i64, DType::f32},
    {"div", DType::f64, DType::i32, DType::f64},
    {"floor_divide", DType::i64, DType::i32, DType::i64},
    {"remainder", DType::f16, DType::i64, DType::f16},
    {"maximum", DType::i16, DType::i32, DType::i32},
    {"bitwise_and", DType::i64, DType::u8, DType::i64},
    {"bitwise_or", DType::boolean, DType::boolean, DType::boolean},
    {"pow", DType::i8, DType::i8, DType::i8},
    {"lt", DType::bf16, DType::f32, DType::boolean},
    {"ge", DType::boolean, DType::boolean, DType::boolean},
    {"atan2", DType::i64, DType::i64, DType::f32},
    {"logaddexp", DType::f64, DType::f32, DType::f64},
    {"type_as", DType::f32, DType::u8, DType::u8},
};
INSTANTIATE_TEST_SUITE_P(Rows, Types, testing::ValuesIn(kPromotions));

// One call of one operand per row.
struct Single {
  const char* name;
  DType given, result;
};

class Kernels : public testing::TestWithParam<Single> {};

TEST_P(Kernels, GiveTheRightType) {
  const Single& row = GetParam();
  for (const int64_t opset : opsets_of({row.given})) {
    Symbols symbols;
    Assumptions assumptions(symbols);
    Lowering l(all_ops(), assumptions, opset);
    const Var x = l.memory().variable(l.input("x", Fact::tensor(row.given, {2, 3})));
    const Arg out = l.call(row.name, "", {Arg(x)});
    if (opset < kFirstWithBf16 && row.given == DType::bf16) {
      ASSERT_FALSE(l->status().has_value());
      EXPECT_EQ(l->status().error().code, "export.opset");
      continue;
    }
    ASSERT_TRUE(l->status().has_value()) << l->status().error().message;
    EXPECT_EQ(l->dtype(l.ref(out)), row.result) << row.name << " at opset " << opset;
  }
}

constexpr Single kSingles[] = {
    {"abs", DType::i8, DType::i8},
    {"neg", DType::u8, DType::u8},
    {"exp", DType::i64, DType::f32},
    {"exp", DType::bf16, DType::bf16},
    {"floor", DType::i32, DType::i32},
    {"sigmoid", DType::boolean, DType::f32},
    {"erf", DType::f64, DType::f64},
    {"tan", DType::f16, DType::f16},
    {"relu", DType::i64, DType::i64},
    {"gelu", DType::bf16, DType::bf16},
    {"mish", DType::f64, DType::f64},
    {"isnan", DType::i64, DType::boolean},
    {"isinf", DType::f16, DType::boolean},
    {"sum", DType::i32, DType::i64},
    {"sum", DType::boolean, DType::i64},
    {"mean", DType::f16, DType::f16},
    {"any", DType::u8, DType::u8},
    {"all", DType::f32, DType::boolean},
    {"argmax", DType::i16, DType::i64},
    {"amax", DType::i16, DType::i16},
    {"max", DType::boolean, DType::boolean},
    {"square", DType::boolean, DType::i64},
    {"logical_not", DType::f32, DType::boolean},
    {"bitwise_not", DType::u8, DType::u8},
    {"zeros_like", DType::i16, DType::i16},
};
INSTANTIATE_TEST_SUITE_P(Rows, Kernels, testing::ValuesIn(kSingles));

TEST(Casts, ShareMemoryOnlyWhereNothingChanges) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  Lowering l(all_ops(), assumptions, 17);
  const Var x = l.memory().variable(l.input("x", Fact::tensor(DType::f32, {3})));
  const Arg same = l.call("to", "dtype", {Arg(x), Arg::of(DType::f32)});
  const Arg copied = l.call("to", "dtype", {Arg(x), Arg::of(DType::f32), Arg(false), Arg(true)});
  const Arg other = l.call("to", "dtype", {Arg(x), Arg::of(DType::f64)});
  const Ref before = l.memory().read(x);
  for (const Arg& written : {copied, other}) {
    l.call("add_", "Scalar", {written, Arg(Dim(1))});
    EXPECT_EQ(l.memory().read(x), before);
  }
  l.call("add_", "Scalar", {same, Arg(Dim(1))});
  EXPECT_NE(l.memory().read(x), before);
  EXPECT_TRUE(l->status().has_value());
}

TEST(Bfloat16, NeedsOpset13) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  Lowering l(all_ops(), assumptions, 12);
  l.input("x", Fact::tensor(DType::bf16, {3}));
  ASSERT_FALSE(l->status().has_value());
  EXPECT_EQ(l->status().error().code, "export.opset");
}

TEST(Dropout, NeedsEvaluationMode) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  Lowering l(all_ops(), assumptions, 17);
  const Var x = l.memory().variable(l.input("x", Fact::tensor(DType::f32, {3})));
  const Arg kept = l.call("dropout", "", {Arg(x), Arg(0.5), Arg(false)});
  EXPECT_EQ(l.ref(kept), l.memory().read(x));
  l.call("dropout", "", {Arg(x), Arg(0.5), Arg(true)});
  ASSERT_FALSE(l->status().has_value());
  EXPECT_EQ(l->status().error().code, "export.training");
}

}  // namespace
}  // namespace anyshape::lower
