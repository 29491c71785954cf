#pragma once

#include <string>

#include "anyshape/model.h"

namespace anyshape::cli {

// Runs the model at the smallest shape it takes and at shapes around it: every run must succeed, give the sizes that
// were inferred, and finite numbers where the inputs are. Gives a sentence for the report. Refused: verify.*.
Result<std::string> verify_runs(const Model& model);

// Runs the model on the inputs of an .npz (named as the model's, or with "in_" in front) and compares with its outputs
// (named as the model's, "output_N", or "out_N"). Usage errors: golden.*; refused: verify.values.
Result<std::string> verify_golden(const Model& model, const std::string& path);

}  // namespace anyshape::cli
