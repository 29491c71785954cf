#include "format/onnx/locations.h"

#include <system_error>
#include <utility>

#include "base/utf8.h"
#include "format/onnx/walk.h"

namespace anyshape::onnx {

namespace fs = std::filesystem;

Result<Locations> locations_of(const ModelProto& model) {
  Locations out;
  Status walked;
  for_each_tensor(model, [&](const TensorProto& tensor, TensorRole) {
    if (!walked || !is_external(tensor)) return;
    Result<ExternalRange> range = external_range(tensor);
    if (range) {
      out.emplace(range->location);
    } else {
      walked = at(fmt::format("tensor {:?}", shortened(tensor.name)), std::move(range).error());
    }
  });
  TRY_OK(walked);
  return out;
}

ModelProto with_locations(const ModelProto& model, const Renamed& renamed) {
  ModelProto out = model;
  for_each_tensor(out, [&](TensorProto& tensor, TensorRole) {
    if (!is_external(tensor)) return;
    for (StringStringEntryProto& entry : tensor.external_data) {
      if (entry.key != "location") continue;
      if (const auto found = renamed.find(entry.value); found != renamed.end()) entry.value = found->second;
    }
  });
  return out;
}

std::set<fs::path> data_files(const ModelProto& model, const fs::path& folder) {
  std::set<fs::path> out;
  const Result<Locations> locations = locations_of(model);
  if (!locations) return out;
  for (const std::string& location : *locations) {
    std::error_code missing;
    fs::path file = fs::canonical(folder / location, missing);
    if (!missing) out.insert(std::move(file));
  }
  return out;
}

}  // namespace anyshape::onnx
