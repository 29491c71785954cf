#pragma once

#include "ir/op.h"

// Every record of the table. Declared here so that all.cpp can list them; defined in the operator's own file.
namespace anyshape::ops {

extern const OpDef kConcatFromSequence11;
extern const OpDef kGather1;
extern const OpDef kIf1;
extern const OpDef kLoop1;
extern const OpDef kMlArrayFeatureExtractor1;
extern const OpDef kMlBinarizer1;
extern const OpDef kMlCastMap1;
extern const OpDef kMlCategoryMapper1;
extern const OpDef kMlDictVectorizer1;
extern const OpDef kMlFeatureVectorizer1;
extern const OpDef kMlImputer1;
extern const OpDef kMlLabelEncoder1;
extern const OpDef kMlLinearClassifier1;
extern const OpDef kMlLinearRegressor1;
extern const OpDef kMlNormalizer1;
extern const OpDef kMlOneHotEncoder1;
extern const OpDef kMlSVMClassifier1;
extern const OpDef kMlSVMRegressor1;
extern const OpDef kMlScaler1;
extern const OpDef kMlTreeEnsemble5;
extern const OpDef kMlTreeEnsembleClassifier1;
extern const OpDef kMlTreeEnsembleRegressor1;
extern const OpDef kMlZipMap1;
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
extern const OpDef kTrainingAdagrad1;
extern const OpDef kTrainingAdam1;
extern const OpDef kTrainingGradient1;
extern const OpDef kTrainingMomentum1;

}  // namespace anyshape::ops
