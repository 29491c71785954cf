#pragma once

#include <memory>

#include "ops/ml/common.h"

namespace anyshape::ops {

// A table of keys, and what each of them stands for: what the attributes of LabelEncoder say.
struct LabelTable;

// From version 2 of LabelEncoder on. Codes "labelencoder.keys", ".values".
Result<std::shared_ptr<const LabelTable>> read_label_table(const Call& call);
Status look_up_labels(const LabelTable& table, const Tensor& x, Tensor& out);

}  // namespace anyshape::ops
