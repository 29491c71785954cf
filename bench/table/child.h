#pragma once

#include "report.h"
#include "rows.h"

namespace anyshape::bench {

// What needs a process of its own: load, first call and resident memory of a row in each engine, least of a few
// processes. `program` is this one, `rows` the file it reads, `index` the row's place in it.
Status measure_start(const File& program, const File& rows, size_t index, Record& record);

// The other end: prints microseconds of the load, of the first call, and mebibytes that are resident then. Another
// model was loaded before, so the engine itself is there already.
Status run_child(const std::vector<Row>& rows, size_t index, const EngineName& engine);

// Runs the row `calls` times on one thread, inside of a function that callgrind can be told of; prints the
// instruction set of the vectors.
Status run_counted(const Row& row, int calls);
// The same of loads of the row's model, of which the first does not count.
Status load_counted(const Row& row, int calls);

}  // namespace anyshape::bench
