#include "passes/passes_testing.h"

namespace anyshape::testing {
namespace {

TEST(Passes, Reshapes) {
  check_passes("reshapes", {
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
                               // An axis of one place in between is no hindrance.
                               {"input x f32[s, b, 64]\n"
                                "constant one i64[3] = [0, -1, 16]\n"
                                "constant axes i64[1] = [1]\n"
                                "a <- Reshape(x, one)\n"
                                "t <- Transpose(a) perm=[1, 0, 2]\n"
                                "u <- Unsqueeze(t, axes)\n"
                                "input z f32[b, 4, s, 16]\n"
                                "h <- Shape(z)\n"
                                "c <- Reshape(u, h)\n"
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

TEST(Passes, RowOrder) {
  check_passes("row-order",
               {
                   {"input x f32[b, s, 8]\n"
                    "constant w f32[8, 6]\n"
                    "t <- Transpose(x) perm=[1, 0, 2]\n"
                    "p <- MatMul(t, w)\n"
                    "constant sizes i64[4] = [0, 0, 2, 3]\n"
                    "r <- Reshape(p, sizes)\n"
                    "y <- Relu(r)\noutput y",
                    "constant w f32[8, 6]\n"
                    "constant sizes i64[4] = [0, 0, 2, 3]\n"
                    "t <- Transpose(x) perm=[1, 0, 2]\n"
                    "p.rows <- MatMul(x, w)\n"
                    "p <- Transpose(p.rows) perm=[1, 0, 2]\n"
                    "r <- Reshape(p, sizes)\n"
                    "y <- Relu(r)"},
                   {"input x f32[a, b, c, 8]\n"
                    "constant w f32[8, 6]\n"
                    "t <- Transpose(x) perm=[2, 0, 1, 3]\n"
                    "p <- MatMul(t, w)\n"
                    "y <- Transpose(p) perm=[0, 3, 1, 2]\noutput y",
                    "constant w f32[8, 6]\n"
                    "t <- Transpose(x) perm=[2, 0, 1, 3]\n"
                    "p.rows <- MatMul(x, w)\n"
                    "p <- Transpose(p.rows) perm=[2, 0, 1, 3]\n"
                    "y <- Transpose(p) perm=[0, 3, 1, 2]"},
                   // The last axis moves; each matrix has its own factor; somebody reads the product as it lies.
                   {"input x f32[b, 8, s]\n"
                    "constant w f32[8, 6]\n"
                    "t <- Transpose(x) perm=[0, 2, 1]\n"
                    "p <- MatMul(t, w)\n"
                    "y <- Transpose(p) perm=[1, 0, 2]\noutput y"},
                   {"input x f32[b, s, 8]\n"
                    "input w f32[s, 8, 6]\n"
                    "t <- Transpose(x) perm=[1, 0, 2]\n"
                    "p <- MatMul(t, w)\n"
                    "y <- Transpose(p) perm=[1, 0, 2]\noutput y"},
                   {"input x f32[b, s, 8]\n"
                    "constant w f32[8, 6]\n"
                    "t <- Transpose(x) perm=[1, 0, 2]\n"
                    "p <- MatMul(t, w)\n"
                    "y <- Relu(p)\noutput y"},
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
  check_passes("attention",
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
  check_passes("attention", Target{}, {{kAttention}});
}

}  // namespace
}  // namespace anyshape::testing
