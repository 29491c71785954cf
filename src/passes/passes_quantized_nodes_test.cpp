#include "passes/passes_testing.h"
#include "passes/print.h"
#include "run/cpu/target.h"

namespace anyshape {
namespace {

using testing::check_passes;

constexpr std::string_view kParameters =
    "constant s f32[] = [0.5]\n"
    "constant z u8[] = [3]\n"
    "constant t f32[] = [0.25]\n"
    "constant u u8[] = [0]\n";

// Nodes alone, without the types of values and labels.
std::string nodes_of(const Graph& graph, const Facts& facts) {
  std::string out, text = print_graph(graph, facts);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    const std::string line = text.substr(at + 2, end - at - 2);
    at = end + 1;
    if (const size_t arrow = line.find(" <- "); arrow != std::string::npos)
      out += line.substr(0, line.find(' ')) + line.substr(arrow, line.rfind("  \"") - arrow) + "\n";
  }
  return out;
}

// The graph before the pass, and the one node that is left of it; empty: it stays as it is.
struct Row {
  std::string before, after = "";
};

void check_nodes(std::initializer_list<Row> rows) {
  PassOptions options;
  options.verify = true;
  for (const Pass& pass : all_passes())
    if (pass.name != "quantized") options.without.emplace_back(pass.name);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.before);
    const Typed typed = solve(testing::parse_graph(std::string(kParameters) + row.before));
    ASSERT_FALSE(typed.refusal()) << typed.refusal()->text();
    const auto program = rewritten(typed, cpu::target(), options);
    ASSERT_TRUE(program) << program.error().text();
    EXPECT_EQ(nodes_of(*program->graph, program->facts),
              row.after.empty() ? nodes_of(typed.graph(), typed.facts()) : row.after + "\n");
  }
}

constexpr std::string_view kConv =
    "input x u8[n, 2, 9, 9]\n"
    "constant w i8[3, 2, 3, 3]\n"
    "constant ws f32[3] = [1, 2, 4]\n"
    "constant wz i8[3] = [0, 0, 0]\n"
    "a <- DequantizeLinear(x, s, z)\n"
    "b <- DequantizeLinear(w, ws, wz) axis=0\n";

TEST(QuantizedNodes, Convolution) {
  const std::string head(kConv);
  check_nodes({
      {head + "c <- Conv(a, b) pads=[1, 1, 1, 1]\ny <- QuantizeLinear(c, t, u)\noutput y",
       "y <- QLinearConv(x, s, z, w, ws, wz, t, u) pads=[1, 1, 1, 1]"},
      // A bias that is a whole number of products of both scales.
      {head + "constant f f32[3] = [0.5, 3, -8]\nc <- Conv(a, b, f)\ny <- QuantizeLinear(c, t, u)\noutput y",
       "y <- QLinearConv(x, s, z, w, ws, wz, t, u, c.bias)"},
      // A Relu that does nothing beyond the range of the output.
      {head + "c <- Conv(a, b)\nd <- Relu(c)\ny <- QuantizeLinear(d, t, u)\noutput y",
       "y <- QLinearConv(x, s, z, w, ws, wz, t, u)"},
  });
  // A Relu that does something; somebody else reads the result; a bias that is no whole number; scales along another
  // axis; a scale of the input that is not constant.
  check_nodes({
      {head + "c <- Conv(a, b)\nd <- Relu(c)\ny <- QuantizeLinear(d, t, z)\noutput y"},
      {head + "c <- Conv(a, b)\ny <- QuantizeLinear(c, t, u)\noutput y, c"},
      {head + "constant f f32[3] = [0.5, 0.7, 1]\nc <- Conv(a, b, f)\ny <- QuantizeLinear(c, t, u)\noutput y"},
      {"input x u8[n, 3, 9, 9]\nconstant w i8[3, 3, 3, 3]\nconstant ws f32[3] = [1, 2, 4]\n"
       "a <- DequantizeLinear(x, s, z)\nb <- DequantizeLinear(w, ws) axis=1\nc <- Conv(a, b)\n"
       "y <- QuantizeLinear(c, t, u)\noutput y"},
      {"input x u8[n, 3, 9, 9]\ninput xs f32[]\nconstant w i8[3, 3, 3, 3]\nconstant ws f32[] = [1]\n"
       "a <- DequantizeLinear(x, xs, z)\nb <- DequantizeLinear(w, ws)\nc <- Conv(a, b)\n"
       "y <- QuantizeLinear(c, t, u)\noutput y"},
  });
}

TEST(QuantizedNodes, Products) {
  const std::string head =
      "input x u8[n, 4]\nconstant w i8[4, 3]\nconstant ws f32[3] = [1, 2, 4]\nconstant wz i8[3] = [0, 0, 0]\n"
      "a <- DequantizeLinear(x, s, z)\nb <- DequantizeLinear(w, ws, wz) axis=-1\n";
  check_nodes({
      {head + "c <- MatMul(a, b)\ny <- QuantizeLinear(c, t, u)\noutput y",
       "y <- QLinearMatMul(x, s, z, w, ws, wz, t, u)"},
      {head + "c <- Gemm(a, b)\ny <- QuantizeLinear(c, t, u)\noutput y",
       "y <- com.microsoft.QGemm(x, s, z, w, ws, wz, -, t, u)"},
  });
  check_nodes({
      {head + "c <- Gemm(a, b) alpha=2.0\ny <- QuantizeLinear(c, t, u)\noutput y"},
      {head + "c <- MatMul(a, b)\nd <- Exp(c)\ny <- QuantizeLinear(d, t, u)\noutput y"},
  });
}

TEST(QuantizedNodes, Others) {
  const std::string head =
      "input x u8[n, 4, 8, 8]\ninput v u8[n, 4, 8, 8]\na <- DequantizeLinear(x, s, z)\nb <- DequantizeLinear(v, t, "
      "u)\n";
  check_nodes({
      {head + "c <- Add(a, b)\ny <- QuantizeLinear(c, t, z)\noutput y",
       "y <- com.microsoft.QLinearAdd(x, s, z, v, t, u, t, z)"},
      {head + "c <- Mul(a, b)\ny <- QuantizeLinear(c, t, z)\noutput y",
       "y <- com.microsoft.QLinearMul(x, s, z, v, t, u, t, z)"},
      {head + "c <- Concat(a, b) axis=1\ny <- QuantizeLinear(c, t, z)\noutput y",
       "y <- com.microsoft.QLinearConcat(t, z, x, s, z, v, t, u) axis=1"},
      {head + "c <- GlobalAveragePool(a)\ny <- QuantizeLinear(c, t, u)\noutput y",
       "y <- com.microsoft.QLinearGlobalAveragePool(x, s, z, t, u)"},
      {head + "c <- Sigmoid(a)\ny <- QuantizeLinear(c, t, u)\noutput y",
       "y <- com.microsoft.QLinearSigmoid(x, s, z, t, u)"},
      {head + "c <- MaxPool(a) kernel_shape=[2, 2]\ny <- QuantizeLinear(c, s, z)\noutput y",
       "y <- MaxPool(x) kernel_shape=[2, 2]"},
      {head + "c <- Flatten(a)\ny <- QuantizeLinear(c, s, z)\noutput y", "y <- Flatten(x)"},
  });
  // Other scales, other types.
  check_nodes({
      {head + "c <- MaxPool(a) kernel_shape=[2, 2]\ny <- QuantizeLinear(c, t, z)\noutput y"},
      {head + "constant i i8[] = [0]\nc <- Add(a, b)\ny <- QuantizeLinear(c, t, i)\noutput y"},
      {head + "constant tiny f32[] = [0.0001]\nc <- Add(a, b)\ny <- QuantizeLinear(c, tiny, u)\noutput y"},
  });
}

// Weights of products are dequantised whatever they grow by; other constants are not.
TEST(QuantizedNodes, FoldedWeights) {
  const std::string head =
      "input x f32[n, 1024]\nconstant w i8[1024, 1024]\nconstant s f32[] = [0.5]\nb <- DequantizeLinear(w, s)\n";
  check_passes("fold dead", {{head + "y <- MatMul(x, b)\noutput y", "constant b f32[1024, 1024]\ny <- MatMul(x, b)"},
                             {head + "y <- Add(x, b)\noutput y"},
                             {head + "y <- MatMul(x, b)\nv <- Add(x, b)\noutput y, v"}});
}

}  // namespace
}  // namespace anyshape
