#include "passes/passes_testing.h"

namespace anyshape::testing {
namespace {

TEST(Passes, OneHotProducts) {
  check_passes("one-hot dead", {{"input x i32[n, 5, 1]\n"
                                 "constant places i32[1, 1, 3] = [0, 1, 2]\n"
                                 "constant w f32[3, 4]\n"
                                 "e <- Equal(x, places)\n"
                                 "c <- Cast(e) to=1\n"
                                 "y <- MatMul(c, w)\n"
                                 "output y",
                                 "constant 0 i32[] = [0]\n"
                                 "constant 3 i32[] = [3]\n"
                                 "constant w.and_none f32[4, 4]\n"
                                 "constant axis i64[1] = [2]\n"
                                 "y/GreaterOrEqual <- GreaterOrEqual(x, 0)\n"
                                 "y/Less <- Less(x, 3)\n"
                                 "y/And <- And(y/GreaterOrEqual, y/Less)\n"
                                 "y/Where <- Where(y/And, x, 3)\n"
                                 "y/Gather <- Gather(w.and_none, y/Where)\n"
                                 "y <- Squeeze(y/Gather, axis)"},
                                // Other places.
                                {"input x i32[n, 5, 1]\n"
                                 "constant places i32[1, 1, 3] = [0, 2, 1]\n"
                                 "constant w f32[3, 4]\n"
                                 "e <- Equal(x, places)\n"
                                 "c <- Cast(e) to=1\n"
                                 "y <- MatMul(c, w)\n"
                                 "output y"},
                                // Somebody else reads the rows.
                                {"input x i32[n, 5, 1]\n"
                                 "constant places i32[3] = [0, 1, 2]\n"
                                 "constant w f32[3, 4]\n"
                                 "e <- Equal(x, places)\n"
                                 "c <- Cast(e) to=1\n"
                                 "y <- MatMul(c, w)\n"
                                 "output y, c"}});
}

TEST(Passes, ProductsTakeBias) {
  check_passes("products", {
                               {"input x f32[b, s, 4]\n"
                                "constant w f32[4, 3]\n"
                                "constant c f32[3]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- Add(c, a)\n"
                                "output y",
                                "constant w f32[4, 3]\n"
                                "constant c f32[3]\n"
                                "y <- anyshape.FusedMatMul(x, w, c)"},
                               // One number for all columns, and a second bias.
                               {"input x f32[b, 4]\n"
                                "constant w f32[4, 3]\n"
                                "constant c f32[3]\n"
                                "constant d f32[]\n"
                                "a <- Gemm(x, w, c) beta=0.5\n"
                                "y <- Add(a, d)\n"
                                "output y",
                                "constant a.folded_weights f32[4, 3]\n"
                                "constant a.folded_bias f32[3]\n"
                                "y <- anyshape.FusedGemm(x, a.folded_weights, a.folded_bias) beta=1"},
                               // An entry for each row; more rows than the product has.
                               {"input x f32[3, 4]\n"
                                "constant w f32[4, 3]\n"
                                "constant c f32[3, 1]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- Add(a, c)\n"
                                "output y"},
                               {"input x f32[1, 4]\n"
                                "input z f32[b, 3]\n"
                                "constant w f32[4, 3]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- Add(a, z)\n"
                                "output y"},
                               // A vector has no columns.
                               {"input x f32[b, 4]\n"
                                "constant w f32[4]\n"
                                "constant c f32[1]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- Add(a, c)\n"
                                "output y"},
                           });
}

TEST(Passes, ProductsTakeSumAndActivation) {
  check_passes("products", {
                               {"input x f32[b, s, 4]\n"
                                "constant w f32[4, 4]\n"
                                "constant c f32[4]\n"
                                "a <- MatMul(x, w)\n"
                                "d <- Add(a, c)\n"
                                "e <- Add(x, d)\n"
                                "y <- Relu(e)\n"
                                "output y",
                                "constant w f32[4, 4]\n"
                                "constant c f32[4]\n"
                                "y <- anyshape.FusedMatMul(x, w, c, x) activation=\"Relu\""},
                               {"input x f32[b, 4]\n"
                                "constant w f32[3, 4]\n"
                                "constant c f32[3]\n"
                                "a <- Gemm(x, w, c) transB=1\n"
                                "s <- Sigmoid(a)\n"
                                "y <- Mul(a, s)\n"
                                "output y",
                                "constant w f32[3, 4]\n"
                                "constant c f32[3]\n"
                                "y <- anyshape.FusedGemm(x, w, c) transB=1 activation=\"Silu\""},
                               // What is added after the activation stays outside.
                               {"input x f32[b, 4]\n"
                                "constant w f32[4, 4]\n"
                                "a <- MatMul(x, w)\n"
                                "r <- Relu(a)\n"
                                "y <- Add(r, x)\n"
                                "output y",
                                "constant w f32[4, 4]\n"
                                "r <- anyshape.FusedMatMul(x, w) activation=\"Relu\"\n"
                                "y <- Add(r, x)"},
                               // Somebody else reads the product; it is of another type.
                               {"input x f32[b, 4]\n"
                                "constant w f32[4, 4]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- Relu(a)\n"
                                "output y, a"},
                               {"input x f64[b, 4]\n"
                                "input w f64[4, 4]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- Relu(a)\n"
                                "output y"},
                           });
  check_passes("products", Target{},
               {{"input x f32[b, 4]\n"
                 "constant w f32[4, 4]\n"
                 "a <- MatMul(x, w)\n"
                 "y <- Relu(a)\n"
                 "output y"}});
}

TEST(Passes, ProductsTakeScales) {
  check_passes("products", {
                               {"input x f32[b, 4]\n"
                                "constant w f32[4, 3]\n"
                                "constant h f32[] = [0.5]\n"
                                "constant q f32[] = [4]\n"
                                "m <- Mul(h, x)\n"
                                "a <- MatMul(m, w)\n"
                                "y <- Div(a, q)\n"
                                "output y",
                                "constant w f32[4, 3]\n"
                                "y <- anyshape.FusedMatMul(x, w) alpha=0.125"},
                               {"input x f32[b, 4]\n"
                                "constant w f32[4, 3]\n"
                                "constant c f32[3]\n"
                                "a <- Gemm(x, w)\n"
                                "y <- BatchNormalization(a, c, c, c, c)\n"
                                "output y",
                                "constant a.folded_weights f32[4, 3]\n"
                                "constant a.folded_bias f32[3]\n"
                                "y <- anyshape.FusedGemm(x, a.folded_weights, a.folded_bias) beta=1"},
                               // The weights are given in each run.
                               {"input x f32[b, 4]\n"
                                "input w f32[4, 3]\n"
                                "constant h f32[] = [0.5]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- Mul(a, h)\n"
                                "output y"},
                               // The channels are not the columns.
                               {"input x f32[b, 3, 4]\n"
                                "constant w f32[4, 3]\n"
                                "constant c f32[3]\n"
                                "a <- MatMul(x, w)\n"
                                "y <- BatchNormalization(a, c, c, c, c)\n"
                                "output y"},
                           });
}

}  // namespace
}  // namespace anyshape::testing
