#include "ir/builder.h"

#include <gtest/gtest.h>

#include <set>

#include "ops/all.h"

namespace anyshape {
namespace {

// Split at commas outside of parentheses.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      out.emplace_back();
    else if (c != ' ' || depth > 0)
      out.back() += c;
  }
  return out;
}

// One graph of inputs whose sizes are text over symbols, all of them >= 0.
class Sheet {
 public:
  explicit Sheet(int64_t opset = 17) : assumptions_(symbols_), builder(all_ops(), assumptions_, opset) {}

  Dim size(const std::string& text) {
    std::string error;
    const auto dim = parse_dim(text, symbols_, &error);
    EXPECT_TRUE(dim) << text << ": " << error;
    return dim.value_or(0);
  }
  Dims sizes(std::string_view text) {
    Dims out;
    for (const std::string& part : parts_of(text)) out.push_back(size(part));
    return out;
  }
  Ref input(const std::string& name, std::string_view dims) {
    inputs_.push_back(sizes(dims));
    for (Dim d : inputs_.back())
      for (Dim s : d.symbols()) {
        assumptions_.assume(Condition::ge(s, 0));
        named_.insert(std::string(symbols_.name(s)));
      }
    return builder.input(name, Fact::tensor(DType::f32, inputs_.back()));
  }
  void assume(std::string_view text) {
    const auto condition = parse_condition(text, symbols_);
    ASSERT_TRUE(condition) << text;
    assumptions_.assume(*condition);
  }

  // The types of the nodes, in order; "error[CODE]" after a failure.
  std::string finish(Ref out) {
    auto made = builder.finish({{"y", out}});
    if (!made) return fmt::format("error[{}]", made.error().code);
    graph_ = *made;
    std::vector<std::string> types;
    for (const Node& node : graph_->nodes) types.push_back(node.type);
    return fmt::format("{}", fmt::join(types, " "));
  }
  // The sizes of the result by numbers alone; "refused" where they are.
  std::string at(const std::vector<std::pair<std::string, int64_t>>& values) {
    Symbols none;
    Assumptions nothing(none);
    Walk::Options options;
    options.numeric = true;
    Walk walk(nothing, options);
    Facts facts;
    for (const Dims& dims : inputs_) facts.push_back(Fact::tensor(DType::f32, numbers(dims, values)));
    const auto all = walk.run(*graph_, facts);
    if (!all) return "refused";
    return print(*(*all)[graph_->outputs[0]].dims);
  }
  Dims numbers(const Dims& dims, const std::vector<std::pair<std::string, int64_t>>& values) {
    const Binding binding = [&](Dim symbol) -> std::optional<int64_t> {
      for (const auto& [name, value] : values)
        if (symbols_.name(symbol) == name) return value;
      return std::nullopt;
    };
    Dims out;
    for (Dim d : dims) out.push_back(evaluate(d, binding).value_or(-1));
    return out;
  }

  // At a few sizes, 0 and 1 among them, the result has the sizes `wanted`; where one is 0 it may be refused.
  void try_sizes(std::string_view wanted, const std::string& row) {
    for (const int64_t first : {0, 1, 2, 3, 6})
      for (const int64_t second : {0, 1, 4, 5}) {
        std::vector<std::pair<std::string, int64_t>> values;
        for (const std::string& name : named_) values.emplace_back(name, values.size() % 2 == 0 ? first : second);
        const Dims target = numbers(sizes(wanted), values);
        if (!holds(values)) continue;
        const std::string got = at(values);
        if (got == "refused" && (first == 0 || second == 0)) continue;
        EXPECT_EQ(got, print(target)) << row << " at " << first << ", " << second;
      }
  }
  bool holds(const std::vector<std::pair<std::string, int64_t>>& values) {
    const Binding binding = [&](Dim symbol) -> std::optional<int64_t> {
      for (const auto& [name, value] : values)
        if (symbols_.name(symbol) == name) return value;
      return std::nullopt;
    };
    for (const Condition& condition : assumptions_.all())
      if (evaluate(condition, binding) != Tri::yes) return false;
    return true;
  }

 private:
  Symbols symbols_;
  Assumptions assumptions_;
  std::vector<Dims> inputs_;
  std::set<std::string> named_;
  std::shared_ptr<Graph> graph_;

 public:
  Builder builder;
};

struct Row {
  const char *from, *to, *nodes;
  const char* given = "";
  int64_t opset = 17;
};

TEST(Builder, Reshape) {
  for (const Row& row : std::initializer_list<Row>{
           {"b, s, 4", "b, s, 4", "Identity"},
           {"b, s, 64", "b, s, 4, 16", "Reshape"},
           {"b, s, 4, 16", "b, s, 64", "Reshape"},
           {"b, s, 4", "b*s, 4", "Flatten"},
           {"b, s, 4", "b, 4*s", "Flatten"},
           {"b, s, 4", "4*b*s", "Reshape"},
           {"b, s, 4", "b*s, 2, 2", "Reshape"},
           {"b, 1, s", "b, s", "Squeeze"},
           {"b, s", "b, 1, s, 1", "Unsqueeze"},
           {"b, 1, s", "b, s, 1", "Squeeze Unsqueeze"},
           {"b, 6, s", "b, 2, 3, s", "Unsqueeze Reshape"},
           {"b, 2, 3, s", "b, 6, s", "Reshape Squeeze"},
           {"2*s, 4", "s, 8", "Reshape"},
           {"b, 2*s, 4", "b, s, 8", "Reshape"},
           {"b, s, 4", "-1, 4", "Flatten"},
           {"b, s, 4", "b, -1", "Flatten"},
           {"b, s", "-1, 2", "Reshape", "b*s % 2 == 0"},
           {"b, s", "b, -1, 2", "Reshape", "s % 2 == 0"},
           {"2, 6", "3, 4", "Reshape"},
           {"b, 0", "0, b", "Shape Concat Reshape"},
           {"b, s", "b, s", "Identity", "", 11},
           {"b, 1, s", "b, s", "Squeeze", "", 11},
       }) {
    Sheet sheet(row.opset);
    const Ref x = sheet.input("x", row.from);
    if (*row.given) sheet.assume(row.given);
    const Ref y = sheet.builder.reshape(x, sheet.sizes(row.to));
    const std::string text = fmt::format("{} -> {}", row.from, row.to);
    EXPECT_EQ(sheet.finish(y), row.nodes) << text;
    std::vector<std::string> wanted;
    for (Dim d : sheet.builder.dims(y)) wanted.push_back(print(d));
    sheet.try_sizes(fmt::format("{}", fmt::join(wanted, ", ")), text);
    if (std::string_view(row.to).find("-1") == std::string_view::npos) sheet.try_sizes(row.to, text);
  }
}

// No size of the target can be left out of two: they are computed.
TEST(Builder, ReshapeThatNeedsSizes) {
  Sheet sheet;
  const Ref x = sheet.input("x", "b*s, 4");
  const Ref other = sheet.input("z", "b, s");
  const Ref y = sheet.builder.reshape(x, sheet.sizes("b, s, 4"));
  EXPECT_EQ(sheet.finish(sheet.builder.op("Add", {y, sheet.builder.unsqueeze(other, {2})})),
            "Shape Concat Reshape Unsqueeze Add");
  sheet.try_sizes("b, s, 4", "two sizes");
}

// A size that may be computed as 0 is meant as 0: Reshape would copy h in its place.
TEST(Builder, ReshapeToSizesThatMayBeZero) {
  Sheet sheet;
  const Ref x = sheet.input("x", "b, h, w, 8");
  const Ref y = sheet.builder.reshape(x, sheet.sizes("b, h//4, 4, w//4, 4, 8"));
  std::vector<std::string> sizes;
  for (Dim d : sheet.builder.dims(y)) sizes.push_back(print(d));
  EXPECT_EQ(fmt::format("{}", fmt::join(sizes, ", ")), "b, h//4, 4, w//4, 4, 8");
}

TEST(Builder, Expand) {
  for (const Row& row : std::initializer_list<Row>{
           {"b, s", "b, s", "Identity"},
           {"b, s", "1, b, s", "Unsqueeze"},
           {"b, 1", "b, 4", "Expand"},
           {"b, 1, 3", "2, b, 5, 3", "Expand"},
       }) {
    Sheet sheet;
    const Ref x = sheet.input("x", row.from);
    const Ref y = sheet.builder.expand(x, sheet.sizes(row.to));
    EXPECT_EQ(sheet.finish(y), row.nodes) << row.from << " -> " << row.to;
    sheet.try_sizes(row.to, row.from);
  }
}

TEST(Builder, ExpandIsLeftToOperatorsThatBroadcast) {
  Sheet sheet;
  const Ref x = sheet.input("x", "b, 1"), y = sheet.input("y", "b, s");
  const Ref wide = sheet.builder.expand(x, sheet.sizes("b, s"));
  EXPECT_EQ(sheet.finish(sheet.builder.op("Mul", {sheet.builder.op("Add", {wide, y}), wide})), "Add Mul");
  sheet.try_sizes("b, s", "both broadcast");
}

TEST(Builder, ExpandStaysWhereItGivesTheSize) {
  Sheet sheet;
  const Ref x = sheet.input("x", "b, 1"), y = sheet.input("y", "b, s");
  const Ref wide = sheet.builder.expand(x, sheet.sizes("b, s"));
  const Ref doubled = sheet.builder.op("Mul", {wide, sheet.builder.number(2.0, DType::f32)});
  EXPECT_EQ(sheet.finish(sheet.builder.concat({doubled, y}, 0)), "Shape Concat Expand Mul Concat");
  sheet.try_sizes("2*b, s", "gives the size");
}

struct SliceRow {
  const char* from;
  int64_t axis;
  const char *start, *end;
  int64_t step;
  const char *nodes, *to;
  const char* given = "";
};

TEST(Builder, Slice) {
  const std::string last = std::to_string(INT64_MAX);
  for (const SliceRow& row : std::initializer_list<SliceRow>{
           {"b, s", 1, "0", "s", 1, "Identity", "b, s"},
           {"b, s", 1, "0", last.c_str(), 1, "Identity", "b, s"},
           {"b, s", -1, "1", last.c_str(), 1, "Slice", "b, max(s - 1, 0)"},
           {"b, s", 1, "0", "s - 1", 1, "Slice", "b, s - 1", "s >= 1"},
           {"b, s", 1, "-2", last.c_str(), 1, "Slice", "b, min(s, 2)"},
           {"b, 5", 1, "-9", "9", 1, "Identity", "b, 5"},
           {"b, s", 1, "0", last.c_str(), 2, "Slice", "b, (s + 1)//2"},
           {"b, s", 1, "s - 3", "s", 1, "Slice", "b, 3", "s >= 3"},
           {"b, s", 1, "b", last.c_str(), 1, "Shape Slice", "b, max(s - b, 0)"},
       }) {
    Sheet sheet;
    const Ref x = sheet.input("x", row.from);
    if (*row.given) sheet.assume(row.given);
    const Ref y = sheet.builder.slice(x, row.axis, sheet.size(row.start), sheet.size(row.end), row.step);
    const std::string text = fmt::format("{}[{}:{}:{}]", row.from, row.start, row.end, row.step);
    EXPECT_EQ(sheet.finish(y), row.nodes) << text;
    sheet.try_sizes(row.to, text);
  }
}

TEST(Builder, SplitIntoEqualPartsNamesNoSizes) {
  for (const int64_t opset : {11, 13, 17, 18}) {
    Sheet sheet(opset);
    const Ref x = sheet.input("x", "b, 2*s");
    sheet.assume("s >= 1");
    const Refs parts = sheet.builder.split(x, 1, sheet.sizes("s, s"));
    EXPECT_EQ(sheet.finish(sheet.builder.op("Sub", {parts[1], parts[0]})), "Split Sub") << opset;
    sheet.try_sizes("b, s", "two parts");
  }
}

}  // namespace
}  // namespace anyshape
