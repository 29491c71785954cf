#include "ops/operator_table.h"

#include <fmt/format.h>

#include <map>

namespace anyshape {
namespace {

struct Row {
  std::string versions;
  const OpDef* latest = nullptr;
};

std::string ports(std::span<const Port> list) {
  std::string out;
  for (const auto& port : list) {
    if (!out.empty()) out += ", ";
    out += port.name;
    if (port.flags & Port::variadic) out += "...";
    if (port.flags & Port::optional) out += "?";
  }
  return out;
}

// Those of the newest version.
std::string attributes(std::span<const AttributeDef> list) {
  std::string out;
  for (const auto& attribute : list)
    if (attribute.versions.until == Versions().until) out += (out.empty() ? "" : "; ") + text(attribute);
  return out;
}

}  // namespace

std::string operator_table(const OpTable& table) {
  std::map<std::string_view, std::map<std::string_view, Row>> domains;
  for (const OpDef* op : table.records()) {
    Row& row = domains[op->domain][op->name];
    row.versions += (row.versions.empty() ? "" : ", ") + std::to_string(op->since);
    row.latest = op;
  }
  std::string out =
      "# Operators\n\nMade from the records in `src/ops` by `make operators`. `since` lists the opset versions at "
      "which a record begins; attributes and their defaults are those of the newest; `kernel` says whether values are "
      "computed when they depend only on shapes and constants.\n";
  for (const auto& [domain, rows] : domains) {
    out += fmt::format(
        "\n## {} ({} operators)\n\n| operator | since | inputs | outputs | attributes | kernel | what it does "
        "|\n|---|---|---|---|---|---|---|\n",
        domain.empty() ? "ai.onnx" : domain, rows.size());
    for (const auto& [name, row] : rows)
      out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name, row.versions, ports(row.latest->sig.in),
                         ports(row.latest->sig.out), attributes(row.latest->sig.attributes),
                         row.latest->kernels.empty() ? "" : "yes", row.latest->sig.doc);
  }
  return out;
}

}  // namespace anyshape
