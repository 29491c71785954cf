#pragma once

#include "anyshape/export.h"
#include "anyshape/model.h"
#include "lower/request.h"

namespace anyshape {

// Does the model take what was asked for? Refused: export.baked (an axis asked to be dynamic has one size only),
// export.narrowed (it takes not every size, under strict_axes), export.policy, and whatever refuses the model at every
// shape.
Status prove_export(const Model& model, const lower::Lowered& lowered, const ExportOptions& options);

// The axes asked to be dynamic that do not take every size from some least one on.
std::vector<NarrowedAxis> narrowed_of(const Model& model, const ExportOptions& options);

// The nodes that compute sizes when the model runs.
void count_shape_nodes(const Graph& graph, ExportReport& report);

}  // namespace anyshape
