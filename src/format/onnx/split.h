#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "format/onnx/file.h"
#include "format/onnx/walk.h"

namespace anyshape::onnx {

// A model whose larger tensors move to one data file. Both arguments outlive it.
class Splitter {
 public:
  Splitter(const ModelFile& model, std::string location, const WriteOptions& options);

  Status split();
  // Points into the splitter.
  const ModelProto& proto() const { return proto_; }
  Status write_data(AtomicFile& file) const;

 private:
  struct Stored {
    TensorProto tensor;  // only what holds the elements
    uint64_t offset;
  };

  Status move_tensors(TensorRole role);
  Status move(TensorProto& tensor);
  void store(TensorProto& tensor, uint64_t size);
  void embed(TensorProto& tensor, const TensorBytes& bytes);

  const ModelFile& model_;
  ModelProto proto_;
  std::string location_;
  const WriteOptions& options_;
  std::deque<std::string> text_;
  std::vector<Stored> stored_;
  std::set<const TensorProto*> moved_;
  uint64_t end_ = 0;
};

}  // namespace anyshape::onnx
