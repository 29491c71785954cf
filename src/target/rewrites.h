#pragma once

#include "fix/edit.h"
#include "ir/builder.h"
#include "ir/call.h"

// The functions of the table in lower_steps.cpp.
namespace anyshape::target::rewrites {

Refs attention(Builder& b, const Call& call, const Refs& in);
Refs extreme_of_bools(Builder& b, const Call& call, const Refs& in);
Refs gelu(Builder& b, const Call& call, const Refs& in);
Refs group_normalization(Builder& b, const Call& call, const Refs& in);
Refs is_inf(Builder& b, const Call& call, const Refs& in);
Refs mod(Builder& b, const Call& call, const Refs& in);
Refs quantize(Builder& b, const Call& call, const Refs& in);
Refs rms_normalization(Builder& b, const Call& call, const Refs& in);
Refs rotary_embedding(Builder& b, const Call& call, const Refs& in);
Refs swish(Builder& b, const Call& call, const Refs& in);

}  // namespace anyshape::target::rewrites
