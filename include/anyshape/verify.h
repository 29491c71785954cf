#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/check.h"
#include "anyshape/error.h"
#include "anyshape/model.h"

namespace anyshape {

// The smallest shape the model takes, and the shapes around it that it takes too: each symbol by itself, and all of
// them, a little and much larger.
ANYSHAPE_API std::vector<Shapes> boundary_shapes(const Model& model);

// Runs the model on random numbers at its boundary shapes: every run must succeed, give the sizes that were inferred,
// and finite numbers. The number of shapes. Refused: verify.shape, verify.finite, verify.input (it is no tensor of a
// known type), and what a run refuses.
ANYSHAPE_API Result<size_t> verify_runs(const Model& model);

struct GoldenMatch {
  size_t outputs = 0;  // compared
  double worst = 0;    // largest relative error
};

// Runs the model on the inputs of an .npz (named as the model's, or with "in_" or "input_" in front) and compares with
// its outputs (named as the model's, "output_N", or "out_N"). Usage errors: golden.*; refused: verify.values.
ANYSHAPE_API Result<GoldenMatch> verify_golden(const Model& model, const std::filesystem::path& path);

}  // namespace anyshape
