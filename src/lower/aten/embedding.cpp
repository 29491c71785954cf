#include "lower/aten/nn.h"

namespace anyshape::lower {
namespace {

Arg embedding(Lowering& l, const Args& a) { return l.gather(a.tensor("weight"), a.tensor("indices"), 0); }

constexpr AtenOp kOps[] = {
    {"embedding", embedding},
};

}  // namespace

std::span<const AtenOp> embedding_ops() { return kOps; }

}  // namespace anyshape::lower
