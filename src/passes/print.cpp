#include "passes/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <type_traits>

#include "base/printable.h"

namespace anyshape {
namespace {

constexpr size_t kMostListed = 16, kLongestText = 60;

std::string text_of(int64_t value) { return fmt::format("{}", value); }
std::string text_of(float value) { return fmt::format("{}", value); }
std::string text_of(const std::string& value) {
  return value.size() <= kLongestText ? fmt::format("{:?}", value) : fmt::format("<{} bytes>", value.size());
}
std::string text_of(const SparseTensor& value) { return fmt::format("sparse[{}]", fmt::join(value.dims, ", ")); }
std::string text_of(const std::shared_ptr<Graph>& value) { return fmt::format("<{} nodes>", value->nodes.size()); }

std::string text_of(const Fact& fact) {
  if (fact.elements && fact.elements->size() > kMostListed) return print(fact.type_only()) + " = [...]";
  return print(fact);
}
std::string text_of(const Tensor& value) { return text_of(Fact::of_constant(value)); }

template <class T>
std::string text_of(const Box<T>& value) {
  return text_of(*value);
}

template <class T>
std::string text_of(const std::vector<T>& list) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(list.size(), kMostListed); ++i) texts.push_back(text_of(list[i]));
  if (list.size() > kMostListed) texts.push_back(fmt::format("... {} in all", list.size()));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string text_of(const Attribute& attribute) {
  const auto value = [](const auto& held) -> std::string {
    if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
      return "none";
    else
      return text_of(held);
  };
  return fmt::format("{}={}", attribute.name, std::visit(value, attribute.value));
}

class Printer {
 public:
  Printer(const Graph& graph, const Facts& facts) : graph_(graph), facts_(facts) {}

  std::string run() {
    for (ValueId id : graph_.inputs)
      if (!graph_.values[id].is_initializer) out_ += line("  input {}", typed(id));
    std::vector<bool> named(graph_.values.size(), false);
    for (const Node& node : graph_.nodes)
      for (ValueId id : node.out)
        if (id != kNoValue) named[id] = true;
    const auto name_constant = [&](ValueId id) {
      if (id == kNoValue || named[id] || !facts_[id].constant) return;
      named[id] = true;
      out_ += line("  constant {}", typed(id));
    };
    for (const Node& node : graph_.nodes) std::for_each(node.in.begin(), node.in.end(), name_constant);
    std::for_each(graph_.outputs.begin(), graph_.outputs.end(), name_constant);
    for (const Node& node : graph_.nodes) print_node(node);
    std::vector<std::string> outputs;
    for (ValueId id : graph_.outputs) outputs.push_back(name(id));
    return out_ + line("  output {}", fmt::join(outputs, ", "));
  }

 private:
  std::string name(ValueId id) const { return id == kNoValue ? "-" : printable_name(graph_.values[id].name); }

  std::string typed(ValueId id) const {
    return id == kNoValue ? "-" : fmt::format("{} {}", name(id), text_of(facts_[id]));
  }

  void print_node(const Node& node) {
    std::vector<std::string> in, out, attributes;
    for (ValueId id : node.in) in.push_back(name(id));
    for (ValueId id : node.out) out.push_back(typed(id));
    for (const Attribute& attribute : node.attributes) attributes.push_back(" " + text_of(attribute));
    out_ += line("  {} <- {}{}{}({}){}  {:?}", fmt::join(out, ", "), node.domain, node.domain.empty() ? "" : ".",
                 node.type, fmt::join(in, ", "), fmt::join(attributes, ""), graph_.label(node));
  }

  const Graph& graph_;
  const Facts& facts_;
  std::string out_;
};

}  // namespace

std::string print_graph(const Graph& graph, const Facts& facts) { return Printer(graph, facts).run(); }

}  // namespace anyshape
