#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "format/onnx/external.h"
#include "format/onnx/proto.h"

namespace anyshape::onnx {

using Locations = std::set<std::string, std::less<>>;
using Renamed = std::map<std::string, std::string, std::less<>>;  // old location to new

// Where the external tensors of a model lie; an error of external_range() names its tensor.
Result<Locations> locations_of(const ModelProto& model);

// The same model with its data elsewhere. Points into `renamed`.
ModelProto with_locations(const ModelProto& model, const Renamed& renamed);

// The data files of a model as they are on the disk, links followed. What is missing is left out.
std::set<std::filesystem::path> data_files(const ModelProto& model, const std::filesystem::path& folder);

}  // namespace anyshape::onnx
