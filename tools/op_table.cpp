// op_table [FILE]: writes the operator table of docs/operators.md from the records, or compares it with FILE and fails
// when the file is out of date.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "ops/all.h"
#include "ops/operator_table.h"

int main(int argc, char** argv) {
  const std::string now = anyshape::operator_table(anyshape::all_ops());
  if (argc < 2) {
    std::fputs(now.c_str(), stdout);
    return 0;
  }
  std::ifstream file(argv[1]);
  const std::string before((std::istreambuf_iterator<char>(file)), {});
  if (before == now) return 0;
  fmt::print(stderr, "{} is out of date: run `make operators`\n", argv[1]);
  return 1;
}
