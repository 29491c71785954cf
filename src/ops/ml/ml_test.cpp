#include <gtest/gtest.h>

#include "ir/call.h"
#include "ops/all.h"
#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Ml, Rows) {
  check_rows({
      {"ai.onnx.ml:ArrayFeatureExtractor", 1, "f32[n, 4]; i64[2] = [0, 3]", "", "f32[n, 2]"},
      {"ai.onnx.ml:ArrayFeatureExtractor", 1, "f32[4]; i64[1] = [1]", "", "f32[1, 1]"},
      {"ai.onnx.ml:ArrayFeatureExtractor", 1, "f32[n, 4]; i64[1] = [4]", "", "error[arrayfeatureextractor.index]"},
      {"ai.onnx.ml:Scaler", 1, "f32[n, f]", "scale=[1.0, 2.0] offset=[0.0, 0.0]", "f32[n, 2]", "f == 2"},
      {"ai.onnx.ml:Scaler", 1, "f32[n, f]", "scale=[1.0] offset=[0.0]", "f32[n, f]"},
      {"ai.onnx.ml:OneHotEncoder", 1, "i64[n]", "cats_int64s=[1, 2, 3]", "f32[n, 3]"},
      {"ai.onnx.ml:Normalizer", 1, "f32[a, b, c]", "", "error[rank]"},
      {"ai.onnx.ml:LabelEncoder", 2, "i64[n, 2]", "keys_int64s=[1] values_strings=[a]", "string[n, 2]"},
      {"ai.onnx.ml:LinearClassifier", 1, "f32[n, f]",
       "coefficients=[1.0, 2.0] intercepts=[0.5] classlabels_ints=[0, 1]", "i64[n]; f32[n, 2]", "f <= 2"},
      {"ai.onnx.ml:SVMRegressor", 1, "f32[n, f]", "coefficients=[1.0, 2.0, 3.0] rho=[0.5]", "f32[n, 1]", "f == 3"},
      {"ai.onnx.ml:TreeEnsembleRegressor", 3, "f32[n, f]",
       "n_targets=2 nodes_featureids=[3, 9] nodes_modes=[BRANCH_LEQ, LEAF]", "f32[n, 2]", "f >= 4"},
      {"ai.onnx.ml:ZipMap", 1, "f32[n, f]", "classlabels_strings=[a, b]", "seq(map(string, f32[]))", "f == 2"},
      {"ai.onnx.preview.training:Momentum", 1, "f32[]; i64[]; f32[a]; f32[a]; f32[a]", "", "f32[a]; f32[a]"},
      {"ai.onnx.preview.training:Adam", 1, "f32[]; i64[]; f32[a]; f32[a]; f32[a]", "", "error[optimizer.inputs]"},
  });
}

// One tree: feature 0 <= 0.5 gives leaf 1, else leaf 2.
const std::string kStump =
    "nodes_treeids=[0, 0, 0] nodes_nodeids=[0, 1, 2] nodes_featureids=[0, 0, 0] nodes_values=[0.5, 0.0, 0.0] "
    "nodes_modes=[BRANCH_LEQ, LEAF, LEAF] nodes_truenodeids=[1, 0, 0] nodes_falsenodeids=[2, 0, 0] ";

TEST(Ml, TreeKernel) {
  check_kernel_rows({
      {"ai.onnx.ml:TreeEnsembleRegressor", 1, "f32[3, 1] = [0.5, 1, nan]",
       kStump + "target_treeids=[0, 0] target_nodeids=[1, 2] target_ids=[0, 0] target_weights=[2.0, 3.5]",
       "f32[3, 1] = [2, 3.5, 3.5]"},
      {"ai.onnx.ml:TreeEnsembleRegressor", 1, "i32[1, 1] = [0]",
       kStump + "target_treeids=[0, 0] target_nodeids=[1, 2] target_ids=[1, 1] target_weights=[2.0, 3.5] n_targets=2 "
                "aggregate_function=MIN base_values=[0.5, 0.25]",
       "f32[1, 2] = [0.5, 2.25]"},
      {"ai.onnx.ml:TreeEnsembleRegressor", 3, "f64[0, 1] = []",
       kStump + "target_treeids=[0] target_nodeids=[1] target_ids=[0] target_weights_as_tensor=f64[1]=[2]",
       "f32[0, 1] = []"},
      {"ai.onnx.ml:TreeEnsembleRegressor", 1, "f32[1, 1] = [0.5]",
       kStump + "target_treeids=[0] target_nodeids=[9] target_ids=[0] target_weights=[2.0]",
       "error[treeensemble.nodes]"},
      {"ai.onnx.ml:TreeEnsembleRegressor", 1, "f32[1, 1] = [0.5]",
       kStump + "target_treeids=[0] target_nodeids=[1] target_ids=[1] target_weights=[2.0]",
       "error[treeensemble.target]"},
      {"ai.onnx.ml:TreeEnsembleRegressor", 1, "f32[1, 1] = [0.5]",
       "nodes_treeids=[0] nodes_nodeids=[0] nodes_featureids=[0] nodes_values=[0.5] nodes_modes=[BRANCH_LT] "
       "nodes_truenodeids=[0] nodes_falsenodeids=[0] n_targets=1",
       "error[treeensemble.cycle]"},
      {"ai.onnx.ml:TreeEnsembleClassifier", 1, "f32[2, 1] = [0.5, 1]",
       kStump + "class_treeids=[0, 0] class_nodeids=[1, 2] class_ids=[0, 0] class_weights=[0.25, 0.75] "
                "classlabels_strings=[no, yes]",
       "string[2] = [no, yes]; f32[2, 2] = [0.75, 0.25, 0.25, 0.75]"},
      {"ai.onnx.ml:TreeEnsembleClassifier", 1, "f32[2, 1] = [0.5, 1]",
       kStump + "class_treeids=[0, 0] class_nodeids=[1, 2] class_ids=[0, 0] class_weights=[-2.0, 2.0] "
                "classlabels_int64s=[3, 4] post_transform=LOGISTIC base_values=[0.0]",
       "i64[2] = [3, 4]; f32[2, 2] = [0.880797, 0.119203, 0.119203, 0.880797]"},
      {"ai.onnx.ml:TreeEnsembleClassifier", 1, "f32[2, 1] = [0.5, 1]",
       kStump + "class_treeids=[0, 0] class_nodeids=[1, 2] class_ids=[2, 1] class_weights=[1.0, 1.0] "
                "classlabels_int64s=[7, 8, 9] post_transform=SOFTMAX_ZERO",
       "i64[2] = [9, 8]; f32[2, 3] = [0, 0, 1, 0, 1, 0]"},
      {"ai.onnx.ml:TreeEnsemble", 5, "f16[2, 1] = [1, 3]",
       "nodes_splits=f16[1]=[0] nodes_modes=u8[1]=[6] nodes_featureids=[0] nodes_truenodeids=[0] nodes_trueleafs=[1] "
       "nodes_falsenodeids=[1] nodes_falseleafs=[1] leaf_targetids=[0, 0] leaf_weights=f16[2]=[5,6] tree_roots=[0] "
       "membership_values=f16[3]=[2,3,nan] n_targets=1",
       "f16[2, 1] = [6, 5]"},
      {"ai.onnx.ml:TreeEnsemble", 5, "f64[1, 1] = [1]",
       "nodes_splits=f64[1]=[0] nodes_modes=u8[1]=[0] nodes_featureids=[0] nodes_truenodeids=[0] nodes_trueleafs=[1] "
       "nodes_falsenodeids=[2] nodes_falseleafs=[1] leaf_targetids=[0] leaf_weights=f64[1]=[5] tree_roots=[0]",
       "error[treeensemble.nodes]"},
  });
}

TEST(Ml, ModelKernel) {
  check_kernel_rows({
      {"ai.onnx.ml:LinearRegressor", 1, "i64[2] = [1, 2]", "coefficients=[1.0, 2.0, 0.5, 0.0] targets=2",
       "f32[1, 2] = [5, 0.5]"},
      {"ai.onnx.ml:LinearClassifier", 1, "f64[2, 1] = [1, -1]",
       "coefficients=[2.0] intercepts=[0.5] classlabels_strings=[a, b] post_transform=LOGISTIC",
       "string[2] = [b, a]; f32[2, 2] = [0.0758582, 0.924142, 0.817575, 0.182426]"},
      {"ai.onnx.ml:LinearClassifier", 1, "f32[1, 1] = [1]",
       "coefficients=[2.0] intercepts=[0.5] classlabels_ints=[0, 1] post_transform=CAUCHIT", "error[ml.transform]"},
      {"ai.onnx.ml:SVMRegressor", 1, "f32[2, 2] = [1, 2, 0, 0]", "coefficients=[1.0, -1.0] rho=[0.5] one_class=1",
       "f32[2, 1] = [-1, 1]"},
      {"ai.onnx.ml:SVMRegressor", 1, "f64[1, 1] = [3]",
       "coefficients=[2.0] support_vectors=[1.0] n_supports=1 rho=[0.5] kernel_type=POLY kernel_params=[1.0, 1.0, 2.0]",
       "f32[1, 1] = [32.5]"},
      {"ai.onnx.ml:SVMClassifier", 1, "f32[2, 1] = [1, -1]",
       "coefficients=[1.0, -1.0] support_vectors=[1.0, -1.0] vectors_per_class=[1, 1] rho=[0.0] classlabels_ints=[5, "
       "6]",
       "i64[2] = [5, 6]; f32[2, 2] = [-2, 2, 2, -2]"},
      {"ai.onnx.ml:SVMClassifier", 1, "f32[1, 1] = [1]",
       "coefficients=[1.0] support_vectors=[1.0, -1.0] vectors_per_class=[1, 1] rho=[0.0] classlabels_ints=[5, 6]",
       "error[svm.size]"},
  });
}

TEST(Ml, FeatureKernel) {
  check_kernel_rows({
      {"ai.onnx.ml:ArrayFeatureExtractor", 1, "string[2, 2] = [a, b, c, d]; i64[1] = [1]", "", "string[2, 1] = [b, d]"},
      {"ai.onnx.ml:Binarizer", 1, "i32[3] = [-1, 2, 3]", "threshold=2.0", "i32[3] = [0, 0, 1]"},
      {"ai.onnx.ml:Scaler", 1, "f64[1, 2] = [3, 4]", "scale=[2.0, 0.5] offset=[1.0, 0.0]", "f32[1, 2] = [4, 2]"},
      {"ai.onnx.ml:Normalizer", 1, "i64[2, 2] = [3, 4, 0, 0]", "norm=L2", "f32[2, 2] = [0.6, 0.8, 0, 0]"},
      {"ai.onnx.ml:Normalizer", 1, "f32[0, 2] = []", "norm=MAX", "f32[0, 2] = []"},
      {"ai.onnx.ml:Imputer", 1, "f64[2] = [nan, 1]", "imputed_value_floats=[2.5] replaced_value_float=nan",
       "f64[2] = [2.5, 1]"},
      {"ai.onnx.ml:Imputer", 1, "i32[1, 2] = [0, 0]", "imputed_value_int64s=[7, 8]", "i32[1, 2] = [7, 8]"},
      {"ai.onnx.ml:OneHotEncoder", 1, "f32[2] = [1.5, 9]", "cats_int64s=[1, 2]", "f32[2, 2] = [1, 0, 0, 0]"},
      {"ai.onnx.ml:OneHotEncoder", 1, "f32[1] = [9]", "cats_int64s=[1, 2] zeros=0", "error[onehotencoder.unknown]"},
      {"ai.onnx.ml:FeatureVectorizer", 1, "f32[2, 1] = [1, 2]; i32[2, 2] = [3, 4, 5, 6]", "inputdimensions=[2, 1]",
       "f32[2, 3] = [1, 0, 3, 2, 0, 5]"},
      {"ai.onnx.ml:CategoryMapper", 1, "i64[2] = [5, 6]", "cats_int64s=[5] cats_strings=[x]",
       "string[2] = [x, _Unused]"},
      {"ai.onnx.ml:LabelEncoder", 1, "string[2] = [b, z]", "classes_strings=[a, b] default_int64=9", "i64[2] = [1, 9]"},
      {"ai.onnx.ml:LabelEncoder", 2, "f32[2] = [1, nan]", "keys_floats=[1.0, nan] values_strings=[x, y]",
       "string[2] = [x, _Unused]"},
      {"ai.onnx.ml:LabelEncoder", 4, "f64[2] = [1.5, nan]",
       "keys_tensor=f64[2]=[1.5,nan] values_tensor=i16[2]=[3,4] default_tensor=i16[1]=[-5]", "i16[2] = [3, 4]"},
      {"ai.onnx.ml:LabelEncoder", 4, "i32[2] = [7, 8]",
       "keys_tensor=i32[1]=[7] values_tensor=f64[1]=[0.5] default_tensor=f64[1]=[-1]", "f64[2] = [0.5, -1]"},
      {"ai.onnx.ml:LabelEncoder", 2, "i64[1] = [7]", "keys_strings=[x] values_strings=[y]", "error[labelencoder.keys]"},
  });
}

TEST(Ml, Maps) {
  Symbols symbols;
  const auto run = [&](std::string_view type, std::string_view attributes, std::vector<Datum> in) {
    Node node;
    node.domain = "ai.onnx.ml";
    node.type = type;
    node.version = 1;
    node.op = all_ops().find(node.domain, node.type, 1);
    node.attributes = parse_attributes(attributes, symbols);
    node.out = {0};
    const Fact fact = Fact::of(in[0]);
    const Fact* facts[] = {&fact};
    return run_reference(Call(node, "n", facts), in, {Fact()});
  };
  const auto tensor = [&](std::string_view text) { return parse_fact(text, symbols).as_tensor(); };
  const auto text = [](const Datum& datum) { return print_all(Fact::of_constant(datum.tensor())); };

  const auto zipped = run("ZipMap", "classlabels_strings=[a, b]", {tensor("f32[2, 2] = [1, 2, 3, 4]")});
  ASSERT_TRUE(zipped);
  ASSERT_EQ((*zipped)[0].items().size(), 2u);
  EXPECT_EQ(text((*zipped)[0].items()[1].items()[0]), "string[2] = [a, b]");
  EXPECT_EQ(text((*zipped)[0].items()[1].items()[1]), "f32[2] = [3, 4]");

  const Datum named = Datum::map(tensor("string[2] = [b, z]"), tensor("f32[2] = [5, 6]"));
  const auto row = run("DictVectorizer", "string_vocabulary=[a, b]", {named});
  ASSERT_TRUE(row);
  EXPECT_EQ(text((*row)[0]), "f32[1, 2] = [0, 5]");

  const Datum numbered = Datum::map(tensor("i64[2] = [3, 1]"), tensor("string[2] = [2.5, x]"));
  const auto dense = run("CastMap", "", {numbered});
  ASSERT_TRUE(dense);
  EXPECT_EQ(text((*dense)[0]), "f32[1, 2] = [0, 2.5]");
  const auto sparse = run("CastMap", "map_form=SPARSE max_map=4 cast_to=TO_STRING", {numbered});
  ASSERT_TRUE(sparse);
  EXPECT_EQ(text((*sparse)[0]), "string[1, 4] = [0.f, x, 0.f, 2.5]");
  EXPECT_FALSE(run("CastMap", "map_form=SPARSE max_map=2", {numbered}));
}

}  // namespace
}  // namespace anyshape::ops
