#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lower/args.h"

namespace anyshape::lower {

struct AtenOp;

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

// A quantised tensor of the program stands here as the numbers it means: what DequantizeLinear gives of its integers.
class QuantizedTensors {
 public:
  struct Scheme {
    Ref scale, zero_point;  // of rank 0, or one for each entry of `axis`; the zero point has the type of the integers
    int64_t axis = 0;
  };
  struct Quantized {
    Ref integers;  // absent where only their meaning is there
    Scheme scheme;
  };

  explicit QuantizedTensors(Lowering& lowering) : l_(lowering) {}

  Ref of(Ref integers, const Scheme& scheme);
  Ref quantize(Ref x, const Scheme& scheme);
  // The scale and zero point as numbers, the integers of that type.
  Scheme scheme(const Arg& scale, const Arg& zero_point, DType dtype, int64_t axis = 0);
  const Quantized* behind(Ref x) const;  // null for others
  // The integers and what they mean; refused for others.
  Quantized parts(Ref x);
  // What an operator gives of a quantised tensor is quantised in the same way.
  Arg inherited(const AtenOp& op, std::string_view name, const Args& args, Arg result);

 private:
  Ref inherited_one(const AtenOp& op, std::string_view name, Ref result, const Scheme& scheme);

  Lowering& l_;
  std::unordered_map<uint64_t, Quantized> known_;
};

// A packed sequence is what it is in PyTorch: [entries, ...], step by step the entries of all sequences that are that
// long, and how many these are. What it was packed from is remembered here: recurrent layers take that.
class PackedSequences {
 public:
  struct Steps {
    Ref counts;   // i64[longest]
    Ref lengths;  // i64[batch], falling
    Ref places;   // i64[entries, 2]: step and sequence
    Dim longest, batch;
  };

  void remember(Steps steps) { steps_.push_back(std::move(steps)); }
  void remember(Ref entries, Ref padded) { padded_.emplace_back(entries, padded); }
  const Steps* steps(Ref counts) const;
  Ref padded(Ref entries) const;  // [longest, batch, ...]; absent where that is not known
  // How many sequences have a first step: all of them. nullopt: the tensor is something else.
  std::optional<Dim> first_count(const Builder& builder, Ref tensor) const;

 private:
  std::vector<Steps> steps_;
  std::vector<std::pair<Ref, Ref>> padded_;
};

}  // namespace anyshape::lower
