#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/assumed.h"
#include "format/onnx/file.h"
#include "ir/graph.h"
#include "solve/accepted.h"
#include "solve/solve.h"

namespace anyshape {

// A model file, its graph, and what is known of it: what is asked for first is computed once and kept. Copies share
// what was known when they were made.
class CheckedModel {
 public:
  // Errors as of onnx::import_model(); "custom.limit"; "work.*".
  static Result<CheckedModel> make(onnx::ModelFile file, std::vector<std::shared_ptr<const void>> owners = {});

  onnx::ModelFile file;
  std::shared_ptr<const Graph> graph;
  std::vector<std::shared_ptr<const void>> owners;  // of texts in file.proto that are in no file

  const Typed& typed() const;
  // The same where it was found already, and not cut short; null elsewhere.
  std::shared_ptr<const Typed> typed_in_full() const { return typed_.cut ? nullptr : typed_.now; }
  const AcceptedSet& accepted() const;
  // What the file's maker recorded; nothing is found out where nothing is.
  const Assumed& assumed() const;
  // The version of the default operator set.
  std::optional<int64_t> opset() const;

  // The same message changed, with what its texts are kept by. Errors as of make().
  Result<CheckedModel> with(onnx::ModelProto proto, std::shared_ptr<const void> owner) const;
  // For callers that feed these inputs with a default: nothing is proved from it. The file stays as it is. Usage error
  // "input.unknown".
  Result<CheckedModel> overriding(const std::vector<std::string>& names) const;

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
