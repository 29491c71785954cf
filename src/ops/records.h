#pragma once

#include "ir/op.h"

// Every record of the table. Declared here so that all.cpp can list them; defined in the operator's own file.
namespace anyshape::ops {

extern const OpDef kConcatFromSequence11;
extern const OpDef kGather1;
extern const OpDef kIf1;
extern const OpDef kLoop1;
extern const OpDef kOptional15;
extern const OpDef kOptionalGetElement15;
extern const OpDef kOptionalHasElement15;
extern const OpDef kReshape1;
extern const OpDef kReshape5;
extern const OpDef kScan8;
extern const OpDef kScan9;
extern const OpDef kSequenceAt11;
extern const OpDef kSequenceConstruct11;
extern const OpDef kSequenceEmpty11;
extern const OpDef kSequenceErase11;
extern const OpDef kSequenceInsert11;
extern const OpDef kSequenceLength11;
extern const OpDef kSequenceMap17;
extern const OpDef kShape1;
extern const OpDef kSplitToSequence11;

}  // namespace anyshape::ops
