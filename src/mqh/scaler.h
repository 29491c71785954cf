#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fix/edit.h"

// Normalisation that training did outside of the model, put into the model.
namespace anyshape::mqh {

struct Scaling {
  std::string name;  // empty: the only input
  bool output = false;
  std::vector<double> mean, std;
  int64_t axis = -1;
};

// {"x": {"mean": [...], "std": [...], "axis": -1}, "outputs": {"y": {...}}}, or {"mean": [...], "std": [...]} for the
// only input; "scale" is another word for "std", a number another for a list of one. Refused mql5.scaler.
Result<std::vector<Scaling>> parse_scaler(std::string_view json);

// Inputs become (x - mean) / std, outputs y * std + mean, entry by entry along the axis, in the type of the tensor.
// The names of inputs and outputs stay. The scalings come back with their names and axes filled in. Refused
// mql5.scaler.
Result<std::vector<Scaling>> fold(const Typed& typed, std::vector<Scaling> scalings, fixes::Edit& edit);

}  // namespace anyshape::mqh
