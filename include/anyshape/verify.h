#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/check.h"
#include "anyshape/error.h"
#include "anyshape/model.h"
#include "anyshape/session.h"

namespace anyshape {

// The smallest shape the model takes, and the shapes around it that it takes too: each symbol by itself, and all of
// them, a little and much larger; of a symbol that has a limit, also the largest size.
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
ANYSHAPE_API Result<GoldenMatch> verify_golden(const Session& session, const std::filesystem::path& path);

// One shape at which two models were run.
struct Compared {
  enum class Kind { same, differs, both_refuse };
  Kind kind = Kind::same;
  Shapes shapes;         // of the first model
  std::string sentence;  // how they differ, or why the first refuses
  double worst = 0;      // largest relative error
};

struct VerifyOptions {
  std::vector<Shapes> shapes;  // empty: the boundary shapes of the first model
  double relative = 1e-3, absolute = 1e-5;
  uint64_t seed = 0;       // of the random inputs, and of random operators
  SessionOptions session;  // of both
  int threads = 0;
  std::function<void(const Compared&)> each;  // called after each shape
};

// Do two models give the same answers? Both run on the same random numbers, shape by shape. Inputs and outputs are
// matched by name; where the names are others, by order. A shape that only one of them refuses is a difference.
// Refused: verify.inputs and verify.outputs (they cannot be matched), verify.input, verify.nothing (no shape was
// taken).
ANYSHAPE_API Result<std::vector<Compared>> verify(const Model& model, const Model& other,
                                                  const VerifyOptions& options = {});

}  // namespace anyshape
