#include "picture/levels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <sstream>

namespace anyshape::picture {
namespace {

// "a/b:0>1 a:1,0>2": nodes with their groups and the values they read and make; value 0 is the input.
Drawn drawn_of(const std::string& text) {
  Drawn out;
  out.inputs = {0};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    Drawn::Node node;
    node.id = static_cast<uint32_t>(out.nodes.size());
    std::istringstream groups(word.substr(0, word.find(':')));
    for (std::string group; std::getline(groups, group, '/');) node.groups.push_back(group);
    std::string rest = word.substr(word.find(':') + 1);
    std::istringstream in(rest.substr(0, rest.find('>')));
    for (std::string value; std::getline(in, value, ',');) node.in.push_back(static_cast<uint32_t>(std::stoul(value)));
    node.out = {static_cast<uint32_t>(std::stoul(rest.substr(rest.find('>') + 1)))};
    out.outputs = node.out;
    out.nodes.push_back(node);
  }
  return out;
}

// "{0 a{1 2}}": nodes by number, groups by title, values that come in or go out left away.
std::string text_of(const std::vector<Level>& levels, uint32_t at) {
  std::string out = levels[at].title + "{";
  for (const Item& item : levels[at].items) {
    if (item.kind == Item::Kind::node) out += fmt::format(" {}", item.id);
    if (item.kind == Item::Kind::group) out += ' ' + text_of(levels, item.level);
  }
  return out + " }";
}

struct LevelsRow {
  const char* nodes;
  const char* levels;
};

TEST(Levels, Rows) {
  const LevelsRow rows[] = {
      {"", "{ }"},
      {":0>1 :1>2", "{ 0 1 }"},
      {"a:0>1 a:1>2 :2>3", "{ a{ 0 1 } 2 }"},
      {"a:0>1 :1>2", "{ 0 1 }"},                     // a single node is no group
      {"a/b:0>1 a/b:1>2 :2>3", "{ a/b{ 0 1 } 2 }"},  // nothing stands between a and b
      {"a/b:0>1 a/b:1>2 a/c:2>3 a/c:3>4", "{ a{ b{ 0 1 } c{ 2 3 } } }"},
      {"a:0>1 a:1>2 b:2>3 a:3>4 a:4>5", "{ a{ 0 1 } 2 a (2){ 3 4 } }"},  // through b and back
      {"a:0>1 b:0>2 a:1>3 b:2>4", "{ a{ 0 2 } b{ 1 3 } }"},              // beside each other
      {"a:0>1 b:1>2 a:0>3 b:3>4", "{ a{ 0 2 } b{ 1 3 } }"},              // a before b, twice
      {"a:0>1 b:0>2 a:2>3 b:1>4", "{ a{ 0 2 } 1 3 }"},                   // crosswise
  };
  for (const LevelsRow& row : rows) {
    std::vector<Level> levels;
    const uint32_t top = add_levels(drawn_of(row.nodes), "", kNone, levels);
    EXPECT_EQ(text_of(levels, top), row.levels) << row.nodes;
  }
}

TEST(Levels, ValuesCrossALevelByItsInputsAndOutputs) {
  std::vector<Level> levels;
  const uint32_t top = add_levels(drawn_of("a:0>1 a:1>2 :2>3"), "", kNone, levels);
  const auto text = [](const Level& level) {
    std::string out;
    for (const Wire& wire : level.wires) {
      const auto name = [&](uint32_t item) {
        constexpr const char* kKinds[] = {"node", "group", "in", "out"};
        return kKinds[static_cast<int>(level.items[item].kind)];
      };
      out += fmt::format("{}>{}:{} ", name(wire.ends.from), name(wire.ends.to), fmt::join(wire.values, ","));
    }
    return out;
  };
  EXPECT_EQ(text(levels[top]), "group>node:2 node>out:3 in>group:0 ");
  EXPECT_EQ(text(levels[levels[top].items[0].level]), "node>node:1 node>out:2 in>node:0 ");
  EXPECT_EQ(levels[levels[top].items[0].level].parent, top);
  EXPECT_EQ(levels[top].nodes, 3u);
}

TEST(Levels, AnOutputThatIsAnInput) {
  Drawn drawn;
  drawn.inputs = drawn.outputs = {7};
  std::vector<Level> levels;
  const Level& level = levels[add_levels(drawn, "", kNone, levels)];
  ASSERT_EQ(level.wires.size(), 1u);
  EXPECT_EQ(level.items[level.wires[0].ends.from].kind, Item::Kind::input);
  EXPECT_EQ(level.items[level.wires[0].ends.to].kind, Item::Kind::output);
}

}  // namespace
}  // namespace anyshape::picture
