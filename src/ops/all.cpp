#include "ops/all.h"

#include "ops/records.h"

namespace anyshape {
namespace {

// Sorted by (domain, name, since); all_test.cpp checks it.
constexpr const OpDef* kAll[] = {
    &ops::kConcatFromSequence11,
    &ops::kGather1,
    &ops::kIf1,
    &ops::kLoop1,
    &ops::kOptional15,
    &ops::kOptionalGetElement15,
    &ops::kOptionalHasElement15,
    &ops::kReshape1,
    &ops::kReshape5,
    &ops::kScan8,
    &ops::kScan9,
    &ops::kSequenceAt11,
    &ops::kSequenceConstruct11,
    &ops::kSequenceEmpty11,
    &ops::kSequenceErase11,
    &ops::kSequenceInsert11,
    &ops::kSequenceLength11,
    &ops::kSequenceMap17,
    &ops::kShape1,
    &ops::kSplitToSequence11,
    &ops::kMlArrayFeatureExtractor1,
    &ops::kMlBinarizer1,
    &ops::kMlCastMap1,
    &ops::kMlCategoryMapper1,
    &ops::kMlDictVectorizer1,
    &ops::kMlFeatureVectorizer1,
    &ops::kMlImputer1,
    &ops::kMlLabelEncoder1,
    &ops::kMlLinearClassifier1,
    &ops::kMlLinearRegressor1,
    &ops::kMlNormalizer1,
    &ops::kMlOneHotEncoder1,
    &ops::kMlSVMClassifier1,
    &ops::kMlSVMRegressor1,
    &ops::kMlScaler1,
    &ops::kMlTreeEnsemble5,
    &ops::kMlTreeEnsembleClassifier1,
    &ops::kMlTreeEnsembleRegressor1,
    &ops::kMlZipMap1,
    &ops::kTrainingAdagrad1,
    &ops::kTrainingAdam1,
    &ops::kTrainingGradient1,
    &ops::kTrainingMomentum1,
};

}  // namespace

const OpTable& all_ops() {
  static const OpTable table(kAll);
  return table;
}

}  // namespace anyshape
