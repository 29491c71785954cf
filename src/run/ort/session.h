#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tensor/datum.h"

namespace anyshape {

struct OrtOptions {
  // The library, or a folder with it; empty: searched for (run/ort/find.h).
  std::filesystem::path library = {};
  int threads = 0;  // 0: as many as ONNX Runtime sees fit
  bool optimize = true;
  // Without it memory goes back to the system after each run.
  bool arena = true;
  // Names and element types of what run() takes, in its order: for inputs with a default that are fed. Empty: all
  // others.
  std::vector<std::pair<std::string, DType>> inputs = {};
};

// A model in ONNX Runtime, loaded with dlopen. Immutable: any number of threads may run it at once.
class OrtSession {
 public:
  // Codes: ort.library, library.open, ort.* with ONNX Runtime's own message.
  static Result<std::unique_ptr<OrtSession>> load(const OrtOptions& options, const std::filesystem::path& model);
  // A model in memory, which may go when this returns. It cannot have external data.
  static Result<std::unique_ptr<OrtSession>> load(const OrtOptions& options, std::span<const std::byte> model);
  ~OrtSession();

  // Names, in the order of the graph. Inputs with a default (initializers) are not among them.
  const std::vector<std::string>& inputs() const;
  const std::vector<std::string>& outputs() const;
  const std::string& version() const;            // of ONNX Runtime: "1.31.1"
  const std::filesystem::path& library() const;  // the file that was loaded

  // `inputs[i]` belongs to inputs()[i]. Tensors go in and come out without being copied (except strings and the items
  // of sequences); outputs stay valid when the session is gone. Absent inputs are left out. `stop`, if there is one, is
  // asked again and again by another thread; its error ends the run. Usage error "ort.forked" in the child of a fork.
  using Stop = std::function<Status()>;
  Result<std::vector<Datum>> run(std::span<const Datum> inputs, const Stop& stop = {}) const;

 private:
  struct Impl;
  explicit OrtSession(std::shared_ptr<const Impl> impl);
  static Result<std::unique_ptr<OrtSession>> load(const OrtOptions& options, const std::filesystem::path* path,
                                                  std::span<const std::byte> bytes);

  std::shared_ptr<const Impl> impl_;
};

}  // namespace anyshape
