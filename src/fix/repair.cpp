#include "fix/repair.h"

#include <algorithm>
#include <unordered_set>

#include "base/among.h"
#include "fix/layouts.h"
#include "ir/call.h"
#include "ir/reads.h"
#include "passes/draft.h"
#include "solve/baked.h"

namespace anyshape::fixes {
namespace {

constexpr std::string_view kRecurrent[] = {"LSTM", "GRU", "RNN"};
// Inputs of these names number axes, attributes of these hold sizes.
constexpr std::string_view kAxisPorts[] = {"axes", "axis"};
constexpr std::string_view kSizeAttributes[] = {"kernel_shape", "starts", "ends",   "split",
                                                "output_shape", "shape",  "repeats"};

bool all_zero(const Tensor& tensor) {
  return tensor.dtype() != DType::string &&
         std::all_of(tensor.bytes().begin(), tensor.bytes().end(), [](std::byte b) { return b == std::byte{0}; });
}

// Holds at some size below this one. A loop over the axis that an exporter has unrolled does not: it needs all its
// steps, and would leave out those beyond.
bool takes_less(const Condition& condition, Dim symbol, int64_t size) {
  const auto sizes = size > 1 ? PeriodicSet::solve(condition, symbol, 1, size - 1) : std::nullopt;
  return !sizes || !sizes->empty();
}

using Change = std::optional<std::string>;

class Repairer {
 public:
  Repairer(const Typed& typed, const AcceptedSet& accepted, const std::vector<Freed>& freed, const Typed& before,
           Edit& edit);
  Result<std::vector<std::string>> run();

 private:
  Status repair_reshapes();
  Status repair_states();
  // What is known of it was known before a change.
  bool outdated(const Node& node) const;
  Result<Change> repair_reshape(const AxisLayouts& layouts, const Node& node);
  Result<std::optional<Dims>> meant_sizes(const AxisLayouts& layouts, const Node& node) const;
  std::string_view axis_in(const Dims& dims) const;
  Change repair_state(const AcceptedCondition& condition);
  Result<Change> repair_condition(const AcceptedCondition& condition, const Freed& freed, Dim symbol);
  Status check_body_reshapes(const Graph& body, const Facts& facts) const;
  Status check_constants(const Graph& graph, const Facts& facts, bool body) const;
  Status check_node(const Graph& graph, const Node& node, const Facts& facts, bool body) const;
  tl::unexpected<Error> at_node(const std::string& label, const std::string& code, const std::string& message) const;

  const Fact& fact(ValueId id) const { return typed_.facts()[id]; }

  const Typed& typed_;
  const AcceptedSet& accepted_;
  const std::vector<Freed>& freed_;
  Edit& edit_;
  const Typed& before_;
  std::vector<Dim> symbols_;                   // of freed_
  std::vector<std::pair<Dim, Dim>> old_size_;  // of symbols_
  std::vector<std::string> changes_;
  std::unordered_set<ValueId> changed_;  // values that changes_ make other ones
};

Repairer::Repairer(const Typed& typed, const AcceptedSet& accepted, const std::vector<Freed>& freed,
                   const Typed& before, Edit& edit)
    : typed_(typed), accepted_(accepted), freed_(freed), edit_(edit), before_(before) {
  for (const Freed& one : freed) {
    symbols_.push_back(typed.symbols().symbol(one.name));
    old_size_.emplace_back(symbols_.back(), *one.old_size);
  }
}

tl::unexpected<Error> Repairer::at_node(const std::string& label, const std::string& code,
                                        const std::string& message) const {
  const Freed& first = freed_.front();
  return tl::unexpected(Error{Error::Kind::refused, code, fmt::format("node {:?}", label), message,
                              fmt::format("export the model again with axis {} of {:?} dynamic, as {:?}",
                                          first.axis.axis, first.axis.input, first.name)});
}

// The name of the freed axis these sizes come from.
std::string_view Repairer::axis_in(const Dims& dims) const {
  for (Dim symbol : symbols_)
    if (std::any_of(dims.begin(), dims.end(), [&](Dim size) { return size.mentions(symbol); }))
      return symbol_name(symbol);
  return symbol_name(symbols_.front());
}

// What the result of a Reshape was meant to be, where that is not what it is. Refused: it cannot be told.
Result<std::optional<Dims>> Repairer::meant_sizes(const AxisLayouts& layouts, const Node& node) const {
  if (node.in.empty() || node.in[0] == kNoValue || node.out[0] == kNoValue) return std::nullopt;
  const std::string label = layouts.graph().label(node);
  if (layouts.lost(node.in[0]))
    return at_node(label, "fix.mixed", "how many axes it reshapes is not known when this axis is dynamic");
  const Fact &data = layouts.facts()[node.in[0]], &out = layouts.facts()[node.out[0]];
  if (!data.dims || !layouts.varies(node.in[0])) return std::nullopt;
  const auto target = node.in.size() > 1 ? layouts.facts()[node.in[1]].elements : nullptr;
  const auto refused = [&](const char* code, std::string_view why) {
    return at_node(label, code,
                   fmt::format("it reshapes {} to {}: {} {}", print(*data.dims),
                               target ? print(*target) : "a shape it computes", axis_in(*data.dims), why));
  };
  if (!out.dims) return refused("fix.baked", "may go with any of these sizes");
  const auto meant = layouts.reshaped(node);
  if (!meant) return refused("fix.mixed", "does not stay whole in one of these axes");
  if (*out.dims == sizes_now(*meant)) return std::nullopt;
  return sizes_now(*meant);
}

// Where the target has the old size as a number, it gets what the number stood for. Nothing to do: nullopt.
Result<Change> Repairer::repair_reshape(const AxisLayouts& layouts, const Node& node) {
  TRY(const auto to, meant_sizes(layouts, node));
  if (!to) return std::nullopt;
  const Dims& from = *fact(node.in[0]).dims;
  const std::string label = typed_.graph().label(node);
  const bool by_input = node.in.size() > 1 && !zero_is_a_size(node);
  const auto target = by_input ? constant_target(from, *to, nullptr) : std::nullopt;
  if (!target)
    return at_node(label, "fix.baked", fmt::format("no constant target reshapes {} to {}", print(from), print(*to)));
  if (fact(node.in[1]).numbers() == target) return std::nullopt;
  const std::string_view name = edit_.unused_name(label + "_target");
  edit_.add_constant(name, Tensor::of_ints({static_cast<int64_t>(target->size())}, *target));
  edit_.maker(typed_.graph().values[node.out[0]].name)->input[1] = name;
  return fmt::format("node {:?} reshapes to [{}] instead of {}", label, fmt::join(*target, ", "),
                     print(layouts.old_sizes(node.out[0])));
}

// An initial state of zeros is what a recurrent layer starts with when it is given none.
Change Repairer::repair_state(const AcceptedCondition& condition) {
  for (const Node& node : typed_.graph().nodes) {
    const std::string label = typed_.graph().label(node);
    if (label != condition.because.front().node || !among(node.type, kRecurrent)) continue;
    const auto made = std::find_if(node.out.begin(), node.out.end(), [](ValueId id) { return id != kNoValue; });
    if (made == node.out.end()) return std::nullopt;
    onnx::NodeProto* proto = edit_.maker(typed_.graph().values[*made].name);
    bool changed = false;
    for (size_t i = 5; i < std::min<size_t>(node.in.size(), 7); ++i) {
      if (node.in[i] == kNoValue) continue;
      const Tensor state = fact(node.in[i]).as_tensor();
      if (!state || !all_zero(state)) return std::nullopt;
      proto->input[i] = "";
      changed = true;
    }
    if (changed) return fmt::format("node {:?} starts with no state instead of zeros for one batch size", label);
  }
  return std::nullopt;
}

Result<Change> Repairer::repair_condition(const AcceptedCondition& condition, const Freed& freed, Dim symbol) {
  if (!condition.condition.mentions(symbol)) return std::nullopt;
  const Reason& because = condition.because.front();
  const bool baked = baked_size(condition.condition, symbol) || condition.condition == Condition::eq(symbol, 1);
  const bool mixed = because.op == "Reshape" && condition.condition.symbols().size() > 1;
  if (!baked && !mixed && takes_less(condition.condition, symbol, *freed.old_size)) return std::nullopt;
  if (Change repaired = repair_state(condition)) return repaired;
  return at_node(because.node,
                 baked   ? "fix.baked"
                 : mixed ? "fix.mixed"
                         : "fix.suspect",
                 fmt::format("{} needs {}, but {:?} axis {} is to be dynamic: {}", because.op,
                             print(condition.condition), freed.axis.input, freed.axis.axis, because.sentence));
}

// A number equal to the size an axis had, where a rule reads numbers: it stands for the axis, or it does not.
Status Repairer::check_node(const Graph& graph, const Node& node, const Facts& facts, bool body) const {
  const auto suspect = [&](int64_t number) {
    const auto it =
        std::find_if(freed_.begin(), freed_.end(), [&](const Freed& one) { return one.old_size == number; });
    return it != freed_.end() && number > 1 ? &*it : nullptr;
  };
  const auto refused = [&](const Freed& freed, std::string_view where) {
    return at_node(graph.label(node), "fix.suspect",
                   fmt::format("{} has {} in its {}, which {:?} axis {} was: whether it stands for the axis cannot be "
                               "told",
                               node.type, *freed.old_size, where, freed.axis.input, freed.axis.axis));
  };
  const auto ports = node.op->sig.in;
  for (size_t i = 0; i < node.in.size() && !ports.empty(); ++i) {
    const Port& port = ports[std::min(i, ports.size() - 1)];
    if (node.in[i] == kNoValue || !(port.flags & Port::value) || among(port.name, kAxisPorts)) continue;
    for (int64_t number : facts[node.in[i]].numbers().value_or(std::vector<int64_t>()))
      if (const Freed* freed = suspect(number); freed && (body || !is_op(node, "Reshape")))
        return refused(*freed, port.name);
  }
  for (const Attribute& attribute : node.attributes) {
    const auto* numbers = std::get_if<std::vector<int64_t>>(&attribute.value);
    for (size_t i = 0; numbers && among(attribute.name, kSizeAttributes) && i < numbers->size(); ++i)
      if (const Freed* freed = suspect((*numbers)[i])) return refused(*freed, attribute.name);
  }
  return {};
}

// Bodies stay as they are.
Status Repairer::check_body_reshapes(const Graph& body, const Facts& facts) const {
  AxisLayouts layouts(body, facts, old_size_);
  for (const Node& node : body.nodes) {
    TRY(const auto to, is_op(node, "Reshape") ? meant_sizes(layouts, node) : std::nullopt);
    if (to)
      return at_node(body.label(node), "fix.baked",
                     fmt::format("it would have to give {}, and bodies stay as they are", print(*to)));
    layouts.follow(node);
  }
  return {};
}

Status Repairer::check_constants(const Graph& graph, const Facts& facts, bool body) const {
  if (body) TRY_OK(check_body_reshapes(graph, facts));
  for (const Node& node : graph.nodes) {
    if (node.op) TRY_OK(check_node(graph, node, facts, body));
    std::vector<const Graph*> inner = {node.body.get()};
    for_each_body(node, [&](const Graph& one) { inner.push_back(&one); });
    for (const Graph* one : inner) {
      const auto known = typed_.bodies().find(one);
      if (known != typed_.bodies().end()) TRY_OK(check_constants(*one, known->second, true));
    }
  }
  return {};
}

bool Repairer::outdated(const Node& node) const {
  bool reads = false;
  for_each_read(node, [&](ValueId id) { reads |= changed_.contains(id); });
  return reads;
}

// What is refused behind a change may be right when that is known.
Status Repairer::repair_reshapes() {
  AxisLayouts layouts(typed_, before_, old_size_);
  for (const Node& node : typed_.graph().nodes) {
    bool changed = outdated(node);
    if (!changed && is_op(node, "Reshape")) {
      auto repaired = repair_reshape(layouts, node);
      if (!repaired && changes_.empty()) return tl::unexpected(std::move(repaired).error());
      if (!repaired) return {};
      changed = repaired->has_value();
      if (changed) changes_.push_back(**std::move(repaired));
    }
    if (changed) changed_.insert(node.out.begin(), node.out.end());
    layouts.follow(node);
  }
  return {};
}

Status Repairer::repair_states() {
  std::unordered_set<std::string_view> done;
  for (const AcceptedCondition& condition : accepted_.conditions)
    for (size_t i = 0; i < freed_.size() && !done.contains(condition.because.front().node); ++i) {
      auto repaired = repair_condition(condition, freed_[i], symbols_[i]);
      if (!repaired && changes_.empty()) return tl::unexpected(std::move(repaired).error());
      if (!repaired) return {};
      if (!*repaired) continue;
      changes_.push_back(**std::move(repaired));
      done.insert(condition.because.front().node);
    }
  return {};
}

Result<std::vector<std::string>> Repairer::run() {
  TRY_OK(repair_reshapes());
  if (changes_.empty()) TRY_OK(repair_states());
  if (changes_.empty()) TRY_OK(check_constants(typed_.graph(), typed_.facts(), false));
  return std::move(changes_);
}

}  // namespace

Result<std::vector<std::string>> repair_all_seen(const Typed& typed, const AcceptedSet& accepted,
                                                 const std::vector<Freed>& freed, const Typed& before, Edit& edit) {
  return Repairer(typed, accepted, freed, before, edit).run();
}

}  // namespace anyshape::fixes
