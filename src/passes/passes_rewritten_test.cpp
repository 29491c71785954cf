#include "passes/passes_testing.h"

// Operators that become others: Einsum, normalisations of a sum, 16-bit floats.
namespace anyshape::testing {
namespace {

TEST(Passes, Einsum) {
  check_passes(
      "einsum",
      {
          // The scores and the sums of attention.
          {"input x f32[b, h, i, 32]\ninput z f32[b, h, j, 32]\n"
           "y <- Einsum(x, z) equation=bhid,bhjd->bhij\noutput y",
           "y.Transpose <- Transpose(z) perm=[0, 1, 3, 2]\n"
           "y <- MatMul(x, y.Transpose)"},
          {"input x f32[b, h, q, k]\ninput z f32[b, k, h, 16]\n"
           "y <- Einsum(x, z) equation=bhqk,bkhd->bqhd\noutput y",
           "y.Transpose <- Transpose(z) perm=[0, 2, 1, 3]\n"
           "y.MatMul <- MatMul(x, y.Transpose)\n"
           "y <- Transpose(y.MatMul) perm=[0, 2, 1, 3]"},
          {"input x f32[b, i, j]\ninput z f32[j, k]\ny <- Einsum(x, z) equation=bij,jk\noutput y", "y <- MatMul(x, z)"},
          // Nothing is summed.
          {"input x f32[b, i]\ninput z f32[b, j]\ny <- Einsum(x, z) equation=bi,bj->bij\noutput y",
           "constant y.axes i64[1] = [2]\n"
           "constant y.axes i64[1] = [1]\n"
           "y.Unsqueeze <- Unsqueeze(x, y.axes)\n"
           "y.Unsqueeze <- Unsqueeze(z, y.axes)\n"
           "y <- Mul(y.Unsqueeze, y.Unsqueeze)"},
          // Letters of one operand only are summed first.
          {"input x f32[b, i, j]\ny <- Einsum(x) equation=bij->jb\noutput y",
           "constant y.axes i64[1] = [1]\n"
           "y.ReduceSum <- ReduceSum(x, y.axes) keepdims=0\n"
           "y <- Transpose(y.ReduceSum) perm=[1, 0]"},
          // Several letters of known sizes are one axis.
          {"input x f32[b, t, 8]\nconstant w f32[8, 2, 4]\n"
           "y <- Einsum(x, w) equation=btd,dhk->bthk\noutput y",
           "constant w f32[8, 2, 4]\n"
           "constant y.axes i64[2] = [0, 8]\n"
           "constant y.axes i64[4] = [0, 0, 2, 4]\n"
           "y.Reshape <- Reshape(w, y.axes)\n"
           "y.MatMul <- MatMul(x, y.Reshape)\n"
           "y <- Reshape(y.MatMul, y.axes)"},
          {"input x f32[b, n, d]\ninput z f32[b, d]\ny <- Einsum(x, z) equation=bnd,bd->bn\noutput y",
           "constant y.axes i64[1] = [1]\n"
           "constant y.axes i64[1] = [1]\n"
           "y.Unsqueeze <- Unsqueeze(z, y.axes)\n"
           "y.Transpose <- Transpose(x) perm=[0, 2, 1]\n"
           "y.MatMul <- MatMul(y.Unsqueeze, y.Transpose)\n"
           "y <- Squeeze(y.MatMul, y.axes)"},
          // Diagonals, ellipses, sizes that are not proved equal, integers, more than two operands.
          {"input x f32[b, i, i]\ny <- Einsum(x) equation=bii->bi\noutput y"},
          {"input x f32[b, i, j]\ninput z f32[j, k]\ny <- Einsum(x, z) equation=...ij,jk->...ik\noutput y"},
          {"input x f32[b, i]\ninput z f32[j, k]\ny <- Einsum(x, z) equation=bi,ik->bk\noutput y"},
          {"input x i32[b, i]\ninput z i32[i, k]\ny <- Einsum(x, z) equation=bi,ik->bk\noutput y"},
          {"input x f32[i]\ninput z f32[i]\ny <- Einsum(x, z, x) equation=i,i,i->i\noutput y"},
      });
}

TEST(Passes, SkipNorms) {
  check_passes("skip-norms",
               {
                   {"input x f32[b, s, 8]\ninput z f32[b, s, 8]\ninput g f32[8]\ninput h f32[8]\n"
                    "y <- com.microsoft.SkipLayerNormalization(x, z, g, h) epsilon=0.5\noutput y",
                    "y.sum <- Add(x, z)\n"
                    "y <- LayerNormalization(y.sum, g, h) axis=-1 epsilon=0.5"},
                   {"input x f32[b, s, 8]\ninput z f32[s, 8]\ninput g f32[8]\ninput h f32[8]\n"
                    "y, -, -, t <- com.microsoft.SkipSimplifiedLayerNormalization(x, z, g, h) epsilon=0.5\noutput y, t",
                    "y.sum <- Add(x, z)\n"
                    "t <- Add(y.sum, h)\n"
                    "y <- RMSNormalization(t, g) axis=-1 epsilon=0.5"},
                   // Somebody reads the mean.
                   {"input x f32[b, s, 8]\ninput g f32[8]\n"
                    "y, m <- com.microsoft.SkipLayerNormalization(x, x, g)\noutput y, m"},
               });
}

TEST(Passes, Halves) {
  check_passes("half", {
                           {"input x f16[n, 4]\nconstant w f16[4, 3]\n"
                            "p <- MatMul(x, w)\n"
                            "y <- Relu(p)\noutput y",
                            "constant w.f32 f32[4, 3]\n"
                            "x.f32 <- Cast(x) to=1\n"
                            "p.f32 <- MatMul(x.f32, w.f32)\n"
                            "y.f32 <- Relu(p.f32)\n"
                            "y <- Cast(y.f32) to=10"},
                           // What only moves entries, until it meets f32; a Cast to f32 of what was f32 all the time.
                           {"input x f16[n, 4]\n"
                            "t <- Transpose(x) perm=[1, 0]\n"
                            "e <- Exp(t)\n"
                            "u <- Transpose(e) perm=[1, 0]\n"
                            "c <- Cast(u) to=1\n"
                            "y <- Sqrt(c)\noutput y",
                            "t <- Transpose(x) perm=[1, 0]\n"
                            "t.f32 <- Cast(t) to=1\n"
                            "e.f32 <- Exp(t.f32)\n"
                            "u.f32 <- Transpose(e.f32) perm=[1, 0]\n"
                            "y <- Sqrt(u.f32)"},
                           // No kernel takes it in f32 either; what reads it gets 16 bits, as does the caller.
                           {"input x f16[n, 4]\n"
                            "e <- Exp(x)\n"
                            "h <- Hardmax(e) axis=1\n"
                            "y <- Sqrt(h)\noutput y, e",
                            "x.f32 <- Cast(x) to=1\n"
                            "e.f32 <- Exp(x.f32)\n"
                            "e <- Cast(e.f32) to=10\n"
                            "h <- Hardmax(e) axis=1\n"
                            "h.f32 <- Cast(h) to=1\n"
                            "y.f32 <- Sqrt(h.f32)\n"
                            "y <- Cast(y.f32) to=10"},
                           {"input x f32[n, 4]\nc <- Cast(x) to=10\ny <- Cast(c) to=1\noutput y"},
                           {"input x bf16[n, 4]\ny <- Relu(x)\noutput y"},
                       });
  check_passes("half", Target{}, {{"input x f16[n, 4]\ny <- Relu(x)\noutput y"}});
}

TEST(Passes, Limits) {
  check_passes("limits",
               {
                   // Relu6 of PyTorch's decompositions and of tf2onnx.
                   {"input x f32[n, 4]\nconstant zero f32[] = [0]\nconstant six f32[] = [6]\n"
                    "a <- Max(x, zero)\n"
                    "y <- Min(a, six)\noutput y",
                    "constant y.low f32[]\n"
                    "constant y.high f32[]\n"
                    "y <- Clip(x, y.low, y.high)"},
                   {"input x f32[n, 4]\nconstant six f32[] = [6]\n"
                    "a <- Relu(x)\n"
                    "y <- Min(six, a)\noutput y",
                    "constant y.low f32[]\n"
                    "constant y.high f32[]\n"
                    "y <- Clip(x, y.low, y.high)"},
                   {"input x f32[n, 4]\nconstant zero f32[1] = [0]\ny <- Max(zero, x)\noutput y", "y <- Relu(x)"},
                   {"input x f32[n, 4]\nconstant part f32[] = [0.25]\n"
                    "a <- Mul(part, x)\n"
                    "y <- Max(x, a)\noutput y",
                    "y <- LeakyRelu(x) alpha=0.25"},
                   // Another slope, another value, sizes that change, somebody reads what is between, other types.
                   {"input x f32[n, 4]\nconstant part f32[] = [2]\n"
                    "a <- Mul(part, x)\n"
                    "y <- Max(x, a)\noutput y"},
                   {"input x f32[n, 4]\ninput z f32[n, 4]\nconstant part f32[] = [0.5]\n"
                    "a <- Mul(part, z)\n"
                    "y <- Max(x, a)\noutput y"},
                   {"input x f32[4]\nconstant zero f32[1, 1] = [0]\ny <- Max(zero, x)\noutput y"},
                   {"input x f32[n, 4]\nconstant one f32[] = [1]\nconstant six f32[] = [6]\n"
                    "a <- Max(x, one)\n"
                    "y <- Min(a, six)\noutput y, a"},
                   {"input x i32[n, 4]\nconstant zero i32[] = [0]\ny <- Max(zero, x)\noutput y"},
                   {"input x f32[n, 4]\nconstant one f32[] = [1]\nconstant two f32[] = [2]\n"
                    "a <- Max(x, one)\n"
                    "y <- Max(a, two)\noutput y"},
               });
  // HardSwish, as they write it.
  check_passes("limits activation dead",
               {
                   {"input x f32[n, 8, h]\nconstant w f32[8, 8, 1]\n"
                    "constant three f32[] = [3]\nconstant zero f32[] = [0]\nconstant six f32[] = [6]\n"
                    "c <- Conv(x, w)\n"
                    "a <- Add(c, three)\n"
                    "l <- Max(a, zero)\n"
                    "m <- Min(l, six)\n"
                    "p <- Mul(c, m)\n"
                    "y <- Div(p, six)\noutput y",
                    "constant w f32[8, 8, 1]\n"
                    "y <- com.microsoft.FusedConv(x, w) activation=\"HardSwish\""},
               });
}

// Squeeze and excite: each convolution with its activation, the gate in one product.
TEST(Passes, Gates) {
  check_passes("activation elementwise",
               {
                   {"input x f32[n, 8, h, w]\nconstant a f32[2, 8, 1, 1]\nconstant b f32[8, 2, 1, 1]\n"
                    "m <- ReduceMean(x) axes=[2, 3]\n"
                    "c <- Conv(m, a)\n"
                    "r <- Relu(c)\n"
                    "d <- Conv(r, b)\n"
                    "s <- Sigmoid(d)\n"
                    "y <- Mul(x, s)\noutput y",
                    "constant a f32[2, 8, 1, 1]\n"
                    "constant b f32[8, 2, 1, 1]\n"
                    "m <- ReduceMean(x) axes=[2, 3]\n"
                    "r <- com.microsoft.FusedConv(m, a) activation=\"Relu\"\n"
                    "s <- com.microsoft.FusedConv(r, b) activation=\"Sigmoid\"\n"
                    "y <- Mul(x, s)"},
               });
}

// A sum and its normalisation, as PyTorch writes them: the sum goes on to the next layer, too.
TEST(Passes, SumsAreNormalised) {
  check_passes("norms", {
                            {"input x f32[b, s, 64]\ninput z f32[b, s, 64]\ninput g f32[64]\ninput h f32[64]\n"
                             "constant two f32[] = [2]\nconstant e f32[] = [0.5]\n"
                             "t <- Add(x, z)\n"
                             "m <- ReduceMean(t) axes=[-1]\n"
                             "d <- Sub(t, m)\n"
                             "q <- Pow(d, two)\n"
                             "v <- ReduceMean(q) axes=[-1]\n"
                             "a <- Add(v, e)\n"
                             "r <- Sqrt(a)\n"
                             "n <- Div(d, r)\n"
                             "k <- Mul(n, g)\n"
                             "y <- Add(k, h)\noutput y, t",
                             "t <- Add(x, z)\n"
                             "y <- LayerNormalization(t, g, h) axis=2 epsilon=0.5"},
                        });
}

}  // namespace
}  // namespace anyshape::testing
