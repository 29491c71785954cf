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
// them, a little and much larger; of a symbol that has a limit, also the largest size. And shapes people use: the sizes
// the file speaks of, images of 224, 256 and 512, sequences of 16, 128 and 512. None that is taken only because an axis
// of 1 broadcasts.
ANYSHAPE_API std::vector<Shapes> boundary_shapes(const Model& model);

// Shapes to build for: the smallest that is accepted, one people use, and the largest that the model or `wanted` (as of
// accepts_all()) allows; where neither ends a symbol, a batch of 8 and sizes of 512. Refused: box.empty, box.rank,
// work.budget. Usage errors: require.*.
ANYSHAPE_API Result<ShapeBox> shape_box(const Model& model, const std::vector<std::string>& wanted = {});

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
  enum class Kind { same, differs, both_refuse, only_first, only_second };
  Kind kind = Kind::same;
  Shapes shapes;         // of the first model
  std::string sentence;  // how they differ, or why one of them refuses: the first, where both do
  double worst = 0;      // largest relative error
  // kind same: beyond the tolerance, but no further apart than right computations of the first model's outputs are:
  // with exact kernels, without the optimizer of ONNX Runtime, from inputs a rounding step away.
  bool noisy = false;
};

// "same     x=1x3  largest relative error 1.2e-07", one line.
ANYSHAPE_API std::string to_text(const Compared& compared);

struct VerifyOptions {
  std::vector<Shapes> shapes;  // empty: the boundary shapes of both models
  double relative = 1e-3, absolute = 1e-5;
  uint64_t seed = 0;       // of the random inputs, and of random operators
  SessionOptions session;  // of both
  int threads = 0;
  std::function<void(const Compared&)> each;  // called after each shape
};

// Do two models give the same answers? Both run on the same random numbers, shape by shape. Inputs and outputs are
// matched by name; where the names are others, by order. Refused: verify.inputs and verify.outputs (they cannot be
// matched), verify.input, verify.nothing (no shape was taken by both).
ANYSHAPE_API Result<std::vector<Compared>> verify(const Model& model, const Model& other,
                                                  const VerifyOptions& options = {});

// Refused where they differ: verify.differs. `every`: a shape that only one of them takes is a difference, too, as for
// shapes that were asked for.
ANYSHAPE_API Status judge(const Model& model, const Model& other, const std::vector<Compared>& compared,
                          bool every = false);

}  // namespace anyshape
