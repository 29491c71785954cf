#include "passes/passes_testing.h"

namespace anyshape {
namespace {

using testing::check_passes;

TEST(ConvPasses, Pad) {
  check_passes("pad", {
                          {"input x f32[n, 2, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "constant p i64[6] = [0, 0, 2, 0, 0, 0]\n"
                           "a <- Pad(x, p)\n"
                           "y <- Conv(a, k) pads=[1, 1]\n"
                           "output y",
                           "constant k f32[3, 2, 3]\n"
                           "y <- Conv(x, k) pads=[3, 1]"},
                          {"input x f32[n, 2, h, w]\n"
                           "constant k f32[3, 2, 3, 3]\n"
                           "constant p i64[2] = [1, 2]\n"
                           "constant zero f32[] = [0]\n"
                           "constant axes i64[1] = [-1]\n"
                           "a <- Pad@18(x, p, zero, axes)\n"
                           "y <- Conv(a, k) auto_pad=VALID\n"
                           "output y",
                           "constant k f32[3, 2, 3, 3]\n"
                           "y <- Conv(x, k) pads=[0, 1, 0, 2]"},
                          {"input x f32[n, 2, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad@2(x) pads=[0, 0, 1, 0, 0, 1]\n"
                           "y <- Conv(a, k)\n"
                           "output y",
                           "constant k f32[3, 2, 3]\n"
                           "y <- Conv(x, k) pads=[1, 1]"},
                      });
  // Another value than zero, entries repeated, channels padded, cells cut off, read twice, padding that depends on the
  // size, pads that are given in each run.
  check_passes("pad", {
                          {"input x f32[n, 2, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad@2(x) pads=[0, 0, 1, 0, 0, 1] value=1.0\n"
                           "y <- Conv(a, k)\n"
                           "output y"},
                          {"input x f32[n, 2, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad@2(x) pads=[0, 0, 1, 0, 0, 1] mode=reflect\n"
                           "y <- Conv(a, k)\n"
                           "output y"},
                          {"input x f32[n, 1, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad@2(x) pads=[0, 1, 0, 0, 0, 0]\n"
                           "y <- Conv(a, k)\n"
                           "output y"},
                          {"input x f32[n, 2, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad@2(x) pads=[0, 0, 1, 0, 0, -1]\n"
                           "y <- Conv(a, k)\n"
                           "output y"},
                          {"input x f32[n, 2, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad@2(x) pads=[0, 0, 1, 0, 0, 1]\n"
                           "y <- Conv(a, k)\n"
                           "output y, a"},
                          {"input x f32[n, 2, w]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad@2(x) pads=[0, 0, 1, 0, 0, 1]\n"
                           "y <- Conv(a, k) auto_pad=SAME_UPPER\n"
                           "output y"},
                          {"input x f32[n, 2, w]\n"
                           "input p i64[6]\n"
                           "constant k f32[3, 2, 3]\n"
                           "a <- Pad(x, p)\n"
                           "y <- Conv(a, k)\n"
                           "output y"},
                      });
}

TEST(ConvPasses, ScaleOfChannels) {
  check_passes("bias", {
                           {"input x f32[n, 2, w]\n"
                            "constant k f32[3, 2, 1]\n"
                            "constant c f32[3, 1]\n"
                            "constant two f32[] = [2]\n"
                            "a <- Conv(x, k)\n"
                            "b <- Add(a, c)\n"
                            "d <- Mul(two, b)\n"
                            "e <- Div(d, c)\n"
                            "y <- Sub(e, two)\n"
                            "output y",
                            "constant a.folded_weights f32[3, 2, 1]\n"
                            "constant a.folded_bias f32[3]\n"
                            "y <- Conv(x, a.folded_weights, a.folded_bias)"},
                           // A quotient the other way round; a scale for each place; no number.
                           {"input x f32[n, 2, w]\n"
                            "constant k f32[3, 2, 1]\n"
                            "constant two f32[] = [2]\n"
                            "a <- Conv(x, k)\n"
                            "y <- Div(two, a)\n"
                            "output y"},
                           {"input x f32[n, 2, 3]\n"
                            "constant k f32[3, 2, 1]\n"
                            "constant c f32[3]\n"
                            "a <- Conv(x, k)\n"
                            "y <- Mul(a, c)\n"
                            "output y"},
                           {"input x f32[n, 2, w]\n"
                            "constant k f32[3, 2, 1]\n"
                            "constant zero f32[] = [0]\n"
                            "a <- Conv(x, k)\n"
                            "y <- Div(a, zero)\n"
                            "output y"},
                       });
}

TEST(ConvPasses, BatchNormAlone) {
  check_passes("scale", {
                            {"input x f32[n, 3, w]\n"
                             "constant c f32[3]\n"
                             "a <- Relu(x)\n"
                             "y <- BatchNormalization(a, c, c, c, c)\n"
                             "output y",
                             "constant y.mean f32[3, 1]\n"
                             "constant y.scale f32[3, 1]\n"
                             "constant y.shift f32[3, 1]\n"
                             "a <- Relu(x)\n"
                             "y.centred <- Sub(a, y.mean)\n"
                             "y.scaled <- Mul(y.centred, y.scale)\n"
                             "y <- Add(y.scaled, y.shift)"},
                            {"input x f32[n, 3, w]\n"
                             "constant c f32[3]\n"
                             "y, m, v <- BatchNormalization(x, c, c, c, c) training_mode=1\n"
                             "output y"},
                            {"input x f32[n, 3, w]\n"
                             "input c f32[3]\n"
                             "y <- BatchNormalization(x, c, c, c, c)\n"
                             "output y"},
                        });
}

TEST(ConvPasses, Residual) {
  check_passes("residual activation",
               {
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[2, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "b <- Add(x, a)\n"
                    "y <- Relu(b)\n"
                    "output y",
                    "constant k f32[2, 2, 1]\n"
                    "y <- com.microsoft.FusedConv(x, k, -, x) activation=\"Relu\""},
                   // Of two convolutions the later one takes the other.
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[3, 2, 1]\n"
                    "constant c f32[3]\n"
                    "a <- Conv(x, k, c)\n"
                    "b <- Conv(x, k)\n"
                    "y <- Sum(b, a)\n"
                    "output y",
                    "constant k f32[3, 2, 1]\n"
                    "constant c f32[3]\n"
                    "a <- Conv(x, k, c)\n"
                    "y <- com.microsoft.FusedConv(x, k, -, a)"},
                   // An activation before the sum; other sizes; somebody else reads the convolution.
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[2, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "b <- Relu(a)\n"
                    "y <- Add(x, b)\n"
                    "output y",
                    "constant k f32[2, 2, 1]\n"
                    "b <- com.microsoft.FusedConv(x, k) activation=\"Relu\"\n"
                    "y <- Add(x, b)"},
                   {"input x f32[n, 2, w]\n"
                    "input z f32[n, 2, 1]\n"
                    "constant k f32[2, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "y <- Add(z, a)\n"
                    "output y"},
                   {"input x f32[n, 2, w]\n"
                    "constant k f32[2, 2, 1]\n"
                    "a <- Conv(x, k)\n"
                    "y <- Add(x, a)\n"
                    "output y, a"},
               });
  check_passes("residual", Target{},
               {{"input x f32[n, 2, w]\n"
                 "constant k f32[2, 2, 1]\n"
                 "a <- Conv(x, k)\n"
                 "y <- Add(x, a)\n"
                 "output y"}});
}

}  // namespace
}  // namespace anyshape
