#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lower/request.h"

namespace anyshape::lower {

// One axis of an input as a file records it.
struct RecordedAxis {
  std::optional<int64_t> number;  // a fixed size, or the example's
  std::string symbol;             // the file's own name for a dynamic size; empty: fixed
};

struct RecordedInput {
  std::string name;
  std::vector<RecordedAxis> axes;
};

// The sizes of the inputs after the user's wishes.
struct Axes {
  std::vector<Dims> dims;                        // per input
  std::unordered_map<std::string, Dim> symbols;  // of the file
  std::vector<std::pair<Dim, int64_t>> example;  // sizes the program was captured with
  std::vector<std::pair<Dim, int64_t>> freed;    // those of them that the file holds as numbers
  std::vector<std::string> notes;
  std::map<std::string, std::string> places;  // name of a symbol -> "x:1", its first axis
};

// Names for the axes. Usage errors: dynamic.unknown (no such input or output, with the nearest name), dynamic.axis,
// dynamic.name, freeze.unknown.
Result<Axes> name_axes(const std::vector<RecordedInput>& inputs,
                       const std::vector<std::pair<std::string, size_t>>& outputs, const Request& request,
                       Symbols& symbols);

// The usage error for a name that is none of these.
tl::unexpected<Error> unknown_value(const std::string& name, const std::vector<std::string>& names);

// The names a user gave to output axes, put into `facts`. Refused: dynamic.output, where the size is another one.
Status name_outputs(const Graph& graph, const Request& request, Assumptions& assumptions, Facts& facts,
                    std::vector<std::string>& notes);

}  // namespace anyshape::lower
