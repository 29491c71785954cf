#include "passes/recurrent_cell.h"

#include <utility>

#include "passes/recurrent_terms.h"

namespace anyshape {
namespace {

using Kind = Term::Kind;

// Writes gates one below the other, as the operators take them.
class Weights {
 public:
  Weights(const Step& step, Cell& cell) : step_(step), cell_(cell) {}

  // False where the gate is not one of this layer: of another width, or behind a reset.
  bool add(const Linear& gate, float sign = 1) { return add(gate, gate, Linear::state, sign); }
  // The two sides apart: what the input gives, and what the state gives, be it behind the reset gate.
  bool add(const Linear& of_row, const Linear& of_state, Linear::Source state, float sign = 1) {
    const bool one = &of_row == &of_state;
    if (of_row.columns != step_.units || of_state.columns != step_.units) return false;
    if (of_row.reads(state == Linear::state ? Linear::reset : Linear::state)) return false;
    if (!one && (of_row.reads(Linear::state) || of_row.reads(Linear::reset) || of_state.reads(Linear::row) ||
                 of_state.reads(Linear::reset)))
      return false;
    append(cell_.w, of_row.from[Linear::row], step_.units * step_.inputs, sign);
    append(cell_.r, of_state.from[state], step_.units * step_.units, sign);
    append(row_bias_, of_row.bias, step_.units, sign);
    append(state_bias_, one ? std::vector<float>() : of_state.bias, step_.units, sign);
    return true;
  }
  void finish() {
    cell_.b = row_bias_;
    cell_.b.insert(cell_.b.end(), state_bias_.begin(), state_bias_.end());
  }

 private:
  static void append(std::vector<float>& to, const std::vector<float>& entries, int64_t count, float sign) {
    if (entries.empty()) to.insert(to.end(), static_cast<size_t>(count), 0);
    for (float x : entries) to.push_back(sign * x);
  }

  const Step& step_;
  Cell& cell_;
  std::vector<float> row_bias_, state_bias_;
};

bool is_gate(const Term& term) { return term.is(Kind::sigmoid) && term.a->is(Kind::linear); }

// The other factor of a product with `term`, or null.
const Term* other(const Term& product, const Term* term) {
  if (!product.is(Kind::mul)) return nullptr;
  return product.a == term ? product.b : product.b == term ? product.a : nullptr;
}

Cell cell_of(const Step& step, std::string_view type) {
  Cell out;
  out.type = type;
  out.units = step.units;
  out.inputs = step.inputs;
  return out;
}

// c' = f * c + i * tanh(g), h' = o * tanh(c').
std::optional<Cell> lstm(const Step& step, TermReader& reader) {
  const Term *h = reader.read(step.next_state), *c = reader.read(step.next_memory);
  if (!h || !c || !h->is(Kind::mul) || !c->is(Kind::add)) return std::nullopt;
  const Term* memory = reader.read(step.memory);
  const bool swapped = other(*c->a, memory) == nullptr;
  const Term *kept = swapped ? c->b : c->a, *made = swapped ? c->a : c->b;
  const Term* forget = other(*kept, memory);
  if (!forget || !is_gate(*forget) || !made->is(Kind::mul)) return std::nullopt;
  const bool first = made->a->is(Kind::tanh);
  const Term *candidate = first ? made->a : made->b, *input = first ? made->b : made->a;
  if (!candidate->is(Kind::tanh) || !candidate->a->is(Kind::linear) || !is_gate(*input)) return std::nullopt;
  const bool squashed_first = h->a->is(Kind::tanh);
  const Term *squashed = squashed_first ? h->a : h->b, *output = squashed_first ? h->b : h->a;
  if (!squashed->is(Kind::tanh) || squashed->a != c || !is_gate(*output)) return std::nullopt;
  Cell cell = cell_of(step, "LSTM");
  Weights weights(step, cell);
  for (const Term* gate : {input, output, forget, candidate})
    if (!weights.add(gate->a->linear)) return std::nullopt;
  weights.finish();
  return cell;
}

struct Update {
  const Term *gate = nullptr, *candidate = nullptr;
  float sign = 1;  // -1: the gate that keeps the state is one minus this one
};

// h' = z * h + (1 - z) * n, however it is written.
std::optional<Update> update_of(const Term& next, const Term* state) {
  if (!next.is(Kind::add)) return std::nullopt;
  for (const auto& [one, two] : {std::pair(next.a, next.b), std::pair(next.b, next.a)}) {
    // n + z * (h - n)
    const Term* change = two->is(Kind::mul) ? (two->a->is(Kind::sub) ? two->a : two->b) : nullptr;
    if (change && change->is(Kind::sub) && change->a == state && change->b == one && other(*two, change))
      return Update{other(*two, change), one, 1};
    const Term* keeps = other(*one, state);
    if (!keeps || !two->is(Kind::mul)) continue;
    const bool inverted = keeps->is(Kind::one_minus);
    const Term* gate = inverted ? keeps->a : keeps;
    for (const auto& [lets, candidate] : {std::pair(two->a, two->b), std::pair(two->b, two->a)}) {
      const bool fits = inverted ? lets == gate : lets->is(Kind::one_minus) && lets->a == gate;
      if (fits) return Update{gate, candidate, inverted ? -1.0f : 1.0f};
    }
  }
  return std::nullopt;
}

// n = tanh(x + r * h), the product with the weights of the state before or behind the reset gate.
std::optional<Cell> gru(const Step& step, TermReader& reader) {
  const Term* h = reader.read(step.next_state);
  const Term* state = reader.read(step.state);
  const auto update = h && state ? update_of(*h, state) : std::nullopt;
  if (!update || !is_gate(*update->gate) || !update->candidate->is(Kind::tanh)) return std::nullopt;
  const Term& inside = *update->candidate->a;
  Cell cell = cell_of(step, "GRU");
  Weights weights(step, cell);
  if (!weights.add(update->gate->a->linear, update->sign)) return std::nullopt;
  if (inside.is(Kind::linear)) {
    if (!reader.reset() || !weights.add(*reader.reset())) return std::nullopt;
    if (!weights.add(inside.linear, inside.linear, Linear::reset)) return std::nullopt;
    weights.finish();
    return cell;
  }
  if (!inside.is(Kind::add)) return std::nullopt;
  const Term *row = inside.a->is(Kind::linear) ? inside.a : inside.b, *gated = row == inside.a ? inside.b : inside.a;
  if (!row->is(Kind::linear) || !gated->is(Kind::mul)) return std::nullopt;
  const Term *reset = is_gate(*gated->a) ? gated->a : gated->b, *of_state = reset == gated->a ? gated->b : gated->a;
  if (!is_gate(*reset) || !of_state->is(Kind::linear) || !weights.add(reset->a->linear)) return std::nullopt;
  if (!weights.add(row->linear, of_state->linear, Linear::state)) return std::nullopt;
  cell.linear_before_reset = true;
  weights.finish();
  return cell;
}

std::optional<Cell> simple(const Step& step, TermReader& reader) {
  const Term* h = reader.read(step.next_state);
  if (!h || h->a == nullptr || !h->a->is(Kind::linear)) return std::nullopt;
  const char* activation = h->is(Kind::tanh)      ? "Tanh"
                           : h->is(Kind::sigmoid) ? "Sigmoid"
                           : h->is(Kind::relu)    ? "Relu"
                                                  : nullptr;
  if (!activation || !h->a->linear.reads(Linear::state)) return std::nullopt;
  Cell cell = cell_of(step, "RNN");
  cell.activations = {activation};
  Weights weights(step, cell);
  if (!weights.add(h->a->linear)) return std::nullopt;
  weights.finish();
  return cell;
}

}  // namespace

std::optional<Cell> recurrent_cell(const Step& step) {
  TermReader reader(step);
  if (step.memory != kNoValue) return lstm(step, reader);
  if (auto cell = gru(step, reader)) return cell;
  return simple(step, reader);
}

}  // namespace anyshape
