#include "ops/movement/movement.h"

#include <gtest/gtest.h>

#include "ops/testing.h"

namespace anyshape::ops {
namespace {

TEST(Concat, Rows) {
  check_rows({
      {"Concat", 13, "f32[b, s, 4]; f32[b, t, 4]", "axis=1", "f32[b, s + t, 4]"},
      {"Concat", 13, "f32[b, s]; f32[c, t]", "axis=1", "f32[b, s + t]", "b == c"},
      {"Concat", 13, "f32[2, 3]; f32[0, 5]", "axis=0", "error[lenient.concat]"},
      {"Concat", 13, "f32[0, 5] = []; f32[2, 3]", "axis=0", "f32[2, 3]", "lenient[lenient.concat]"},
      {"Concat", 13, "f32[2, 3]; f32[0, 5] = []", "axis=0", "f32[2, 3]", "lenient[lenient.concat]"},
      {"Concat", 13, "f32[2, s]; f32[0, 5] = []", "axis=0", "f32[2, s]", "lenient[lenient.concat]"},
      {"Concat", 13, "f32[2, 3]; f32[0, 5] = []", "axis=0", "error[lenient.concat]", "", true},
      {"Concat", 13, "f32[0, 5] = []; f32[2, s]", "axis=0", "f32[2, s]", "s >= 1; lenient[lenient.concat]"},
      {"Concat", 13, "f32[0, 5] = []; f32[n, s]", "axis=0", "f32[n, s]", "n*s >= 1 or s == 5; lenient[lenient.concat]"},
      {"Concat", 13, "f32[0, 5] = []; f32[n, 5]", "axis=0", "f32[n, 5]"},
      {"Concat", 13, "f32[0] = []; f32[n]", "axis=-1", "f32[n]"},
      {"Concat", 13, "f32[3, 0] = []; f32[2, 0] = []", "axis=1", "f32[3, 0] = []", "lenient[lenient.concat]"},
      {"Concat", 13, "f32[2, 3]; f32[2, 5]", "axis=0", "error[concat.dims]"},
      {"Concat", 13, "f32[2, 3]; f32[2]", "axis=0", "error[concat.rank]"},
      {"Concat", 13, "f32[2]; i64[2]", "axis=0", "error[dtype]"},
      {"Concat", 13, "f32[2]; f32[2]", "", "error[concat.axis]"},
      {"Concat", 3, "f32[b, 2]; f32[b, 2]", "", "f32[b, 4]"},
      {"Concat", 13, "i64[1] = [b]; i64[2] = [s, -1]; i64[1] = [16]", "axis=0", "i64[4] = [b, s, -1, 16]"},
      {"Concat", 13, "i64[1] = [b]; i64[1]", "axis=0", "i64[2] = [b, entry]"},
      {"Concat", 13, "f32[1] = [s]/2; f32[2] = [1, 0.25]", "axis=0", "f32[3] = [2*s, 4, 1]/4"},
  });
}

TEST(Split, Rows) {
  check_rows({
      {"Split", 13, "f32[b, 3*s]", "axis=1", "f32[b, s]; f32[b, s]; f32[b, s]"},
      {"Split", 13, "f32[b, s]", "axis=1", "f32[b, s//2]; f32[b, s//2]", "s % 2 == 0"},
      {"Split", 13, "f32[s]", "", "f32[s//3]; f32[s//3]; f32[s//3]", "s % 3 == 0"},
      {"Split", 13, "f32[b, s]; i64[2] = [2, 4]", "axis=-1", "f32[b, 2]; f32[b, 4]", "s == 6"},
      {"Split", 13, "f32[s + t]; i64[2] = [s, t]", "", "f32[s]; f32[t]"},
      {"Split", 13, "f32[6]; i64[1] = [7]", "", "error[split.sizes]"},
      {"Split", 13, "f32[6]; i64[3] = [1, 2, 3]", "", "error[split.outputs]"},
      {"Split", 11, "f32[b, 6]", "axis=1 split=[1, 5]", "f32[b, 1]; f32[b, 5]"},
      {"Split", 18, "f32[7]", "num_outputs=3", "f32[3]; f32[3]; f32[1]"},
      {"Split", 18, "f32[0]", "num_outputs=1", "error[split.chunks]"},
      {"Split", 18, "f32[s]", "num_outputs=2", "f32[(s + 1)//2]; f32[s//2]", "s//2 >= 1"},
      {"Split", 18, "f32[6]", "", "error[lenient.split]"},
      {"Split", 18, "i64[4] = [a, b, c, d]; i64[2] = [1, 3]", "", "i64[1] = [a]; i64[3] = [b, c, d]"},
  });
}

TEST(SqueezeUnsqueezeFlatten, Rows) {
  check_rows({
      {"Squeeze", 13, "f32[b, 1, s]; i64[1] = [1]", "", "f32[b, s]"},
      {"Squeeze", 13, "f32[b, t, s]; i64[1] = [-2]", "", "f32[b, s]", "t == 1"},
      {"Squeeze", 13, "f32[2, 1, 3, 1]", "", "f32[2, 3]"},
      {"Squeeze", 13, "f32[b, 1]", "", "f32[...]"},
      {"Squeeze", 11, "f32[1, s]", "axes=[0]", "f32[s]"},
      {"Squeeze", 13, "f32[1, 3]; i64[1] = [1]", "", "error[squeeze.one]"},
      {"Squeeze", 13, "i64[1] = [s]; i64[1] = [0]", "", "i64[] = [s]"},
      {"Unsqueeze", 13, "i64[] = [s]; i64[1] = [0]", "", "i64[1] = [s]"},
      {"Unsqueeze", 13, "f32[b, s]; i64[2] = [1, -1]", "", "f32[b, 1, s, 1]"},
      {"Unsqueeze", 11, "f32[b, s]", "axes=[0, 3]", "f32[1, b, s, 1]"},
      {"Unsqueeze", 13, "f32[3]; i64[2] = [0, -3]", "", "error[axis.repeated]"},
      {"Unsqueeze", 13, "i64[s] over 0..s - 1; i64[1] = [0]", "", "i64[1, s] over 0..s - 1"},
      {"Flatten", 13, "f32[b, 3, 4]", "", "f32[b, 12]"},
      {"Flatten", 13, "f32[b, s, 4]", "axis=-1", "f32[b*s, 4]"},
      {"Flatten", 13, "f32[]", "axis=0", "f32[1, 1]"},
      {"Flatten", 13, "f32[2]", "axis=2", "error[axis.range]"},
  });
}

TEST(Transpose, Rows) {
  check_rows({
      {"Transpose", 13, "f32[b, s, 4]", "perm=[0, 2, 1]", "f32[b, 4, s]"},
      {"Transpose", 13, "f32[b, s, 4]", "", "f32[4, s, b]"},
      {"Transpose", 13, "f32[b, s]", "perm=[0, 0]", "error[transpose.perm]"},
      {"Transpose", 13, "f32[b, s]", "perm=[0, -1]", "error[transpose.perm]"},
      {"Transpose", 13, "i64[2, 2] = [a, b, c, d]", "", "i64[2, 2] = [a, c, b, d]"},
      {"DepthToSpace", 13, "f32[b, 4*c, h, w]", "blocksize=2", "f32[b, c, 2*h, 2*w]"},
      {"DepthToSpace", 13, "f32[b, 3, h, w]", "blocksize=2", "error[depthtospace.channels]"},
      {"DepthToSpace", 13, "f32[b, 4, h, w]", "blocksize=0", "error[blocksize]"},
      {"SpaceToDepth", 13, "f32[b, c, 2*h, w]", "blocksize=2", "f32[b, 4*c, h, w//2]", "w % 2 == 0"},
  });
}

TEST(ExpandTile, Rows) {
  check_rows({
      {"Expand", 13, "f32[b, 1]; i64[2] = [b, s]", "", "f32[b, s]"},
      {"Expand", 13, "f32[1, 1, s]; i64[3] = [b, 4, 1]", "", "f32[b, 4, s]"},
      {"Expand", 13, "f32[3, 1]; i64[1] = [4]", "", "f32[3, 4]"},
      {"Expand", 13, "f32[3, 1]; i64[2] = [-1, 4]", "", "error[expand.shape]"},
      {"Expand", 13, "f32[3, 2]; i64[2] = [3, 0]", "", "error[broadcast]"},
      {"Expand", 13, "f32[3, 1]; i64[2] = [3, 0]", "", "f32[3, 0]"},
      {"Expand", 13, "f32[3, b]; i64[2]", "", "f32[3, expand]"},
      {"Expand", 13, "i64[1, s] over 0..s - 1; i64[2] = [b, s]", "", "i64[b, s] over 0..s - 1"},
      {"Tile", 13, "f32[b, s]; i64[2] = [1, 3]", "", "f32[b, 3*s]"},
      {"Tile", 13, "f32[b, s]; i64[2] = [t, 1]", "", "f32[b*t, s]"},
      {"Tile", 13, "f32[2]; i64[1] = [-1]", "", "error[tile.repeats]"},
      {"Tile", 13, "f32[2, 2]; i64[1] = [2]", "", "error[tile.repeats]"},
      {"Tile", 13, "i64[2] = [a, b]; i64[1] = [2]", "", "i64[4] = [a, b, a, b]"},
  });
}

TEST(SizeRange, Rows) {
  check_rows({
      {"Size", 13, "f32[b, s, 4]", "", "i64[] = [4*b*s]"},
      {"Range", 11, "i64[] = [0]; i64[] = [s]; i64[] = [1]", "", "i64[s] over 0..s - 1"},
      {"Range", 11, "i64[] = [p]; i64[] = [p + s]; i64[] = [1]", "", "i64[s] over p..p + s - 1"},
      {"Range", 11, "i64[] = [0]; i64[] = [s]; i64[] = [2]", "", "i64[(s + 1)//2] over 0..2*((s + 1)//2) - 2"},
      {"Range", 11, "i64[] = [s]; i64[] = [0]; i64[] = [-1]", "", "i64[s] over 1..s"},
      {"Range", 11, "i64[] = [2]; i64[] = [9]; i64[] = [3]", "", "i64[3] = [2, 5, 8]"},
      {"Range", 11, "i64[] = [5]; i64[] = [0]; i64[] = [1]", "", "i64[0] = []"},
      {"Range", 11, "i64[] = [5]; i64[] = [0]; i64[] = [0]", "", "error[range.delta]"},
      {"Range", 11, "i64[] = [5]; i32[] = [0]; i64[] = [1]", "", "error[dtype]"},
      {"Range", 11, "f32[] = [0]; f32[] = [s]/1; f32[] = [0.5]", "", "f32[2*s]"},
      {"Range", 11, "f32[] = [0]; f32[] = [1]; f32[] = [0.25]", "", "f32[4] = [0, 0.25, 0.5, 0.75]"},
      {"Range", 11, "i64[] = [0]; i64[]; i64[] = [1]", "", "i64[range] over 0..range - 1"},
  });
  check_kernel_rows({
      {"Range", 11, "i32[] = [10]; i32[] = [4]; i32[] = [-2]", "", "i32[3] = [10, 8, 6]"},
      {"Range", 11, "f32[] = [0]; f32[] = [1]; f32[] = [0.1]", "",
       "f32[10] = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]"},
  });
}

TEST(ConstantOfShape, Rows) {
  check_rows({
      {"ConstantOfShape", 9, "i64[2] = [b, 4]", "", "f32[b, 4]"},
      {"ConstantOfShape", 9, "i64[1] = [2]", "value=i64[1]=[7]", "i64[2] = [7, 7]"},
      {"ConstantOfShape", 9, "i64[1] = [s]", "value=i64[1]=[7]", "i64[s] over 7..7"},
      {"ConstantOfShape", 9, "i64[1] = [-2]", "", "error[constantofshape.shape]"},
      {"ConstantOfShape", 9, "i64[0] = []", "value=i64[1]=[1]", "i64[] = [1]"},
      {"ConstantOfShape", 9, "i64[1]", "", "f32[filled]"},
      {"ConstantOfShape", 9, "i64[n]", "", "f32[...]"},
      {"Constant", 13, "", "value_ints=[3, 4]", "i64[2] = [3, 4]"},
      {"Constant", 13, "", "value_int=3", "i64[] = [3]"},
      {"Constant", 13, "", "", "error[constant.value]"},
  });
}

TEST(Pad, Rows) {
  check_rows({
      {"Pad", 13, "f32[b, s]; i64[4] = [0, 1, 0, 2]", "", "f32[b, s + 3]"},
      {"Pad", 13, "f32[b, s]; i64[4] = [0, -1, 0, 0]", "", "f32[b, s - 1]", "s >= 1"},
      {"Pad", 13, "f32[b, s]; i64[4] = [0, 3, 0, 2]", "mode=reflect", "f32[b, s + 5]", "s >= 1; s >= 4"},
      {"Pad", 13, "f32[3]; i64[2] = [3, 0]", "mode=reflect", "error[pad.reflect]"},
      {"Pad", 13, "f32[0]; i64[2] = [1, 0]", "mode=edge", "error[lenient.pad]"},
      {"Pad", 13, "f32[s]; i64[2] = [0, p]", "", "f32[s + p]"},
      {"Pad", 18, "f32[b, s]; i64[2] = [1, 1]; ; i64[1] = [-1]", "", "f32[b, s + 2]"},
      {"Pad", 18, "f32[b, s]; i64[2] = [1, 1]; ; i64[2] = [0, 1]", "", "error[pad.pads]"},
      {"Pad", 2, "f32[b, s]", "pads=[0, 1, 0, 1]", "f32[b, s + 2]"},
      {"Pad", 1, "f32[b, s]", "paddings=[0, 1, 0, 1]", "f32[b, s + 2]"},
      {"Pad", 13, "f32[b]; i64[2] = [0, 1]", "mode=wrap", "error[pad.mode]"},
      {"Pad", 13, "i64[2] = [a, b]; i64[2] = [1, 0]; i64[] = [9]", "", "i64[3] = [9, a, b]"},
      {"Pad", 13, "f32[s]; i64[2]", "", "f32[pad]"},
      {"CenterCropPad", 18, "f32[b, s]; i64[1] = [4]", "axes=[1]", "f32[b, 4]"},
  });
  const std::string data = "f32[5] = [0, 1, 2, 3, 4]; ";
  check_kernel_rows({
      {"Pad", 19, data + "i64[2] = [2, 2]", "mode=reflect", "f32[9] = [2, 1, 0, 1, 2, 3, 4, 3, 2]"},
      {"Pad", 19, data + "i64[2] = [1, 2]", "mode=edge", "f32[8] = [0, 0, 1, 2, 3, 4, 4, 4]"},
      {"Pad", 19, data + "i64[2] = [-3, 2]", "mode=wrap", "f32[4] = [3, 4, 3, 4]"},
      {"Pad", 19, data + "i64[2] = [-6, 2]", "", "f32[1] = [0]"},
      {"Pad", 19, data + "i64[2] = [1, -4]; f32[] = [7]", "", "f32[2] = [7, 0]"},
      {"CenterCropPad", 18, data + "i64[1] = [8]", "", "f32[8] = [0, 0, 1, 2, 3, 4, 0, 0]"},
      {"CenterCropPad", 18, data + "i64[1] = [2]", "", "f32[2] = [1, 2]"},
  });
}

TEST(GatherScatter, Rows) {
  check_rows({
      {"Gather", 13, "f32[512, 8]; i64[b, s] over 0..s - 1", "", "f32[b, s, 8]", "s <= 512 or b*s == 0"},
      {"Gather", 13, "f32[512, 8]; i64[b, s] in 0..600", "", "f32[b, s, 8]", "data[gather.index]"},
      {"Gather", 13, "f32[512, 8]; i64[b, s] in 0..511", "", "f32[b, s, 8]"},
      {"Gather", 13, "i64[3] = [b, c, s]; i64[] = [-1]", "", "i64[] = [s]"},
      {"Gather", 13, "f32[3]; i64[1] = [3]", "", "error[gather.index]"},
      {"Gather", 13, "f32[3]; f32[1] = [1]", "", "error[dtype]"},
      {"GatherElements", 13, "f32[b, 5]; i64[b, 2] = [0, 1, 2, 3]", "axis=1", "f32[b, 2]"},
      {"GatherElements", 13, "f32[2, 5]; i64[3, 5]", "axis=1", "error[gatherelements.shape]"},
      {"GatherND", 13, "f32[b, s, 4]; i64[n, 2]", "", "f32[n, 4]",
       "b >= 1 or n == 0; s >= 1 or n == 0; data[gathernd.index]"},
      {"GatherND", 13, "f32[b, s, 4]; i64[c, n, 1]", "batch_dims=1", "f32[b, n, 4]",
       "b == c; s >= 1 or c*n == 0; data[gathernd.index]"},
      {"GatherND", 13, "f32[2]; i64[1, 2]", "", "error[gathernd.tuple]"},
      {"GatherND", 13, "f32[2, 2]; i64[2] = [1, 2]", "", "error[gathernd.index]"},
      {"ScatterND", 13, "i64[3] = [a, b, c]; i64[1, 1] = [1]; i64[1] = [9]", "", "i64[3] = [a, 9, c]"},
      {"ScatterND", 13, "f32[4, 3]; i64[2, 1] = [0, 1]; f32[2, 2]", "", "error[shape.equal]"},
      {"ScatterElements", 18, "i64[3] = [a, b, c]; i64[1] = [-1]; i64[1] = [9]", "", "i64[3] = [a, b, 9]"},
      {"ScatterElements", 13, "f32[3]; i64[1] = [0]; f32[2]", "", "error[shape.equal]"},
      {"Scatter", 11, "f32[3]; i64[1] = [0]; f32[1]", "", "error[scatter.deprecated]"},
      {"TensorScatter", 24, "f32[b, 2, s, 4]; f32[b, 2, 1, 4]; i64[b]", "", "f32[b, 2, s, 4]",
       "s >= 1; data[tensorscatter.index]"},
  });
  check_kernel_rows({
      {"ScatterElements", 18, "f32[3] = [1, 2, 3]; i64[2] = [0, 0]; f32[2] = [5, 7]", "reduction=add",
       "f32[3] = [13, 2, 3]"},
      {"ScatterND", 18, "i64[2, 2] = [1, 2, 3, 4]; i64[1, 1] = [1]; i64[1, 2] = [9, 0]", "reduction=max",
       "i64[2, 2] = [1, 2, 9, 4]"},
      {"GatherND", 13, "i64[2, 2] = [1, 2, 3, 4]; i64[2, 1] = [1, 0]", "", "i64[2, 2] = [3, 4, 1, 2]"},
      {"GatherND", 13, "i64[2] = [1, 2]; i64[1, 1] = [5]", "", "error[gathernd.index]"},
      {"TensorScatter", 24, "f32[1, 3, 1] = [1, 2, 3]; f32[1, 2, 1] = [8, 9]; i64[1] = [2]", "mode=circular",
       "f32[1, 3, 1] = [9, 2, 8]"},
  });
}

TEST(Selection, Rows) {
  check_rows({
      {"NonZero", 13, "bool[b, s]", "", "i64[2, nonzero] in 0..max(b, s) - 1"},
      {"NonZero", 13, "i64[3] = [0, 5, s + 1]", "", "i64[1, 2] in 0..2"},
      {"Compress", 11, "f32[b, 4]; bool[4] = [1, 0, 1, 1]", "axis=1", "f32[b, 3]"},
      {"Compress", 11, "f32[b, 4]; bool[4]", "", "f32[compress]"},
      {"TopK", 11, "f32[b, s]; i64[1] = [3]", "", "f32[b, 3]; i64[b, 3] in 0..s - 1", "s >= 3"},
      {"TopK", 11, "f32[b, s]; i64[1]", "", "f32[b, k]; i64[b, k] in 0..s - 1"},
      {"TopK", 11, "f32[4]; i64[1] = [5]", "", "error[topk.k]"},
      {"TopK", 11, "f32[4]; i64[] = [2]", "", "error[topk.k]"},
      {"TopK", 1, "f32[4, b]", "k=2 axis=0", "f32[2, b]; i64[2, b] in 0..3"},
      {"OneHot", 11, "i64[b, s]; i64[] = [7]; f32[2]", "", "f32[b, s, 7]"},
      {"OneHot", 11, "i64[b]; i64[] = [d]; f32[2]", "axis=0", "f32[d, b]", "d >= 1"},
      {"OneHot", 11, "i64[b]; i64[] = [0]; f32[2]", "", "error[onehot.depth]"},
      {"Trilu", 14, "f32[b, s, s]", "", "f32[b, s, s]"},
      {"Trilu", 14, "i64[2, 2] = [a, b, c, d]", "", "i64[2, 2] = [a, b, 0, d]"},
      {"EyeLike", 9, "f32[2, 2]", "dtype=7", "i64[2, 2] = [1, 0, 0, 1]"},
      {"EyeLike", 9, "f32[b, s]", "", "f32[b, s]"},
      {"Unique", 11, "f32[s]", "", "f32[unique]; i64[unique] in 0..s - 1"},
      {"ReverseSequence", 10, "f32[s, b]; i64[b]", "", "f32[s, b]", "data[reversesequence.length]"},
      {"ReverseSequence", 10, "f32[3, 2]; i64[2] = [4, 1]", "", "error[reversesequence.length]"},
  });
  check_kernel_rows({
      {"NonZero", 13, "i64[2, 2] = [0, 3, 4, 0]", "", "i64[2, 2] = [0, 1, 1, 0]"},
      {"NonZero", 13, "i64[] = [3]", "", "i64[0, 1] = []"},
      {"Compress", 11, "i64[2, 2] = [1, 2, 3, 4]; bool[2] = [0, 1]", "axis=1", "i64[2, 1] = [2, 4]"},
      {"TopK", 11, "f32[4] = [1, 0, 0, 2]; i64[1] = [2]", "largest=0", "f32[2] = [0, 0]; i64[2] = [1, 2]"},
      {"OneHot", 11, "i64[4] = [0, -1, 5, -4]; i64[] = [3]; i64[2] = [0, 1]", "",
       "i64[4, 3] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]"},
      {"Unique", 11, "i64[4] = [3, 1, 3, 0]", "sorted=0",
       "i64[3] = [3, 1, 0]; i64[3] = [0, 1, 3]; i64[4] = [0, 1, 0, 2]; i64[3] = [2, 1, 1]"},
      {"Unique", 11, "i64[3, 2] = [3, 1, 3, 1, 0, 2]", "axis=0",
       "i64[2, 2] = [0, 2, 3, 1]; i64[2] = [2, 0]; i64[3] = [1, 1, 0]; i64[2] = [1, 2]"},
      {"ReverseSequence", 10, "i64[3, 2] = [0, 1, 2, 3, 4, 5]; i64[2] = [3, 1]", "", "i64[3, 2] = [4, 1, 2, 3, 0, 5]"},
  });
}

TEST(Reshape, Rows) {
  check_rows({
      {"Reshape", 14, "f32[b, s, 16]; i64[2] = [-1, 16]", "", "f32[b*s, 16]"},
      {"Reshape", 14, "f32[b, s]; i64[3] = [0, -1, 2]", "", "f32[b, s//2, 2]", "b != 0; s % 2 == 0"},
      {"Reshape", 14, "f32[b, 4]; i64[2] = [b, 4]", "", "f32[b, 4]"},
      {"Reshape", 14, "f32[b*s, 8]; i64[4] = [b, s, 2, 4]", "", "f32[b, s, 2, 4]", "s >= 1"},
      {"Reshape", 14, "f32[b, s]; i64[2] = [b, u]", "", "f32[b, select(u == 0, s, u)]",
       "b*s == b*select(u == 0, s, u)"},
      {"Reshape", 14, "f32[b, s]; i64[2] = [b, u]", "allowzero=1", "f32[b, u]", "b*s == b*u"},
      {"Reshape", 14, "f32[6]; i64[2] = [-1, 4]", "", "error[reshape.count]"},
      {"Reshape", 14, "f32[6]; i64[2] = [-1, -1]", "", "error[reshape.holes]"},
      {"Reshape", 14, "f32[0, 3]; i64[2] = [-1, 0]", "allowzero=1", "error[reshape.empty]"},
      {"Reshape", 1, "f32[b, 4]", "shape=[0, 2, 2]", "f32[b, 2, 2]"},
      {"Reshape", 14, "i64[2] = [a, b]; i64[1] = [-1]", "", "i64[2] = [a, b]"},
      {"Reshape", 14, "f32[6]; i64[] = [6]", "", "error[reshape.shape]"},
  });
}

}  // namespace
}  // namespace anyshape::ops
