// op_table [FILE]: writes the operator table of docs/operators.md from the records, or compares it with FILE and fails
// when the file is out of date.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "ops/all.h"

namespace {

struct Row {
  std::string versions;
  const anyshape::OpDef* latest = nullptr;
};

std::string ports(std::span<const anyshape::Port> list) {
  std::string out;
  for (const auto& port : list) {
    if (!out.empty()) out += ", ";
    out += port.name;
    if (port.flags & anyshape::Port::variadic) out += "...";
    if (port.flags & anyshape::Port::optional) out += "?";
  }
  return out;
}

std::string table() {
  std::map<std::string_view, std::map<std::string_view, Row>> domains;
  for (const anyshape::OpDef* op : anyshape::all_ops().records()) {
    Row& row = domains[op->domain][op->name];
    row.versions += (row.versions.empty() ? "" : ", ") + std::to_string(op->since);
    row.latest = op;
  }
  std::string out =
      "# Operators\n\nMade from the records in `src/ops` by `make operators`. `since` lists the opset versions at "
      "which a record "
      "begins; `kernel` says whether values are computed when they depend only on shapes and constants.\n";
  for (const auto& [domain, rows] : domains) {
    out += fmt::format(
        "\n## {} ({} operators)\n\n| operator | since | inputs | outputs | kernel | what it does "
        "|\n|---|---|---|---|---|---|\n",
        domain.empty() ? "ai.onnx" : domain, rows.size());
    for (const auto& [name, row] : rows)
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", name, row.versions, ports(row.latest->sig.in),
                         ports(row.latest->sig.out), row.latest->kernels.empty() ? "" : "yes", row.latest->sig.doc);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string now = table();
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
