#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "anyshape/model.h"
#include "check/checked_model.h"
#include "format/onnx/from_graph.h"
#include "ops/custom.h"

namespace anyshape {

struct Model::Impl : CheckedModel {
  Impl(CheckedModel model, std::string its_name) : CheckedModel(std::move(model)), name(std::move(its_name)) {}

  std::string name;

  // What engines plan by: of the graph with functions inlined. Those of typed() where they were found already and are
  // the same.
  std::shared_ptr<const Typed> typed_for_runs() const;

  // Errors "work.*" with the model as their place: what typed() and accepted() gave may be only a part.
  Status going_on() const;

  static Model wrap(CheckedModel model, std::string name);
  // Errors have the model as their place.
  static Result<Model> make(onnx::ModelFile file, std::string name,
                            std::vector<std::shared_ptr<const void>> owners = {});
  // Of a graph that was made here: it is written out, not read again.
  static Result<Model> make(std::shared_ptr<Graph> graph, onnx::ModelHeader header, std::string name,
                            std::span<const NamedKernel> kernels);
};

}  // namespace anyshape
