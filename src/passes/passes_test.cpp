#include "passes/passes_testing.h"
#include "run/cpu/target.h"

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
                                // Weights may.
                                {"input x f32[n, 1000]\n"
                                 "constant s i64[2] = [1000, 1000]\n"
                                 "w <- ConstantOfShape(s)\n"
                                 "y <- MatMul(x, w)\n"
                                 "output y",
                                 "constant w f32[1000, 1000]\n"
                                 "y <- MatMul(x, w)"},
                                // A large value that leads to a small one.
                                {"input x f32[n]\n"
                                 "constant a f32[1] = [1]\n"
                                 "constant s i64[1] = [1000000]\n"
                                 "c <- Expand(a, s)\n"
                                 "d <- ReduceMax(c) axes=[0]\n"
                                 "y <- Add(x, d)\n"
                                 "output y",
                                 "constant d f32[1]\n"
                                 "y <- Add(x, d)"},
                                // Somebody else reads them.
                                {"input x f32[n, 1000]\n"
                                 "constant s i64[2] = [1000, 1000]\n"
                                 "w <- ConstantOfShape(s)\n"
                                 "z <- MatMul(x, w)\n"
                                 "y <- Add(z, w)\n"
                                 "output y"},
                            });
}

TEST(Passes, Exponents) {
  check_passes("exponents", {{"input x f32[n]\n"
                              "constant two i64[] = [2]\n"
                              "y <- Pow(x, two)\n"
                              "output y",
                              "constant two.f32 f32[]\n"
                              "y <- Pow(x, two.f32)"},
                             // It is no float.
                             {"input x f32[n]\n"
                              "constant big i64[] = [100000001]\n"
                              "y <- Pow(x, big)\n"
                              "output y"},
                             {"input x f64[n]\n"
                              "constant two i64[] = [2]\n"
                              "y <- Pow(x, two)\n"
                              "output y"}});
}

TEST(Passes, NoOps) {
  check_passes("no-ops", {
                             {"input x f32[n, 4]\n"
                              "a <- Identity(x)\n"
                              "b, mask <- Dropout(a)\n"
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
