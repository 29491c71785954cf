#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run/cpu/kernels/testing.h"
#include "run/cpu/simd/simd_testing.h"

// Trees and linear models over rows of f32, on every instruction set.
namespace anyshape::cpu {
namespace {

using simd::Dice;

// Attributes of random trees in the form with one list entry a node.
class RandomTrees {
 public:
  RandomTrees(Dice& dice, int64_t features, bool all_modes) : dice_(dice), features_(features), all_modes_(all_modes) {}

  void add_tree(int64_t leaves, int64_t classes, int64_t target) {
    tree_ = trees_++;
    next_ = 0;
    add(leaves, classes, target);
  }

  std::string text(const std::string& prefix) const {
    const auto list = [](const auto& of) { return fmt::format("[{}]", fmt::join(of, ", ")); };
    return fmt::format(
        "nodes_treeids={} nodes_nodeids={} nodes_featureids={} nodes_values={} nodes_modes={} nodes_truenodeids={} "
        "nodes_falsenodeids={} nodes_missing_value_tracks_true={} {}_treeids={} {}_nodeids={} {}_ids={} {}_weights={} ",
        list(tree_ids_), list(ids_), list(features_of_), list(splits_), list(modes_), list(yes_), list(no_),
        list(missing_), prefix, list(vote_trees_), prefix, list(vote_nodes_), prefix, list(vote_targets_), prefix,
        list(weights_));
  }

 private:
  std::string number() { return fmt::format("{:.3f}", dice_.number(2)); }

  // classes > 1: each leaf votes for all of them, else for `target`.
  int64_t add(int64_t leaves, int64_t classes, int64_t target) {
    const int64_t own = next_++;
    const auto at = ids_.size();
    constexpr const char* kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"};
    tree_ids_.push_back(tree_), ids_.push_back(own), features_of_.push_back(dice_.between(0, features_ - 1));
    // Splits that rows meet exactly are among them.
    splits_.push_back(dice_.coin() ? number() : fmt::format("{}.0", dice_.between(-1, 1)));
    modes_.emplace_back(leaves == 1 ? "LEAF" : all_modes_ ? kModes[dice_.between(0, 3)] : kModes[0]);
    missing_.push_back(all_modes_ ? dice_.between(0, 1) : 0), yes_.push_back(0), no_.push_back(0);
    if (leaves > 1) {
      const int64_t first = dice_.between(1, leaves - 1);
      yes_[at] = add(first, classes, target);
      no_[at] = add(leaves - first, classes, target);
      return own;
    }
    for (int64_t k = 0; k < classes; ++k) {
      vote_trees_.push_back(tree_), vote_nodes_.push_back(own);
      vote_targets_.push_back(classes > 1 ? k : target), weights_.push_back(number());
    }
    return own;
  }

  Dice& dice_;
  const int64_t features_;
  const bool all_modes_;
  int64_t trees_ = 0, tree_ = 0, next_ = 0;
  std::vector<int64_t> tree_ids_, ids_, features_of_, yes_, no_, missing_, vote_trees_, vote_nodes_, vote_targets_;
  std::vector<std::string> splits_, modes_, weights_;
};

// Rows that meet splits, with NaN and infinities among them.
std::string random_rows(Dice& dice, int64_t rows, int64_t features) {
  std::vector<std::string> entries;
  for (int64_t i = 0; i < rows * features; ++i) switch (dice.between(0, 9)) {
      case 0:
        entries.emplace_back("nan");
        break;
      case 1:
        entries.emplace_back(dice.coin() ? "inf" : "-inf");
        break;
      case 2:
      case 3:
        entries.push_back(fmt::format("{}", dice.between(-1, 1)));
        break;
      default:
        entries.push_back(fmt::format("{:.3f}", dice.number(2)));
    }
  return fmt::format("f32[{}, {}] = [{}]", rows, features, fmt::join(entries, ", "));
}

// Sums are those of the reference kernel to the last bit.
TEST(CpuKernels, Forests) {
  simd::for_each_target([] {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t features = dice.between(1, dice.coin() ? 8 : 40), rows = dice.between(1, dice.coin() ? 20 : 150);
      const int64_t most = dice.coin() ? 32 : dice.coin() ? 64 : 150;
      RandomTrees one(dice, features, dice.coin()), each(dice, features, dice.coin()), all(dice, features, dice.coin());
      const int64_t trees = dice.between(1, 20);
      for (int64_t t = 0; t < trees; ++t) {
        one.add_tree(dice.between(1, most), 1, 0);
        each.add_tree(dice.between(1, most), 1, t % 3);
        all.add_tree(dice.between(1, most), 3, 0);
      }
      const std::string x = random_rows(dice, rows, features);
      const std::string regressor = "ai.onnx.ml:TreeEnsembleRegressor",
                        classifier = "ai.onnx.ml:TreeEnsembleClassifier";
      const std::string three = "classlabels_int64s=[3, 4, 9] ";
      check_kernels({
          {regressor, 3, x, one.text("target"), 1, 0},
          {regressor, 3, x, all.text("target") + "n_targets=3 aggregate_function=AVERAGE base_values=[1.0,2.0,0.5]", 1,
           0},
          {classifier, 3, x, one.text("class") + "classlabels_int64s=[5, 7] post_transform=LOGISTIC", 2, 0},
          {classifier, 3, x, each.text("class") + three + "post_transform=SOFTMAX", 2, 0},
          {classifier, 3, x, all.text("class") + three, 2, 0},
      });
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

TEST(CpuKernels, ForestRefusals) {
  const std::string tree =
      "nodes_treeids=[0, 0, 0] nodes_nodeids=[0, 1, 2] nodes_featureids=[2, 0, 0] nodes_values=[0.5, 0.0, 0.0] "
      "nodes_truenodeids=[1, 0, 0] nodes_falsenodeids=[2, 0, 0] target_treeids=[0, 0] target_nodeids=[1, 2] "
      "target_ids=[0, 0] target_weights=[1.0, 2.0] nodes_modes=";
  const std::string regressor = "ai.onnx.ml:TreeEnsembleRegressor", less = "[BRANCH_LEQ, LEAF, LEAF] ";
  EXPECT_EQ(refusal_of({regressor, 3, "f32[4, 3]", tree + less}), "");
  EXPECT_EQ(refusal_of({regressor, 3, "f64[4, 3]", tree + less}), "its features are not f32");
  EXPECT_EQ(refusal_of({regressor, 3, "f32[4, 2]", tree + less}), "it looks at features that are not there");
  EXPECT_EQ(refusal_of({regressor, 3, "f32[4, 3]", tree + "[BRANCH_EQ, LEAF, LEAF]"}), "it tests for equality");
  EXPECT_EQ(refusal_of({regressor, 3, "f32[4, 3]", tree + less + "aggregate_function=MIN"}),
            "it takes the least or the greatest vote");
}

std::string numbers(Dice& dice, int64_t count) {
  std::vector<std::string> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(fmt::format("{:.4f}", dice.number()));
  return fmt::format("[{}]", fmt::join(out, ", "));
}

// Of the largest score: what is left of up to 90 products that cancel each other is smaller than they are.
constexpr double kBound = 3e-5;

TEST(CpuKernels, LinearModels) {
  simd::for_each_target([] {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t features = dice.between(1, 90), rows = dice.between(0, 150);
      const int64_t sets = dice.between(2, dice.coin() ? 4 : 40);
      const std::string x = fmt::format("f32[{}, {}]", rows, features);
      std::vector<int64_t> labels;
      for (int64_t i = 0; i < sets; ++i) labels.push_back(10 * i + 1);
      const std::string many =
          fmt::format("coefficients={} intercepts={} ", numbers(dice, sets * features), numbers(dice, sets));
      const std::string one = fmt::format("coefficients={} intercepts=[0.25] ", numbers(dice, features));
      const std::string classifier = "ai.onnx.ml:LinearClassifier", regressor = "ai.onnx.ml:LinearRegressor";
      for (const std::string transform : {"NONE", "LOGISTIC", "SOFTMAX"}) {
        const std::string how = "post_transform=" + transform + " ";
        check_kernels({
            {classifier, 1, x, many + how + fmt::format("classlabels_ints=[{}]", fmt::join(labels, ", ")), 2, kBound},
            {classifier, 1, x, one + how + "classlabels_ints=[4, 9]", 2, kBound},
            {classifier, 1, x, one + how, 2, kBound},
            {regressor, 1, x, many + how + fmt::format("targets={}", sets), 1, kBound},
            {regressor, 1, x, one + how, 1, kBound},
            {regressor, 1, fmt::format("f32[{}]", features), one + how, 1, kBound},
        });
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  });
  EXPECT_EQ(
      refusal_of({"ai.onnx.ml:LinearRegressor", 1, "f32[4, 3]", "coefficients=[1.0, 2.0, 3.0] post_transform=PROBIT"}),
      "its scores are transformed in an unusual way");
}

// A score that is no number is larger than none, and none is larger than it.
TEST(CpuKernels, LinearLabelsOfSpecials) {
  const std::string x = "f32[6, 2] = [nan, 1, 1, nan, inf, 0, -inf, 1, 0, 0, inf, -inf]";
  simd::for_each_target([&] {
    for (const std::string transform : {"NONE", "LOGISTIC", "SOFTMAX"}) {
      const std::string how = " post_transform=" + transform, op = "ai.onnx.ml:LinearClassifier";
      check_kernels({
          {op, 1, x, "coefficients=[1.0, 0.5] intercepts=[0.25] classlabels_ints=[4, 9]" + how, 2, kBound},
          {op, 1, x,
           "coefficients=[1.0, 0.5, -1.0, 0.5, 0.5, 0.25] intercepts=[0.0, 0.0, 0.0] classlabels_ints=[4, 9, 3]" + how,
           2, kBound},
      });
    }
  });
}

// Scores of pairs are sums over vectors that cancel each other: the bound is of the largest.
TEST(CpuKernels, SupportVectors) {
  const std::string classifier = "ai.onnx.ml:SVMClassifier", regressor = "ai.onnx.ml:SVMRegressor";
  simd::for_each_target([&] {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      Dice dice(seed);
      const int64_t features = dice.between(1, 20), a = dice.between(1, 60), b = dice.between(1, 60),
                    c = dice.between(0, 9);
      const int64_t vectors = a + b + c;
      const std::string x = fmt::format("f32[{}, {}]", dice.between(1, 9), features);
      const std::string support = "support_vectors=" + numbers(dice, vectors * features);
      for (const std::string kind : {"LINEAR", "POLY", "RBF", "SIGMOID"}) {
        const std::string how = fmt::format(" kernel_type={} kernel_params=[0.2, 0.5, 3.0] ", kind);
        const std::string three = support + how +
                                  fmt::format("vectors_per_class=[{}, {}, {}] rho=[0.1, -0.2, 0.3] ", a, b, c) +
                                  "classlabels_ints=[4, 9, 3] coefficients=" + numbers(dice, 2 * vectors);
        check_kernels({
            {classifier, 1, x, three, 2, 1e-4},
            {classifier, 1, x, three + " prob_a=[-1.0, -0.5, -0.7] prob_b=[0.1, 0.0, -0.1]", 2, 1e-4},
            {classifier, 1, x,
             fmt::format("{}{}vectors_per_class=[{}, {}] rho=[0.1] classlabels_ints=[0, 1] coefficients={}", support,
                         how, a, b + c, numbers(dice, vectors)),
             2, 1e-4},
            {regressor, 1, x,
             fmt::format("{}{}n_supports={} rho=[0.4] coefficients={}", support, how, vectors, numbers(dice, vectors)),
             1, 1e-4},
        });
      }
      check_kernels({{regressor, 1, x, "rho=[0.4] coefficients=" + numbers(dice, features), 1, 1e-4},
                     {classifier, 1, x,
                      "rho=[0.4] classlabels_ints=[0, 1, 2] coefficients=" + numbers(dice, 3 * features), 2, 1e-4}});
      if (testing::Test::HasFatalFailure()) return;
    }
  });
  EXPECT_EQ(refusal_of({regressor, 1, "f32[4, 1]",
                        "support_vectors=[1.0] coefficients=[1.0] rho=[0.0] n_supports=1 "
                        "kernel_type=POLY kernel_params=[1.0, 0.0, 2.5]"}),
            "the degree of its polynomial is not a small whole number");
}

TEST(CpuKernels, RowsOfFeatures) {
  simd::for_each_target([] {
    for (const std::string x : {"f32[50, 3]", "f32[7, 40]", "f32[0, 3]", "f32[9, 2]", "f32[70, 4]", "f32[3]"}) {
      const int64_t features = std::stoi(x.substr(x.rfind(' ') == std::string::npos ? x.find('[') + 1 : x.rfind(' ')));
      Dice dice(5);
      check_kernels({
          {"ai.onnx.ml:Scaler", 1, x, "offset=" + numbers(dice, features) + " scale=" + numbers(dice, features), 1,
           1e-6},
          {"ai.onnx.ml:Scaler", 1, x, "offset=[0.5] scale=[3.0]", 1, 1e-6},
          {"ai.onnx.ml:Normalizer", 1, x, "norm=L1", 1, 1e-6},
          {"ai.onnx.ml:Normalizer", 1, x, "norm=L2", 1, 1e-6},
          {"ai.onnx.ml:Normalizer", 1, x, "norm=MAX", 1, 1e-6},
      });
    }
    check_kernels({
        {"ai.onnx.ml:Normalizer", 1, "f32[3, 2] = [0, 0, 1, -1, nan, 2]", "norm=L1", 1, 0},
        {"ai.onnx.ml:Normalizer", 1, "f32[2, 3] = [0, 0, 0, inf, 1, 2]", "norm=L2", 1, 0},
        {"ai.onnx.ml:Imputer", 1, "f32[2, 3] = [1, nan, 2, nan, 3, -0.5]",
         "imputed_value_floats=[7.0, 8.0, 9.0] replaced_value_float=nan", 1, 0},
        {"ai.onnx.ml:Imputer", 1, "f32[2, 3] = [1, nan, 2, 3, 3, 3]",
         "imputed_value_floats=[7.0] replaced_value_float=3.0", 1, 0},
    });
  });
}

}  // namespace
}  // namespace anyshape::cpu
