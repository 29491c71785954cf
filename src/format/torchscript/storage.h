#pragma once

#include <map>
#include <string>

#include "base/zip.h"
#include "format/torchscript/pickle.h"

namespace anyshape::torchscript {

// Hands out windows on the storages under one folder of an archive ("model/data/"). A row-major window points into the
// file; any other is copied once, however many ask for it. Codes: script.storage, tensor.memory.
class Storages {
 public:
  // REQUIRES: the archive outlives this.
  Storages(const ZipReader& zip, std::string folder, uint64_t copies)
      : zip_(&zip), folder_(std::move(folder)), copies_left_(copies) {}

  Result<Tensor> window(const StorageView& view);

 private:
  Result<ZipContent> content(const StorageView& view);
  Result<Tensor> gather(const StorageView& view, const ZipContent& content);

  const ZipReader* zip_;
  std::string folder_;
  uint64_t copies_left_;  // bytes that may still be copied: a stride of 0 makes a small file large
  std::map<std::string, ZipContent> contents_;
  std::map<std::string, Tensor> copied_;
};

}  // namespace anyshape::torchscript
