#include <fmt/format.h>

#include "passes/passes_testing.h"

namespace anyshape::testing {
namespace {

TEST(Passes, LayerNorms) {
  check_passes("norms", {
                            // As PyTorch writes it.
                            {"input x f32[b, s, 64]\ninput g f32[64]\ninput h f32[64]\n"
                             "constant two f32[] = [2]\nconstant e f32[] = [0.5]\n"
                             "m <- ReduceMean(x) axes=[-1]\n"
                             "d <- Sub(x, m)\n"
                             "q <- Pow(d, two)\n"
                             "v <- ReduceMean(q) axes=[-1]\n"
                             "a <- Add(v, e)\n"
                             "r <- Sqrt(a)\n"
                             "n <- Div(d, r)\n"
                             "k <- Mul(n, g)\n"
                             "y <- Add(k, h)\noutput y",
                             "y <- LayerNormalization(x, g, h) axis=2 epsilon=0.5"},
                            // Over two axes, without scale and bias, by the inverse.
                            {"input x f32[b, 4, 8]\nconstant e f32[1] = [0.5]\n"
                             "m <- ReduceMean(x) axes=[2, 1]\n"
                             "d <- Sub(x, m)\n"
                             "q <- Mul(d, d)\n"
                             "v <- ReduceMean(q) axes=[1, 2]\n"
                             "a <- Add(e, v)\n"
                             "r <- Sqrt(a)\n"
                             "i <- Reciprocal(r)\n"
                             "y <- Mul(i, d)\noutput y",
                             "constant y.scale f32[1]\n"
                             "y <- LayerNormalization(x, y.scale) axis=1 epsilon=0.5"},
                            // As TensorFlow writes it.
                            {"input x f32[b, s, 64]\ninput g f32[64]\ninput h f32[64]\nconstant e f32[] = [0.5]\n"
                             "m <- ReduceMean(x) axes=[2]\n"
                             "d <- Sub(m, x)\n"
                             "q <- Mul(d, d)\n"
                             "v <- ReduceMean(q) axes=[2]\n"
                             "a <- Add(v, e)\n"
                             "r <- Sqrt(a)\n"
                             "i <- Reciprocal(r)\n"
                             "j <- Mul(i, g)\n"
                             "k <- Mul(x, j)\n"
                             "l <- Mul(m, j)\n"
                             "t <- Sub(h, l)\n"
                             "y <- Add(k, t)\noutput y",
                             "y <- LayerNormalization(x, g, h) axis=2 epsilon=0.5"},
                        });
}

TEST(Passes, RootMeanSquareNorms) {
  check_passes("norms", {
                            {"input x f32[b, s, 64]\ninput g f32[64]\n"
                             "constant two f32[] = [2]\nconstant e f32[] = [0.5]\nconstant one f32[] = [1]\n"
                             "q <- Pow(x, two)\n"
                             "v <- ReduceMean(q) axes=[-1]\n"
                             "a <- Add(v, e)\n"
                             "r <- Sqrt(a)\n"
                             "i <- Div(one, r)\n"
                             "n <- Mul(x, i)\n"
                             "y <- Mul(g, n)\noutput y",
                             "y <- RMSNormalization(x, g) axis=2 epsilon=0.5"},
                            // The difference is read elsewhere: it stays.
                            {"input x f32[b, s, 64]\ninput g f32[64]\nconstant e f32[] = [0.5]\n"
                             "m <- ReduceMean(x) axes=[-1]\n"
                             "d <- Sub(x, m)\n"
                             "q <- Mul(d, d)\n"
                             "v <- ReduceMean(q) axes=[-1]\n"
                             "a <- Add(v, e)\n"
                             "r <- Sqrt(a)\n"
                             "n <- Div(d, r)\n"
                             "y <- Mul(n, g)\noutput y, d",
                             "m <- ReduceMean(x) axes=[-1]\n"
                             "d <- Sub(x, m)\n"
                             "y <- RMSNormalization(d, g) axis=2 epsilon=0.5"},
                        });
}

// x / sqrt(mean(x * x) + e), with the axes and what follows as told.
std::string written(std::string_view x, std::string_view e, std::string_view axes, std::string_view outputs) {
  return fmt::format(
      "input x f32{}\n{}\n"
      "q <- Mul(x, x)\n"
      "v <- ReduceMean(q) {}\n"
      "a <- Add(v, e)\n"
      "r <- Sqrt(a)\n"
      "y <- Div(x, r)\noutput {}",
      x, e, axes, outputs);
}

TEST(Passes, NormsThatStay) {
  const std::string_view e = "constant e f32[] = [0.5]";
  const std::string rows[] = {
      written("[b, 8, 64]", e, "axes=[1]", "y"),                             // not the last axis
      written("[b, 8, 64]", e, "axes=[0, 2]", "y"),                          // another between them
      written("[b, s]", e, "axes=[1]", "y"),                                 // rows may be empty
      written("[b, 0]", e, "axes=[1]", "y"),                                 // they are
      written("[b, 64]", "input e f32[]", "axes=[1]", "y"),                  // epsilon is no constant
      written("[b, 64]", "constant e f32[1, 1, 1] = [1]", "axes=[1]", "y"),  // it adds an axis
      written("[b, 64]", "constant e f32[2, 1] = [1, 2]", "axes=[1]", "y"),  // it is several
      written("[b, 64]", e, "axes=[1]", "y, v"),                             // read elsewhere
      written("[b, 64]", e, "axes=[1]", "y, r"),                             // read elsewhere
      written("[64, 64]", e, "axes=[1] keepdims=0", "y"),                    // divides columns
  };
  for (const std::string& row : rows) check_passes("norms", {{row}});
  check_passes("norms", Target{}, {{written("[b, 64]", e, "axes=[1]", "y")}});
  // Scale and bias that differ between rows stay.
  check_passes("norms", {{"input x f32[7, 64]\ninput g f32[7, 1]\nconstant e f32[] = [0.5]\n"
                          "q <- Mul(x, x)\n"
                          "v <- ReduceMean(q) axes=[1]\n"
                          "a <- Add(v, e)\n"
                          "r <- Sqrt(a)\n"
                          "n <- Div(x, r)\n"
                          "y <- Mul(n, g)\noutput y",
                          "constant n.scale f32[1]\n"
                          "n <- RMSNormalization(x, n.scale) axis=1 epsilon=0.5\n"
                          "y <- Mul(n, g)"}});
}

}  // namespace
}  // namespace anyshape::testing
