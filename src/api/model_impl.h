#pragma once

#include <memory>
#include <optional>
#include <string>

#include "anyshape/model.h"
#include "check/assumed.h"
#include "format/onnx/file.h"
#include "ir/graph.h"
#include "solve/accepted.h"
#include "solve/solve.h"

namespace anyshape {

// What is asked for first is computed once and kept.
struct Model::Impl {
  std::string name;
  onnx::ModelFile file;
  std::shared_ptr<const Graph> graph;
  std::vector<std::shared_ptr<const void>> owners;  // of texts in file.proto that are in no file

  const Typed& typed() const;
  const AcceptedSet& accepted() const;
  const Assumed& assumed() const;
  // The version of the default operator set.
  std::optional<int64_t> opset() const;

  static Result<Model> make(onnx::ModelFile file, std::string name,
                            std::vector<std::shared_ptr<const void>> owners = {});

 private:
  mutable std::optional<Typed> typed_;
  mutable std::optional<AcceptedSet> accepted_;
  mutable std::optional<Assumed> assumed_;
};

}  // namespace anyshape
