#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ops/all.h"
#include "ops/testing.h"

// Every record of the table on random facts and attributes, most of them wrong: any answer will do, none may crash.
namespace anyshape::ops {
namespace {

using Random = std::mt19937;
int64_t pick(Random& random, int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); }

template <class T, size_t n>
const T& one_of(Random& random, const T (&list)[n]) {
  return list[static_cast<size_t>(pick(random, 0, static_cast<int64_t>(n) - 1))];
}

constexpr char kLetter = 'x';
constexpr int64_t kNumbers[] = {0,
                                1,
                                2,
                                3,
                                4,
                                5,
                                7,
                                8,
                                16,
                                -1,
                                -2,
                                -3,
                                100,
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min(),
                                int64_t{1} << 40};
constexpr std::string_view kWords[] = {"",         "LEFT", "SAME_UPPER", "VALID", "ij,jk->ik", "...i->i",
                                       "none",     "mean", "linear",     "cubic", "DCR",       "bidirectional",
                                       "constant", "wrap", "asymmetric", "-> ->"};

Dim random_dim(Random& random, Symbols& symbols) {
  constexpr std::string_view kSymbols[] = {"a", "b", "c"};
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 8, 1, 2, 1000, int64_t{1} << 40};
  const Dim symbol = symbols.symbol(one_of(random, kSymbols));
  switch (pick(random, 0, 7)) {
    case 0:
    case 1:
      return symbol;
    case 2:
      return symbol * Dim(2) + Dim(1);
    default:
      return one_of(random, kSizes);
  }
}

DType random_dtype(Random& random) {
  constexpr DType kCommon[] = {DType::f32, DType::i64, DType::i64,   DType::boolean,
                               DType::f32, DType::i32, DType::string};
  return pick(random, 0, 4) == 0 ? static_cast<DType>(pick(random, 0, kDTypeCount - 1)) : one_of(random, kCommon);
}

Tensor random_tensor(Random& random, DType dtype) {
  std::vector<int64_t> dims;
  for (int64_t i = pick(random, 0, 2); i > 0; --i) dims.push_back(pick(random, 0, 4));
  auto tensor = Tensor::allocate(dtype, dims);
  if (!tensor) return {};
  for (int64_t i = 0; i < tensor->count(); ++i) {
    if (dtype == DType::string) tensor->strings_mutable()[static_cast<size_t>(i)] = std::string(1, kLetter);
    if (dtype == DType::f32)
      tensor->as_mutable<float>()[static_cast<size_t>(i)] = static_cast<float>(one_of(random, kNumbers));
    if (is_integer(dtype) || dtype == DType::boolean)
      tensor->set_int(i, dtype == DType::boolean ? pick(random, 0, 1) : one_of(random, kNumbers));
  }
  return *std::move(tensor);
}

Fact random_fact(Random& random, Symbols& symbols, int depth = 0) {
  const DType dtype = random_dtype(random);
  const int64_t kind = pick(random, 0, 19);
  if (kind == 0) return {};
  if (kind == 1 && depth < 2) return Fact::sequence(random_fact(random, symbols, depth + 1));
  if (kind == 2 && depth < 2) return Fact::optional(random_fact(random, symbols, depth + 1));
  if (kind == 3) return Fact::tensor_of_unknown_rank(dtype);
  if (kind <= 8 && dtype != DType::undefined) return Fact::of_constant(random_tensor(random, dtype));
  if (kind <= 12 && (is_integer(dtype) || dtype == DType::boolean || dtype == DType::f32)) {
    Dims values;
    for (int64_t i = pick(random, 0, 5); i > 0; --i)
      values.push_back(dtype == DType::boolean ? Dim(1) : random_dim(random, symbols) - Dim(pick(random, 0, 2)));
    const Dims dims{static_cast<int64_t>(values.size())};
    Fact fact = Fact::of_elements(dtype, dims, values,
                                  dtype == DType::f32 ? one_of(random, {int64_t{1}, int64_t{2}, int64_t{3}}) : 1);
    fact.from_shapes = true;
    return fact;
  }
  Dims dims;
  for (int64_t i = pick(random, 0, 5); i > 0; --i) dims.push_back(random_dim(random, symbols));
  Fact fact = Fact::tensor(dtype, dims);
  if (is_integer(dtype) && pick(random, 0, 1) == 0) fact.bounds = Bounds{one_of(random, kNumbers), symbols.symbol("a")};
  return fact;
}

template <class T, class Draw>
std::vector<T> random_list(Random& random, Draw draw) {
  std::vector<T> list;
  for (int64_t i = pick(random, 0, 6); i > 0; --i) list.push_back(draw());
  return list;
}

Attribute::Value random_value(Random& random, AttributeDef::Kind kind) {
  const auto number = [&] { return one_of(random, kNumbers); };
  const auto real = [&] { return one_of(random, {0.0f, 1.5f, -1.0f, std::numeric_limits<float>::quiet_NaN(), 1e30f}); };
  const auto word = [&] { return std::string(one_of(random, kWords)); };
  switch (kind) {
    case AttributeDef::integer:
      return number();
    case AttributeDef::real:
      return real();
    case AttributeDef::string:
      return word();
    case AttributeDef::tensor:
      return random_tensor(random, random_dtype(random));
    case AttributeDef::reals:
      return random_list<float>(random, real);
    case AttributeDef::strings:
      return random_list<std::string>(random, word);
    default:
      return random_list<int64_t>(random, number);
  }
}

// Some of the operator's attributes, now and then with a value of another kind.
std::vector<Attribute> random_attributes(const OpDef& op, Random& random) {
  constexpr AttributeDef::Kind kKinds[] = {AttributeDef::integer, AttributeDef::real,  AttributeDef::string,
                                           AttributeDef::tensor,  AttributeDef::reals, AttributeDef::integers};
  std::vector<Attribute> out;
  for (const AttributeDef& attribute : op.sig.attributes) {
    if (pick(random, 0, 2) == 0) continue;
    const AttributeDef::Kind kind = pick(random, 0, 29) == 0 ? one_of(random, kKinds) : attribute.kind;
    out.push_back({std::string(attribute.name), random_value(random, kind)});
  }
  return out;
}

void try_once(const OpDef& op, int64_t version, Random& random) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  for (auto name : {"a", "b", "c"}) assumptions.assume(Condition::ge(symbols.symbol(name), 0));
  Graph graph;
  Facts inputs;
  Node node;
  node.domain = op.domain;
  node.type = op.name;
  node.version = version;
  node.op = &op;
  const auto ports = static_cast<int64_t>(op.sig.in.size());
  const int64_t arity = pick(random, 0, 3) == 0 ? pick(random, 0, ports + 2) : ports;
  for (int64_t i = 0; i < arity; ++i) {
    if (pick(random, 0, 9) == 0) {
      node.in.push_back(kNoValue);
      continue;
    }
    node.in.push_back(static_cast<ValueId>(graph.values.size()));
    graph.inputs.push_back(node.in.back());
    graph.values.emplace_back();
    inputs.push_back(pick(random, 0, 2) == 0 && !inputs.empty() ? inputs.back() : random_fact(random, symbols));
  }
  for (int64_t i = pick(random, 1, 3); i > 0; --i) {
    node.out.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.emplace_back();
  }
  node.attributes = random_attributes(op, random);
  graph.nodes.push_back(std::move(node));
  graph.finish();
  for (Value& value : graph.values) value.shape_relevant = true;
  Walk::Options options;
  options.fold_bytes = 1 << 16;
  options.loop_limit = 16;
  Walk walk(assumptions, options);
  const auto facts = walk.run(graph, inputs);
  EXPECT_TRUE(facts || !facts.error().code.empty()) << op.name;
}

// The last version at which that record is in force, as far as operators are known.
int64_t last_version(const OpDef& op) {
  int64_t version = op.since;
  while (version < 40 && all_ops().find(op.domain, op.name, version + 1) == &op) ++version;
  return version;
}

// A rule that asks for an attribute its record does not list ends the process.
TEST(Hostile, NoRecordCrashes) {
  for (const OpDef* op : all_ops().records())
    for (unsigned seed = 0; seed < 200; ++seed) {
      SCOPED_TRACE(fmt::format("{} {} seed {}", op->name, op->since, seed));
      Random random(seed);
      try_once(*op, seed % 2 == 0 ? op->since : last_version(*op), random);
    }
}

}  // namespace
}  // namespace anyshape::ops
