#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fix/edit.h"
#include "ir/builder.h"
#include "ir/call.h"
#include "target/profile.h"

namespace anyshape::target {

// What a version of an operator brought, and how to do without it. The steps of an operator are taken from the highest
// version of the node down.
struct LowerStep {
  std::string_view domain = "";  // ai.onnx
  std::string_view op;
  int since;
  bool no_equal = false;  // the operator is new, and no others are equal to it
  Types lacks = {};       // types of inputs or outputs that the version before does not take
  // What the node uses that is new (" with dilations"), as it is said behind the operator's name; empty: nothing.
  std::string (*refuses)(const Call&) = nullptr;
  // Attributes that mean nothing, or what the version before does anyway, in a node that is not refused.
  std::string_view drop[3] = {};
  // Writes the node in the terms of the version before.
  Status (*edit)(const Call&, onnx::NodeProto&, fixes::Edit&) = nullptr;
  // Other operators in place of the node: an absent first output leaves it as it is. Errors are told by the builder.
  Refs (*rewrite)(Builder&, const Call&, const Refs& in) = nullptr;
};

// Above the highest version that the table knows of a domain, nothing can be said.
inline constexpr int64_t kNewestOpset = 28, kNewestMlOpset = 5;

std::span<const LowerStep> lower_steps();

}  // namespace anyshape::target
