#include "target/kernel_check.h"

namespace anyshape::target {
namespace {

// An attribute that must be 0 is another number.
bool needs_zero(const Node& node, std::string_view name) {
  const Attribute* attribute = name.empty() ? nullptr : node.attribute(name);
  const auto* number = attribute ? std::get_if<int64_t>(&attribute->value) : nullptr;
  return number && *number != 0;
}

class KernelCheck {
 public:
  KernelCheck(const Profile& profile, const Typed& typed) : profile_(profile), typed_(typed) {}
  void graph(const Graph& graph, const Facts& facts);
  std::vector<MissingKernel> out;

 private:
  void body(const Graph& body) {
    static const Facts kNothing;
    const auto known = typed_.bodies().find(&body);
    graph(body, known == typed_.bodies().end() ? kNothing : known->second);
  }
  void node(const Graph& graph, const Node& node, const Facts& facts);
  DType dtype_at(const Node& node, const Facts& facts, int port) const;

  const Profile& profile_;
  const Typed& typed_;
};

DType KernelCheck::dtype_at(const Node& node, const Facts& facts, int port) const {
  const auto& ids = port < 0 ? node.out : node.in;
  const auto index = static_cast<size_t>(port < 0 ? -port - 1 : port);
  if (index >= ids.size() || ids[index] >= facts.size() || !facts[ids[index]].is_tensor()) return DType::undefined;
  const DType dtype = facts[ids[index]].dtype;
  return dtype;
}

void KernelCheck::node(const Graph& graph, const Node& node, const Facts& facts) {
  const std::string_view domain = node.domain == "ai.onnx" ? "" : std::string_view(node.domain);
  const int64_t highest = highest_version(profile_, domain);
  if (highest > 0 && node.version > highest) return;
  const KernelRow* row = find_kernel(profile_, domain, node.type, node.version);
  if (!row) {
    out.push_back(
        {graph.label(node),
         fmt::format("{} has no kernel of {}{}{}", profile_.runtime, domain, domain.empty() ? "" : ".", node.type),
         "export the model without this operator"});
    return;
  }
  if (needs_zero(node, row->zero_attribute)) {
    out.push_back(
        {graph.label(node),
         fmt::format("{} has no kernel of {} with another {} than 0", profile_.runtime, node.type, row->zero_attribute),
         fmt::format("export it with {} 0, and transpose before and behind it", row->zero_attribute)});
    return;
  }
  for (const PortTypes& limit : row->limits) {
    const DType dtype = dtype_at(node, facts, limit.port);
    const DType computed = dtype == DType::f16 && row->half ? DType::f32 : dtype;
    if (limit.types.empty() || dtype == DType::undefined || limit.types.contains(computed)) continue;
    out.push_back({graph.label(node),
                   fmt::format("{} has no kernel of {} for {}", profile_.runtime, node.type, name(dtype)),
                   "compute this part in f32, or in another type that the runtime has"});
    return;
  }
}

void KernelCheck::graph(const Graph& graph, const Facts& facts) {
  for (const Node& one : graph.nodes) {
    if (one.body)
      body(*one.body);
    else
      node(graph, one, facts);
    for_each_body(one, [&](const Graph& inner) { body(inner); });
  }
}

}  // namespace

std::vector<MissingKernel> missing_kernels(const Profile& profile, const Typed& typed) {
  KernelCheck check(profile, typed);
  check.graph(typed.graph(), typed.facts());
  return std::move(check.out);
}

}  // namespace anyshape::target
