#include "ops/all.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace anyshape {
namespace {

std::string text(const OpDef& op) {
  return (op.domain.empty() ? "" : std::string(op.domain) + ".") + std::string(op.name) + "-" +
         std::to_string(op.since);
}

TEST(AllOps, SortedAndUnique) {
  const auto records = all_ops().records();
  for (size_t i = 1; i < records.size(); ++i) {
    const auto key = [](const OpDef* op) { return std::tie(op->domain, op->name, op->since); };
    EXPECT_LT(key(records[i - 1]), key(records[i])) << text(*records[i]);
  }
}

TEST(AllOps, RecordsAreComplete) {
  for (const OpDef* op : all_ops().records()) {
    EXPECT_NE(op->infer, nullptr) << text(*op);
    EXPECT_FALSE(op->sig.out.empty()) << text(*op);
    EXPECT_FALSE(op->sig.doc.empty()) << text(*op);
    if (!op->kernels.empty()) {
      EXPECT_EQ(op->kernels.back().name, "reference") << text(*op);
    }
    for (const auto ports : {op->sig.in, op->sig.out})
      for (size_t i = 0; i + 1 < ports.size(); ++i) EXPECT_FALSE(ports[i].flags & Port::variadic) << text(*op);
  }
}

struct Schema {
  std::string domain, name;
  int since;
  size_t min_in, max_in, min_out, max_out;
};

size_t count(const std::string& field) { return field == "*" ? SIZE_MAX : std::stoul(field); }

std::vector<Schema> schemas() {
  std::ifstream file("tests/fixtures/onnx_schemas.tsv");
  std::vector<Schema> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
    out.push_back({row[0], row[1], std::stoi(row[2]), count(row[3]), count(row[4]), count(row[5]), count(row[6])});
  }
  return out;
}

size_t least(std::span<const Port> ports) {
  size_t n = 0;
  for (size_t i = 0; i < ports.size(); ++i)
    if (!(ports[i].flags & Port::optional)) n = i + 1;
  return n;
}

size_t most(std::span<const Port> ports) {
  return !ports.empty() && (ports.back().flags & Port::variadic) ? SIZE_MAX : ports.size();
}

TEST(AllOps, EveryOperatorVersionOfOnnxHasARecordThatTakesItsInputsAndOutputs) {
  const auto all = schemas();
  ASSERT_EQ(all.size(), 659u);
  for (const Schema& s : all) {
    const OpDef* op = all_ops().find(s.domain, s.name, s.since);
    ASSERT_NE(op, nullptr) << s.domain << "." << s.name << "-" << s.since;
    EXPECT_LE(least(op->sig.in), s.min_in) << text(*op) << " at " << s.since;
    EXPECT_GE(most(op->sig.in), s.max_in) << text(*op) << " at " << s.since;
    EXPECT_GE(most(op->sig.out), s.max_out) << text(*op) << " at " << s.since;
  }
}

}  // namespace
}  // namespace anyshape
