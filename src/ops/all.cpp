#include "ops/all.h"

#include "ops/records.h"

namespace anyshape {
namespace {

// Sorted by (domain, name, since); all_test.cpp checks it.
constexpr const OpDef* kAll[] = {
    &ops::kGather1,
    &ops::kReshape1,
    &ops::kReshape5,
    &ops::kShape1,
};

}  // namespace

const OpTable& all_ops() {
  static const OpTable table(kAll);
  return table;
}

}  // namespace anyshape
