#include "passes/passes_testing.h"

namespace anyshape {
namespace {

using testing::check_passes;

// What is folded becomes a constant when its node is dropped.
TEST(Passes, Fold) {
  check_passes("fold dead", {
                                {"input x f32[n]\n"
                                 "constant a f32[2] = [1, 2]\n"
                                 "constant b f32[2] = [3, 5]\n"
                                 "c <- Add(a, b)\n"
                                 "y <- Concat(x, c) axis=0\n"
                                 "output y",
                                 "constant c f32[2]\n"
                                 "y <- Concat(x, c) axis=0"},
                                // Random numbers are drawn in each run.
                                {"input x f32[2]\n"
                                 "r <- RandomNormal() shape=[2]\n"
                                 "y <- Add(x, r)\n"
                                 "output y"},
                                // It would grow by 4 MB.
                                {"input x f32[n]\n"
                                 "constant a f32[1] = [1]\n"
                                 "constant s i64[1] = [1000000]\n"
                                 "c <- Expand(a, s)\n"
                                 "y <- Add(x, c)\n"
                                 "output y"},
                            });
}

TEST(Passes, NoOps) {
  check_passes("no-ops", {
                             {"input x f32[n, 4]\n"
                              "a <- Identity(x)\n"
                              "b <- Dropout(a)\n"
                              "c <- Cast(b) to=1\n"
                              "constant s i64[2] = [-1, 4]\n"
                              "d <- Reshape(c, s)\n"
                              "y <- Relu(d)\n"
                              "output y",
                              "y <- Relu(x)"},
                             // An output keeps its name.
                             {"input x f32[n]\n"
                              "y <- Identity(x)\n"
                              "output y"},
                             {"input x f32[n]\n"
                              "a <- Cast(x) to=11\n"
                              "y <- Relu(a)\n"
                              "output y"},
                             // Somebody reads the mask.
                             {"input x f32[n]\n"
                              "a, m <- Dropout(x)\n"
                              "y <- Where(m, a, x)\n"
                              "output y"},
                             // Other sizes.
                             {"input x f32[n, 4]\n"
                              "constant s i64[2] = [4, -1]\n"
                              "a <- Reshape(x, s)\n"
                              "y <- Relu(a)\n"
                              "output y"},
                         });
}

TEST(Passes, Share) {
  check_passes("share", {
                            {"input x f32[n]\n"
                             "a <- LeakyRelu(x) alpha=0.5\n"
                             "b <- LeakyRelu(x) alpha=0.5\n"
                             "y <- Add(a, b)\n"
                             "output y",
                             "a <- LeakyRelu(x) alpha=0.5\n"
                             "y <- Add(a, a)"},
                            {"input x f32[n]\n"
                             "a <- LeakyRelu(x) alpha=0.5\n"
                             "b <- LeakyRelu(x) alpha=0.25\n"
                             "y <- Add(a, b)\n"
                             "output y"},
                            {"input x f32[n]\n"
                             "a <- RandomNormalLike(x)\n"
                             "b <- RandomNormalLike(x)\n"
                             "y <- Sub(a, b)\n"
                             "output y"},
                            // Both are outputs.
                            {"input x f32[n]\n"
                             "y <- Relu(x)\n"
                             "z <- Relu(x)\n"
                             "output y, z"},
                        });
}

TEST(Passes, BatchNorm) {
  check_passes("batch-norm", {
                                 {"input x f32[n, 2, w]\n"
                                  "constant k f32[3, 2, 1]\n"
                                  "constant c f32[3]\n"
                                  "a <- Conv(x, k)\n"
                                  "y <- BatchNormalization(a, c, c, c, c)\n"
                                  "output y",
                                  "constant a.folded_weights f32[3, 2, 1]\n"
                                  "constant a.folded_bias f32[3]\n"
                                  "y <- Conv(x, a.folded_weights, a.folded_bias)"},
                                 // Somebody else reads the convolution.
                                 {"input x f32[n, 2, w]\n"
                                  "constant k f32[3, 2, 1]\n"
                                  "constant c f32[3]\n"
                                  "a <- Conv(x, k)\n"
                                  "b <- BatchNormalization(a, c, c, c, c)\n"
                                  "y <- Add(a, b)\n"
                                  "output y"},
                                 {"input x f32[n, 2, w]\n"
                                  "constant k f32[3, 2, 1]\n"
                                  "constant c f32[3]\n"
                                  "a <- Conv(x, k)\n"
                                  "y, m, v <- BatchNormalization(a, c, c, c, c) training_mode=1\n"
                                  "output y"},
                                 // The weights are given in each run.
                                 {"input x f32[n, 2, w]\n"
                                  "input k f32[3, 2, 1]\n"
                                  "constant c f32[3]\n"
                                  "a <- Conv(x, k)\n"
                                  "y <- BatchNormalization(a, c, c, c, c)\n"
                                  "output y"},
                                 // A scale that is no number.
                                 {"input x f32[n, 2, w]\n"
                                  "constant k f32[3, 2, 1]\n"
                                  "constant c f32[3]\n"
                                  "constant v f32[3] = [-1, -1, -1]\n"
                                  "a <- Conv(x, k)\n"
                                  "y <- BatchNormalization(a, c, c, c, v)\n"
                                  "output y"},
                             });
}

TEST(Passes, Bias) {
  check_passes("bias", {
                           {"input x f32[n, 2, w]\n"
                            "constant k f32[3, 2, 1]\n"
                            "constant c f32[3, 1]\n"
                            "a <- Conv(x, k)\n"
                            "y <- Add(c, a)\n"
                            "output y",
                            "constant k f32[3, 2, 1]\n"
                            "constant a.folded_bias f32[3]\n"
                            "y <- Conv(x, k, a.folded_bias)"},
                           // One entry for each place, not for each channel.
                           {"input x f32[n, 2, 3]\n"
                            "constant k f32[3, 2, 1]\n"
                            "constant c f32[3]\n"
                            "a <- Conv(x, k)\n"
                            "y <- Add(a, c)\n"
                            "output y"},
                           // The sum has more places.
                           {"input x f32[n, 2, 1]\n"
                            "constant k f32[3, 2, 1]\n"
                            "constant c f32[5]\n"
                            "a <- Conv(x, k)\n"
                            "y <- Add(a, c)\n"
                            "output y"},
                       });
}

constexpr std::string_view kConvRelu =
    "input x f32[n, 2, w]\n"
    "constant k f32[3, 2, 1]\n"
    "a <- Conv(x, k)\n"
    "y <- Relu(a)\n"
    "output y";

TEST(Passes, Activation) {
  check_passes("activation",
               {
                   {kConvRelu,
                    "constant k f32[3, 2, 1]\n"
                    "y <- com.microsoft.FusedConv(x, k) activation=\"Relu\""},
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[3, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "y <- Clip@6(a) min=0.5 max=6.5\n"
                    "output y",
                    "constant k f32[3, 2, 1]\n"
                    "y <- com.microsoft.FusedConv(x, k) activation=\"Clip\" activation_params=[0.5, 6.5]"},
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[3, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "s <- Sigmoid(a)\n"
                    "y <- Mul(s, a)\n"
                    "output y",
                    "constant k f32[3, 2, 1]\n"
                    "y <- com.microsoft.FusedConv(x, k) activation=\"Silu\""},
                   // Somebody else reads the gate.
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[3, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "s <- Sigmoid(a)\n"
                    "y <- Mul(s, a)\n"
                    "output y, s"},
                   // Bounds that cross.
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[3, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "y <- Clip@6(a) min=6.5 max=0.5\n"
                    "output y"},
                   // The convolution is an output, too.
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[3, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "y <- Relu(a)\n"
                    "output y, a"},
               });
  // An engine without such a kernel.
  check_passes("activation", Target{}, {{kConvRelu}});
}

constexpr std::string_view kChain =
    "input x f32[n]\n"
    "input b f32[n]\n"
    "a <- Add(x, b)\n"
    "y <- Relu(a)\n"
    "output y";

TEST(Passes, Elementwise) {
  check_passes("elementwise", {
                                  {kChain, "y <- anyshape.Elementwise(x, b)"},
                                  // The sum is computed once, not for each row.
                                  {"input x f32[n]\n"
                                   "input z f32[m, n]\n"
                                   "a <- Relu(x)\n"
                                   "y <- Add(a, z)\n"
                                   "output y"},
                                  // Two nodes read it.
                                  {"input x f32[n]\n"
                                   "a <- Relu(x)\n"
                                   "s <- Softmax(a)\n"
                                   "y <- Add(a, s)\n"
                                   "output y"},
                                  {"input x f64[n]\n"
                                   "a <- Neg(x)\n"
                                   "y <- Relu(a)\n"
                                   "output y"},
                                  // It broadcasts as before opset 7.
                                  {"input x f32[m, n]\n"
                                   "input b f32[n]\n"
                                   "a <- Add@6(x, b) broadcast=1\n"
                                   "y <- Relu(a)\n"
                                   "output y"},
                              });
  check_passes("elementwise", Target{}, {{kChain}});
}

TEST(Passes, Reshapes) {
  check("reshapes", {
                        {"input x f32[s, b, 64]\n"
                         "constant one i64[3] = [0, -1, 16]\n"
                         "a <- Reshape(x, one)\n"
                         "t <- Transpose(a) perm=[1, 0, 2]\n"
                         "input z f32[b, 4, s, 16]\n"
                         "h <- Shape(z)\n"
                         "c <- Reshape(t, h)\n"
                         "y <- Relu(c)\noutput y",
                         "constant t.sizes i64[4] = [0, 0, 4, 16]\n"
                         "t.split <- Reshape(x, t.sizes)\n"
                         "h <- Shape(z)\n"
                         "c <- Transpose(t.split) perm=[1, 2, 0, 3]\n"
                         "y <- Relu(c)"},
                        // Axes that were apart become one.
                        {"input x f32[s, 4, 16]\n"
                         "constant one i64[3] = [0, 16, 4]\n"
                         "a <- Reshape(x, one)\n"
                         "t <- Transpose(a) perm=[2, 0, 1]\n"
                         "constant two i64[2] = [4, -1]\n"
                         "c <- Reshape(t, two)\n"
                         "y <- Relu(c)\noutput y"},
                    });
}

constexpr std::string_view kAttention =
    "input q f32[b, 4, s, 16]\n"
    "input k f32[b, 4, 16, t]\n"
    "input v f32[b, 4, t, 16]\n"
    "constant c f32[1] = [4]\n"
    "p <- MatMul(q, k)\n"
    "d <- Div(p, c)\n"
    "w <- Softmax(d) axis=-1\n"
    "o <- MatMul(w, v)\n"
    "y <- Transpose(o) perm=[0, 2, 1, 3]\noutput y";

TEST(Passes, Attention) {
  check("attention",
        {
            {kAttention, "y <- anyshape.Attention(q, k, v) scale=0.25 perm=[0, 2, 1, 3]"},
            // Masks on the way, each in its order.
            {"input q f32[b, s, 16]\n"
             "input k f32[b, 16, t]\n"
             "input v f32[b, t, 16]\n"
             "input m f32[s, t]\n"
             "input w bool[b, 1, t]\n"
             "constant c f32[] = [0.5]\n"
             "constant low f32[] = [-9]\n"
             "constant zero f32[] = [0]\n"
             "a <- Mul(c, q)\n"
             "p <- MatMul(a, k)\n"
             "f <- Where(w, low, p)\n"
             "d <- Add(m, f)\n"
             "e <- Softmax(d) axis=2\n"
             "n <- IsNaN(e)\n"
             "g <- Where(n, zero, e)\n"
             "y <- MatMul(g, v)\noutput y",
             "y <- anyshape.Attention(q, k, v, m, w) scale=0.5 fill=-9 keep=0 where_first=1 nan_to_zero=1"},
            // Somebody reads the weights.
            {"input q f32[s, 16]\ninput k f32[16, t]\ninput v f32[t, 16]\n"
             "p <- MatMul(q, k)\n"
             "w <- Softmax(p) axis=-1\n"
             "y <- MatMul(w, v)\n"
             "output y, w"},
            // Over another axis; scaled after the mask.
            {"input q f32[s, 16]\ninput k f32[16, t]\ninput v f32[t, 16]\n"
             "p <- MatMul(q, k)\n"
             "w <- Softmax(p) axis=0\n"
             "y <- MatMul(w, v)\noutput y"},
            {"input q f32[s, 16]\ninput k f32[16, t]\ninput v f32[t, 16]\n"
             "input m f32[s, t]\n"
             "constant c f32[] = [0.5]\n"
             "p <- MatMul(q, k)\n"
             "a <- Add(p, m)\n"
             "d <- Mul(a, c)\n"
             "w <- Softmax(d) axis=-1\n"
             "y <- MatMul(w, v)\noutput y"},
        });
  check("attention", Target{}, {{kAttention}});
}

TEST(Passes, Dead) {
  check_passes("dead", {
                           {"input x f32[n]\n"
                            "a <- Relu(x)\n"
                            "b <- Neg(a)\n"
                            "y <- Abs(x)\n"
                            "output y",
                            "y <- Abs(x)"},
                           {"input x f32[n]\n"
                            "y, i <- TopK@1(x) k=1\n"
                            "output i"},
                       });
}

TEST(Passes, NamesAreKnown) {
  const Typed typed = solve(testing::parse_graph(kChain));
  PassOptions options;
  options.without = {"fuse"};
  EXPECT_EQ(rewritten(typed, cpu::target(), options).error().code, "pass.unknown");
  EXPECT_EQ(unchanged(typed, options).error().code, "pass.unknown");
}

}  // namespace
}  // namespace anyshape
