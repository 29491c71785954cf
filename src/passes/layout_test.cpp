#include "passes/passes_testing.h"
#include "run/cpu/target.h"

namespace anyshape {
namespace {

using testing::PassRow;

// Blocks of 8 channels, whatever the machine has.
void check(std::initializer_list<PassRow> rows) {
  Target target = cpu::target();
  target.lanes = 8;
  testing::check_passes("layout", target, rows);
}

TEST(Layout, Chain) {
  check({
      // The first convolution reads the plain input, the last value is reordered.
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[16, 3, 3, 3]\n"
       "constant m f32[20, 16, 3, 3]\n"
       "a <- Conv(x, k) pads=[1, 1, 1, 1]\n"
       "b <- MaxPool(a) kernel_shape=[2, 2] strides=[2, 2]\n"
       "y <- com.microsoft.FusedConv(b, m) activation=Relu\n"
       "output y",
       "constant k f32[16, 3, 3, 3]\n"
       "constant m f32[20, 16, 3, 3]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) pads=[1, 1, 1, 1] lanes=8\n"
       "b.blocked <- anyshape.BlockedMaxPool(a.blocked) kernel_shape=[2, 2] strides=[2, 2] lanes=8\n"
       "y.blocked <- anyshape.BlockedConv(b.blocked, m) activation=\"Relu\" lanes=8\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=20 lanes=8"},
      // What both read is reordered once; a sum with it is one of blocked values.
      {"input x f32[n, 16, w]\n"
       "constant k f32[16, 16, 3]\n"
       "a <- Conv(x, k) pads=[1, 1]\n"
       "b <- Conv(x, k) pads=[1, 1]\n"
       "y <- Mul(a, b)\n"
       "output y",
       "constant k f32[16, 16, 3]\n"
       "x.blocked <- anyshape.ToBlocked(x) lanes=8\n"
       "a.blocked <- anyshape.BlockedConv(x.blocked, k) pads=[1, 1] lanes=8\n"
       "b.blocked <- anyshape.BlockedConv(x.blocked, k) pads=[1, 1] lanes=8\n"
       "y.blocked <- Mul(a.blocked, b.blocked)\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"},
      // Channels get mixed: Softmax and all that follows is plain.
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "a <- Conv(x, k)\n"
       "b <- Softmax(a) axis=1\n"
       "y <- Neg(b)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) lanes=8\n"
       "a <- anyshape.FromBlocked(a.blocked) channels=16 lanes=8\n"
       "b <- Softmax(a) axis=1\n"
       "y <- Neg(b)"},
  });
}

// Of 8 lanes two would be used: vectors of places are better.
TEST(Layout, FewFilters) {
  check(
      {{"input x f32[n, 16, h, w]\n"
        "constant k f32[16, 16, 3, 3]\n"
        "constant m f32[2, 16, 3, 3]\n"
        "a <- Conv(x, k)\n"
        "y <- Conv(a, m)\n"
        "output y",
        "constant k f32[16, 16, 3, 3]\n"
        "constant m f32[2, 16, 3, 3]\n"
        "x.blocked <- anyshape.ToBlocked(x) lanes=8\n"
        "a.blocked <- anyshape.BlockedConv(x.blocked, k) lanes=8\n"
        "a <- anyshape.FromBlocked(a.blocked) channels=16 lanes=8\n"
        "y <- Conv(a, m)"}});
}

TEST(Layout, WhatDoesNotPay) {
  check({
      // One place of each channel: a matrix product. Few channels. Groups that share blocks. Weights of each run.
      {"input x f32[n, 64, h, w]\n"
       "constant k f32[64, 64, 1, 1]\n"
       "y <- Conv(x, k)\n"
       "output y"},
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[3, 3, 3, 3]\n"
       "y <- Conv(x, k)\n"
       "output y"},
      {"input x f32[n, 24, h, w]\n"
       "constant k f32[24, 12, 3, 3]\n"
       "y <- Conv(x, k) group=2\n"
       "output y"},
      {"input x f32[n, 16, h, w]\n"
       "input k f32[16, 16, 3, 3]\n"
       "y <- Conv(x, k)\n"
       "output y"},
      // Without a convolution there is nothing to gain.
      {"input x f32[n, 16, h, w]\n"
       "a <- MaxPool(x) kernel_shape=[2, 2]\n"
       "y <- Relu(a)\n"
       "output y"},
      // Three spatial axes, and an element type without kernels.
      {"input x f32[n, 16, d, h, w]\n"
       "constant k f32[16, 16, 3, 3, 3]\n"
       "y <- Conv(x, k)\n"
       "output y"},
  });
  testing::check_passes("layout", Target{},
                        {{"input x f32[n, 16, w]\n"
                          "constant k f32[16, 16, 3]\n"
                          "y <- Conv(x, k)\n"
                          "output y"}});
}

TEST(Layout, OperandsOfElementwiseNodes) {
  check({
      // A scalar, one entry per channel, a gate, one value per place.
      {"input x f32[n, 3, h, w]\n"
       "input g f32[n, 16, 1, 1]\n"
       "input p f32[n, 1, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "constant s f32[] = [2]\n"
       "constant c f32[16, 1, 1]\n"
       "a <- Conv(x, k) pads=[2, 2, 2, 2]\n"
       "b <- Pow(a, s)\n"
       "d <- Mul(b, c)\n"
       "e <- Mul(d, g)\n"
       "y <- Mul(p, e)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "constant s f32[]\n"
       "constant c.blocked f32[1, 2, 1, 1, 8]\n"
       "constant g.blocked.shape i64[5] = [0, 2, 1, 1, 8]\n"
       "constant p.axes i64[1] = [-1]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) pads=[2, 2, 2, 2] lanes=8\n"
       "b.blocked <- Pow(a.blocked, s)\n"
       "d.blocked <- Mul(b.blocked, c.blocked)\n"
       "g.blocked <- Reshape(g, g.blocked.shape)\n"
       "e.blocked <- Mul(d.blocked, g.blocked)\n"
       "p.places <- Unsqueeze(p, p.axes)\n"
       "y.blocked <- Mul(p.places, e.blocked)\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"},
      // The same places by other names.
      {"input x f32[n, 3, h, w]\n"
       "input z f32[n, 3, 2*p, q]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "a <- Conv(x, k) pads=[2, 2, 2, 2]\n"
       "b <- Conv(z, k) pads=[2, 2, 2, 2]\n"
       "y <- Add(a, b)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) pads=[2, 2, 2, 2] lanes=8\n"
       "b.blocked <- anyshape.BlockedConv(z, k) pads=[2, 2, 2, 2] lanes=8\n"
       "y.blocked <- Add(a.blocked, b.blocked)\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"},
      // A plain value of the same sizes: the sum is plain at the end of a chain.
      {"input x f32[n, 3, h, w]\n"
       "input z f32[n, 16, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "a <- Conv(x, k) pads=[2, 2, 2, 2]\n"
       "y <- Add(a, z)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) pads=[2, 2, 2, 2] lanes=8\n"
       "a <- anyshape.FromBlocked(a.blocked) channels=16 lanes=8\n"
       "y <- Add(a, z)"},
      // In the middle of one it is blocked.
      {"input x f32[n, 3, h, w]\n"
       "input z f32[n, 16, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "constant m f32[16, 16, 3, 3]\n"
       "a <- Conv(x, k) pads=[2, 2, 2, 2]\n"
       "b <- Add(a, z)\n"
       "y <- Conv(b, m)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "constant m f32[16, 16, 3, 3]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) pads=[2, 2, 2, 2] lanes=8\n"
       "z.blocked <- anyshape.ToBlocked(z) lanes=8\n"
       "b.blocked <- Add(a.blocked, z.blocked)\n"
       "y.blocked <- anyshape.BlockedConv(b.blocked, m) lanes=8\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"},
  });
}

TEST(Layout, ConcatAndMeans) {
  check({
      // All parts but the last fill their blocks.
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "constant m f32[12, 3, 5, 5]\n"
       "a <- Conv(x, k)\n"
       "b <- Conv(x, m)\n"
       "c <- Concat(a, b) axis=-3\n"
       "y <- GlobalAveragePool(c)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "constant m f32[12, 3, 5, 5]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) lanes=8\n"
       "b.blocked <- anyshape.BlockedConv(x, m) lanes=8\n"
       "c.blocked <- Concat(a.blocked, b.blocked) axis=1\n"
       "y.blocked <- ReduceMean(c.blocked) axes=[2, 3] keepdims=1\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=28 lanes=8"},
      // The first does not; whole blocks of one place lie as they did.
      {"input x f32[n, 6, w]\n"
       "constant k f32[12, 6, 7]\n"
       "constant m f32[16, 6, 7]\n"
       "a <- Conv(x, k)\n"
       "b <- Conv(x, m)\n"
       "y <- Concat(a, b) axis=1\n"
       "z <- ReduceMean(b) axes=[2] keepdims=0\n"
       "output y, z",
       "constant k f32[12, 6, 7]\n"
       "constant m f32[16, 6, 7]\n"
       "constant z.shape i64[2] = [0, 16]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) lanes=8\n"
       "a <- anyshape.FromBlocked(a.blocked) channels=12 lanes=8\n"
       "b.blocked <- anyshape.BlockedConv(x, m) lanes=8\n"
       "b <- anyshape.FromBlocked(b.blocked) channels=16 lanes=8\n"
       "y <- Concat(a, b) axis=1\n"
       "z.blocked <- ReduceMean(b.blocked) axes=[2] keepdims=0\n"
       "z <- Reshape(z.blocked, z.shape)"},
  });
}

TEST(Layout, TransposedConvolutions) {
  check({
      // The kernel is the stride, and what follows is blocked.
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "constant u f32[16, 8, 2, 2]\n"
       "constant m f32[16, 8, 3, 3]\n"
       "a <- Conv(x, k)\n"
       "b <- ConvTranspose(a, u) strides=[2, 2] pads=[0, 0, 0, 0]\n"
       "y <- Conv(b, m)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "constant u f32[16, 8, 2, 2]\n"
       "constant m f32[16, 8, 3, 3]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) lanes=8\n"
       "b.blocked <- anyshape.BlockedConvTranspose(a.blocked, u) strides=[2, 2] lanes=8\n"
       "y.blocked <- anyshape.BlockedConv(b.blocked, m) lanes=8\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"},
      // At the end of a chain there is less to reorder before it.
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "constant u f32[16, 8, 2, 2]\n"
       "a <- Conv(x, k)\n"
       "y <- ConvTranspose(a, u) strides=[2, 2]\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "constant u f32[16, 8, 2, 2]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) lanes=8\n"
       "a <- anyshape.FromBlocked(a.blocked) channels=16 lanes=8\n"
       "y <- ConvTranspose(a, u) strides=[2, 2]"},
      // Windows that overlap.
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "constant u f32[16, 8, 3, 3]\n"
       "constant m f32[16, 8, 5, 5]\n"
       "a <- Conv(x, k)\n"
       "b <- ConvTranspose(a, u) strides=[2, 2]\n"
       "y <- Conv(b, m)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "constant u f32[16, 8, 3, 3]\n"
       "constant m f32[16, 8, 5, 5]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) lanes=8\n"
       "a <- anyshape.FromBlocked(a.blocked) channels=16 lanes=8\n"
       "b <- ConvTranspose(a, u) strides=[2, 2]\n"
       "b.blocked <- anyshape.ToBlocked(b) lanes=8\n"
       "y.blocked <- anyshape.BlockedConv(b.blocked, m) lanes=8\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"},
  });
}

TEST(Layout, Resize) {
  check({
      {"input x f32[n, 3, h, w]\n"
       "constant k f32[16, 3, 5, 5]\n"
       "constant s f32[4] = [1, 1, 2, 2]\n"
       "constant m f32[16, 16, 3, 3]\n"
       "a <- Conv(x, k)\n"
       "b <- Resize@13(a, -, s) mode=nearest\n"
       "y <- Conv(b, m)\n"
       "output y",
       "constant k f32[16, 3, 5, 5]\n"
       "constant s.blocked f32[5]\n"
       "constant m f32[16, 16, 3, 3]\n"
       "a.blocked <- anyshape.BlockedConv(x, k) lanes=8\n"
       "b.blocked <- Resize(a.blocked, -, s.blocked) mode=\"nearest\"\n"
       "y.blocked <- anyshape.BlockedConv(b.blocked, m) lanes=8\n"
       "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"},
  });
}

TEST(Layout, Exact) {
  Target target = cpu::target();
  target.lanes = 8;
  target.exact = true;
  testing::check_passes("layout", target,
                        {{"input x f32[n, 6, w]\n"
                          "constant k f32[16, 6, 7]\n"
                          "y <- Conv(x, k)\n"
                          "output y",
                          "constant k f32[16, 6, 7]\n"
                          "y.blocked <- anyshape.BlockedConv(x, k) lanes=8 exact=1\n"
                          "y <- anyshape.FromBlocked(y.blocked) channels=16 lanes=8"}});
}

}  // namespace
}  // namespace anyshape
