#pragma once

#include "engine.h"

namespace anyshape::bench {

// A line of build/bench/rows.tsv (bench/prepare.py).
struct Row {
  std::string section, name, shape;
  File model, frozen;  // frozen: empty where there is none
  std::string inputs;  // "x=1x10 y=2", or "@FILE.npz"
  double items = 1, operations = 0, bytes = 0;
  double scale = 0;  // what the largest entry of an output is taken for if it is smaller

  std::string title() const { return name + " " + shape; }
};

Result<std::vector<Row>> read_rows(const File& path);

// What the row says, random numbers from a fixed seed; `grown`: the first axis of every input is that much longer.
// Refused "bench.grown": inputs out of a file do not grow.
Result<Feed> make_feed(const Row& row, int64_t grown = 0);

}  // namespace anyshape::bench
