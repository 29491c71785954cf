#pragma once

#include <string>
#include <vector>

#include "anyshape/error.h"
#include "anyshape/model.h"
#include "anyshape/session.h"

namespace anyshape::cli {

// Where the inputs of a run come from. What is given by name wins over --npz.
struct InputArguments {
  std::vector<std::string> files;   // --input NAME=FILE
  std::vector<std::string> random;  // --random NAME=SHAPE, --random NAME
  std::string npz;
  int64_t seed = 0;
};

Error usage_error(std::string code, std::string message, std::string hint = {});
// The same with the file as its place.
Error usage_error_in(const Model& model, std::string code, std::string message, std::string hint = {});

// The model with the inputs that have a default and are named here as inputs like all others.
Result<Model> fed_with(const Model& model, const InputArguments& arguments);
Result<Model> fed_with(const Model& model, const Shapes& shapes);

// One value per input of the session. Usage errors: "input.unknown", "input.twice", "input.missing" (with the option to
// add), "input.syntax", those of reading files.
Result<std::vector<AnyValue>> read_inputs(const Model& model, const Session& session, const InputArguments& arguments);

// Tensors of random numbers at these sizes; those of inputs not named are as declared. Usage errors as above.
Result<std::vector<AnyValue>> random_inputs(const Model& model, const Session& session, const Shapes& shapes,
                                            int64_t seed, std::string_view option);

}  // namespace anyshape::cli
