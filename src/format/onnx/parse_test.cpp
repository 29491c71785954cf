#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "format/onnx/proto.h"
#include "format/onnx/walk.h"
#include "format/onnx/wire_test.h"

namespace anyshape::onnx {
namespace {

using wire::block;
using wire::hex;
using wire::number;

std::string text_of(const Encoded& encoded) {
  const std::vector<std::byte> bytes = encoded.bytes();
  EXPECT_EQ(bytes.size(), encoded.size());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(Parse, ReadsAModel) {
  const std::string source = wire::small_model();
  const auto model = parse_model(wire::bytes(source));
  ASSERT_TRUE(model.has_value()) << model.error().text();
  EXPECT_EQ(model->ir_version, 10);
  EXPECT_EQ(model->producer_name, "test");
  const GraphProto& graph = *model->graph;
  ASSERT_EQ(graph.node.size(), 1u);
  EXPECT_EQ(graph.node[0].op_type, "If");
  EXPECT_EQ(graph.node[0].attribute[0].g->node[0].op_type, "Relu");
  EXPECT_EQ(graph.node[0].attribute[1].ints, (std::vector<int64_t>{1, -1}));
  EXPECT_EQ(graph.input[0].type->tensor_type->shape->dim[1].dim_param, "seq");
  EXPECT_EQ(graph.initializer[0].dims, std::vector<int64_t>{2});
  EXPECT_EQ(model->functions[0].domain, "local");
  EXPECT_EQ(text_of(serialize(*model)), source);
  EXPECT_EQ(serialized_size(*model), source.size());
}

TEST(Parse, PointsIntoTheBuffer) {
  const std::string source = block(7, block(5, block(9, std::string(5000, 'w')) + block(8, "name")));
  const auto model = parse_model(wire::bytes(source));
  ASSERT_TRUE(model.has_value());
  const TensorProto& tensor = model->graph->initializer[0];
  EXPECT_GE(static_cast<const void*>(tensor.name.data()), static_cast<const void*>(source.data()));
  EXPECT_LT(static_cast<const void*>(tensor.name.data()), static_cast<const void*>(source.data() + source.size()));
  const Encoded encoded = serialize(*model);
  bool referred = false;
  for (Bytes piece : encoded.pieces()) referred = referred || piece.data() == tensor.raw_data.data();
  EXPECT_TRUE(referred) << "raw_data was copied";
}

TEST(Parse, KeepsPresence) {
  const auto empty = parse_model(wire::bytes(""));
  ASSERT_TRUE(empty.has_value());
  EXPECT_FALSE(empty->ir_version.has_value());
  EXPECT_EQ(empty->producer_name.data(), nullptr);
  EXPECT_EQ(serialize(*empty).size(), 0u);
  const std::string source = number(1, 0) + block(2, "") + block(7, "");
  const auto model = parse_model(wire::bytes(source));
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->ir_version, 0);
  EXPECT_NE(model->producer_name.data(), nullptr);
  EXPECT_TRUE(static_cast<bool>(model->graph));
  EXPECT_EQ(text_of(serialize(*model)), source);
}

TEST(Parse, CopiesAreDeep) {
  const std::string source = wire::small_model();
  const auto model = parse_model(wire::bytes(source));
  ASSERT_TRUE(model.has_value());
  ModelProto copy = *model;
  copy.graph->node[0].attribute[0].g->name = "changed";
  EXPECT_EQ(text_of(serialize(*model)), source);
  EXPECT_FALSE(equal(*model, copy));
}

// Message after message of protobuf's own rules: what goes in, what it means once written back.
struct Rewrite {
  const char* name;
  std::string in;
  std::string out;
};

TEST(Parse, FollowsProtobufsRules) {
  const auto dim = [](const std::string& content) {
    return block(7, block(11, block(2, block(1, block(2, block(1, content))))));
  };
  const auto attribute = [](const std::string& content) { return block(7, block(1, block(5, content))); };
  const Rewrite rows[] = {
      {"the last scalar wins", number(1, 3) + number(1, 4), number(1, 4)},
      {"messages merge", block(7, block(2, "a")) + block(7, block(10, "d")), block(7, block(2, "a") + block(10, "d"))},
      {"the last of a oneof wins", dim(block(2, "n") + number(1, 5)), dim(number(1, 5))},
      {"the last of a oneof wins, turned", dim(number(1, 5) + block(2, "n")), dim(block(2, "n"))},
      {"unknown fields go last", number(900, 1) + number(1, 3), number(1, 3) + number(900, 1)},
      {"another wire type is unknown", block(1, "abc") + number(7, 1), block(1, "abc") + number(7, 1)},
      {"unpacked floats are packed", block(7, block(5, hex("25 00 00 80 3f 25 00 00 00 40"))),
       block(7, block(5, block(4, hex("00 00 80 3f 00 00 00 40"))))},
      {"packed dims are unpacked", block(7, block(5, block(1, hex("02 03")))),
       block(7, block(5, number(1, 2) + number(1, 3)))},
      {"unpacked ints, another field between them",
       attribute(hex("40 05 40 80 01 40 ff ff ff ff ff ff ff ff ff 01") + number(20, 7) + hex("40 03") +
                 hex("42 02 04 06")),
       attribute(number(8, 5) + number(8, 128) + number(8, -1) + number(8, 3) + number(8, 4) + number(8, 6) +
                 number(20, 7))},
      {"unpacked floats of an attribute",
       attribute(hex("3d 00 00 80 3f 3d 00 00 00 40") + number(20, 7) + hex("3d 00 00 40 40")),
       attribute(hex("3d 00 00 80 3f 3d 00 00 00 40 3d 00 00 40 40") + number(20, 7))},
      {"int32 is cut to 32 bits", block(7, block(5, number(2, (int64_t{1} << 32) + 7))),
       block(7, block(5, number(2, 7)))},
      {"an empty packed field vanishes", block(7, block(5, block(4, ""))), block(7, block(5, ""))},
      {"a long varint is the same number", hex("08 83 80 00"), number(1, 3)},
  };
  for (const Rewrite& row : rows) {
    const auto model = parse_model(wire::bytes(row.in));
    ASSERT_TRUE(model.has_value()) << row.name << ": " << model.error().text();
    EXPECT_EQ(text_of(serialize(*model)), row.out) << row.name;
  }
}

struct Refused {
  std::string in;
  const char* code;
  const char* place;
};

TEST(Parse, RefusesBrokenBytes) {
  const std::string overrun = hex("12 05 61");
  const Refused rows[] = {
      {hex("08"), "onnx.truncated", ""},
      {hex("12 05 61 62"), "onnx.truncated", ""},
      {hex("08 80 80"), "onnx.truncated", ""},
      {hex("12 ff ff ff ff 0f"), "onnx.truncated", ""},
      {hex("12 ff ff ff ff ff ff ff ff ff 01"), "onnx.truncated", ""},
      {hex("12 81 80 80 80 10 61"), "onnx.truncated", ""},  // a length of 2^32 + 1
      {hex("3d 01 02"), "onnx.truncated", ""},
      {hex("39 01 02 03 04"), "onnx.truncated", ""},
      {hex("08 ff ff ff ff ff ff ff ff ff ff ff 01"), "onnx.malformed", ""},
      {hex("0b 0c"), "onnx.malformed", ""},              // a group
      {hex("0f 01"), "onnx.malformed", ""},              // wire type 7
      {hex("00 01"), "onnx.malformed", ""},              // field 0
      {hex("88 80 80 80 10 01"), "onnx.malformed", ""},  // field 2^29 + 1
      {block(7, overrun), "onnx.malformed", "graph"},
      {block(7, block(1, "") + block(1, block(5, "") + block(5, overrun))), "onnx.malformed",
       "graph.node[1].attribute[1]"},
      {block(7, block(5, block(4, "abc"))), "onnx.malformed", "graph.initializer[0]"},
      {block(7, block(5, block(1, hex("80")))), "onnx.malformed", "graph.initializer[0]"},
      {block(25, "") + block(25, block(7, hex("08"))), "onnx.malformed", "functions[1].node[0]"},
      // Lists that are not packed, cut off in the middle of an entry, and behind a tag.
      {block(7, block(1, block(5, hex("40 05 40 80")))), "onnx.malformed", "graph.node[0].attribute[0]"},
      {block(7, block(1, block(5, hex("40 05 40")))), "onnx.malformed", "graph.node[0].attribute[0]"},
      {block(7, block(1, block(5, hex("40 05 40 ff ff ff ff ff ff ff ff ff ff 01")))), "onnx.malformed",
       "graph.node[0].attribute[0]"},
      {block(7, block(1, block(5, hex("3d 00 00 80 3f 3d 00 00 00")))), "onnx.malformed", "graph.node[0].attribute[0]"},
  };
  for (const Refused& row : rows) {
    const wire::Exact source(row.in);
    const auto model = parse_model(source.bytes());
    ASSERT_FALSE(model.has_value()) << testing::PrintToString(row.in);
    EXPECT_EQ(model.error().code, row.code) << model.error().text();
    EXPECT_EQ(model.error().place, row.place) << model.error().text();
    EXPECT_EQ(model.error().kind, Error::Kind::refused);
  }
}

TEST(Parse, EveryPrefixIsAnErrorOrAModel) {
  const std::string source = wire::small_model();
  size_t refused = 0;
  for (size_t length = 0; length < source.size(); ++length) {
    const wire::Exact prefix(std::string_view(source).substr(0, length));
    const auto model = parse_model(prefix.bytes());
    if (model) {
      EXPECT_EQ(serialized_size(*model), length);
    } else {
      EXPECT_EQ(model.error().code, "onnx.truncated");
      ++refused;
    }
  }
  EXPECT_EQ(refused, source.size() - 5) << "five top-level fields: five prefixes are complete, the empty one included";
}

std::string subgraphs(int levels) {
  std::string graph = block(2, "innermost");
  for (int i = 0; i < levels; ++i) graph = block(1, block(5, block(6, graph)));
  return block(7, graph);
}

TEST(Parse, DeepNestingIsRefused) {
  EXPECT_TRUE(parse_model(wire::bytes(subgraphs(60))).has_value());
  for (int levels : {70, 5000}) {
    const auto model = parse_model(wire::bytes(subgraphs(levels)));
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code, "onnx.depth");
    EXPECT_EQ(model.error().place.substr(0, 32), "graph.node[0].attribute[0].g.nod");
    EXPECT_LT(model.error().text().size(), 400u);
  }
}

TEST(Parse, AnEmptyMessageBombIsRefused) {
  std::string tensors;
  for (int i = 0; i < 2'000'000; ++i) tensors += hex("2a 00");
  const std::string source = block(7, tensors);
  const auto model = parse_model(wire::bytes(source));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, "onnx.memory");
}

void expect_stable(std::string_view source) {
  const wire::Exact exact(source);
  const auto model = parse_model(exact.bytes());
  if (!model) return;
  const std::vector<std::byte> written = serialize(*model).bytes();
  const auto again = parse_model(written);
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_TRUE(equal(*model, *again));
}

TEST(Parse, RandomBytes) {
  constexpr uint32_t kSeed = 20240817;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 20'000; ++i) {
    std::string source(random() % 64, '\0');
    for (char& c : source) c = static_cast<char>(random() % 4 == 0 ? random() : random() % 32);
    expect_stable(source);
  }
}

TEST(Parse, ChangedBytes) {
  constexpr uint32_t kSeed = 77;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const std::string source = wire::small_model();
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = source;
    for (uint32_t k = 0; k <= random() % 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
    expect_stable(changed);
  }
}

}  // namespace
}  // namespace anyshape::onnx
