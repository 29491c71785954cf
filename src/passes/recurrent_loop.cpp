#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "passes/recurrent_cell.h"

namespace anyshape {
namespace {

constexpr int64_t kLayer = 14;

const Graph* body_of(const Node& node) {
  const Attribute* body = node.attribute("body");
  const auto* graph = body ? std::get_if<std::shared_ptr<Graph>>(&body->value) : nullptr;
  return graph ? graph->get() : nullptr;
}

const Node* producer_of(const Graph& graph, ValueId id) {
  const uint32_t at = id == kNoValue ? kNoValue : graph.values[id].producer;
  return at == kNoValue ? nullptr : &graph.nodes[at];
}

// The value that one-to-one operators of the given names make this one of.
ValueId through(const Graph& graph, ValueId id, std::initializer_list<std::string_view> names) {
  for (const Node* node = producer_of(graph, id); node; node = producer_of(graph, id)) {
    const auto is = [&](std::string_view name) { return is_op(*node, name); };
    if (std::none_of(names.begin(), names.end(), is) || !has_input(*node, 0)) break;
    if (is_op(*node, "Concat") && node->in.size() != 1) break;
    id = node->in[0];
  }
  return id;
}

ValueId plain(const Graph& graph, ValueId id) { return through(graph, id, {"Identity"}); }

const std::vector<int64_t>* list_of(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attribute(name);
  return attribute ? std::get_if<std::vector<int64_t>>(&attribute->value) : nullptr;
}

// A value that goes from step to step: where it is among inputs and outputs of the node and of the body.
struct State {
  ValueId initial, in, next, last;  // last: the output of the node, or kNoValue
};

// A Loop or Scan over the rows of one value.
struct RecurrentLoopSteps {
  const Graph* body = nullptr;
  ValueId sequence = kNoValue, row = kNoValue;  // outside, and in the body
  std::vector<State> states;
  std::vector<std::pair<ValueId, ValueId>> stacked;  // of the body, of the node
  std::vector<std::pair<ValueId, ValueId>> handed;   // what the node gives as it gets it
  bool reverse = false;
};

class Layers {
 public:
  explicit Layers(Draft& draft) : draft_(draft), uses_(draft.uses()) {}

  void run() {
    std::vector<Node> nodes = std::move(draft_.graph.nodes);
    draft_.graph.nodes.clear();
    for (Node& node : nodes) {
      const auto steps = draft_.is_demanding(node) ? std::nullopt : steps_of(node);
      if (!steps || !replace(node, *steps)) draft_.graph.nodes.push_back(std::move(node));
    }
  }

 private:
  std::optional<RecurrentLoopSteps> steps_of(const Node& node) const {
    const Graph* body = body_of(node);
    if (!body) return std::nullopt;
    if (is_op(node, "Loop")) return steps_of_loop(node, *body);
    if (is_op(node, "Scan") && node.version >= 9) return steps_of_scan(node, *body);
    return std::nullopt;
  }

  bool is_read(ValueId id) const { return id != kNoValue && uses_[id] != 0; }
  static ValueId output(const Node& node, size_t i) { return i < node.out.size() ? node.out[i] : kNoValue; }

  const Tensor* constant_in(const Graph& body, ValueId id) const {
    if (id == kNoValue) return nullptr;
    if (body.values[id].is_initializer) return body.values[id].constant->constant.get();
    for (const auto& capture : body.captures)
      if (capture.inner == id) return draft_.constant(capture.outer);
    const Node* node = producer_of(body, id);
    const Attribute* value = node && is_op(*node, "Constant") ? node->attribute("value") : nullptr;
    const auto* tensor = value ? std::get_if<Box<Tensor>>(&value->value) : nullptr;
    return tensor ? &**tensor : nullptr;
  }

  // Counts 0, 1, 2, ...
  bool is_counter(const Graph& body, const State& state) const {
    const Tensor* start = draft_.constant(state.initial);
    const Node* node = producer_of(body, plain(body, state.next));
    if (!start || start->count() != 1 || !is_integer(start->dtype()) || start->int_at(0) != 0) return false;
    if (!node || !is_op(*node, "Add")) return false;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const Tensor* step = constant_in(body, node->in[1 - i]);
      const bool one = step && step->count() == 1 && is_integer(step->dtype()) && step->int_at(0) == 1;
      if (one && plain(body, node->in[i]) == state.in) return true;
    }
    return false;
  }

  std::optional<RecurrentLoopSteps> steps_of_loop(const Node& node, const Graph& body) const {
    const auto inputs = body.required_inputs();
    const size_t carried = node.in.size() < 2 ? 0 : node.in.size() - 2;
    if (inputs.size() != carried + 2 || body.outputs.size() < carried + 1) return std::nullopt;
    RecurrentLoopSteps out;
    out.body = &body;
    std::unordered_set<ValueId> counters{inputs[0]};
    std::unordered_map<ValueId, ValueId> outside;
    std::optional<Dim> count;
    for (const auto& capture : body.captures) outside[capture.inner] = capture.outer;
    for (size_t i = 0; i < carried; ++i) {
      const State state{node.in[i + 2], inputs[i + 2], body.outputs[i + 1], output(node, i)};
      if (state.initial == kNoValue) return std::nullopt;
      if (plain(body, state.next) == state.in) {
        outside[state.in] = state.initial;
        if (is_read(state.last)) out.handed.emplace_back(state.initial, state.last);
      } else if (is_counter(body, state)) {
        counters.insert(state.in);
        if (is_read(state.last)) return std::nullopt;
        if (state.last != kNoValue) count = draft_.facts[state.last].single();
      } else {
        out.states.push_back(state);
      }
    }
    for (size_t i = carried + 1; i < body.outputs.size(); ++i) {
      const ValueId stacked = output(node, i - 1);
      if (is_read(stacked)) out.stacked.emplace_back(body.outputs[i], stacked);
      if (stacked != kNoValue && draft_.facts[stacked].dims && !draft_.facts[stacked].dims->empty())
        count = draft_.facts[stacked].dims->front();
    }
    if (!find_row(body, counters, outside, out)) return std::nullopt;
    const bool all = count && *count == draft_.facts[out.sequence].dims->front();
    return all ? std::optional(std::move(out)) : std::nullopt;
  }

  static bool is_forward(const std::vector<int64_t>* directions) {
    return !directions || std::all_of(directions->begin(), directions->end(), [](int64_t d) { return d == 0; });
  }

  std::optional<RecurrentLoopSteps> steps_of_scan(const Node& node, const Graph& body) const {
    const auto inputs = body.required_inputs();
    const int64_t scanned = node.integer("num_scan_inputs");
    if (scanned != 1 || node.in.size() < 2 || inputs.size() != node.in.size()) return std::nullopt;
    if (!is_forward(list_of(node, "scan_input_axes")) || !is_forward(list_of(node, "scan_output_axes")))
      return std::nullopt;
    RecurrentLoopSteps out;
    out.body = &body;
    const size_t states = inputs.size() - 1;
    for (size_t i = 0; i < states; ++i) {
      const State state{node.in[i], inputs[i], body.outputs[i], output(node, i)};
      if (plain(body, state.next) != state.in)
        out.states.push_back(state);
      else if (is_read(state.last))
        out.handed.emplace_back(state.initial, state.last);
    }
    for (size_t i = states; i < body.outputs.size(); ++i)
      if (is_read(output(node, i))) out.stacked.emplace_back(body.outputs[i], output(node, i));
    const auto *in = list_of(node, "scan_input_directions"), *back = list_of(node, "scan_output_directions");
    out.reverse = !is_forward(in);
    const auto backward = [](int64_t d) { return d == 1; };
    const bool aligned = out.reverse ? back && std::all_of(back->begin(), back->end(), backward) : is_forward(back);
    if (!aligned && !out.stacked.empty()) return std::nullopt;
    out.sequence = node.in.back();
    out.row = inputs.back();
    return is_sequence(out.sequence) ? std::optional(std::move(out)) : std::nullopt;
  }

  bool is_sequence(ValueId id) const {
    const Fact& fact = draft_.facts[id];
    return fact.is_tensor() && fact.dtype == DType::f32 && fact.dims && fact.rank() == 3 &&
           (*fact.dims)[2].is_constant();
  }

  // Reads entry `counter` of the first axis: the value it reads it of.
  ValueId read_by(const Graph& body, const Node& node, const std::unordered_set<ValueId>& counters) const {
    const auto counts = [&](ValueId id) {
      return counters.contains(through(body, id, {"Cast", "Concat", "Identity", "Reshape", "Squeeze", "Unsqueeze"}));
    };
    if (is_op(node, "Gather")) return node.integer("axis") == 0 && counts(node.in[1]) ? node.in[0] : kNoValue;
    if (!is_op(node, "Slice") || node.version < 10 || node.in.size() < 4) return kNoValue;
    const auto is_single = [&](size_t i, int64_t value) {
      const Tensor* tensor = constant_in(body, node.in[i]);
      return tensor && tensor->count() == 1 && is_integer(tensor->dtype()) && tensor->int_at(0) == value;
    };
    const bool steps = !has_input(node, 4) || is_single(4, 1);
    return counts(node.in[1]) && is_single(3, 0) && steps ? node.in[0] : kNoValue;
  }

  // The one value of rank 2 that is a row of a value outside.
  bool find_row(const Graph& body, const std::unordered_set<ValueId>& counters,
                const std::unordered_map<ValueId, ValueId>& outside, RecurrentLoopSteps& out) const {
    const auto known = draft_.typed.bodies().find(draft_.source_of(&body));
    if (known == draft_.typed.bodies().end()) return false;
    const Facts& facts = known->second;
    for (const Node& node : body.nodes) {
      const ValueId read = read_by(body, node, counters);
      const auto from = read == kNoValue ? outside.end() : outside.find(plain(body, read));
      if (from == outside.end() || !is_sequence(from->second)) continue;
      ValueId row = node.out[0];
      for (const Node& next : body.nodes)
        if (is_op(next, "Squeeze") && next.in[0] == row) row = next.out[0];
      const Fact& fact = facts[row];
      const Dims& whole = *draft_.facts[from->second].dims;
      const bool fits = fact.dims && fact.rank() == 2 && (*fact.dims)[0] == whole[1] && (*fact.dims)[1] == whole[2];
      if (!fits || out.row != kNoValue) return false;
      out.row = row;
      out.sequence = from->second;
    }
    return out.row != kNoValue;
  }

  // One entry for each of the batch, and the units.
  bool is_state(ValueId id, const Dims& sequence) const {
    const Fact& fact = draft_.facts[id];
    return fact.is_tensor() && fact.dtype == DType::f32 && fact.dims && fact.rank() == 2 &&
           (*fact.dims)[0] == sequence[1] && (*fact.dims)[1].is_constant();
  }

  bool replace(const Node& node, const RecurrentLoopSteps& steps) {
    const size_t count = steps.states.size();
    const Dims& sequence = *draft_.facts[steps.sequence].dims;
    if (count < 1 || count > 2) return false;
    for (const State& state : steps.states)
      if (!is_state(state.initial, sequence)) return false;
    for (size_t hidden = 0; hidden < count; ++hidden) {
      const State &h = steps.states[hidden], *c = count == 2 ? &steps.states[1 - hidden] : nullptr;
      if (!gives_only(steps, h)) continue;
      const auto constant = [&](ValueId id) { return constant_in(*steps.body, id); };
      const int64_t units = *(*draft_.facts[h.initial].dims)[1].constant();
      if (c && *(*draft_.facts[c->initial].dims)[1].constant() != units) return false;
      const auto cell = recurrent_cell({*steps.body, constant, steps.row, *sequence[2].constant(), h.in,
                                        c ? c->in : kNoValue, h.next, c ? c->next : kNoValue, units});
      if (!cell || !takes_op(draft_.target, "", cell->type, kLayer)) continue;
      return write(node.name, steps, h, c, *cell);
    }
    return false;
  }

  // All that is stacked is the state, in the sizes of a layer; where there is no step, the batch may be empty.
  bool gives_only(const RecurrentLoopSteps& steps, const State& h) const {
    const Dims all = stacked_dims(steps, h);
    return std::all_of(steps.stacked.begin(), steps.stacked.end(), [&](const auto& stacked) {
      const auto& dims = draft_.facts[stacked.second].dims;
      const bool fits = dims && dims->size() == 3 && (*dims)[0] == all[0] && (*dims)[2] == all[2];
      return fits && ((*dims)[1] == all[1] || (*dims)[1] == batch_of_steps(all)) &&
             plain(*steps.body, stacked.first) == plain(*steps.body, h.next);
    });
  }
  Dims stacked_dims(const RecurrentLoopSteps& steps, const State& h) const {
    const Dims& sequence = *draft_.facts[steps.sequence].dims;
    return {sequence[0], sequence[1], (*draft_.facts[h.initial].dims)[1]};
  }
  static Dim batch_of_steps(const Dims& all) { return select(Condition::ge(all[0], 1), all[1], 0); }

  // kNoValue: there is no memory for it.
  ValueId weights(const std::string& name, std::vector<int64_t> dims, const std::vector<float>& entries) {
    auto tensor = Tensor::allocate(DType::f32, dims);
    if (!tensor) return kNoValue;
    std::copy(entries.begin(), entries.end(), tensor->as_mutable<float>().begin());
    return draft_.add_constant(name, *std::move(tensor));
  }
  ValueId axis(int64_t number) {
    return draft_.add_constant(fmt::format("axis_{}", number), Tensor::of_ints({1}, std::vector<int64_t>{number}));
  }
  void add(std::string_view type, const std::string& name, std::vector<ValueId> in, ValueId out) {
    Node node;
    set_op(node, "", type, 13);
    node.name = name;
    node.in = std::move(in);
    node.out = {out};
    draft_.graph.nodes.push_back(std::move(node));
  }

  ValueId made(const std::string& name, Dims dims) {
    return draft_.add_value(name, Fact::tensor(DType::f32, std::move(dims)));
  }
  // A state as the layer takes it, with an axis of directions.
  ValueId directed(const std::string& name, ValueId state) {
    const Dims& dims = *draft_.facts[state].dims;
    const ValueId out = made(name + "/initial", {1, dims[0], dims[1]});
    add("Unsqueeze", name, {state, axis(0)}, out);
    return out;
  }

  ValueId made_sizes(const std::string& name, Dims dims, Dims entries) {
    Fact fact = Fact::of_elements(DType::i64, std::move(dims), std::move(entries));
    fact.from_shapes = true;
    return draft_.add_value(name, std::move(fact));
  }
  ValueId number(int64_t value) { return draft_.add_constant(fmt::format("int_{}", value), Tensor::scalar(value)); }

  // The states of all steps, [steps, 1, batch, units], as the loop stacked them.
  void stack(const std::string& name, ValueId states, const RecurrentLoopSteps& steps, const State& h, ValueId out) {
    const Dims all = stacked_dims(steps, h);
    if ((*draft_.facts[out].dims)[1] == all[1]) return add("Squeeze", name, {states, axis(1)}, out);
    const ValueId rows = made(name + "/rows", all),
                  sizes = made_sizes(name + "/sizes", {3}, *draft_.facts[steps.sequence].dims);
    const ValueId count = made_sizes(name + "/steps", {}, {all[0]}), batch = made_sizes(name + "/batch", {1}, {all[1]});
    const ValueId any = made_sizes(name + "/any", {}, {min(all[0], 1)}),
                  end = made_sizes(name + "/end", {1}, {batch_of_steps(all)});
    add("Squeeze", name, {states, axis(1)}, rows);
    add("Shape", name, {steps.sequence}, sizes);
    add("Gather", name, {sizes, number(0)}, count);
    add("Gather", name, {sizes, axis(1)}, batch);
    add("Min", name, {count, number(1)}, any);
    add("Mul", name, {batch, any}, end);
    add("Slice", name, {rows, axis(0), end, axis(1)}, out);
  }

  static Node layer_of(const std::string& name, const Cell& cell, bool reverse) {
    Node layer;
    set_op(layer, "", cell.type, kLayer);
    layer.name = name;
    layer.attributes.push_back(attr("hidden_size", cell.units));
    if (!cell.activations.empty()) layer.attributes.emplace_back("activations", cell.activations);
    if (cell.linear_before_reset) layer.attributes.push_back(attr("linear_before_reset", 1));
    if (reverse) layer.attributes.push_back(attr("direction", "reverse"));
    return layer;
  }

  // False where there is no memory for the weights: nothing is changed then.
  bool write(const std::string& name, const RecurrentLoopSteps& steps, const State& h, const State* c,
             const Cell& cell) {
    const int64_t rows = static_cast<int64_t>(cell.b.size()) / 2;
    const ValueId w = weights(name + "/w", {1, rows, cell.inputs}, cell.w);
    const ValueId r = weights(name + "/r", {1, rows, cell.units}, cell.r);
    const ValueId b = weights(name + "/b", {1, 2 * rows}, cell.b);
    if (w == kNoValue || r == kNoValue || b == kNoValue) return false;
    const Dims sequence = *draft_.facts[steps.sequence].dims;
    const Dims state{1, sequence[1], cell.units};
    Node layer = layer_of(name, cell, steps.reverse);
    layer.in = {steps.sequence, w, r, b, kNoValue, directed(name, h.initial)};
    if (c) layer.in.push_back(directed(name, c->initial));
    layer.out = {made(name + "/all", {sequence[0], 1, sequence[1], cell.units}), made(name + "/last", state)};
    if (c) layer.out.push_back(made(name + "/memory", state));
    const std::vector<ValueId> out = layer.out;
    draft_.graph.nodes.push_back(std::move(layer));
    for (const auto& stacked : steps.stacked) stack(name, out[0], steps, h, stacked.second);
    if (is_read(h.last)) add("Squeeze", name, {out[1], axis(0)}, h.last);
    if (c && is_read(c->last)) add("Squeeze", name, {out[2], axis(0)}, c->last);
    for (const auto& [from, to] : steps.handed) draft_.graph.nodes.push_back(identity(from, to, name));
    return true;
  }

  Draft& draft_;
  std::vector<uint32_t> uses_;
};

}  // namespace

Status find_recurrent_layers(Draft& draft) {
  Layers(draft).run();
  return {};
}

}  // namespace anyshape
