// graph MODEL: prints each node with its operator and the sizes of its outputs, and what it demands; bodies indented.
#include <anyshape/graph.h>
#include <anyshape/printable.h>

#include <cstdio>
#include <map>
#include <string>

namespace {

using namespace anyshape;

std::string outputs_text(const GraphView& graph, const GraphNode& node) {
  std::string out;
  for (const auto& id : node.outputs) {
    if (!out.empty()) out += ", ";
    if (!id) continue;
    const GraphValue value = graph.value(*id);
    out += value.type.type;
    if (!value.entries) continue;
    std::string entries;
    for (const std::string& entry : *value.entries) entries += entries.empty() ? entry : ", " + entry;
    out += " = [" + entries + "]";
  }
  return out;
}

void print_graph(const GraphView& graph, const std::string& indent) {
  std::multimap<size_t, GraphRequirement> demands;
  for (GraphRequirement& one : graph.requirements())
    if (one.node) demands.emplace(*one.node, std::move(one));
  for (size_t i = 0; i < graph.node_count(); ++i) {
    const GraphNode node = graph.node(i);
    std::printf("%s%s %s -> %s\n", indent.c_str(), printable(node.op).c_str(), printable_name(node.label).c_str(),
                printable(outputs_text(graph, node)).c_str());
    for (auto [it, end] = demands.equal_range(i); it != end; ++it) {
      const GraphRequirement& one = it->second;
      const std::string where = one.path.empty() ? "" : " where " + one.path;
      std::printf("%s  needs %s%s: %s\n", indent.c_str(), printable(one.text).c_str(), printable(where).c_str(),
                  printable(one.because.sentence).c_str());
    }
    for (const GraphBody& body : node.bodies) print_graph(body.graph, indent + "    ");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: graph MODEL\n", stderr);
    return 2;
  }
  const auto model = Model::load(argv[1]);
  const auto graph = model ? GraphView::of(*model) : tl::unexpected(model.error());
  if (!graph) {
    std::fprintf(stderr, "%s\n", graph.error().text().c_str());
    return 1;
  }
  print_graph(*graph, "");
  return 0;
}
