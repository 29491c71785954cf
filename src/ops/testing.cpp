#include "ops/testing.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "ops/all.h"
#include "tensor/real.h"

namespace anyshape::ops {
namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// Splits at `separator` outside of brackets and quotes.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\'') quoted = !quoted;
    if (quoted) continue;
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c != separator || depth != 0) continue;
    parts.push_back(trim(text.substr(start, i - start)));
    start = i + 1;
  }
  parts.push_back(trim(text.substr(start)));
  return parts;
}

std::vector<std::string_view> list_items(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || text.front() != '[') {
    ADD_FAILURE() << "a list is expected: " << text;
    return {};
  }
  const auto inner = trim(text.substr(1, text.size() - 2));
  return inner.empty() ? std::vector<std::string_view>() : split(inner, ',');
}

std::optional<int64_t> as_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> as_double(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0') return std::nullopt;
  return value;
}

Dim parse_one(std::string_view text, Symbols& symbols) {
  std::string error;
  const auto dim = parse_dim(text, symbols, &error);
  if (!dim) ADD_FAILURE() << text << ": " << error;
  return dim.value_or(Dim(0));
}

Dims parse_list(std::string_view text, Symbols& symbols) {
  Dims dims;
  for (auto item : list_items(text)) dims.push_back(parse_one(item, symbols));
  return dims;
}

// A constant, when every item is a plain number or string.
Tensor constant_of(DType dtype, const Dims& dims, const std::vector<std::string_view>& items) {
  std::vector<int64_t> sizes;
  for (Dim d : dims) {
    if (!d.is_constant()) return {};
    sizes.push_back(*d.constant());
  }
  if (element_count(sizes) != static_cast<int64_t>(items.size())) return {};
  auto tensor = Tensor::allocate(dtype, sizes);
  if (!tensor) return {};
  for (size_t i = 0; i < items.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (dtype == DType::string) {
      tensor->strings_mutable()[i] = std::string(items[i]);
    } else if (is_float(dtype)) {
      const auto value = as_double(items[i]);
      if (!value) return {};
      if (!set_real(*tensor, at, *value)) ADD_FAILURE() << "float entries of type " << name(tensor->dtype());
    } else {
      const auto value = as_int(items[i]);
      if (!value) return {};
      tensor->set_int(at, *value);
    }
  }
  return *std::move(tensor);
}

void parse_entries(std::string_view text, Symbols& symbols, Fact& fact) {
  text = trim(text);
  const size_t close = text.rfind(']');
  const auto items = list_items(text.substr(0, close + 1));
  const auto rest = trim(text.substr(close + 1));
  const auto denominator = rest.empty() ? std::optional<int64_t>(1) : as_int(trim(rest.substr(1)));
  if (!denominator) ADD_FAILURE() << "a denominator is expected: " << rest;
  if (rest.empty()) {
    if (Tensor tensor = constant_of(fact.dtype, *fact.dims, items)) {
      fact = Fact::of_constant(std::move(tensor));
      return;
    }
  }
  Dims values;
  for (auto item : items) values.push_back(parse_one(item, symbols));
  fact = Fact::of_elements(fact.dtype, *fact.dims, std::move(values), denominator.value_or(1));
  fact.from_shapes = true;
}

Fact parse_tensor(std::string_view text, Symbols& symbols) {
  const size_t open = text.find('[');
  const auto dtype = parse_dtype(trim(text.substr(0, open)));
  if (open == std::string_view::npos || !dtype) {
    ADD_FAILURE() << "no fact: " << text;
    return {};
  }
  const size_t close = text.find(']', open);
  const auto dims = text.substr(open, close + 1 - open);
  const auto rest = trim(text.substr(close + 1));
  if (dims == "[...]") return Fact::tensor_of_unknown_rank(*dtype);
  Fact fact = Fact::tensor(*dtype, parse_list(dims, symbols));
  const bool attained = rest.starts_with("over ");
  if (attained || rest.starts_with("in ")) {
    const size_t start = rest.find(' '), dots = rest.find("..");
    fact.bounds = Bounds{parse_one(trim(rest.substr(start, dots - start)), symbols),
                         parse_one(rest.substr(dots + 2), symbols), attained};
    fact.from_shapes = attained;
  } else if (rest.starts_with("=")) {
    parse_entries(rest.substr(1), symbols, fact);
  }
  return fact;
}

Attribute::Value parse_list_value(std::string_view text) {
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  const auto items = list_items(text);
  for (auto item : items) {
    if (const auto i = as_int(item)) ints.push_back(*i);
    if (const auto f = as_double(item)) floats.push_back(static_cast<float>(*f));
    strings.emplace_back(item);
  }
  if (ints.size() == items.size()) return ints;
  if (floats.size() == items.size()) return floats;
  return strings;
}

Attribute::Value parse_value(std::string_view text, Symbols& symbols) {
  if (text.starts_with("@")) return static_cast<int64_t>(parse_dtype(text.substr(1)).value_or(DType::undefined));
  if (text.starts_with("[")) return parse_list_value(text);
  if (const auto i = as_int(text)) return *i;
  if (text.size() >= 2 && text.front() == '\'') return std::string(text.substr(1, text.size() - 2));
  if (parse_dtype(text.substr(0, text.find('['))) && text.find('[') != std::string_view::npos)
    return parse_fact(text, symbols).as_tensor();
  if (const auto f = as_double(text)) return static_cast<float>(*f);
  return std::string(text);
}

bool is_error(std::string_view out) { return out.starts_with("error[") || out.starts_with("unknown["); }

struct Built {
  Graph graph;
  Facts inputs;
};

void build_node(const Row& row, Symbols& symbols, Graph& graph) {
  Node node;
  const size_t colon = row.op.find(':');
  if (colon != std::string::npos) node.domain = row.op.substr(0, colon);
  node.type = colon == std::string::npos ? row.op : row.op.substr(colon + 1);
  node.version = row.version;
  node.op = all_ops().find(node.domain, node.type, node.version);
  node.attributes = parse_attributes(row.attributes, symbols);
  graph.nodes.push_back(std::move(node));
}

Built build(const Row& row, Symbols& symbols) {
  Built built;
  Graph& graph = built.graph;
  graph.strict = row.strict;
  build_node(row, symbols, graph);
  Node& node = graph.nodes[0];
  const auto in = trim(row.in).empty() ? std::vector<std::string_view>() : split(row.in, ';');
  for (auto text : in) {
    if (text.empty()) {
      node.in.push_back(kNoValue);
      continue;
    }
    node.in.push_back(static_cast<ValueId>(graph.values.size()));
    graph.inputs.push_back(node.in.back());
    graph.values.emplace_back().name = fmt::format("in{}", node.in.size() - 1);
    built.inputs.push_back(parse_fact(text, symbols));
  }
  const size_t outputs = is_error(row.out) ? 1 : split(row.out, ';').size();
  for (size_t i = 0; i < outputs; ++i) {
    node.out.push_back(static_cast<ValueId>(graph.values.size()));
    graph.outputs.push_back(node.out.back());
    graph.values.emplace_back().name = fmt::format("out{}", i);
  }
  graph.finish();
  for (Value& value : graph.values) value.shape_relevant = true;
  return built;
}

void assume_sizes(Assumptions& assumptions, const Facts& facts) {
  const auto assume = [&](Dim d) {
    for (Dim symbol : d.symbols()) assumptions.assume(Condition::ge(symbol, 0));
  };
  for (const Fact& fact : facts) {
    if (fact.dims)
      for (Dim d : *fact.dims) assume(d);
    if (fact.elements)
      for (Dim d : *fact.elements) assume(d);
    if (fact.bounds) assume(fact.bounds->lo), assume(fact.bounds->hi);
    if (fact.item) assume_sizes(assumptions, {*fact.item});
  }
}

std::string join(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, "; ")); }

std::string needs_of(const Walk& walk) {
  std::vector<std::string> parts;
  for (const auto& r : walk.requirements()) parts.push_back(r.condition.is_opaque() ? "opaque" : print(r.condition));
  for (const auto& r : walk.data_conditions()) parts.push_back(fmt::format("data[{}]", r.code));
  for (const auto& r : walk.leniencies()) parts.push_back(fmt::format("lenient[{}]", r.code));
  return join(parts);
}

std::string print_outputs(const Graph& graph, const Facts& facts) {
  std::vector<std::string> parts;
  for (ValueId id : graph.outputs) parts.push_back(print_all(facts[id]));
  return join(parts);
}

void append_constant(const Tensor& tensor, std::string& out) {
  if (tensor.count() > 64) return;
  std::vector<std::string> parts;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (tensor.dtype() == DType::string)
      parts.push_back(tensor.strings()[static_cast<size_t>(i)]);
    else if (const auto value = real_at(tensor, i))
      parts.push_back(fmt::format("{:g}", std::isnan(*value) ? std::fabs(*value) : *value));
    else
      return;
  }
  out += fmt::format(" = [{}]", fmt::join(parts, ", "));
}

Result<std::string> run_kernel(const Built& built, Facts& facts) {
  const Node& node = built.graph.nodes[0];
  std::vector<Datum> in;
  std::vector<const Fact*> in_facts;
  for (ValueId id : node.in) {
    in.push_back(id == kNoValue ? Datum() : Datum(facts[id].as_tensor()));
    in_facts.push_back(id == kNoValue ? nullptr : &facts[id]);
  }
  Facts out_facts;
  for (ValueId id : node.out) out_facts.push_back(facts[id]);
  const std::string label = built.graph.label(node);
  TRY(const auto out, run_reference(Call(node, label, in_facts), in, out_facts));
  std::vector<std::string> parts;
  for (const Datum& datum : out) parts.push_back(print_all(Fact::of_constant(datum.tensor())));
  return join(parts);
}

}  // namespace

Fact parse_fact(std::string_view text, Symbols& symbols) {
  text = trim(text);
  if (text == "?") return {};
  if (text.starts_with("seq(")) return Fact::sequence(parse_fact(text.substr(4, text.size() - 5), symbols));
  if (text.starts_with("optional(")) return Fact::optional(parse_fact(text.substr(9, text.size() - 10), symbols));
  return parse_tensor(text, symbols);
}

std::vector<Attribute> parse_attributes(std::string_view text, Symbols& symbols) {
  std::vector<Attribute> attributes;
  for (auto part : split(text, ' ')) {
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      ADD_FAILURE() << "no attribute: " << part;
      continue;
    }
    attributes.push_back({std::string(part.substr(0, equals)), parse_value(part.substr(equals + 1), symbols)});
  }
  return attributes;
}

std::string print_all(const Fact& fact) {
  std::string out = print(fact);
  if (!fact.is_tensor() || fact.elements) return out;
  if (fact.constant) append_constant(*fact.constant, out);
  if (fact.bounds)
    out += fmt::format(" {} {}..{}", fact.bounds->attained ? "over" : "in", print(fact.bounds->lo),
                       print(fact.bounds->hi));
  return out;
}

RowAnswer answer(const Row& row) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  const Built built = build(row, symbols);
  assume_sizes(assumptions, built.inputs);
  Walk walk(assumptions);
  const auto facts = walk.run(built.graph, built.inputs);
  if (!facts) return {fmt::format("error[{}]", facts.error().code), ""};
  if (!walk.undecided().empty()) return {fmt::format("unknown[{}]", walk.undecided()[0].why.code), needs_of(walk)};
  return {print_outputs(built.graph, *facts), needs_of(walk)};
}

std::string kernel_answer(const Row& row) {
  Symbols symbols;
  Assumptions assumptions(symbols);
  const Built built = build(row, symbols);
  Graph rule_only = built.graph;
  for (Value& value : rule_only.values) value.shape_relevant = false;
  Walk walk(assumptions);
  auto facts = walk.run(rule_only, built.inputs);
  if (!facts) return fmt::format("error[{}]", facts.error().code);
  const auto out = run_kernel(built, *facts);
  return out ? *out : fmt::format("error[{}]", out.error().code);
}

void check_rows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{}-{} ({}) {}", row.op, row.version, row.in, row.attributes));
    const RowAnswer got = answer(row);
    EXPECT_EQ(got.out, row.out);
    EXPECT_EQ(got.needs, row.needs);
  }
}

void check_kernel_rows(std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{}-{} ({}) {}", row.op, row.version, row.in, row.attributes));
    EXPECT_EQ(kernel_answer(row), row.out);
  }
}

}  // namespace anyshape::ops
