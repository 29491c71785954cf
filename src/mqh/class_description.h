#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anyshape/dtype.h"
#include "mqh/sample.h"
#include "sym/condition.h"
#include "sym/dim.h"

// All that a generated MQL5 class says of its model, as plain data.
namespace anyshape::mqh {

// An input or output.
struct Port {
  std::string name;  // as the file calls it
  std::string id;    // as the class calls it
  DType type = DType::undefined;
  Dims dims;  // numbers, or expressions of the sizes
};

// A size that is set before a run.
struct Size {
  Dim symbol;
  std::string name, id;
  int64_t tested = 0;  // that of the stored pair
};

// What the model demands of the sizes.
struct Demand {
  Condition condition;
  std::string sentence;
};

struct ClassDescription {
  std::string stem;    // of both files
  std::string hash;    // SHA-256 of the model
  std::string report;  // which shapes it takes, as text
  std::vector<Port> inputs, outputs;
  std::vector<Size> sizes;
  std::vector<Demand> demands;
  std::vector<InputSample> sample_inputs;    // of each input
  std::vector<OutputSample> sample_outputs;  // of each output
};

inline constexpr int64_t kLargestSize = int64_t{1} << 24;

// The type of MQL5 that holds the entries: "float"; empty where there is none.
std::string_view mql5_type(DType type);

// The source of the class. The same for the same program. Refused: mql5.output-size (a size is no expression of those
// that are set).
Result<std::string> class_text(const ClassDescription& described);

}  // namespace anyshape::mqh
