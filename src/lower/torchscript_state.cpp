#include "lower/torchscript_state.h"

#include <algorithm>
#include <functional>

#include "lower/torchscript_flow.h"

namespace anyshape::lower::script {
namespace {

constexpr int kMaxRuns = 4;

// The values of a graph that some outputs are computed from.
class Ancestors {
 public:
  explicit Ancestors(const Graph& graph) : needed_(graph.values.size()) {
    for (const Node& node : graph.nodes) {
      for (ValueId id : node.out) {
        if (id != kNoValue) makers_[id] = &node;
      }
    }
  }

  void add(ValueId id) {
    std::vector<ValueId> open = {id};
    while (!open.empty()) {
      const ValueId next = open.back();
      open.pop_back();
      if (next == kNoValue || needed_[next]) continue;
      needed_[next] = true;
      const auto maker = makers_.find(next);
      if (maker == makers_.end()) continue;
      for (ValueId in : maker->second->in) open.push_back(in);
      for (ValueId in : captured(*maker->second)) open.push_back(in);
    }
  }
  bool holds(ValueId id) const { return needed_[id]; }

 private:
  // What the bodies of a node read from this graph.
  std::vector<ValueId> captured(const Node& node) const {
    std::vector<ValueId> found;
    for (const Attribute& attribute : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
        for (const Graph::Capture& capture : (*body)->captures) found.push_back(capture.outer);
      }
    }
    return found;
  }

  std::vector<bool> needed_;
  std::map<ValueId, const Node*> makers_;
};

}  // namespace

void State::give(Lowering& lowering, Evaluator& evaluator) {
  ++runs_;
  for (const auto& [path, kept] : kept_) {
    if (kept.dtype == DType::undefined) {
      evaluator.set_state(path, kept.plain);
      continue;
    }
    for (Dim d : kept.dims) {
      if (!d.is_symbol()) continue;
      lowering.assumptions().assume(Condition::ge(d, 0));
      evaluator.add_input_symbol(d);
    }
    evaluator.set_state(path, lowering.variable(lowering.input(path, Fact::tensor(kept.dtype, kept.dims)), path));
  }
}

bool State::same(Lowering& lowering, const Kept& kept, const Value& now) const {
  if (kept.dtype == DType::undefined) {
    if (const Dim* a = kept.plain.get<Dim>(), *b = now.get<Dim>(); a && b) return lowering.same(*a, *b);
    return same_value(kept.plain, now);
  }
  const Var* tensor = now.get<Var>();
  if (tensor == nullptr) return false;
  const Fact& fact = lowering.fact(lowering.read(*tensor));
  if (fact.dtype != kept.dtype || !fact.has_rank() || fact.rank() != kept.dims.size()) return false;
  for (size_t i = 0; i < kept.dims.size(); ++i) {
    if (!lowering.same((*fact.dims)[i], kept.dims[i])) return false;
  }
  return true;
}

Result<bool> State::learn(Lowering& lowering, Evaluator& evaluator) {
  bool settled = true;
  for (const Change& change : evaluator.changes()) {
    if (!change.read_first || fixed_.count(change.path) != 0) continue;
    const Value& now = change.owner->attributes.at(change.attribute);
    const auto known = kept_.find(change.path);
    if (known != kept_.end() && same(lowering, known->second, now)) continue;
    settled = false;
    if (runs_ >= kMaxRuns) {
      // It changes with every call: the archive's value stands.
      fixed_.insert(change.path);
      kept_.erase(change.path);
      restless_.push_back(change.path);
      continue;
    }
    Kept kept;
    if (known != kept_.end()) kept.initial = known->second.initial;
    if (const Var* tensor = now.get<Var>()) {
      const Fact& fact = lowering.fact(lowering.read(*tensor));
      if (!fact.has_rank()) return refuse("script.state", "the shape of the state {} is not known", change.path);
      kept.dtype = fact.dtype;
      kept.dims = *fact.dims;
    } else {
      kept.plain = now;
    }
    kept_[change.path] = std::move(kept);
  }
  return settled;
}

std::vector<std::pair<std::string, Ref>> State::results(Lowering& lowering, Evaluator& evaluator) const {
  std::vector<std::pair<std::string, Ref>> out;
  for (const Change& change : evaluator.changes()) {
    const auto known = kept_.find(change.path);
    if (known == kept_.end() || known->second.dtype == DType::undefined) continue;
    const Var* tensor = change.owner->attributes.at(change.attribute).get<Var>();
    if (tensor != nullptr) out.emplace_back(change.path + "_next", lowering.read(*tensor));
  }
  return out;
}

bool State::drop_dead(const Graph& graph) {
  Ancestors ancestors(graph);
  const auto is_state = [&](const std::string& name) {
    return name.ends_with("_next") && kept_.count(name.substr(0, name.size() - 5)) != 0;
  };
  for (ValueId id : graph.outputs) {
    if (!is_state(graph.values[id].name)) ancestors.add(id);
  }
  std::set<std::string> live;
  for (bool grew = true; grew;) {
    grew = false;
    for (ValueId id : graph.inputs) {
      const std::string& name = graph.values[id].name;
      if (kept_.count(name) == 0 || !ancestors.holds(id) || !live.insert(name).second) continue;
      grew = true;
      for (ValueId out : graph.outputs) {
        if (graph.values[out].name == name + "_next") ancestors.add(out);
      }
    }
  }
  bool dropped = false;
  for (auto it = kept_.begin(); it != kept_.end();) {
    const bool dead = it->second.dtype != DType::undefined && live.count(it->first) == 0;
    if (dead) fixed_.insert(it->first);
    dropped = dropped || dead;
    it = dead ? kept_.erase(it) : std::next(it);
  }
  return dropped;
}

std::vector<std::string> State::notes() const {
  std::vector<std::string> out;
  for (const auto& [path, kept] : kept_) {
    if (kept.dtype != DType::undefined) {
      out.push_back(
          fmt::format("the module keeps {} from one call to the next: it is the input \"{}\" of type {}{} and "
                      "the output \"{}_next\"",
                      path, path, name(kept.dtype), print(kept.dims), path));
    }
  }
  for (const std::string& path : restless_) {
    out.push_back(
        fmt::format("the attribute {} changes with every call; the exported model always has the value of the "
                    "archive",
                    path));
  }
  return out;
}

}  // namespace anyshape::lower::script
