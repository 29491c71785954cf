#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lower/args.h"

namespace anyshape::lower {

// ONNX computes with no complex numbers. A complex tensor of the program has the sizes and the type it has in PyTorch,
// but stands for two real tensors that are there in its place; of inputs and outputs for one with a last axis of (real,
// imaginary).
class ComplexTensors {
 public:
  explicit ComplexTensors(Lowering& lowering) : l_(lowering) {}

  Ref of(Ref real, Ref imaginary);
  Ref of_pairs(Ref pairs);
  Ref pairs(Ref complex);
  // Of a real tensor: itself and zeros.
  std::pair<Ref, Ref> parts(Ref x);

 private:
  struct Parts {
    Ref pairs, real, imaginary;
  };
  Parts* behind(Ref complex);

  Lowering& l_;
  std::unordered_map<uint64_t, Parts> known_;
};

// A nested tensor stands here as its padded form, [batch, longest, ...], which nothing else is: its mask, bool[batch,
// longest], says which entries it has.
class NestedTensors {
 public:
  Ref of(Ref padded, Ref mask);
  Ref mask(Ref x) const;  // absent for an ordinary tensor
  // Some argument is one.
  bool among(Lowering& lowering, const Args& args) const;

 private:
  std::vector<std::pair<Ref, Ref>> known_;  // padded form, mask
};

}  // namespace anyshape::lower
