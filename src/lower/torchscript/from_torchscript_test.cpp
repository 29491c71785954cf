#include "lower/torchscript/from_torchscript.h"

#include <gtest/gtest.h>

#include <map>

#include "base/os/file.h"
#include "format/onnx/from_graph.h"
#include "format/onnx/import.h"
#include "ir/graph.h"
#include "ops/all.h"

namespace anyshape::lower {
namespace {

using torchscript::Pickled;
using torchscript::Script;

constexpr int64_t kNewest = 10;

// An archive whose module has the given methods and no attributes but `n`, an int.
Script script_of(const std::string& methods) {
  const std::string source =
      "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  n : int\n" + methods +
      "class P(NamedTuple):\n  a : Tensor\n  b : Tensor\nclass C(Enum):\n  RED = 1\n  BLUE = 2\n";
  auto parsed = torchscript::parse_source(source, "m.py");
  EXPECT_TRUE(parsed) << parsed.error().text();
  Script script;
  script.version = kNewest;
  for (torchscript::Class& c : parsed->classes) script.classes.emplace("__torch__." + c.name, std::move(c));
  auto add = [&](Pickled::Kind kind, std::string text = {}, int64_t integer = 0) {
    Pickled& value = script.data.values.emplace_back();
    value.kind = kind;
    value.text = std::move(text);
    value.integer = integer;
    return &value;
  };
  Pickled* root = add(Pickled::Kind::object, "__torch__.M");
  Pickled* state = add(Pickled::Kind::dict);
  state->items = {add(Pickled::Kind::text, "n"), add(Pickled::Kind::integer, {}, 3)};
  root->items = {state};
  script.data.root = root;
  script.constants.root = &script.constants.values.emplace_back();
  script.constants.values.back().kind = Pickled::Kind::tuple;
  return script;
}

// "f32[b, 4]".
std::string text_of(const Declared& type) {
  if (!type.dims) return std::string(name(type.dtype));
  std::vector<std::string> sizes;
  for (const DeclaredDim& size : *type.dims) sizes.push_back(size.value ? std::to_string(*size.value) : size.name);
  return fmt::format("{}[{}]", name(type.dtype), fmt::join(sizes, ", "));
}

std::string names_of(const Graph& graph, const std::vector<ValueId>& ids) {
  std::string out;
  for (ValueId id : ids) out += fmt::format(" {}", id == kNoValue ? "-" : graph.values[id].name);
  return out;
}

// All that reading a file fills in; values by their names, whatever their order.
std::string described(const Graph& graph) {
  std::map<std::string, std::string> values;
  for (const Value& value : graph.values)
    values[value.name] =
        fmt::format("{} {}{}{}", value.declared ? text_of(*value.declared) : "undeclared",
                    value.producer == kNoValue ? "" : graph.label(graph.nodes[value.producer]),
                    value.is_initializer ? " initializer" : "", value.shape_relevant ? " relevant" : "");
  std::string out =
      fmt::format("{}({} ) ->{}\n", graph.name, names_of(graph, graph.inputs), names_of(graph, graph.outputs));
  for (const auto& [value, text] : values) out += fmt::format("{}: {}\n", value, text);
  for (const Node& node : graph.nodes) {
    out += fmt::format("{} {}.{} {}:{} ->{}\n", node.name, node.domain, node.type, node.version,
                       names_of(graph, node.in), names_of(graph, node.out));
    EXPECT_NE(node.op, nullptr) << node.type;
    for_each_body(node, [&](const Graph& body) {
      out += described(body);
      for (const auto& capture : body.captures)
        EXPECT_EQ(graph.values[capture.outer].name, body.values[capture.inner].name);
    });
  }
  return out;
}

// "OUTPUTS | NODES", or the code of the error.
std::string lowered(const std::string& body, const std::string& signature = "x: Tensor", int64_t version = kNewest) {
  Script script = script_of("  def forward(self: __torch__.M, " + signature + ") -> Tensor:\n" + body);
  script.version = version;
  Request request;
  request.inputs = {{"x", DType::f32, {"b", "s", "4"}, {}}};
  if (signature.find("k: int") != std::string::npos) request.inputs.push_back({"k", DType::i64, {}, "2"});
  const auto result = from_torchscript(script, request, all_ops());
  if (!result) return result.error().code;
  std::string out;
  for (ValueId id : result->graph->outputs)
    out += fmt::format("{}{}", out.empty() ? "" : " ", text_of(*result->graph->values[id].declared));
  out += " |";
  for (const Node& node : result->graph->nodes) out += fmt::format(" {}", node.type);
  for (const Guard& guard : result->guards) out += fmt::format(" [{}]", guard.text);
  return out;
}

TEST(FromTorchscript, OldArchivesKeepTheirMeaning) {
  const char* divided = "    y = torch.to(x, 4)\n    return torch.div(y, y)\n";
  EXPECT_EQ(lowered(divided, "x: Tensor", 3), "i64[b, s, 4] | Cast Div");
  EXPECT_EQ(lowered(divided, "x: Tensor", 4), "f32[b, s, 4] | Cast Cast Div");
  const char* halves = "    return torch.div(x, x)\n";
  EXPECT_EQ(lowered(halves, "x: Tensor", 3), lowered(halves, "x: Tensor", 4));
  const char* full = "    return torch.full([torch.size(x, 0)], 2)\n";
  EXPECT_EQ(lowered(full, "x: Tensor", 4).substr(0, 6), "f32[b]");
  EXPECT_EQ(lowered(full, "x: Tensor", 5).substr(0, 6), "i64[b]");
}

TEST(FromTorchscript, Programs) {
  const struct {
    const char *body, *expected;
  } rows[] = {
      {"    return torch.relu(x)\n", "f32[b, s, 4] | Relu"},
      // Sizes are expressions, also through tensors.
      {"    _0 = ops.prim.NumToTensor(torch.size(x, 1))\n    _1 = int(torch.mul(_0, _0))\n"
       "    return torch.zeros([_1, torch.floordiv(_1, 2)])\n",
       "f32[s*s, (s*s)//2] | Shape Mul Div Concat ConstantOfShape"},
      // Containers are concrete.
      {"    l = annotate(List[Tensor], [])\n    _0 = torch.append(l, x)\n    _1 = torch.append(l, torch.neg(x))\n"
       "    return torch.cat(l, torch.len(l))\n",
       "f32[b, s, 8] | Neg Concat"},
      {"    d = {\"a\": x}\n    torch._set_item(d, \"b\", torch.neg(x))\n    if torch.__contains__(d, \"b\"):\n"
       "      y = d[\"b\"]\n    else:\n      y = x\n    return y\n",
       "f32[b, s, 4] | Neg"},
      {"    p = __torch__.P(x, torch.neg(x))\n    a, b, = p\n    if torch.eq(__torch__.C.RED, __torch__.C.BLUE):\n"
       "      y = a\n    else:\n      y = b\n    return y\n",
       "f32[b, s, 4] | Neg"},
      // Known loops unroll, attributes are read.
      {"    y = x\n    for i in range(self.n):\n      y = torch.relu(y)\n    return y\n",
       "f32[b, s, 4] | Relu Relu Relu"},
      {"    i = 0\n    y = x\n    while torch.lt(i, 2):\n      y, i = torch.neg(y), torch.add(i, 1)\n    return y\n",
       "f32[b, s, 4] | Neg Neg"},
      // A check becomes a condition.
      {"    if torch.ne(torch.size(x, 1), 7):\n      ops.prim.RaiseException(\"seven\")\n    else:\n      pass\n"
       "    return torch.relu(x)\n",
       "f32[b, 7, 4] | Relu [s == 7]"},
      // Data decides.
      {"    if bool(torch.gt(torch.sum(x), 0)):\n      y = torch.relu(x)\n    else:\n      y = torch.neg(x)\n    "
       "return y\n",
       "f32[b, s, 4] | ReduceSum Greater If"},
      {"    y = x\n    for i in range(torch.size(x, 1)):\n      y = torch.relu(y)\n    return y\n",
       "f32[b, s, 4] | Shape Squeeze Loop"},
      // A list that such a loop fills.
      {"    l = annotate(List[Tensor], [])\n    for i in range(torch.size(x, 1)):\n"
       "      _0 = torch.append(l, torch.select(x, 1, i))\n    return torch.stack(l, 1)\n",
       "f32[b, s, 4] | Shape Squeeze Loop Transpose [s >= 1]"},
      // Sizes that grow, numbers that go around.
      {"    y = x\n    for i in range(torch.size(x, 1)):\n      y = torch.cat([y, x], 1)\n    return torch.relu(y)\n",
       "f32[b, *"},
      {"    i = 0\n    while bool(torch.gt(torch.sum(torch.mul(x, i)), 0)):\n      i = torch.add(i, 1)\n"
       "    return torch.mul(x, i)\n",
       "f32[b, s, 4] | *"},
      // Writing into a view changes the whole.
      {"    y = torch.neg(x)\n    _0 = torch.select(y, 2, 0)\n    _1 = torch.fill_(_0, 1)\n    return y\n",
       "f32[b, s, 4] | *"},
      {"    fut = fork(self.helper)\n    return x\n", "script.name"},
      {"    return torch.no_such_operator(x)\n", "aten.unknown"},
      {"    ops.prim.RaiseException(\"always\")\n    return x\n", "script.raise"},
      {"    l = [x]\n    return l[3]\n", "script.index"},
      {"    return y\n", "script.output"},
      {"    return ops.other.thing(x)\n", "export.custom"},
  };
  for (const auto& row : rows) {
    const std::string found = lowered(row.body);
    const std::string wanted = row.expected;
    if (wanted.ends_with("*")) {
      EXPECT_TRUE(found.starts_with(wanted.substr(0, wanted.size() - 1))) << row.body << found;
    } else {
      EXPECT_EQ(found, wanted) << row.body;
    }
  }
}

// What is proved of the graph holds for the file it is written to.
TEST(FromTorchscript, TheGraphIsWhatItsFileHolds) {
  for (const char* body :
       {"    return (torch.relu(x), x)\n", "    y = torch.relu(x)\n    return (y, torch.view(y, [-1]))\n",
        // An output that bodies read, nested ones too, and what is made for nothing.
        "    y = torch.relu(x)\n    unused = torch.exp(y)\n    z = y\n"
        "    if bool(torch.gt(torch.sum(x), 0)):\n      if bool(torch.gt(torch.sum(x), 1)):\n        z = torch.add(y, "
        "x)\n"
        "      else:\n        z = torch.neg(y)\n    else:\n      z = torch.mul(y, 2)\n    return (y, z)\n",
        "    y = x\n    for i in range(torch.size(x, 1)):\n      y = torch.add(torch.relu(y), torch.select(x, 1, "
        "i).sum())\n"
        "    return (y, torch.neg(y))\n"}) {
    const Script script = script_of(fmt::format("  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n{}", body));
    Request request;
    request.inputs = {{"x", DType::f32, {"b", "s", "4"}, {}}};
    const auto made = from_torchscript(script, request, all_ops());
    ASSERT_TRUE(made) << made.error().text();
    onnx::ModelHeader header;
    header.opsets = made->opsets;
    onnx::GraphFile written = onnx::from_graph(made->graph, header);
    written.file.file = MappedFile::from_bytes({});
    const auto read = onnx::import_model(written.file, all_ops());
    ASSERT_TRUE(read) << body << read.error().text();
    EXPECT_EQ(described(*made->graph), described(**read)) << body;
  }
}

TEST(FromTorchscript, PlainInputsAreValues) {
  EXPECT_EQ(lowered("    if torch.eq(k, 2):\n      y = torch.neg(x)\n    else:\n      y = x\n    return y\n",
                    "x: Tensor, k: int"),
            "f32[b, s, 4] | Neg");
  EXPECT_EQ(lowered("    if torch.__is__(y, None):\n      z = x\n    else:\n      z = unchecked_cast(Tensor, y)\n"
                    "    return torch.relu(z)\n",
                    "x: Tensor, y: Optional[Tensor]=None"),
            "f32[b, s, 4] | Relu");
}

TEST(FromTorchscript, TheLineOfTheSourceIsThePlace) {
  const Script script = script_of(
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    y = torch.relu(x)\n"
      "    return torch.no_such_operator(y)\n");
  Request request;
  request.inputs = {{"x", DType::f32, {"b"}, {}}};
  const auto result = from_torchscript(script, request, all_ops());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().place.find("m.py:7"), std::string::npos) << result.error().text();
}

TEST(FromTorchscript, MissingAndUnknownInputs) {
  const Script script = script_of("  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    return torch.relu(x)\n");
  Request request;
  auto result = from_torchscript(script, request, all_ops());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "input.missing");
  EXPECT_NE(result.error().hint.find("--input 'x=f32["), std::string::npos);
  request.inputs = {{"x", DType::f32, {"b"}, {}}, {"xs", DType::f32, {"b"}, {}}};
  result = from_torchscript(script, request, all_ops());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "input.unknown");
  request.inputs = {{"x", DType::f32, {"b"}, {}}};
  request.dynamic = {{"outptu", 0, "n"}};
  result = from_torchscript(script, request, all_ops());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "dynamic.unknown");
}

TEST(FromTorchscript, StateIsAnOutputAndCanBeAnInput) {
  const Script script = script_of(
      "  def forward(self: __torch__.M, x: Tensor) -> Tensor:\n    n = self.n\n    y = torch.mul(x, n)\n"
      "    self.n = torch.add(n, 1)\n    return y\n");
  Request request;
  request.inputs = {{"x", DType::f32, {"b"}, {}}};
  const auto result = from_torchscript(script, request, all_ops());
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->notes.size(), 1u);
  EXPECT_NE(result->notes[0].find("--input \"n=VALUE\""), std::string::npos) << result->notes[0];
}

}  // namespace
}  // namespace anyshape::lower
