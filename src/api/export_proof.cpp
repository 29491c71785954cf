#include "api/export_proof.h"

#include <algorithm>
#include <unordered_set>

#include "api/model_impl.h"
#include "base/work.h"
#include "check/ask.h"
#include "check/narrowed_axis.h"
#include "ir/note.h"
#include "solve/baked.h"

namespace anyshape {
namespace {

const Node* find_node(const Graph& graph, std::string_view name) {
  for (const Node& node : graph.nodes)
    if (node.name == name) return &node;
  return nullptr;
}

std::string source_of(const Graph& graph, std::string_view name) {
  const Node* node = find_node(graph, name);
  const std::string* source = node ? note(*node, "source") : nullptr;
  return source ? *source : std::string();
}

Error baked_error(const lower::Lowered& lowered, const AcceptedCondition& condition, const AxisSymbol& axis) {
  const Reason& because = condition.because.front();
  const std::string line = source_of(*lowered.graph, because.node);
  return {Error::Kind::refused, "export.baked", fmt::format("node {:?}", because.node),
          fmt::format("{} needs {}, but {:?} axis {} is asked to be dynamic{}: {}", because.op,
                      print(condition.condition), axis.axes[0].input, axis.axes[0].axis,
                      line.empty() ? "" : fmt::format(" ({})", line), because.sentence),
          "take the size from the tensor where the model has the number, e.g. x.view(x.shape[0], -1), and capture it "
          "again"};
}

bool is_asked(const AxisSymbol& axis, const std::vector<DynamicAxis>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const DynamicAxis& key) {
    return std::any_of(axis.axes.begin(), axis.axes.end(), [&](const InputAxis& place) {
      return place.input == key.value && (key.axis < 0 || place.axis == static_cast<size_t>(key.axis)) &&
             (key.name.empty() || key.name == axis.name);
    });
  });
}

// A guard that binds and leaves an axis that is asked to be dynamic few sizes: beyond them the file would be wrong in
// every runtime that does not read guards.
Status check_guards(const lower::Lowered& lowered, const ExportOptions& options) {
  if (options.guards == Guards::drop) return {};
  for (const lower::Guard& guard : lowered.guards) {
    const auto forgotten = std::find(options.forget.begin(), options.forget.end(), guard.text);
    if (guard.advisory || !can_bind(guard.condition) || forgotten != options.forget.end()) continue;
    for (const DynamicAxis& wanted : options.dynamic)
      for (Dim symbol : guard.condition.symbols()) {
        if (lowered.symbols->name(symbol) != wanted.name || !baked_size(guard.condition, symbol)) continue;
        return tl::unexpected(Error{Error::Kind::refused,
                                    "export.baked",
                                    {},
                                    fmt::format("the program was captured for {} only, but {:?} axis {} is asked to be "
                                                "dynamic ({})",
                                                guard.text, wanted.value, wanted.axis, guard.origin),
                                    "keep the size an expression where the model makes a plain number of it (int(...), "
                                    ".item()), and capture it again; --guards drop if it does not matter"});
      }
  }
  return {};
}

// Takes part in computing sizes: an integer or bool value made from shapes.
bool is_shape_node(const Node& node, const std::unordered_set<ValueId>& sizes) {
  if (node.type == "Shape" || node.type == "Size") return true;
  if (node.has_graph_attribute() || node.in.empty()) return false;
  const auto from_sizes = [&](ValueId id) { return id != kNoValue && sizes.contains(id); };
  static const std::unordered_set<std::string_view> kArithmetic = {
      "Gather", "Slice", "Concat", "Squeeze", "Unsqueeze", "Add", "Sub",     "Mul",   "Div", "Mod",
      "Cast",   "Min",   "Max",    "Where",   "Equal",     "Neg", "Reshape", "Floor", "Ceil"};
  return kArithmetic.contains(node.type) && from_sizes(node.in[0]);
}

}  // namespace

Status prove_export(const Model& model, const lower::Lowered& lowered, const ExportOptions& options) {
  TRY_OK(check_guards(lowered, options));
  const Model::Impl& impl = model.impl();
  if (const auto& refusal = impl.typed().refusal()) return tl::unexpected(*refusal);
  for (const DynamicAxis& wanted : options.dynamic)
    for (const AxisSymbol& axis : impl.typed().axes()) {
      const auto is_it = [&](const InputAxis& place) { return place.input == wanted.value; };
      if (axis.name != wanted.name || std::none_of(axis.axes.begin(), axis.axes.end(), is_it)) continue;
      for (const AcceptedCondition& condition : impl.accepted().conditions)
        if (baked_size(condition.condition, axis.symbol)) return tl::unexpected(baked_error(lowered, condition, axis));
    }
  if (const auto narrowed = narrowed_of(model, options); options.strict_axes && !narrowed.empty())
    return tl::unexpected(Error{Error::Kind::refused, "export.narrowed",
                                fmt::format("node {:?}", narrowed[0].because.node), to_text(narrowed[0]),
                                narrowed[0].advice});
  TRY_OK(Work::check());
  return options.batch_only || !options.target.empty() ? check_batch_only(impl, options.allow, "export.policy")
                                                       : Status();
}

std::vector<NarrowedAxis> narrowed_of(const Model& model, const ExportOptions& options) {
  std::vector<NarrowedAxis> out;
  const Model::Impl& impl = model.impl();
  for (Narrowed& one : narrowed_axes(impl.typed(), impl.accepted())) {
    if (!is_asked(*one.axis, options.dynamic)) continue;
    const InputAxis& first = one.axis->axes.front();
    std::vector<std::string> symbols;
    for (Dim symbol : one.condition->condition.symbols()) symbols.emplace_back(impl.typed().symbols().name(symbol));
    out.push_back({first.input, static_cast<int64_t>(first.axis), one.axis->name, print(one.condition->condition),
                   std::move(symbols), one.condition->because.front(), std::move(one.source), std::move(one.advice)});
  }
  return out;
}

std::string to_text(const NarrowedAxis& narrowed) {
  return fmt::format("axis {} of {:?} ({}) takes only {}, which {} demands{}: {}", narrowed.axis, narrowed.input,
                     narrowed.name, narrowed.condition, narrowed.because.op,
                     narrowed.source.empty() ? "" : fmt::format(" ({})", narrowed.source), narrowed.because.sentence);
}

void count_shape_nodes(const Graph& graph, ExportReport& report) {
  std::unordered_set<ValueId> sizes;
  for (const Node& node : graph.nodes) {
    if (!is_shape_node(node, sizes)) continue;
    ++report.shape_nodes;
    sizes.insert(node.out.begin(), node.out.end());
  }
  for (const Node& node : graph.nodes) {
    if (is_shape_node(node, sizes)) continue;
    const auto reads = [&](ValueId id) { return id != kNoValue && sizes.contains(id); };
    if (std::any_of(node.in.begin(), node.in.end(), reads))
      report.shape_reasons.push_back(fmt::format("{:?} needs a size that no constant gives", node.name));
  }
}

}  // namespace anyshape
