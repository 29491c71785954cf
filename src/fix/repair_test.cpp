#include "fix/repair.h"

#include <gtest/gtest.h>

#include "check/checked_model.h"

namespace anyshape::fixes {
namespace {

// A Reshape to a constant, or an Add where there are two inputs.
struct Step {
  std::string_view out;
  std::vector<std::string_view> in;
  std::vector<int64_t> target = {};
};

onnx::ValueInfoProto value_info(std::string_view name, const std::vector<int64_t>& sizes) {
  onnx::TypeProto::Tensor tensor;
  tensor.elem_type = static_cast<int32_t>(DType::f32);
  onnx::TensorShapeProto shape;
  for (int64_t size : sizes) shape.dim.push_back({size, {}, {}, {}});
  tensor.shape = std::move(shape);
  onnx::TypeProto type;
  type.tensor_type = std::move(tensor);
  onnx::ValueInfoProto out;
  out.name = name;
  out.type = std::move(type);
  return out;
}

// x[1, 120, 64], the steps, and as outputs all that they make.
CheckedModel model_of(const std::vector<Step>& steps) {
  onnx::ModelProto proto;
  proto.ir_version = 8;
  proto.opset_import.push_back({"", 17, {}});
  onnx::GraphProto graph;
  graph.input.push_back(value_info("x", {1, 120, 64}));
  proto.graph = std::move(graph);
  Edit edit(std::move(proto));
  for (const Step& step : steps) {
    onnx::NodeProto node;
    node.op_type = step.in.size() == 1 ? "Reshape" : "Add";
    node.name = step.out;
    node.input = step.in;
    node.output = {step.out};
    if (step.in.size() == 1) {
      node.input.push_back(edit.keep(std::string(step.out) + "_to"));
      edit.add_constant(node.input[1], Tensor::of_ints({static_cast<int64_t>(step.target.size())}, step.target));
    }
    edit.graph().node.push_back(std::move(node));
    onnx::ValueInfoProto output;
    output.name = step.out;
    edit.graph().output.push_back(std::move(output));
  }
  onnx::ModelFile file;
  file.file = MappedFile::from_bytes({});
  file.proto = edit.proto;
  return *CheckedModel::make(std::move(file), {edit.owner()});
}

// What each round changes when axis 1 of x becomes seq, or the code of a refusal.
std::string rounds(const std::vector<Step>& steps) {
  const CheckedModel before = model_of(steps);
  Edit first(before.file.proto);
  const std::vector<Freed> freed = {*declare_dynamic(before.typed(), before.accepted(), {"x", 1, "seq"}, first)};
  CheckedModel model = *before.with(first.proto, first.owner());
  std::string out;
  while (true) {
    Edit edit(model.file.proto);
    const auto repaired = repair_all_seen(model.typed(), model.accepted(), freed, before.typed(), edit);
    if (!repaired) return out + repaired.error().code;
    if (repaired->empty()) return out;
    out += fmt::format("{} | ", fmt::join(*repaired, "; "));
    model = *model.with(edit.proto, edit.owner());
  }
}

TEST(Repair, AllThatIsSeenInOneRound) {
  const Step a{"a", {"x"}, {1, 120, 8, 8}}, b{"b", {"x"}, {1, 120, 4, 16}}, c{"c", {"a"}, {120, 64}};
  const Step cut{"cut", {"x"}, {1, 60, 128}}, sum{"sum", {"x", "x"}};
  const std::string of_a = "node \"a\" reshapes to [1, 0, 8, 8] instead of [1, 120, 8, 8]",
                    of_b = "node \"b\" reshapes to [1, 0, 4, 16] instead of [1, 120, 4, 16]",
                    of_c = "node \"c\" reshapes to [-1, 64] instead of [120, 64]";
  struct Row {
    std::vector<Step> steps;
    std::string rounds;
  };
  const Row rows[] = {
      {{sum}, ""},
      {{a}, of_a + " | "},
      {{a, b}, of_a + "; " + of_b + " | "},
      // What c reads is another thing once a is repaired.
      {{a, c}, of_a + " | " + of_c + " | "},
      {{a, b, c}, of_a + "; " + of_b + " | " + of_c + " | "},
      {{cut}, "fix.mixed"},
      {{a, cut}, of_a + " | fix.mixed"},
  };
  for (const Row& row : rows) EXPECT_EQ(rounds(row.steps), row.rounds);
}

}  // namespace
}  // namespace anyshape::fixes
