#include "ops/all.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
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

constexpr const char* kOnnxSchemas = "tests/fixtures/onnx_schemas.tsv";
constexpr const char* kMicrosoftSchemas = "tests/fixtures/microsoft_schemas.tsv";

struct Schema {
  std::string domain, name;
  int since;
  size_t min_in, max_in, min_out, max_out;
  std::map<std::string, std::string> attributes;  // the text of each by its name
};

size_t count(const std::string& field) { return field == "*" ? SIZE_MAX : std::stoul(field); }

std::map<std::string, std::string> attributes_of(const std::string& field) {
  std::map<std::string, std::string> out;
  for (size_t at = 0, end = 0; at < field.size(); at = end + 2) {
    end = std::min(field.find("; ", at), field.size());
    const std::string row = field.substr(at, end - at);
    out.emplace(row.substr(0, row.find(':')), row);
  }
  return out;
}

std::vector<Schema> schemas(const char* path) {
  std::ifstream file(path);
  std::vector<Schema> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
    row.resize(8);
    out.push_back({row[0], row[1], std::stoi(row[2]), count(row[3]), count(row[4]), count(row[5]), count(row[6]),
                   attributes_of(row[7])});
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
  const auto all = schemas(kOnnxSchemas);
  ASSERT_EQ(all.size(), 659u);
  for (const Schema& s : all) {
    const OpDef* op = all_ops().find(s.domain, s.name, s.since);
    ASSERT_NE(op, nullptr) << s.domain << "." << s.name << "-" << s.since;
    EXPECT_LE(least(op->sig.in), s.min_in) << text(*op) << " at " << s.since;
    EXPECT_GE(most(op->sig.in), s.max_in) << text(*op) << " at " << s.since;
    EXPECT_GE(most(op->sig.out), s.max_out) << text(*op) << " at " << s.since;
  }
}

// Defaults that a schema leaves to the operator's text, or to the reader.
const std::set<std::string> kBeyondSchemas = {
    "Clip max: float = 3.4028235e+38",
    "Clip min: float = -3.4028235e+38",
    "Concat axis: int = 1",
    "Split axis: int = 0",
    "SequenceEmpty dtype: int = 1",
    "TfIdfVectorizer max_gram_length: int = 1",
    "TfIdfVectorizer min_gram_length: int = 1",
    "Momentum mode: string = \"standard\"",
    "MatMulBnb4 block_size: int = 64",
    "MatMulBnb4 quant_type: int = 1",
    "MatMulNBits block_size: int = 128",
    "GroupNorm groups: int = 32",
    "SkipGroupNorm groups: int = 32",
    "QLinearSoftmax opset: int = 13",
    "Tokenizer mincharnum: int = 1",
    "StringSplit maxsplit: int = -1",
    "TreeEnsemble n_targets: int = 1",
    "TreeEnsembleRegressor n_targets: int = 1",
    "Attention mask_filter_value: float = -10000",
    "DecoderMaskedMultiHeadAttention mask_filter_value: float = -10000",
    "MultiHeadAttention mask_filter_value: float = -10000",
    "QAttention mask_filter_value: float = -10000",
};

bool in_force(const AttributeDef& row, int version) {
  return row.versions.since <= version && version <= row.versions.until;
}

// The record has the attributes of the schema, with its types and defaults, and no others.
void compare_attributes(const OpDef& op, const Schema& schema) {
  for (const auto& [attribute, wanted] : schema.attributes) {
    const AttributeDef* row = find_attribute(op.sig.attributes, attribute, schema.since);
    ASSERT_NE(row, nullptr) << wanted;
    EXPECT_TRUE(in_force(*row, schema.since)) << wanted;
    const std::string stated = text(*row);
    EXPECT_TRUE(stated == wanted || kBeyondSchemas.contains(schema.name + " " + stated))
        << stated << ", not " << wanted;
  }
  for (const AttributeDef& row : op.sig.attributes)
    EXPECT_TRUE(!in_force(row, schema.since) || schema.attributes.contains(std::string(row.name))) << text(row);
}

TEST(AllOps, AttributesAndTheirDefaultsAreThoseOfTheSchemas) {
  for (const char* path : {kOnnxSchemas, kMicrosoftSchemas})
    for (const Schema& schema : schemas(path)) {
      const OpDef* op = all_ops().find(schema.domain, schema.name, schema.since);
      SCOPED_TRACE(schema.domain + "." + schema.name + "-" + std::to_string(schema.since));
      if (op) compare_attributes(*op, schema);
    }
}

TEST(AllOps, NoAttributeIsListedTwiceForOneVersion) {
  for (const OpDef* op : all_ops().records())
    for (const AttributeDef& row : op->sig.attributes)
      EXPECT_EQ(find_attribute(op->sig.attributes, row.name, row.versions.since), &row) << text(*op) << " " << row.name;
}

// The names of attributes that the sources of a folder ask a Call for.
std::set<std::string> asked_for(const char* folder) {
  const std::regex reader(
      R"re(\.(i|f|s|ints|ints_or_default|floats|strings|tensor|sparse|graph|type_attr|has_attr)\("(\w+)"\))re");
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().string().ends_with("_test.cpp")) continue;
    std::ifstream file(entry.path());
    const std::string source((std::istreambuf_iterator<char>(file)), {});
    for (std::sregex_iterator it(source.begin(), source.end(), reader), end; it != end; ++it) out.insert((*it)[2]);
  }
  return out;
}

TEST(AllOps, WhatIsAskedForIsListed) {
  std::set<std::string_view> listed;
  for (const OpDef* op : all_ops().records())
    for (const AttributeDef& row : op->sig.attributes) listed.insert(row.name);
  for (const char* folder : {"src/ops", "src/target"}) {
    const auto names = asked_for(folder);
    EXPECT_GT(names.size(), 10u) << folder;
    for (const std::string& name : names) EXPECT_TRUE(listed.contains(name)) << name << " in " << folder;
  }
}

}  // namespace
}  // namespace anyshape
