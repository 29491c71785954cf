#include "passes/testing.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/convert.h"
#include "ops/all.h"
#include "ops/testing.h"

namespace anyshape::testing {
namespace {

constexpr int64_t kVersion = 17;

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// What stands before `end`, which goes as well.
std::string_view take(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return trim(head);
}

class Parser {
 public:
  std::shared_ptr<const Graph> run(std::string_view text) {
    while (!text.empty()) {
      std::string_view line = take(text, "\n");
      if (!line.empty()) read(line);
    }
    graph_->finish();
    return graph_;
  }

 private:
  void read(std::string_view line) {
    if (line.find("<-") != std::string_view::npos) return read_node(line);
    const std::string_view what = take(line, " ");
    if (what == "output") {
      while (!line.empty()) graph_->outputs.push_back(use(take(line, ",")));
      return;
    }
    const ValueId id = add(take(line, " "));
    const Fact fact = ops::parse_fact(line, symbols_);
    if (what == "constant") return set_constant(graph_->values[id], fact);
    EXPECT_EQ(what, "input");
    graph_->inputs.push_back(id);
    graph_->values[id].declared = declared(fact);
  }

  static Declared declared(const Fact& fact) {
    Declared out{fact.kind, fact.dtype, std::nullopt, nullptr};
    if (!fact.dims) return out;
    out.dims.emplace();
    for (Dim dim : *fact.dims) out.dims->push_back({dim.constant(), dim.is_constant() ? "" : print(dim)});
    return out;
  }

  static void set_constant(Value& value, const Fact& fact) {
    Tensor tensor = fact.as_tensor();
    if (!tensor) {
      Tensor ones = *Tensor::allocate(DType::i64, fact.numeric_dims().value());
      for (int64_t i = 0; i < ones.count(); ++i) ones.set_int(i, 1);
      tensor = *Tensor::allocate(fact.dtype, ones.dims());
      EXPECT_TRUE(kernels::convert(ones, tensor));
    }
    value.is_initializer = true;
    value.constant = std::make_shared<const Fact>(Fact::of_constant(std::move(tensor)));
  }

  void read_node(std::string_view line) {
    std::string_view outs = take(line, "<-"), op = take(line, "("), ins = take(line, ")");
    Node node;
    node.version = kVersion;
    if (const size_t at = op.find('@'); at != std::string_view::npos) {
      node.version = std::stoll(std::string(op.substr(at + 1)));
      op = op.substr(0, at);
    }
    const size_t dot = op.rfind('.');
    if (dot != std::string_view::npos) node.domain = op.substr(0, dot);
    node.type = op.substr(dot == std::string_view::npos ? 0 : dot + 1);
    if (!node.domain.empty()) node.version = 1;
    node.op = all_ops().find(node.domain, node.type, node.version);
    EXPECT_TRUE(node.op) << op;
    while (!ins.empty()) node.in.push_back(use(take(ins, ",")));
    node.attributes = ops::parse_attributes(line, symbols_);
    while (!outs.empty()) node.out.push_back(add(take(outs, ",")));
    node.name = graph_->values[node.out[0]].name;
    graph_->nodes.push_back(std::move(node));
  }

  ValueId add(std::string_view name) {
    graph_->values.emplace_back().name = name;
    return static_cast<ValueId>(graph_->values.size() - 1);
  }

  ValueId use(std::string_view name) const {
    if (name == "-") return kNoValue;
    const auto id = graph_->find(name);
    EXPECT_TRUE(id) << name;
    return id.value_or(kNoValue);
  }

  std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
  Symbols symbols_;
};

}  // namespace

std::shared_ptr<const Graph> parse_graph(std::string_view text) { return Parser().run(text); }

}  // namespace anyshape::testing
