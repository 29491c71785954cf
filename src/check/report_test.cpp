#include "anyshape/report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "check/lint.h"
#include "check/shapes_text.h"

namespace anyshape {
namespace {

Report baked() {
  Report report;
  report.model = "dir/a model.onnx";
  report.opset = 17;
  report.nodes = 7;
  report.inputs = {{"x", "f32[batch, seq, 1]", "f32", {{"batch", "seq", "1"}}}};
  report.outputs = {{"long", "f32[batch, 1]", "f32", {{"batch", "1"}}}};
  report.accepted.conditions = {
      {"seq == 120", {"seq"}, {{"/r1", "Reshape", "reshape.count", "why"}, {"/m", "MatMul", "matmul.inner", "too"}}},
      {"batch <= 8", {"batch"}, {{"/g", "Gather", "gather.range", "table"}}}};
  report.data_conditions = {{"/e", "Gather", "gather.index", "indices must be < 512"}};
  report.assumed = {{"seq >= 2", {{"seq", "x:1"}}, "net.py:3"}};
  report.findings = {{"pinned-axis", Severity::warning, "/r1", "it is pinned", "unpin it"}};
  return report;
}

TEST(ReportText, ShowsSetReasonsAndFindings) {
  EXPECT_EQ(to_text(baked()),
            "dir/a model.onnx: opset 17, 7 nodes\n"
            "  in   x     f32[batch, seq, 1]\n"
            "  out  long  f32[batch, 1]\n"
            "accepts x[batch, seq, 1] iff\n"
            "  seq == 120  because node \"/m\" (MatMul): too (and 1 more)\n"
            "  batch <= 8  because node \"/g\" (Gather): table\n"
            "exact: yes\n"
            "on the data:\n"
            "  node \"/e\" (Gather): indices must be < 512\n"
            "assumed by the exporter:\n"
            "  seq >= 2  (net.py:3)\n"
            "warning[pinned-axis] node \"/r1\": it is pinned. Fix: unpin it\n");
}

TEST(ReportText, ColoursOnlyWhenAsked) {
  EXPECT_EQ(to_text(baked()).find('\x1b'), std::string::npos);
  const std::string coloured = to_text(baked(), {true, true});
  EXPECT_NE(coloured.find("\x1b[1;33mwarning[pinned-axis]\x1b[0m"), std::string::npos);
}

TEST(ReportText, SaysWhatIsAcceptedWithoutConditions) {
  Report report = baked();
  report.accepted = {};
  EXPECT_NE(to_text(report).find("accepts every x[batch, seq, 1]\n"), std::string::npos);
  report.inputs[0].dims = {{"2", "3"}};
  report.accepted.one_shape = true;
  EXPECT_NE(to_text(report).find("accepts exactly x[2, 3]\n"), std::string::npos);
  report.accepted.never = true;
  EXPECT_NE(to_text(report).find("accepts no shape\n"), std::string::npos);
}

TEST(ReportText, SaysWhyItIsNotExact) {
  Report report = baked();
  report.accepted.exact = false;
  report.accepted.largest_axis = 32767;
  report.accepted.not_exact_because = {{"/m", "Mystery", "infer.missing", "no rule"}};
  EXPECT_NE(to_text(report).find("exact: no, the true set may be smaller, for axes up to 32767:\n"
                                 "  node \"/m\" (Mystery): no rule\n"),
            std::string::npos);
}

TEST(ReportJson, OneObjectOrAnArray) {
  EXPECT_TRUE(to_json({baked()}).starts_with("{\n  \"version\": 1,\n  \"model\": \"dir/a model.onnx\",\n"));
  EXPECT_TRUE(to_json({baked(), baked()}).starts_with("[\n  {\n    \"version\": 1,"));
  EXPECT_NE(to_json({baked()}).find("\"dims\": [\n        \"batch\",\n        \"seq\",\n        1\n      ]"),
            std::string::npos);
}

TEST(ReportSarif, HasRulesResultsAndEncodedPaths) {
  const std::string sarif = to_sarif({baked()});
  for (std::string_view part :
       {R"("version": "2.1.0")", R"("ruleId": "pinned-axis")", R"("level": "warning")",
        R"("uri": "dir/a%20model.onnx")", R"("text": "it is pinned. Fix: unpin it")", R"("name": "/r1")"})
    EXPECT_NE(sarif.find(part), std::string::npos) << part;
}

TEST(Rules, AreSortedAndUnique) {
  const auto& rules = lint_rules();
  const auto in_order = [](const LintRule& a, const LintRule& b) { return a.info.id >= b.info.id; };
  EXPECT_EQ(std::adjacent_find(rules.begin(), rules.end(), in_order), rules.end());
  for (const LintRule& rule : rules) {
    EXPECT_NE(rule.run, nullptr) << rule.info.id;
    EXPECT_FALSE(rule.info.sentence.empty()) << rule.info.id;
  }
}

TEST(Rules, IgnoreNamesARule) {
  EXPECT_EQ(parse_ignore("pinned-axis")->node, std::nullopt);
  const auto one = parse_ignore("pinned-axis@/enc@1/Reshape");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->rule, "pinned-axis");
  EXPECT_EQ(one->node, "/enc@1/Reshape");
  const auto wrong = parse_ignore("pined-axis");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text(), "error[check.rule] there is no rule \"pined-axis\". Try: --ignore pinned-axis");
}

TEST(ShapeText, Rows) {
  const std::pair<const char*, const char*> good[] = {
      {"x=1x120x1", "x=1x120x1"},     {"input:0=3", "input:0=3"}, {"a=b=0x2", "a=b=0x2"},
      {"x=scalar", "x=scalar"},       {"x=1,120,1", "x=1x120x1"}, {"a,b=1,2", "a,b=1x2"},
      {"x=[1, 120,1 ]", "x=1x120x1"}, {"x=[7]", "x=7"},           {"x=[]", "x=scalar"}};
  for (const auto& [text, printed] : good) {
    const auto shape = parse_shape_text(text);
    ASSERT_TRUE(shape) << text;
    EXPECT_EQ(to_text(Shapes{*shape}), printed);
  }
  for (const char* text : {"", "x", "x=", "=1", "x=1x", "x=xx", "x=-1", "x=1.5", "x=1X2", "x=99999999999999999999",
                           "x=[1", "x=1]", "x=[1x2]", "x=1,2x3", "x=1, 2", "x=[1,]", "x=[ ]"}) {
    const auto shape = parse_shape_text(text);
    ASSERT_FALSE(shape) << text;
    EXPECT_EQ(shape.error().kind, Error::Kind::usage);
    EXPECT_EQ(shape.error().code, "shape.syntax");
  }
}

TEST(ShapeText, Lines) {
  const auto good = parse_shape_lines("f", "{\"x\": [1, 2]}\n\n  \r\n{\"y\": [], \"z\": [0]}");
  ASSERT_TRUE(good);
  ASSERT_EQ(good->size(), 2u);
  EXPECT_EQ(to_text((*good)[1]), "y=scalar z=0");
  for (const char* line : {"{", "[1]", "1", "{\"x\": 1}", "{\"x\": [-1]}", "{\"x\": [1.5]}", "{\"x\": [\"1\"]}",
                           "{\"x\": [1]} {}", "{\"x\": [1], \"x\": [2]}", "{\"x\": [18446744073709551615]}", "\xff"}) {
    const auto bad = parse_shape_lines("f", std::string("{\"x\": [1]}\n\n") + line + "\n");
    ASSERT_FALSE(bad) << line;
    EXPECT_EQ(bad.error().code, "shapes.line");
    EXPECT_EQ(bad.error().place, "f:3");
  }
}

}  // namespace
}  // namespace anyshape
