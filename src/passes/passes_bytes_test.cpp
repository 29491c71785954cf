#include <string>

#include "passes/passes_testing.h"

// Chains of bytes: steps between dequantising and quantising, and channels that go last.
namespace anyshape::testing {
namespace {

const std::string kGiven =
    "input x u8[n, 4, h, w]\n"
    "constant s f32[] = [0.5]\n"
    "constant z u8[] = [3]\n"
    "constant t f32[] = [0.25]\n"
    "constant c f32[4, 1, 1]\n"
    "constant k i8[8, 4, 3, 3]\n"
    "constant m i8[4, 8, 1, 1]\n"
    "constant i i8[] = [0]\n";

// Empty: it stays as it is.
void check(std::string_view pass, const std::string& nodes, const std::string& after = "") {
  const std::string before = kGiven + nodes + "output y\n";
  check_passes(pass, {{before, after}});
}

TEST(PassesBytes, Requantize) {
  // All steps.
  check("requantize",
        "d <- DequantizeLinear(x, s, z)\n"
        "a <- Sub(d, c)\n"
        "b <- Mul(c, a)\n"
        "e <- Add(b, c)\n"
        "r <- Relu(e)\n"
        "y <- QuantizeLinear(r, t, z)\n",
        "constant s f32[]\n"
        "constant z u8[] = [3]\n"
        "constant y.shift f32[4]\n"
        "constant y.factor f32[4]\n"
        "constant y.bias f32[4]\n"
        "constant t f32[]\n"
        "y <- anyshape.Requantize(x, s, z, y.shift, y.factor, y.bias, t, z) least=0");
  // None of them.
  check("requantize",
        "d <- DequantizeLinear(x, s, z)\n"
        "y <- QuantizeLinear(d, t, z)\n",
        "constant s f32[]\n"
        "constant z u8[] = [3]\n"
        "constant t f32[]\n"
        "y <- anyshape.Requantize(x, s, z, -, -, -, t, z)");
  // Maxima are those of bytes.
  check("requantize",
        "d <- DequantizeLinear(x, s, z)\n"
        "r <- Relu(d)\n"
        "p <- MaxPool(r) kernel_shape=[2, 2]\n"
        "y <- QuantizeLinear(p, t, z)\n",
        "constant s f32[]\n"
        "constant z u8[] = [3]\n"
        "constant t f32[]\n"
        "r.bytes <- anyshape.Requantize(x, s, z, -, -, -, t, z) least=0\n"
        "y <- MaxPool(r.bytes) kernel_shape=[2, 2]");
  // Somebody else reads a step.
  check("requantize",
        "d <- DequantizeLinear(x, s, z)\n"
        "r <- Relu(d)\n"
        "o <- Sqrt(r)\n"
        "y <- QuantizeLinear(r, t, z)\n"
        "output o\n");
}

TEST(PassesBytes, ChannelsLast) {
  // A chain; what it begins and ends with is turned once.
  check("channels-last",
        "a <- QLinearConv(x, s, z, k, s, i, t, z) pads=[1, 1, 1, 1]\n"
        "b <- QLinearConv(a, t, z, m, s, i, t, z)\n"
        "e <- com.microsoft.QLinearAdd(b, t, z, b, t, z, s, z)\n"
        "y <- MaxPool(e) kernel_shape=[2, 2]\n",
        "constant s f32[]\n"
        "constant z u8[] = [3]\n"
        "constant k i8[8, 4, 3, 3] = [...]\n"
        "constant i i8[] = [0]\n"
        "constant t f32[]\n"
        "constant m i8[4, 8, 1, 1] = [...]\n"
        "x.last <- Transpose(x) perm=[0, 2, 3, 1]\n"
        "a.last <- com.microsoft.QLinearConv(x.last, s, z, k, s, i, t, z) pads=[1, 1, 1, 1] channels_last=1\n"
        "b.last <- com.microsoft.QLinearConv(a.last, t, z, m, s, i, t, z) channels_last=1\n"
        "e.last <- com.microsoft.QLinearAdd(b.last, t, z, b.last, t, z, s, z)\n"
        "y.last <- com.microsoft.NhwcMaxPool(e.last) kernel_shape=[2, 2]\n"
        "y <- Transpose(y.last) perm=[0, 3, 1, 2]");
  // What gives f32 to others stays outside.
  check("channels-last",
        "a <- QLinearConv(x, s, z, k, s, i, t, z)\n"
        "d <- DequantizeLinear(a, t, z)\n"
        "y <- Relu(d)\n",
        "constant s f32[]\n"
        "constant z u8[] = [3]\n"
        "constant k i8[8, 4, 3, 3] = [...]\n"
        "constant i i8[] = [0]\n"
        "constant t f32[]\n"
        "x.last <- Transpose(x) perm=[0, 2, 3, 1]\n"
        "a.last <- com.microsoft.QLinearConv(x.last, s, z, k, s, i, t, z) channels_last=1\n"
        "a <- Transpose(a.last) perm=[0, 3, 1, 2]\n"
        "d <- DequantizeLinear(a, t, z)\n"
        "y <- Relu(d)");
  // Without a convolution nothing changes.
  check("channels-last", "y <- MaxPool(x) kernel_shape=[2, 2]\n");
}

constexpr std::string_view kLstm =
    "input x f32[t, n, 2]\n"
    "constant w i8[1, 2, 4]\n"
    "constant r i8[1, 1, 4]\n"
    "constant s f32[1]\n"
    "constant z i8[1]\n"
    "y <- com.microsoft.DynamicQuantizeLSTM(x, w, r, -, -, -, -, -, s, z, s, z) hidden_size=1\n"
    "output y";

TEST(PassesBytes, DynamicQuantizeLSTM) {
  check_passes("quantized-lstm", {{kLstm,
                                   "constant y.W f32[1, 4, 2]\n"
                                   "constant y.R f32[1, 4, 1]\n"
                                   "y <- LSTM(x, y.W, y.R) hidden_size=1"}});
}

}  // namespace
}  // namespace anyshape::testing
