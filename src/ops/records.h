#pragma once

#include "ir/op.h"

// Every record of the table. Declared here so that all.cpp can list them; defined in the operator's own file.
namespace anyshape::ops {

extern const OpDef kGather1;
extern const OpDef kReshape1;
extern const OpDef kReshape5;
extern const OpDef kShape1;

}  // namespace anyshape::ops
