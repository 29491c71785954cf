#include "picture/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ops/all.h"

namespace anyshape::picture {
namespace {

// A graph with one input, f32[batch, 4].
class Maker {
 public:
  Maker() {
    graph_->inputs = {value("x")};
    Declared declared;
    declared.kind = Fact::Kind::tensor;
    declared.dtype = DType::f32;
    declared.dims = {{std::nullopt, "batch"}, {4, ""}};
    graph_->values[0].declared = declared;
  }

  ValueId value(std::string name) {
    Value made;
    made.name = std::move(name);
    graph_->values.push_back(std::move(made));
    return static_cast<ValueId>(graph_->values.size() - 1);
  }

  ValueId constant(std::string name, std::vector<int64_t> entries) {
    const ValueId id = value(std::move(name));
    const auto count = static_cast<int64_t>(entries.size());
    graph_->values[id].constant = std::make_shared<const Fact>(Fact::of_constant(Tensor::of_ints({count}, entries)));
    graph_->values[id].is_initializer = true;
    return id;
  }

  ValueId node(std::string name, std::string type, std::vector<ValueId> in, std::string out,
               std::vector<Attribute> attributes = {}) {
    Node made;
    made.name = std::move(name);
    made.type = std::move(type);
    made.version = 17;
    made.op = all_ops().find("", made.type, 17);
    made.in = std::move(in);
    made.attributes = std::move(attributes);
    made.out = {value(std::move(out))};
    graph_->nodes.push_back(std::move(made));
    return graph_->nodes.back().out.front();
  }

  Typed typed(ValueId output) {
    graph_->outputs = {output};
    graph_->finish();
    return solve(graph_);
  }

 private:
  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
};

TEST(Page, TheJsonOfASmallGraph) {
  Maker maker;
  const ValueId sizes = maker.node("/shape", "Shape", {0}, "sizes");
  const ValueId a = maker.node("/net/a", "Relu", {0}, "a");
  const ValueId b = maker.node("/net/b", "Reshape", {a, sizes}, "b");
  EXPECT_EQ(picture_json(maker.typed(maker.node("/y", "Relu", {b}, "y"))), R"({"version": 1,
"top": 0,
"symbols": [
"batch"],
"sizes": [
["batch",[0]],
["4",[]],
["2",[]]],
"reasons": [
["input axis, dynamic"],
["input axis, declared as 4"],
["made by this node"],
["the same as ",""],
["the target's ",""],
["the target's literal 4"],
["reads ",""]],
"spots": [
0,0,0,0,0,-1,
0,1,0,1,1,-1,
1,0,0,2,2,-1,
2,0,0,0,3,0,
2,1,0,1,3,1,
3,0,0,0,4,9,
3,1,0,1,5,10,
4,0,0,0,3,5,
4,1,0,1,3,6,
1,0,1,0,6,0,
1,1,1,1,6,1],
"types": [
"f32",
"i64",
"Shape",
"Relu",
"Reshape"],
"entries": [
"",
"[batch, 4]"],
"attributes": [
[]],
"values": [
["x",0,0,2,-1,0,0,0],
["sizes",1,2,1,0,0,1,1],
["a",0,3,2,1,0,0,0],
["b",0,5,2,2,0,0,0],
["y",0,7,2,3,0,0,0]],
"nodes": [
["/shape",2,[0],[1],1,0],
["/net/a",3,[0],[2],0,0],
["/net/b",4,[2,1],[3],0,0],
["/y",3,[3],[4],0,0]],
"levels": [
["",-1,3,[[1,-1,1],[0,3,-1],[2,0,-1],[3,4,-1]],[[0,1,[3],0,[]],[1,3,[4],0,[]],[2,0,[0],0,[]]],[[2],[0],[1],[3]]],
["net",0,2,[[0,1,-1],[0,2,-1],[2,0,-1],[3,3,-1]],[[0,1,[2],0,[]],[1,3,[3],0,[]],[2,0,[0],0,[]]],[[2],[0],[1],[3]]]]})");
}

TEST(Page, AttributesAndEntriesHaveTexts) {
  Maker maker;
  const ValueId many = maker.constant("many", std::vector<int64_t>(20)), two = maker.constant("two", {-1, 4});
  const ValueId a = maker.node("/a", "Transpose", {0}, "a", {attr("perm", std::vector<int64_t>{1, 0})});
  const ValueId b = maker.node("/b", "Reshape", {a, two}, "b", {attr("allowzero", 0), attr("note", "<\n")});
  const ValueId c = maker.node("/c", "Relu", {b}, "c", {attr("list", std::vector<int64_t>(18, 7)), attr("alpha", 0.5)});
  maker.node("/d", "Size", {many}, "d");
  const std::string page = picture_json(maker.typed(c));
  for (const char* text :
       {R"(["perm = [1, 0]"])", R"(["allowzero = 0","note = \"<\\n\""])",
        R"(["list = [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, and 2 more]","alpha = 0.5"])", R"("[-1, 4]")"})
    EXPECT_NE(page.find(text), std::string::npos) << text << " in\n" << page;
}

TEST(Page, HostileNamesStayInsideTheirText) {
  const std::string hostile = "</script><!--<script>\u202e\x1b[2J\"\\\xff@data@\n";
  Maker maker;
  const Typed typed = maker.typed(maker.node(hostile, "Relu", {0}, hostile));
  Report report;
  report.model = hostile;
  report.inputs = {{hostile, hostile, "f32", {{hostile}}}};
  report.findings = {{"rule", Severity::error, hostile, hostile, hostile}};
  Report plain;
  const std::string page = check_page(report, &typed), same = check_page(plain, &typed);
  const auto count = [](std::string_view text, std::string_view wanted) {
    size_t out = 0;
    for (size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) ++out;
    return out;
  };
  EXPECT_EQ(count(page, "</script"), count(same, "</script"));
  EXPECT_EQ(count(page, "<script"), count(same, "<script"));
  EXPECT_EQ(count(page, "<!--"), 0u);
  EXPECT_EQ(count(page, "\u202e"), 0u);
  EXPECT_EQ(count(page, "\x1b"), 0u);
  EXPECT_EQ(count(page, "\xff"), 0u);
  EXPECT_EQ(count(page, "\"picture\": "), 1u) << "a name that looks like a place of the frame is not filled";
}

TEST(Page, NothingIsFetched) {
  Maker maker;
  const Typed typed = maker.typed(maker.node("/y", "Relu", {0}, "y"));
  const std::string page = check_page(Report(), &typed);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* way : {"http:", "https:", "src=", "href=", "url(", "@import", "fetch(", "innerHTML"})
    EXPECT_EQ(page.find(way), std::string::npos) << way;
}

TEST(Page, AFileThatCannotBeReadHasAPageToo) {
  Report report;
  report.readable = false;
  report.error = Error{Error::Kind::refused, "onnx.format", "m.onnx", "it is no model", {}};
  const std::string page = to_html(report);
  EXPECT_NE(page.find("\"picture\": null"), std::string::npos);
  EXPECT_NE(page.find("it is no model"), std::string::npos);
}

// Names as long as exporters make them.
TEST(Page, EightThousandNodesAreUnderFiveMegabytes) {
  Maker maker;
  ValueId last = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::string name = fmt::format("/model/encoder/layers.{}/attention/self/query/Add_{}", i / 40, i);
    last = i % 40 == 0 ? maker.node(name, "Relu", {last}, name + "_output_0")
                       : maker.node(name, "Add", {last, i % 3 ? last : 0}, name + "_output_0");
  }
  const Typed typed = maker.typed(last);
  EXPECT_LT(check_page(Report(), &typed).size(), 5'000'000u);
}

TEST(PlanPage, TimesAreThoseOfTheStepsOfOneName) {
  const auto page = [](std::optional<std::string_view> trace) {
    return plan_page({"m.onnx", "x=1x4", "{}", {"/a", "/b", "/a"}, trace});
  };
  const auto times = [&](std::string_view events) {
    const auto made = page(fmt::format(R"({{"traceEvents": [{}]}})", events));
    if (!made) return made.error().code + ": " + made.error().message;
    const size_t at = made->find("\"times\": ");
    return made->substr(at + 9, made->find('\n', at) - at - 10);
  };
  EXPECT_EQ(times(R"({"name": "/a", "dur": 1.5}, {"name": "/a", "dur": 2}, {"name": "/b", "dur": 0.25})"),
            "[3500,250,0]");
  EXPECT_EQ(times(R"({"name": "/c", "dur": 1})"),
            "plan.profile: it is not what anyshape run --profile writes: none of its names is a step of this plan");
  EXPECT_EQ(times(R"({"name": "/c"})"),
            "plan.profile: it is not what anyshape run --profile writes: an event has no name or no dur");
  EXPECT_EQ(page("[]").error().code, "plan.profile");
  EXPECT_EQ(page("{").error().code, "plan.profile");
  EXPECT_NE(page(std::nullopt)->find("\"times\": null"), std::string::npos);
}

}  // namespace
}  // namespace anyshape::picture
