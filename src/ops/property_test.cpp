#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

#include "ops/all.h"
#include "ops/testing.h"
#include "tensor/half.h"

// Random graphs of small integer arithmetic: whatever the rules claim about entries, bounds and legality must hold for
// what the kernels compute at concrete sizes.
namespace anyshape::ops {
namespace {

struct Step {
  std::string_view op;
  int64_t version;
  std::string_view in, attributes;  // in: one letter per input, i: i64, n: i32, f: f32, b: bool; capitals are constants
  char out;
};

constexpr Step kSteps[] = {
    {"Add", 14, "ii", "", 'i'},         {"Sub", 14, "ii", "", 'i'},
    {"Mul", 14, "iI", "", 'i'},         {"Mul", 14, "ii", "", 'i'},
    {"Div", 14, "iI", "", 'i'},         {"Div", 14, "ii", "", 'i'},
    {"Mod", 13, "iI", "", 'i'},         {"Mod", 13, "iI", "fmod=1", 'i'},
    {"Mod", 13, "ii", "", 'i'},         {"Min", 13, "iii", "", 'i'},
    {"Max", 13, "ii", "", 'i'},         {"Neg", 13, "i", "", 'i'},
    {"Abs", 13, "i", "", 'i'},          {"Sign", 13, "i", "", 'i'},
    {"Relu", 14, "i", "", 'i'},         {"Clip", 13, "iII", "", 'i'},
    {"Pow", 15, "iI", "", 'i'},         {"Where", 16, "bii", "", 'i'},
    {"Equal", 13, "ii", "", 'b'},       {"Less", 13, "ii", "", 'b'},
    {"Greater", 13, "ii", "", 'b'},     {"LessOrEqual", 16, "ii", "", 'b'},
    {"Less", 13, "ff", "", 'b'},        {"And", 7, "bb", "", 'b'},
    {"Or", 7, "bb", "", 'b'},           {"Xor", 7, "bb", "", 'b'},
    {"Not", 1, "b", "", 'b'},           {"Cast", 13, "i", "to=@f32", 'f'},
    {"Cast", 13, "i", "to=@i32", 'n'},  {"Cast", 13, "n", "to=@i64", 'i'},
    {"Cast", 13, "f", "to=@i64", 'i'},  {"Cast", 13, "b", "to=@i64", 'i'},
    {"Cast", 13, "i", "to=@bool", 'b'}, {"Mul", 14, "nn", "", 'n'},
    {"Add", 14, "nn", "", 'n'},         {"Mul", 14, "fF", "", 'f'},
    {"Div", 14, "fF", "", 'f'},         {"Add", 14, "ff", "", 'f'},
    {"Sub", 14, "fF", "", 'f'},         {"Floor", 13, "f", "", 'f'},
    {"Ceil", 13, "f", "", 'f'},         {"Round", 11, "f", "", 'f'},
    {"ReduceSum", 13, "i", "", 'i'},    {"ReduceProd", 13, "i", "", 'i'},
    {"ReduceMax", 13, "i", "", 'i'},    {"ReduceMin", 13, "i", "keepdims=0", 'i'},
    {"CumSum", 14, "iZ", "", 'i'},      {"BitwiseAnd", 18, "iI", "", 'i'},
    {"Identity", 13, "i", "", 'i'},     {"ArgMax", 13, "i", "", 'i'},
};

using Random = std::mt19937;
int64_t pick(Random& random, int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); }

Tensor float_tensor(float value) {
  auto tensor = Tensor::allocate(DType::f32, {});
  tensor->as_mutable<float>()[0] = value;
  return *std::move(tensor);
}

struct Case {
  Symbols symbols;
  Graph graph;
  Facts inputs;             // of the required inputs
  std::vector<char> kinds;  // of every value
  Dim a, b;

  ValueId add_value(char kind) {
    graph.values.emplace_back().name = fmt::format("v{}", graph.values.size());
    kinds.push_back(kind);
    return static_cast<ValueId>(graph.values.size() - 1);
  }
  ValueId add_constant(Tensor tensor) {
    const ValueId id = add_value(' ');
    graph.values[id].is_initializer = true;
    graph.values[id].constant = std::make_shared<const Fact>(Fact::of_constant(std::move(tensor)));
    return id;
  }
  ValueId add_input(Fact fact) {
    const ValueId id = add_value('i');
    graph.inputs.push_back(id);
    inputs.push_back(std::move(fact));
    return id;
  }
  std::optional<ValueId> any(Random& random, char kind) {
    std::vector<ValueId> found;
    for (ValueId id = 0; id < kinds.size(); ++id)
      if (kinds[id] == kind) found.push_back(id);
    if (found.empty()) return std::nullopt;
    return found[static_cast<size_t>(pick(random, 0, static_cast<int64_t>(found.size()) - 1))];
  }
};

std::optional<ValueId> operand(Case& c, Random& random, char letter) {
  constexpr float kFactors[] = {0.5f, 1.5f, 2, 3, 0.25f, 32, -1};
  if (letter == 'Z') return c.add_constant(Tensor::scalar(0));
  if (letter == 'I') return c.add_constant(Tensor::scalar(pick(random, -3, 8)));
  if (letter == 'F') return c.add_constant(float_tensor(kFactors[pick(random, 0, 6)]));
  return c.any(random, letter);
}

void add_step(Case& c, Random& random) {
  const Step& step = kSteps[pick(random, 0, static_cast<int64_t>(std::size(kSteps)) - 1)];
  Node node;
  node.type = std::string(step.op);
  node.version = step.version;
  node.op = all_ops().find("", step.op, step.version);
  ASSERT_NE(node.op, nullptr) << step.op;
  node.attributes = parse_attributes(step.attributes, c.symbols);
  for (char letter : step.in) {
    const auto id = operand(c, random, letter);
    if (!id) return;
    node.in.push_back(*id);
  }
  node.out.push_back(c.add_value(step.out));
  c.graph.nodes.push_back(std::move(node));
}

void make(Case& c, Random& random) {
  c.a = c.symbols.symbol("a");
  c.b = c.symbols.symbol("b");
  Fact sizes = Fact::of_elements(DType::i64, {3}, {c.a, c.b, pick(random, -4, 9)});
  sizes.from_shapes = true;
  c.add_input(std::move(sizes));
  Fact data = Fact::tensor(DType::i64, {2, 1});
  data.bounds = Bounds{-2, c.a};
  c.add_input(std::move(data));
  if (pick(random, 0, 2) == 0) {
    Fact range = Fact::tensor(DType::i64, {c.a});
    range.bounds = Bounds{0, c.a - 1, true};
    range.from_shapes = true;
    c.add_input(std::move(range));
  }
  const int64_t steps = pick(random, 1, 8);
  for (int64_t i = 0; i < steps; ++i) add_step(c, random);
  c.graph.finish();
}

// The outputs of the kernels alone, one node after the other.
Result<std::vector<Tensor>> compute(const Case& c, std::vector<Tensor> values) {
  for (const Node& node : c.graph.nodes) {
    std::vector<Tensor> in;
    Facts facts;
    for (ValueId id : node.in) {
      in.push_back(values[id]);
      facts.push_back(Fact::of_constant(values[id]));
    }
    std::vector<const Fact*> pointers;
    for (const Fact& fact : facts) pointers.push_back(&fact);
    Symbols symbols;
    Assumptions assumptions(symbols);
    Graph one;
    for (size_t i = 0; i < in.size(); ++i) {
      one.values.emplace_back();
      one.inputs.push_back(static_cast<ValueId>(i));
    }
    one.values.emplace_back();
    one.nodes.push_back(node);
    for (size_t i = 0; i < in.size(); ++i) one.nodes[0].in[i] = static_cast<ValueId>(i);
    one.nodes[0].out[0] = static_cast<ValueId>(in.size());
    Walk walk(assumptions);
    TRY(const Facts all, walk.run(one, facts));
    TRY(const auto out, run_reference(Call(node, "node", pointers), {in.begin(), in.end()}, {all.back()}));
    values[node.out[0]] = out[0].tensor();
  }
  return values;
}

double number_at(const Tensor& tensor, int64_t i) {
  return tensor.dtype() == DType::f32 ? tensor.at<float>(i) : static_cast<double>(tensor.int_at(i));
}

void compare(const Fact& fact, const Tensor& tensor, const Binding& binding, const std::string& what) {
  ASSERT_EQ(fact.dtype, tensor.dtype()) << what;
  ASSERT_EQ(fact.rank(), tensor.rank()) << what;
  for (size_t i = 0; i < tensor.rank(); ++i) ASSERT_EQ(evaluate((*fact.dims)[i], binding), tensor.dims()[i]) << what;
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double got = number_at(tensor, i);
    if (fact.elements) {
      const auto claimed = evaluate((*fact.elements)[static_cast<size_t>(i)], binding);
      ASSERT_TRUE(claimed) << what << " " << print(fact);
      const double value = static_cast<double>(*claimed) / static_cast<double>(fact.denominator);
      EXPECT_EQ(fact.dtype == DType::f32 ? static_cast<float>(value) : value, got) << what << " " << print(fact);
    }
    least = std::min(least, got);
    most = std::max(most, got);
    if (!fact.bounds) continue;
    const auto lo = evaluate(fact.bounds->lo, binding), hi = evaluate(fact.bounds->hi, binding);
    ASSERT_TRUE(lo && hi) << what;
    EXPECT_LE(static_cast<double>(*lo), got) << what << " " << print_all(fact);
    EXPECT_GE(static_cast<double>(*hi), got) << what << " " << print_all(fact);
    if (i + 1 < tensor.count() || !fact.bounds->attained) continue;
    EXPECT_EQ(static_cast<double>(*lo), least) << what << " " << print_all(fact);
    EXPECT_EQ(static_cast<double>(*hi), most) << what << " " << print_all(fact);
  }
}

void check_at(const Case& c, const Walk& walk, const Result<Facts>& facts, Random& random, int64_t a, int64_t b) {
  const Binding binding = [&](Dim symbol) { return std::optional(symbol == c.a ? a : b); };
  std::vector<Tensor> values(c.graph.values.size());
  for (ValueId id = 0; id < values.size(); ++id)
    if (c.graph.values[id].is_initializer) values[id] = *c.graph.values[id].constant->constant;
  const int64_t third = *(*c.inputs[0].elements)[2].constant();
  const int64_t sizes[] = {a, b, third}, data[] = {pick(random, -2, a), pick(random, -2, a)};
  values[0] = Tensor::of_ints({3}, sizes);
  values[1] = Tensor::of_ints({2, 1}, data);
  if (c.inputs.size() > 2) {
    std::vector<int64_t> range(static_cast<size_t>(a));
    std::iota(range.begin(), range.end(), 0);
    values[2] = Tensor::of_ints({a}, range);
  }
  const auto computed = compute(c, values);
  bool legal = facts.has_value();
  for (const Requirement& r : walk.requirements()) legal &= evaluate(r.condition, binding) != Tri::no;
  if (!computed) {
    // A divisor that depends on data is no matter of shapes.
    bool on_shapes = true;
    if (facts)
      for (const Node& node : c.graph.nodes)
        if (node.type == "Div" || node.type == "Mod") on_shapes &= (*facts)[node.in[1]].elements != nullptr;
    EXPECT_TRUE(!legal || !on_shapes) << computed.error().text();
    return;
  }
  EXPECT_TRUE(legal) << (facts ? "a requirement is too strong" : facts.error().text());
  if (!facts || !legal) return;
  for (const Node& node : c.graph.nodes)
    compare((*facts)[node.out[0]], (*computed)[node.out[0]], binding, c.graph.label(node));
}

TEST(Property, EntriesBoundsAndRequirementsHoldForTheKernels) {
  size_t known = 0, bounded = 0, total = 0;
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Case c;
    make(c, random);
    Assumptions assumptions(c.symbols);
    assumptions.assume(Condition::ge(c.a, 0) && Condition::ge(c.b, 0));
    Walk walk(assumptions);
    const auto facts = walk.run(c.graph, c.inputs);
    for (int64_t a : {0, 1, 2, 5, 32, 37})
      for (int64_t b : {0, 1, 3, 16}) {
        SCOPED_TRACE(fmt::format("a {}, b {}", a, b));
        check_at(c, walk, facts, random, a, b);
      }
    if (facts)
      for (const Node& node : c.graph.nodes) {
        ++total;
        known += (*facts)[node.out[0]].elements != nullptr;
        bounded += (*facts)[node.out[0]].bounds.has_value();
      }
    if (HasFailure()) break;
  }
  // Rules that claim nothing would pass all of the above.
  EXPECT_GT(known * 4, total);
  EXPECT_GT(bounded * 20, total);
}

}  // namespace
}  // namespace anyshape::ops
