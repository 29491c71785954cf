#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "anyshape/api.h"
#include "anyshape/axes.h"
#include "anyshape/error.h"
#include "anyshape/report.h"

namespace anyshape {

struct ModelInfo {
  std::string producer, producer_version, graph;
  std::string domain, description, graph_description;  // as their author wrote them
  int64_t ir_version = 0, model_version = 0;
  std::vector<std::pair<std::string, int64_t>> opsets;     // domain ("ai.onnx" for the default one) and version
  std::vector<ValueType> inputs, outputs;                  // as the file declares them
  std::vector<std::pair<std::string, int64_t>> operators;  // type and count, bodies included, most frequent first
  int64_t nodes = 0;                                       // bodies included
  int64_t parameters = 0;                                  // elements of all initializers
  int64_t parameter_bytes = 0;
  int64_t file_bytes = 0;  // of the model file, without external data
  std::vector<std::string> functions;
  std::vector<std::pair<std::string, std::string>> metadata;
};

struct ReadOptions {
  // What ONNX Runtime runs although the format or an operator's text does not promise it (the codes lenient.*) is
  // refused; otherwise it is taken where its meaning is clear, and reported.
  bool strict = false;
};

// An ONNX model, its names resolved. Weights stay in the file, which is mapped. Copies share one model. Not safe to use
// from several threads at once.
class ANYSHAPE_API Model {
 public:
  // Usage error file.open; refused: onnx.*, graph.*, model.*, function.*, tensor.*, external.*.
  static Result<Model> load(const std::filesystem::path& path, const ReadOptions& options = {});
  // The model in memory; the bytes are kept. External data is not found.
  static Result<Model> from_bytes(std::vector<std::byte> bytes, std::string model_name = "model",
                                  const ReadOptions& options = {});

  // The file name, as given.
  const std::string& name() const;
  // The inputs a caller must feed, in the symbols of the report.
  std::vector<ValueType> inputs() const;
  // The inputs with a default value (an initializer of the same name), as the file declares them. A caller may feed
  // them; what check() and plans say holds for the default.
  std::vector<ValueType> optional_inputs() const;
  // The same model for callers that feed these optional inputs: there they are inputs like all others, and nothing is
  // proved from their default. save() writes the file as it was. Usage error "input.unknown".
  Result<Model> overriding(const std::vector<std::string>& names) const;
  // Dims as expressions of the input symbols.
  std::vector<ValueType> outputs() const;
  ModelInfo info() const;

  // The same model under another path, complete or not at all.
  Status save(const std::filesystem::path& path) const;
  // The same with all larger weights in the file `external_data` beside the model.
  Status save(const std::filesystem::path& path, const std::string& external_data) const;
  // The same model with the inferred type of every value; declared types are kept where they are right.
  // Refused when the model takes no shape at all.
  Result<Model> with_value_info(DimText dims = DimText::names) const;
  // Set when the work budget of the analysis was spent (code "work.budget"): with its node, of which and of those after
  // it nothing is known.
  std::optional<Reason> cut_short() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace anyshape
