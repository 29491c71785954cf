#include "passes/passes_testing.h"

namespace anyshape {
namespace {

using testing::check_passes;

TEST(Passes, ZeroState) {
  check_passes("zero-state dead", {
                                      {"input x f32[t, b, 2]\n"
                                       "constant w f32[1, 12, 2]\n"
                                       "constant r f32[1, 12, 3]\n"
                                       "s <- Shape(x)\n"
                                       "constant one i64[1] = [1]\n"
                                       "constant two i64[1] = [2]\n"
                                       "constant three i64[1] = [3]\n"
                                       "batch <- Slice(s, one, two)\n"
                                       "sizes <- Concat(one, batch, three) axis=0\n"
                                       "zero <- ConstantOfShape(sizes)\n"
                                       "y <- LSTM(x, w, r, -, -, zero, zero) hidden_size=3\n"
                                       "output y",
                                       "constant w f32[1, 12, 2]\n"
                                       "constant r f32[1, 12, 3]\n"
                                       "y <- LSTM(x, w, r) hidden_size=3"},
                                      // Zeros in other sizes, and numbers beside them.
                                      {"input x f32[t, 4, 2]\n"
                                       "input h f32[1, 4, 3]\n"
                                       "constant w f32[1, 12, 2]\n"
                                       "constant r f32[1, 12, 3]\n"
                                       "constant none f32[1] = [0]\n"
                                       "constant sizes i64[3] = [1, 4, 3]\n"
                                       "zero <- Expand(none, sizes)\n"
                                       "y <- LSTM(x, w, r, -, -, h, zero) hidden_size=3\n"
                                       "output y",
                                       "constant w f32[1, 12, 2]\n"
                                       "constant r f32[1, 12, 3]\n"
                                       "y <- LSTM(x, w, r, -, -, h) hidden_size=3"},
                                      // Ones are no zeros.
                                      {"input x f32[t, 4, 2]\n"
                                       "constant w f32[1, 3, 2]\n"
                                       "constant r f32[1, 3, 3]\n"
                                       "constant h f32[1, 4, 3]\n"
                                       "y <- RNN(x, w, r, -, -, h) hidden_size=3\n"
                                       "output y"},
                                  });
}

TEST(Passes, BatchFirst) {
  check_passes("batch-first dead",
               {
                   {"input x f32[b, t, 2]\n"
                    "constant w f32[1, 9, 2]\n"
                    "constant r f32[1, 9, 3]\n"
                    "constant one i64[1] = [1]\n"
                    "x1 <- Transpose(x) perm=[1, 0, 2]\n"
                    "y1 <- GRU(x1, w, r) layout=0 hidden_size=3\n"
                    "y2 <- Squeeze(y1, one)\n"
                    "y <- Transpose(y2) perm=[1, 0, 2]\n"
                    "output y",
                    "constant w f32[1, 9, 2]\n"
                    "constant r f32[1, 9, 3]\n"
                    "constant ints_0_0_3 i64[3] = [0, 0, 3]\n"
                    "y1/batch_first <- GRU(x, w, r) hidden_size=3 layout=1\n"
                    "y <- Reshape(y1/batch_first, ints_0_0_3)"},
                   // Two layers of two directions, the second one with states.
                   {"input x f32[b, t, 2]\n"
                    "input h f32[2, b, 3]\n"
                    "constant w f32[2, 3, 2]\n"
                    "constant w2 f32[2, 3, 6]\n"
                    "constant r f32[2, 3, 3]\n"
                    "constant side i64[3] = [0, 0, -1]\n"
                    "x1 <- Transpose(x) perm=[1, 0, 2]\n"
                    "y1 <- RNN(x1, w, r) hidden_size=3 direction=bidirectional\n"
                    "y2 <- Transpose(y1) perm=[0, 2, 1, 3]\n"
                    "y3 <- Reshape(y2, side)\n"
                    "z1, last <- RNN(y3, w2, r, -, -, h) hidden_size=3 direction=bidirectional\n"
                    "z2 <- Transpose(z1) perm=[0, 2, 1, 3]\n"
                    "z3 <- Reshape(z2, side)\n"
                    "z <- Transpose(z3) perm=[1, 0, 2]\n"
                    "output z\n"
                    "output last",
                    "constant w f32[2, 3, 2]\n"
                    "constant r f32[2, 3, 3]\n"
                    "constant ints_0_0_6 i64[3] = [0, 0, 6]\n"
                    "constant w2 f32[2, 3, 6]\n"
                    "constant ints_0_0_6 i64[3] = [0, 0, 6]\n"
                    "y1/batch_first <- RNN(x, w, r) hidden_size=3 direction=\"bidirectional\" layout=1\n"
                    "y3/batch_first <- Reshape(y1/batch_first, ints_0_0_6)\n"
                    "h/batch_first <- Transpose(h) perm=[1, 0, 2]\n"
                    "z1/batch_first <- RNN(y3/batch_first, w2, r, -, -, h/batch_first) hidden_size=3 "
                    "direction=\"bidirectional\" layout=1\n"
                    "last <- Transpose(last/batch_first) perm=[1, 0, 2]\n"
                    "z <- Reshape(z1/batch_first, ints_0_0_6)"},
                   // The final state of one direction is in place.
                   {"input x f32[t, b, 2]\n"
                    "constant w f32[1, 3, 2]\n"
                    "constant r f32[1, 3, 3]\n"
                    "constant one i64[1] = [1]\n"
                    "y1, last <- RNN(x, w, r) hidden_size=3\n"
                    "y2 <- Squeeze(y1, one)\n"
                    "y <- Transpose(y2) perm=[1, 0, 2]\n"
                    "output y\n"
                    "output last",
                    "constant w f32[1, 3, 2]\n"
                    "constant r f32[1, 3, 3]\n"
                    "constant ints_1 i64[1] = [1]\n"
                    "constant ints_0 i64[1] = [0]\n"
                    "constant ints_0_0_3 i64[3] = [0, 0, 3]\n"
                    "x/batch_first <- Transpose(x) perm=[1, 0, 2]\n"
                    "y1/batch_first <- RNN(x/batch_first, w, r) hidden_size=3 layout=1\n"
                    "last/rows <- Squeeze(last/batch_first, ints_1)\n"
                    "last <- Unsqueeze(last/rows, ints_0)\n"
                    "y <- Reshape(y1/batch_first, ints_0_0_3)"},
                   // Nobody wants the batch first.
                   {"input x f32[t, b, 2]\n"
                    "constant w f32[1, 3, 2]\n"
                    "constant r f32[1, 3, 3]\n"
                    "constant one i64[1] = [1]\n"
                    "y1 <- RNN(x, w, r) hidden_size=3\n"
                    "y2 <- Squeeze(y1, one)\n"
                    "y3 <- Transpose(y2) perm=[1, 0, 2]\n"
                    "y <- Relu(y2)\n"
                    "output y\n"
                    "output y3"},
                   // Somebody else reads the result as it is.
                   {"input x f32[t, b, 2]\n"
                    "constant w f32[1, 3, 2]\n"
                    "constant r f32[1, 3, 3]\n"
                    "constant one i64[1] = [1]\n"
                    "y1 <- RNN(x, w, r) hidden_size=3\n"
                    "y2 <- Squeeze(y1, one)\n"
                    "y <- Transpose(y2) perm=[1, 0, 2]\n"
                    "output y\n"
                    "output y1"},
               });
}

constexpr std::string_view kTwoLayers =
    "input x f32[t, b, 2]\n"
    "input h f32[2, b, 3]\n"
    "constant w f32[1, 9, 2]\n"
    "constant w2 f32[1, 9, 3]\n"
    "constant r f32[1, 9, 3]\n"
    "constant zero i64[1] = [0]\n"
    "constant one i64[1] = [1]\n"
    "constant two i64[1] = [2]\n"
    "y1, last1 <- GRU(x, w, r) hidden_size=3 linear_before_reset=1\n"
    "y2 <- Squeeze(y1, one)\n"
    "state1 <- Relu(last1)\n"
    "h2 <- Slice(h, one, two, zero)\n"
    "y3, last2 <- GRU(y2, w2, r, -, -, h2) hidden_size=3 linear_before_reset=1\n"
    "y <- Squeeze(y3, one)\n"
    "output y\n"
    "output state1\n"
    "output last2";

TEST(Passes, Stack) {
  check_passes(
      "stack",
      {
          // What reads the final state of the first layer comes after both.
          {kTwoLayers,
           "constant one i64[1] = [1]\n"
           "constant two i64[1] = [2]\n"
           "constant zero i64[1] = [0]\n"
           "constant w f32[1, 9, 2]\n"
           "constant r f32[1, 9, 3]\n"
           "constant w2 f32[1, 9, 3]\n"
           "h2 <- Slice(h, one, two, zero)\n"
           "y3 <- anyshape.RecurrentStack(x, w, r, -, -, -, -, w2, r, -, h2, -, -) cell=\"GRU\" "
           "linear_before_reset=1\n"
           "state1 <- Relu(last1)\n"
           "y <- Squeeze(y3, one)"},
          // Batch first, three layers.
          {"input x f32[b, t, 3]\n"
           "constant w f32[1, 3, 3]\n"
           "constant r f32[1, 3, 3]\n"
           "constant flat i64[3] = [0, 0, 3]\n"
           "y1 <- RNN(x, w, r) layout=1\n"
           "x2 <- Reshape(y1, flat)\n"
           "y2 <- RNN(x2, w, r) layout=1\n"
           "x3 <- Reshape(y2, flat)\n"
           "y3 <- RNN(x3, w, r) layout=1\n"
           "output y3",
           "constant w f32[1, 3, 3]\n"
           "constant r f32[1, 3, 3]\n"
           "y3 <- anyshape.RecurrentStack(x, w, r, -, -, -, -, w, r, -, -, -, -, w, r, -, -, -, -) "
           "cell=\"RNN\" layout=1"},
          // Others have another direction, are read by somebody else, or begin with the state of the first layer.
          {"input x f32[t, b, 3]\n"
           "constant w f32[1, 3, 3]\n"
           "constant r f32[1, 3, 3]\n"
           "constant one i64[1] = [1]\n"
           "y1 <- RNN(x, w, r)\n"
           "x2 <- Squeeze(y1, one)\n"
           "y2 <- RNN(x2, w, r) direction=reverse\n"
           "output y2"},
          {"input x f32[t, b, 3]\n"
           "constant w f32[1, 3, 3]\n"
           "constant r f32[1, 3, 3]\n"
           "constant one i64[1] = [1]\n"
           "y1 <- RNN(x, w, r)\n"
           "x2 <- Squeeze(y1, one)\n"
           "y2 <- RNN(x2, w, r)\n"
           "output y2\n"
           "output x2"},
          {"input x f32[t, b, 3]\n"
           "constant w f32[1, 3, 3]\n"
           "constant r f32[1, 3, 3]\n"
           "constant one i64[1] = [1]\n"
           "y1, h1 <- RNN(x, w, r)\n"
           "x2 <- Squeeze(y1, one)\n"
           "y2 <- RNN(x2, w, r, -, -, h1)\n"
           "output y2"},
      });
  check_passes("stack", Target{}, {{kTwoLayers}});
}

}  // namespace
}  // namespace anyshape
