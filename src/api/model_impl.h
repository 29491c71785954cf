#pragma once

#include <memory>
#include <optional>
#include <string>

#include "anyshape/model.h"
#include "check/assumed.h"
#include "format/onnx/file.h"
#include "format/onnx/from_graph.h"
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
  // What engines plan by: of the graph with functions inlined. Those of typed() where they were found already and are
  // the same.
  std::shared_ptr<const Typed> typed_for_runs() const;
  const AcceptedSet& accepted() const;
  const Assumed& assumed() const;
  // The version of the default operator set.
  std::optional<int64_t> opset() const;

  // Errors "work.*" with the model as their place: what typed() and accepted() gave may be only a part.
  Status going_on() const;

  static Result<Model> make(onnx::ModelFile file, std::string name,
                            std::vector<std::shared_ptr<const void>> owners = {});
  // Of a graph that was made here: it is written out, not read again.
  static Result<Model> make(std::shared_ptr<Graph> graph, onnx::ModelHeader header, std::string name);

 private:
  // What was found when work was to end may be only a part of it: it is found anew once there is time again. References
  // stay valid until then, and to the end of the call that does it.
  template <class T>
  struct Found {
    std::shared_ptr<const T> now, before;
    bool cut = false;
  };
  template <class T, class Find>
  static const T& found(Found<T>& kept, Find find);

  mutable Found<Typed> typed_;
  mutable Found<AcceptedSet> accepted_;
  mutable Found<Assumed> assumed_;
};

}  // namespace anyshape
